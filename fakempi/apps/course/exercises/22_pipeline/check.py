"""Check the exact time of a pipeline, and that a block size is within 5 % of the best."""

from typing import Any

import numpy as np

from fakempi.apps.course import Trial


def time(size: int, m: int, block: Any, t_s: int, t_w: int) -> Any:
    """Return the time of a pipeline with blocks of a size, or of each size in an array; the last block may be shorter."""
    blocks = -(-m // block)
    last = m - (blocks - 1) * block
    return (size - 2 + blocks - 1) * (t_s + block * t_w) + t_s + last * t_w


def check(trial: Trial) -> None:
    """Check the results, the exact times, then the block size."""
    trial.without("Bcast", "bcast", "Ibcast", why="write the chain in this exercise.")

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
        with trial.test(f"best_block({size}, {m}, {t_s}, {t_w})"):
            block = trial.value("best_block", size, m, t_s, t_w)
            fault = f"best_block({size}, {m}, {t_s}, {t_w}) returns {block!r} instead of an integer from 1 to {m}."
            trial.require(isinstance(block, int) and 1 <= block <= m, fault)
            mine, least = time(size, m, block, t_s, t_w), int(time(size, m, np.arange(1, m + 1), t_s, t_w).min())
            what = f"{m:,} bytes on {size} ranks (t_s = {t_s}, t_w = {t_w})"
            fault = f"For {what} blocks of {block:,} bytes take {mine:,} s; blocks of the best size take {least:,} s."
            trial.require(mine <= 1.05 * least, fault)
