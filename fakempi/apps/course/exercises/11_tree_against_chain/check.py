"""The number of rounds of a binomial tree."""

import numpy as np

from fakempi.apps.course import RANKS, Trial


def check(trial: Trial) -> None:
    """Check the results, then the exact time."""
    trial.without("bcast", "Bcast", "ibcast", "Ibcast", why="write the tree with Send and Recv in this exercise.")
    numbers = np.arange(5.0)

    def args(rank: int, size: int) -> list[object]:
        return [numbers if rank == 0 else 0 * numbers]

    def gives(rank: int, size: int) -> np.ndarray:
        return numbers

    trial.everywhere("tree", args, gives, RANKS[:-1])
    for size in RANKS[1:]:
        rounds = (size - 1).bit_length()
        trial.takes(
            "tree", size, "hockney:t_s=60,t_w=1,eager_limit=0", rounds * 100, args,
            formula=f"{rounds} rounds of t_s + m t_w = 60 + 40 s", why="every rank that has the array can send it.",
            gives=gives,
        )  # fmt: skip
