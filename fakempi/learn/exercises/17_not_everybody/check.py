"""Everybody comes to every collective call."""

from fakempi.learn import Trial


def check(trial: Trial) -> None:
    """All have numbers, some have, nobody has."""
    trial.without("send", "recv", "Send", "Recv", why="here nothing is sent by hand.")
    for every in (1, 3, 1000):

        def args(rank: int, size: int, every: int = every) -> list[object]:
            return [[1.0 + rank, 2.0] if (rank + 1) % every == 0 else []]

        def gives(rank: int, size: int, every: int = every) -> float | None:
            found = [number for one in range(size) if (one + 1) % every == 0 for number in (1.0 + one, 2.0)]
            return sum(found) / len(found) if found else None

        trial.everywhere("mean", args, gives)
