"""All messages are received."""

from fakempi.apps.course import Trial


def numbers(rank: int, size: int) -> list[object]:
    """Return the numbers of rank 0; other ranks know only the count."""
    return [list(range(10, 15)) if rank == 0 else [0] * 5]


def gives(rank: int, size: int) -> int:
    """Return the sum of the numbers of one rank."""
    if size == 1:
        return sum(range(10, 15))
    return sum(list(range(10, 15))[rank - 1 :: size - 1]) if rank else 0


def check(trial: Trial) -> None:
    """Check the results, then the number of messages."""
    trial.everywhere("deal", numbers, gives)
    with trial.test("number of messages"):
        right = trial.run("deal", 3, numbers).messages == 5
        trial.require(right, "On 3 ranks there should be 5 messages: rank 0 sends each number in one message.")
