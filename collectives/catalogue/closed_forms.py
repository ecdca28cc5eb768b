"""Closed forms of the time that several algorithms share, given the number of rounds for p ranks.

They are claims about the schedule in the algorithm's module; tests compare the two.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from collectives.catalogue.algorithm import Case
from collectives.catalogue.schedule import Seconds, message

ClosedTime: TypeAlias = Callable[[Case, Seconds, Seconds], Seconds]


def one_message_per_round(rounds: Callable[[int], int]) -> ClosedTime:
    """Time of `rounds(p)` rounds that each take as long as a message of m bytes."""
    return lambda case, t_s, t_w: rounds(case.p) * message(case.m, t_s, t_w)


def all_blocks(rounds: Callable[[int], int]) -> ClosedTime:
    """Time of `rounds(p)` rounds in which a rank that never waits sends or receives p-1 blocks of m bytes."""
    return lambda case, t_s, t_w: rounds(case.p) * t_s + (case.p - 1) * case.m * t_w if case.m else 0


def empty_messages(rounds: Callable[[int], int]) -> ClosedTime:
    """Time of `rounds(p)` rounds of empty messages, as in a barrier."""
    return lambda case, t_s, t_w: rounds(case.p) * t_s


def other_ranks(p: int) -> int:
    """Number of other ranks: one round for each."""
    return p - 1


def all_but_own(case: Case, rank: int) -> int:
    """Bytes of all blocks except the rank's own: sent by a rank that sends each other block once."""
    layout = case.layout
    return (layout.size(0, case.p) - layout.size(rank)) * case.itemsize


def no_bytes(case: Case, rank: int) -> int:
    """Bytes sent if all messages are empty."""
    return 0
