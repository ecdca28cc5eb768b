"""The program does not change an array that is being sent."""

import numpy as np

from fakempi.apps.course import BUFFERED, RANKS, WAITING, Trial


def check(trial: Trial) -> None:
    """Check buffered sends first: a library that copies at once would even give the right results."""
    trial.without("Send", "send", "Ssend", "Bsend", "Scatter", "scatter", why="start all sends with Isend in this exercise.")
    for size in RANKS:
        for cost in (BUFFERED, WAITING):
            outcome = trial.run("rows", size, lambda rank, size: [8], cost)
            trial.compare("rows", outcome, lambda rank, size: np.full(8, float(rank)))
