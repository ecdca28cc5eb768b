"""No number is lost, and the counts of two ranks differ by at most one."""

import numpy as np

from fakempi.apps.course import Trial


def check(trial: Trial) -> None:
    """Check more numbers than ranks, fewer, and none."""
    trial.without("scatter", "gather", "bcast", "Bcast", why="use Scatterv and Gatherv in this exercise.")
    for n, ranks in ((10, (1, 2, 3, 7)), (100, (3, 64)), (2, (2, 7)), (0, (1, 3))):

        def args(rank: int, size: int, n: int = n) -> list[object]:
            return [np.arange(float(n)) if rank == 0 else None, n]

        def gives(rank: int, size: int, n: int = n) -> tuple[object, ...]:
            return n // size + (rank < n % size), np.arange(float(n)) ** 2 if rank == 0 else None

        trial.everywhere("squares", args, gives, ranks, f"with {n} numbers")
