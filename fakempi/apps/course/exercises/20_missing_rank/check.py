"""All ranks make all collective calls."""

from fakempi.apps.course import RANKS, Trial


def check(trial: Trial) -> None:
    """Check numbers on all ranks, on some, and on none."""
    trial.without("send", "recv", "Send", "Recv", why="use collective calls in this exercise.")
    cases = (
        (1, "with numbers on every rank", (1, 2, 3, 7)), (3, "with numbers on every third rank", RANKS),
        (1000, "with no numbers", (1, 3)),
    )  # fmt: skip
    for every, what, ranks in cases:

        def args(rank: int, size: int, every: int = every) -> list[object]:
            return [[1.0 + rank, 2.0] if (rank + 1) % every == 0 else []]

        def gives(rank: int, size: int, every: int = every) -> float | None:
            numbers = [number for other in range(size) if (other + 1) % every == 0 for number in (1.0 + other, 2.0)]
            return sum(numbers) / len(numbers) if numbers else None

        trial.everywhere("mean", args, gives, ranks, what)
