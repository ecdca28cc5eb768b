"""Messages travel while ranks compute."""

import numpy as np

from fakempi.apps.course import Trial

COST = "hockney:t_s=100,t_w=1,eager_limit=0"


def check(trial: Trial) -> None:
    """Check the results, then the time: the longer of computation and communication."""

    def args(rank: int, size: int) -> list[object]:
        return [np.full(50, rank), 1000]

    def gives(rank: int, size: int) -> object:
        return np.full(50, (rank - 1) % size)

    trial.everywhere("step", args, gives)
    for size in (2, 7):
        for work, time in ((1000, 1000), (200, 500)):
            trial.takes(
                "step", size, COST, time, lambda rank, size, work=work: [np.full(50, rank), work],
                why=f"{work} s of computation and 500 s of communication can overlap.",
            )  # fmt: skip
