"""What is sent is of the type that is received."""

from fakempi.learn import Trial


def check(trial: Trial) -> None:
    """The finding comes first, then the number."""
    trial.without("send", "recv", "bcast", why="objects know their type; here arrays are sent, which do not.")

    def args(rank: int, size: int) -> list[object]:
        return [[3, 1, 4, 1, 5] if rank == 0 else [0] * 5]

    trial.everywhere("mean_of_counts", args, lambda rank, size: 14 / 5)
