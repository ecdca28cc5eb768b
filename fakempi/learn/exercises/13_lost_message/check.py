"""All that is sent is received."""

from fakempi.learn import BUFFERED, RANKS, WAITING, Trial, Wrong


def numbers(rank: int, size: int) -> list[object]:
    """What rank 0 deals; the others know only how many."""
    return [list(range(10, 15)) if rank == 0 else [0] * 5]


def gives(rank: int, size: int) -> int:
    """The sum of every so-manieth."""
    if size == 1:
        return sum(range(10, 15))
    return sum(list(range(10, 15))[rank - 1 :: size - 1]) if rank else 0


def check(trial: Trial) -> None:
    """With buffered sends first: there a lost message shows as what it is."""
    for size in RANKS:
        for cost in (BUFFERED, WAITING):
            outcome = trial.run("deal", size, numbers, cost)
            trial.compare("deal", outcome, gives)
    if trial.run("deal", 3, numbers).messages != 5:
        raise Wrong("On 3 ranks there should be 5 messages: each number is dealt by rank 0.")
