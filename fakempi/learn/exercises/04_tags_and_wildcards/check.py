"""Rank 0 knows who has sent what, whoever comes first."""

from fakempi.learn import Trial, Wrong


def numbers(rank: int, size: int) -> list[int]:
    """Some have none."""
    return [100 * rank + i for i in range(rank % 3)]


def check(trial: Trial) -> None:
    """On all ranks, then in every order in which messages can come."""
    trial.without("gather", "allgather", why="here each number is a message of its own.")

    def gives(rank: int, size: int) -> dict[int, list[int]] | None:
        return None if rank else {source: numbers(source, size) for source in range(1, size)}

    trial.everywhere("collect", lambda rank, size: [numbers(rank, size)], gives)
    trial.schedules("collect", 3, lambda rank, size: [numbers(rank, size)])
    sent = trial.run("collect", 3, lambda rank, size: [numbers(rank, size)]).messages
    if sent != 5:
        raise Wrong(f"On 3 ranks with 1 and 2 numbers there are {sent} messages, and should be 5: a number each, and DONE.")
