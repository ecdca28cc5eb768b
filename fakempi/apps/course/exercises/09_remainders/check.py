"""No number is lost, and the counts of two ranks differ by at most one."""

import numpy as np

from fakempi.apps.course import Trial


def check(trial: Trial) -> None:
    """Check more numbers than ranks, fewer, and none."""
    trial.without("scatter", "gather", "bcast", "Bcast", why="use Scatterv and Gatherv in this exercise.")
    for n in (10, 100, 2, 0):

        def args(rank: int, size: int, n: int = n) -> list[object]:
            return [np.arange(float(n)) if rank == 0 else None, n]

        def gives(rank: int, size: int, n: int = n) -> tuple[object, ...]:
            return n // size + (rank < n % size), np.arange(float(n)) ** 2 if rank == 0 else None

        trial.everywhere("squares", args, gives, (1, 2, 3, 7) if n != 100 else (3, 64))
