"""The time is exactly (p - 1)(t_s + m t_w), for several cost models and sizes."""

import numpy as np

from fakempi.apps.course import RANKS, Trial


def check(trial: Trial) -> None:
    """Check the results, then the times."""
    trial.without("Allgather", "allgather", "Iallgather", "Bcast", "bcast", why="write the ring in this exercise.")

    def args(rank: int, size: int) -> list[object]:
        return [np.arange(5) + 10 * rank]

    def gives(rank: int, size: int) -> object:
        return [np.arange(5) + 10 * source for source in range(size)]

    trial.everywhere("ring_allgather", args, gives, RANKS[:-1])
    for t_s, t_w, sizes in ((60, 1, RANKS), (0, 2, (2, 7))):
        for size in sizes:
            message_time = t_s + 40 * t_w
            trial.takes(
                "ring_allgather", size, f"hockney:t_s={t_s},t_w={t_w},eager_limit=0", (size - 1) * message_time, args,
                formula="(p - 1)(t_s + m t_w)", why="every rank can send and receive at the same time.", gives=gives,
            )  # fmt: skip
