"""What the catalogue knows of an algorithm: its name, its text, and its claims as functions of a case."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypedDict

from collectives.catalogue.card import read_card
from collectives.catalogue.case import Case as Case  # the files of algorithms have all that they need of a claim from here
from collectives.catalogue.case import DoesNotFit as DoesNotFit
from collectives.catalogue.schedule import Schedule, Seconds, elapsed, longest_chain, sent_by
from collectives.tools.numbers import is_power_of_two


def any_case(case: Case) -> str | None:
    """`fits` of an algorithm that refuses nothing."""
    return None


def power_of_two_only(case: Case) -> str | None:
    return None if is_power_of_two(case.p) else f"p = {case.p} is not a power of two"


def even_only(case: Case) -> str | None:
    return None if case.p % 2 == 0 or case.p == 1 else f"p = {case.p} is odd"


def positive_segments_only(case: Case) -> str | None:
    size = case.parameters.get("segment_bytes", 1)
    return None if size > 0 else f"segment_bytes = {size} is not positive"


def commutative_only(case: Case) -> str | None:
    return None if case.commutative else "the op is not commutative, and this algorithm does not keep to rank order"


def combines_nothing(case: Case) -> int:
    return 0


def no_scratch(case: Case, rank: int) -> int:
    return 0


class Claims(TypedDict, total=False):
    """Claims that several algorithms make in the same words: `Algorithm(operation=..., run=..., **claims)`."""

    schedule: Callable[[Case], Schedule | None] | None
    scratch: Callable[[Case, int], int]
    fits: Callable[[Case], str | None]
    closed_rounds: Callable[[Case], int | None]
    closed_sent: Callable[[Case, int], int | None]
    closed_time: Callable[[Case, Seconds, Seconds], Seconds | None]
    closed_combined: Callable[[Case], int | None]


class Course(TypedDict):
    """The claims that are not closed forms, to stand beside some: `Algorithm(closed_sent=..., **course)`."""

    schedule: Callable[[Case], Schedule]
    scratch: Callable[[Case, int], int]


@dataclass(frozen=True)
class Algorithm:
    """One algorithm, with claims that hold exactly in the model of `collectives.__doc__`.

    `schedule(case)` is the algorithm on paper; the closed forms, where given, say the same in one line and may return
    None for cases that they do not cover. Without a schedule there is no exact time: `time` gives None.
    `closed_time` is for free combining; a reduction's `closed_combined` counts the bytes combined one after the other
    on the longest path, where this path is the same whatever the costs, and None elsewhere.
    What runs on chains claims `holds` in place of `scratch`: the most items that a rank has at once (`chain.meter`).

    Parameters
    ----------
    operation, name, kind
        What it is found by.
    run
        The function: (comm, ...), or (inter, local, ...) between two groups.
    schedule
        The algorithm on paper: for a case, rounds of transfers; None if their order hangs on timing.
    scratch, holds
        Bytes of scratch memory that a rank takes; items that it has at once.
    fits
        Why it cannot serve a case, or None.
    closed_rounds, closed_sent, closed_time, closed_combined
        Claims in one line.
    parameters
        Those of `run` that may be asked for, with their defaults.
    in_order
        Whether it combines in rank order, so that any op may be used.

    Examples
    --------
    >>> from collectives import Case, find
    >>> ring = find("allgather", "ring")
    >>> ring.rounds(Case(p=8, m=100)), ring.sent(Case(p=8, m=100), rank=0)
    (7, 700)
    """

    operation: str
    name: str
    run: Callable[..., Any]
    schedule: Callable[[Case], Schedule | None] | None
    scratch: Callable[[Case, int], int] = no_scratch
    fits: Callable[[Case], str | None] = any_case
    closed_rounds: Callable[[Case], int | None] | None = None
    closed_sent: Callable[[Case, int], int | None] | None = None
    closed_time: Callable[[Case, Seconds, Seconds], Seconds | None] | None = None
    closed_combined: Callable[[Case], int | None] = combines_nothing
    parameters: Mapping[str, Any] = field(default_factory=dict)
    in_order: bool = False
    kind: str = "intra"
    holds: Callable[[Case], int] | None = None

    def __repr__(self) -> str:
        return f"<{' '.join(dict.fromkeys((self.kind, self.operation)))} {self.name}>"

    def parameter(self, case: Case, name: str) -> Any:
        """The case's value of a parameter, or the default."""
        return case.parameters.get(name, self.parameters[name])

    def plan(self, case: Case) -> Schedule | None:
        """The schedule for a case; None if the order of messages depends on timing."""
        return self.schedule(case) if self.schedule else None

    def rounds(self, case: Case) -> int | None:
        """Messages on the longest chain of messages that wait for each other."""
        closed = self.closed_rounds(case) if self.closed_rounds else None
        if closed is None and (plan := self.plan(case)) is not None:
            return longest_chain(plan, case.ranks)
        return closed

    def sent(self, case: Case, rank: int) -> int | None:
        """Bytes that `rank` sends."""
        closed = self.closed_sent(case, rank) if self.closed_sent else None
        if closed is None and (plan := self.plan(case)) is not None:
            return sent_by(plan, rank)
        return closed

    def time(self, case: Case, t_s: Seconds, t_w: Seconds, c: Seconds = 0) -> Seconds | None:
        """Modelled time until the last rank is done, all starting at once; combining costs c a byte."""
        closed = self.closed_time(case, t_s, t_w) if self.closed_time else None
        combined = self.closed_combined(case) if c else 0
        if closed is not None and combined is not None:
            return closed + c * combined
        plan = self.plan(case)
        return None if plan is None else elapsed(plan, case.ranks, t_s, t_w, c)

    def held(self, case: Case) -> int | None:
        """The most items that any rank holds at once; None if that is not claimed."""
        return self.holds(case) if self.holds else None

    def check(self, case: Case) -> None:
        """Raise DoesNotFit if the algorithm cannot serve the case."""
        if reason := self.fits(case):
            kind = "" if self.kind in ("intra", self.operation) else f"{self.kind} "
            raise DoesNotFit(f"{kind}{self.operation} {self.name}: {reason}")

    @property
    def card(self) -> dict[str, str]:
        """The lines of the algorithm's card by their labels: Rounds, Sent per rank, Scratch, Time, Fits, ...

        It is in the docstring of the file with the function; somebody else's may be incomplete, or not be there.
        """
        function = getattr(self.run, "func", self.run)  # of a functools.partial
        module = sys.modules.get(getattr(function, "__module__", None) or "")
        return read_card(getattr(module, "__doc__", None) or "")

    @property
    def source(self) -> str:
        """The publication."""
        return self.card.get("Source", "")
