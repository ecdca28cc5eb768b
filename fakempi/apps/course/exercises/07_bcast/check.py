"""Every rank computes its position from rank 0's settings."""

from fakempi.apps.course import RANKS, Trial

POINT_TO_POINT = ("send", "recv", "isend", "irecv", "sendrecv", "Send", "Recv")


def check(trial: Trial) -> None:
    """Check two dictionaries, so that the values cannot be in the program."""
    trial.without(*POINT_TO_POINT, why="use bcast in this exercise.")
    for first, step, ranks in ((5, 10, RANKS), (0, 3, (2, 3))):

        def args(rank: int, size: int, first: int = first, step: int = step) -> list[object]:
            return [{"first": first, "step": step} if rank == 0 else None]

        def gives(rank: int, size: int, first: int = first, step: int = step) -> int:
            return first + rank * step

        trial.everywhere("position", args, gives, ranks, f'with {{"first": {first}, "step": {step}}}')
