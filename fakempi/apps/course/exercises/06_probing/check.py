"""Arrays of any length arrive whole, in one message each."""

import numpy as np

from fakempi.apps.course import RANKS, Trial


def check(trial: Trial) -> None:
    """Check short, long and empty arrays, then the number of messages."""
    trial.without("send", "recv", "bcast", why="use Send and Recv of arrays in this exercise, not pickled objects.")
    cases = ((4, "with 4 numbers", RANKS), (1000, "with 1000 numbers", (2, 3)), (0, "with an empty array", (1, 2, 7)))
    for length, what, ranks in cases:

        def args(rank: int, size: int, length: int = length) -> list[object]:
            return [np.arange(float(length)) if rank == 0 else None]

        trial.everywhere("deliver", args, lambda rank, size, length=length: np.arange(float(length)), ranks, what)
    with trial.test("number of messages"):
        sent = trial.run("deliver", 7, args).messages
        fault = f"On 7 ranks there are {sent} messages instead of 6: probe for the length instead of sending it."
        trial.require(sent == 6, fault)
