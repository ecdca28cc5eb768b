"""All ranks make all collective calls."""

from fakempi.apps.course import Trial


def check(trial: Trial) -> None:
    """Check numbers on all ranks, on some, and on none."""
    trial.without("send", "recv", "Send", "Recv", why="use collective calls in this exercise.")
    for every in (1, 3, 1000):

        def args(rank: int, size: int, every: int = every) -> list[object]:
            return [[1.0 + rank, 2.0] if (rank + 1) % every == 0 else []]

        def gives(rank: int, size: int, every: int = every) -> float | None:
            numbers = [number for other in range(size) if (other + 1) % every == 0 for number in (1.0 + other, 2.0)]
            return sum(numbers) / len(numbers) if numbers else None

        trial.everywhere("mean", args, gives)
