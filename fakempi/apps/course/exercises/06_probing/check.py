"""Arrays of any length arrive whole, in one message each."""

import numpy as np

from fakempi.apps.course import Trial, Wrong


def check(trial: Trial) -> None:
    """Check short, long and empty arrays, then the number of messages."""
    trial.without("send", "recv", "bcast", why="use Send and Recv of arrays in this exercise, not pickled objects.")
    for length in (4, 1000, 0):

        def args(rank: int, size: int, length: int = length) -> list[object]:
            return [np.arange(float(length)) if rank == 0 else None]

        trial.everywhere("deliver", args, lambda rank, size, length=length: np.arange(float(length)), (1, 2, 7))
    trial.everywhere("deliver", args, lambda rank, size: np.arange(0.0), (3, 64))
    sent = trial.run("deliver", 7, args).messages
    if sent != 6:
        raise Wrong(f"On 7 ranks there are {sent} messages instead of 6: probe for the length instead of sending it.")
