"""All messages are received."""

from fakempi.apps.course import BUFFERED, RANKS, WAITING, Trial, Wrong


def numbers(rank: int, size: int) -> list[object]:
    """Return the numbers of rank 0; other ranks know only the count."""
    return [list(range(10, 15)) if rank == 0 else [0] * 5]


def gives(rank: int, size: int) -> int:
    """Return the sum of the numbers of one rank."""
    if size == 1:
        return sum(range(10, 15))
    return sum(list(range(10, 15))[rank - 1 :: size - 1]) if rank else 0


def check(trial: Trial) -> None:
    """Check buffered sends first: there, a lost message is a finding and not a deadlock."""
    for size in RANKS:
        for cost in (BUFFERED, WAITING):
            outcome = trial.run("deal", size, numbers, cost)
            trial.compare("deal", outcome, gives)
    if trial.run("deal", 3, numbers).messages != 5:
        raise Wrong("On 3 ranks there should be 5 messages: rank 0 sends each number in one message.")
