"""Sender and receiver use the same datatype."""

from fakempi.apps.course import Trial


def check(trial: Trial) -> None:
    """Check the finding, then the result."""
    trial.without("send", "recv", "bcast", why="use Send and Recv of arrays in this exercise, not pickled objects.")

    def args(rank: int, size: int) -> list[object]:
        return [[3, 1, 4, 1, 5] if rank == 0 else [0] * 5]

    trial.everywhere("mean_of_counts", args, lambda rank, size: 14 / 5)
