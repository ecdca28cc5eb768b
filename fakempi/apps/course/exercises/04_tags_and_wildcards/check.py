"""Rank 0 assigns each number to its sender, in any order of arrival."""

from fakempi.apps.course import Trial


def numbers(rank: int, size: int) -> list[int]:
    """Return the numbers of a rank; some ranks have none."""
    return [100 * rank + i for i in range(rank % 3)]


def check(trial: Trial) -> None:
    """Check the results, then all orders in which messages can arrive."""
    trial.without("gather", "allgather", why="send each number as a separate message in this exercise.")

    def gives(rank: int, size: int) -> dict[int, list[int]] | None:
        return None if rank else {source: numbers(source, size) for source in range(1, size)}

    trial.everywhere("collect", lambda rank, size: [numbers(rank, size)], gives)
    with trial.test("number of messages"):
        sent = trial.run("collect", 3, lambda rank, size: [numbers(rank, size)]).messages
        problem = f"On 3 ranks with 1 and 2 numbers there are {sent} messages instead of 5"
        trial.require(sent == 5, f"{problem}: one for each number, and two DONE.")
