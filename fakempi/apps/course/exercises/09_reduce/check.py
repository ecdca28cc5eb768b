"""Every rank divides by the total of all ranks, and rank 0 knows the largest number."""

from fakempi.apps.course import Trial


def numbers(rank: int, size: int) -> list[int]:
    """Return the numbers of a rank; the largest of all is not on the first or last rank."""
    return [1 + rank, 7 + (rank * 5) % 11]


def check(trial: Trial) -> None:
    """Check the fractions and the largest number."""
    trial.without(
        "send", "recv", "gather", "allgather", "bcast", "isend", "irecv", why="use reduce and allreduce in this exercise."
    )  # fmt: skip

    def gives(rank: int, size: int) -> tuple[object, ...]:
        everything = [number for other in range(size) for number in numbers(other, size)]
        total = sum(everything)
        return [number / total for number in numbers(rank, size)], None if rank else max(everything)

    trial.everywhere("fractions", lambda rank, size: [numbers(rank, size)], gives)
