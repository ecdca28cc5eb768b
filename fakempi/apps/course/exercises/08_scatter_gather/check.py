"""Rank 0 has the lengths of all words, and each rank has counted its share."""

from fakempi.apps.course import RANKS, Trial


def check(trial: Trial) -> None:
    """Check the results, then that the words are scattered and not sent to all ranks."""
    trial.without(
        "send", "recv", "isend", "irecv", "bcast", "allgather", "alltoall", why="use scatter and gather in this exercise."
    )  # fmt: skip
    trial.calls("scatter", "gather", why="distribute the words, and collect the lengths.")
    for share, ranks in ((2, RANKS), (1, (3,)), (3, (1, 7))):

        def args(rank: int, size: int, share: int = share) -> list[object]:
            return [["x" * (index % 5 + 1) for index in range(share * size)] if rank == 0 else None]

        def gives(rank: int, size: int, share: int = share) -> list[int] | None:
            return None if rank else [index % 5 + 1 for index in range(share * size)]

        trial.everywhere("lengths", args, gives, ranks, f"with {share} words for each rank")
