"""The exact time on irregular data."""

import numpy as np

from fakempi.apps.course import RANKS, Trial

BLOCK = 4


def spike(size: int) -> list[int]:
    """Return counts where one rank has much more than the others."""
    return [16 * BLOCK] + [BLOCK] * (size - 1)


def stairs(size: int) -> list[int]:
    """Return counts that increase from rank to rank, with period 4."""
    return [BLOCK * (1 + rank % 4) for rank in range(size)]


def check(trial: Trial) -> None:
    """Check the results, then the exact time."""
    trial.without("Allgatherv", "allgather", "Allgather", "Bcast", "bcast", why="write the ring in this exercise.")
    for shape, ranks in ((spike, (1, 2, 3, 7)), (stairs, RANKS)):

        def args(rank: int, size: int, shape: object = shape) -> list[object]:
            counts = shape(size)
            return [np.full(counts[rank], rank, np.uint8), counts, BLOCK]

        def gives(rank: int, size: int, shape: object = shape) -> np.ndarray:
            return np.repeat(np.arange(size), shape(size))

        few = tuple(size for size in ranks if size < 64)
        trial.everywhere("allgatherv", args, gives, few, f"with counts such as {shape(4)}")
        for size in sorted({7, max(ranks)}):
            pieces = [count // BLOCK for count in shape(size)]
            rounds = sum(pieces) - min(pieces)
            trial.takes(
                "allgatherv", size, "hockney:t_s=6,t_w=1,eager_limit=0", rounds * 10, args,
                formula=f"{rounds} rounds of t_s + B t_w = 6 + {BLOCK} s", why="send one piece in each round.", gives=gives,
            )  # fmt: skip
