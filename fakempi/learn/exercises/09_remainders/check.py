"""Nothing is lost, and no rank has more than one number more than another."""

import numpy as np

from fakempi.learn import Trial


def check(trial: Trial) -> None:
    """More numbers than ranks, fewer, and none."""
    trial.without("scatter", "gather", "bcast", "Bcast", why="here arrays are dealt by Scatterv and collected by Gatherv.")
    for n in (10, 100, 2, 0):

        def args(rank: int, size: int, n: int = n) -> list[object]:
            return [np.arange(float(n)) if rank == 0 else None, n]

        def gives(rank: int, size: int, n: int = n) -> tuple[object, ...]:
            return n // size + (rank < n % size), np.arange(float(n)) ** 2 if rank == 0 else None

        trial.everywhere("squares", args, gives, (1, 2, 3, 7) if n != 100 else (3, 64))
