"""As many rounds as a binomial tree has."""

import numpy as np

from fakempi.learn import RANKS, Trial


def check(trial: Trial) -> None:
    """Results, then the exact time."""
    trial.without("bcast", "Bcast", "ibcast", "Ibcast", why="here the tree is yours.")
    numbers = np.arange(5.0)

    def args(rank: int, size: int) -> list[object]:
        return [numbers if rank == 0 else 0 * numbers]

    trial.everywhere("tree", args, lambda rank, size: numbers)
    for size in RANKS[1:]:
        rounds = (size - 1).bit_length()
        trial.takes(
            "tree", size, "hockney:t_s=60,t_w=1,eager_limit=0", rounds * 100, args,
            formula=f"{rounds} rounds of t_s + m t_w = 60 + 40 s", why="whoever has the array can pass it on.",
        )  # fmt: skip
