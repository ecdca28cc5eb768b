"""The exact time of a pipeline, and a block size that is as good as the best."""

import numpy as np

from fakempi.learn import Trial, Wrong


def time(size: int, m: int, block: int, t_s: int, t_w: int) -> int:
    """All blocks of the same size, but for the last."""
    blocks = -(-m // block)
    last = m - (blocks - 1) * block
    return (size - 2 + blocks - 1) * (t_s + block * t_w) + t_s + last * t_w


def check(trial: Trial) -> None:
    """Results; exact times; then the size."""
    trial.without("Bcast", "bcast", "Ibcast", why="here the chain is yours.")

    def args(rank: int, size: int) -> list[object]:
        return [np.arange(24, dtype=np.uint8) * (rank == 0), 5]

    trial.everywhere("pipeline", args, lambda rank, size: np.arange(24))
    for size, block in ((2, 4), (3, 4), (7, 4), (64, 8), (7, 24)):
        trial.takes(
            "pipeline", size, "hockney:t_s=6,t_w=1,eager_limit=0", (size - 2 + 24 // block) * (6 + block),
            lambda rank, size, block=block: [np.arange(24, dtype=np.uint8) * (rank == 0), block],
            formula=f"(p - 2 + b)(t_s + B t_w) with {24 // block} blocks of {block} bytes",
            why="a rank can send a block while it receives the next.",
        )  # fmt: skip
    for size, m, t_s, t_w in ((7, 10_000, 100, 1), (64, 100_000, 50, 2), (3, 1_000, 10, 1)):
        block = trial.value("best_block", size, m, t_s, t_w)
        if not isinstance(block, int) or not 1 <= block <= m:
            raise Wrong(f"best_block({size}, {m}, {t_s}, {t_w}) returns {block!r}, which is no whole number up to {m}.")
        best = min(range(1, m + 1), key=lambda one: time(size, m, one, t_s, t_w))
        mine, least = time(size, m, block, t_s, t_w), time(size, m, best, t_s, t_w)
        if mine > 1.05 * least:
            what = f"{m:,} bytes on {size} ranks (t_s = {t_s}, t_w = {t_w})"
            raise Wrong(f"For {what} blocks of {block:,} bytes take {mine:,} s; with the best size it would be {least:,} s.")
