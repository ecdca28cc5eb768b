"""All ranks exchange data at once: p (t_s + m t_w) for two groups of p."""

import numpy as np

from fakempi.apps.course import Trial

SIZES = (2, 4, 6, 14, 64)
"""Two equal groups need an even number of ranks."""


def check(trial: Trial) -> None:
    """Check the results, then the exact time."""
    trial.without("Allgather", "allgather", "Allgatherv", why="write the exchange in this exercise; the file has a ring.")

    def args(rank: int, size: int) -> list[object]:
        return [np.full(5, 10 * rank)]

    def gives(rank: int, size: int) -> object:
        half = size // 2
        others = range(half, size) if rank < half else range(half)
        return [np.full(5, 10 * other) for other in others]

    trial.everywhere("exchange", args, gives, SIZES[:-1])
    for size in SIZES:
        half = size // 2
        trial.takes(
            "exchange", size, "hockney:t_s=60,t_w=1,eager_limit=0", half * 100, args,
            formula=f"{half} (t_s + m t_w)", why="all ranks can exchange at the same time, not only the leaders.",
            gives=gives,
        )  # fmt: skip
