"""Fault: one reason why a schedule does not implement its operation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

FaultKind = Literal[
    "size", "unmatched", "deadlock", "order", "race", "undefined", "missing", "extra", "duplicate", "wrong", "overwritten"
]


@dataclass(frozen=True)
class Fault:
    """One fault.

    Attributes
    ----------
    kind : the kind of the fault
        "size": a send and its receive have different sizes
        "unmatched": a send or a receive has no partner
        "deadlock": a step waits in a cycle of ranks, or for a rank in such a cycle
        "order": two sends, or two receives, with equal ranks and tags may start in either order, so timing decides what
        they match
        "race": two unordered steps of a rank access the same bytes, and at least one writes
        "undefined": a step reads bytes that have not been written
        "missing", "extra", "duplicate": a result lacks a contribution (bytes of one rank's input), has one that does not
        belong there, or has one several times; in a barrier, "missing" means that a rank may end before another one starts
        "wrong": operands are not combined in rank order, though the operation requires it
        "overwritten": the input has changed
    rank : the rank on which the fault occurs
    step : the index of the step; for a wrong result, the step that writes it last, or -1 if no step writes it
    where : the range of bytes, as text; empty if there is none
    message : one sentence with the rank and, if they are known, the step, the range and the contribution
    """

    kind: FaultKind
    rank: int
    step: int
    where: str
    message: str

    def __str__(self) -> str:
        return self.message
