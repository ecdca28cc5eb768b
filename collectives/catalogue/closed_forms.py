"""Closed forms that many algorithms share: rounds and time, given how many rounds p ranks take.

They are claims about a schedule, which is in the algorithm's own file; the tests compare the two.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypedDict

from collectives.catalogue.algorithm import Case
from collectives.catalogue.schedule import Seconds, message


class Pace(TypedDict):
    """Rounds and time, to stand beside what else an algorithm claims: `Algorithm(schedule=schedule, ..., **pace)`."""

    closed_rounds: Callable[[Case], int | None]
    closed_time: Callable[[Case, Seconds, Seconds], Seconds | None]


def one_message_a_round(rounds: Callable[[int], int]) -> Pace:
    """Every one of so many rounds takes as long as a message of m bytes."""
    return Pace(
        closed_rounds=lambda case: rounds(case.p) if case.m else 0,
        closed_time=lambda case, t_s, t_w: rounds(case.p) * message(case.m, t_s, t_w),
    )


def all_blocks(rounds: Callable[[int], int]) -> Pace:
    """So many rounds, in which a rank that never waits sends or receives p-1 blocks of m bytes."""
    return Pace(
        closed_rounds=lambda case: rounds(case.p) if case.m else 0,
        closed_time=lambda case, t_s, t_w: rounds(case.p) * t_s + (case.p - 1) * case.m * t_w if case.m else 0,
    )


def startups_alone(rounds: Callable[[int], int]) -> Pace:
    """So many rounds of messages that are empty, as a barrier's are."""
    return Pace(closed_rounds=lambda case: rounds(case.p), closed_time=lambda case, t_s, t_w: rounds(case.p) * t_s)


def others(p: int) -> int:
    """A round for each of the other ranks."""
    return p - 1


def all_but_own(case: Case, rank: int) -> int:
    """Bytes of all blocks but one rank's own: what a rank sends that sends each of the others once."""
    layout = case.layout
    return (layout.size(0, case.p) - layout.size(rank)) * case.itemsize


def nothing(case: Case, rank: int) -> int:
    """Bytes sent where all messages are empty."""
    return 0
