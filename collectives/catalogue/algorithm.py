"""An algorithm in the catalogue: its name, its code, and its claims as functions of a case."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import wraps
from typing import Any, TypedDict

from collectives.catalogue.bits import Bits
from collectives.catalogue.card import REDUCTION_LABEL, read_card
from collectives.catalogue.case import Case as Case  # algorithm modules import all names for claims from here
from collectives.catalogue.case import Parameters
from collectives.catalogue.case import UnsupportedCaseError as UnsupportedCaseError
from collectives.catalogue.conditions import any_case, combines_nothing, no_scratch
from collectives.catalogue.schedule import Rounds, Seconds, elapsed, sent_by


class Claims(TypedDict, total=False):
    """Claims that several algorithms share: `@algorithm(**claims)`."""

    schedule: Callable[[Case], Rounds | None] | None
    scratch: Callable[[Case, int], int]
    why_unsupported: Callable[[Case], str | None]
    closed_rounds: Callable[[Case], int | None]
    closed_sent: Callable[[Case, int], int | None]
    closed_time: Callable[[Case, Seconds, Seconds], Seconds | None]
    closed_combined: Callable[[Case], int | None]


@dataclass(frozen=True)
class Algorithm:
    """One algorithm, with claims that hold exactly in the model of `collectives.__doc__`.

    `schedule(case)` lists the transfers; the closed forms, where given, must agree with it and return None for cases that
    they do not cover. Without a schedule there is no exact time: `time` returns None. `closed_time` assumes that combining
    takes no time; a reduction's `closed_combined` is the number of bytes combined on the longest path if this path does not
    depend on the costs, otherwise None. Algorithms on chains claim `holds`, not `scratch`: the most items on a rank.

    Parameters
    ----------
    operation, name, kind
        The algorithm's key in the catalogue.
    run
        The function: (comm, ...), or (inter, local, ...) between two groups.
    schedule
        For a case, rounds of transfers; None if their order depends on timing.
    scratch, holds
        Bytes of scratch memory on a rank; largest number of items on a rank.
    why_unsupported
        Of a case: None if the algorithm supports a case, otherwise the reason why not, as a clause without a full stop.
    closed_rounds, closed_sent, closed_time, closed_combined
        Claims in closed form. `closed_time` at t_s = 1 and t_w = 0 is the number of rounds, too.
    parameters
        The parameters of `run` that a user may set, with their defaults.
    in_order
        Whether operands are combined in rank order, so that any op may be used.
    root
        The only root that the algorithm supports, such as that of a schedule file; None if it supports all.

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
    schedule: Callable[[Case], Rounds | None] | None
    scratch: Callable[[Case, int], int] = no_scratch
    why_unsupported: Callable[[Case], str | None] = any_case
    closed_rounds: Callable[[Case], int | None] | None = None
    closed_sent: Callable[[Case, int], int | None] | None = None
    closed_time: Callable[[Case, Seconds, Seconds], Seconds | None] | None = None
    closed_combined: Callable[[Case], int | None] = combines_nothing
    parameters: Parameters = field(default_factory=dict)
    in_order: bool = False
    kind: str = "intra"
    holds: Callable[[Case], int] | None = None
    root: int | None = None

    def __call__(self, *args: Any, **options: Any) -> Any:
        """Run the algorithm: `allgather_ring(comm, sendbuf, recvbuf)`."""
        return self.run(*args, **options)

    @property
    def fits(self) -> Callable[[Case], str | None]:
        """The earlier name of `why_unsupported`."""
        return self.why_unsupported

    def __repr__(self) -> str:
        return f"<{' '.join(dict.fromkeys((self.kind, self.operation)))} {self.name}>"

    def parameter(self, case: Case, name: str) -> Any:
        """The case's value of a parameter, or the default."""
        return case.parameters.get(name, self.parameters[name])

    def schedule_for(self, case: Case) -> Rounds | None:
        """The schedule for a case; None if the order of messages depends on timing."""
        return self.schedule(case) if self.schedule else None

    @property
    def plan(self) -> Callable[[Case], Rounds | None]:
        """The earlier name of `schedule_for`."""
        return self.schedule_for

    def rounds(self, case: Case) -> int | None:
        """Number of messages on the longest chain of dependent messages: the time if each of them costs 1."""
        closed = self.closed_rounds(case) if self.closed_rounds else None
        if closed is None and self.schedule and (time := self.time(case, 1, 0)) is not None:
            return int(time)
        return closed

    def sent(self, case: Case, rank: int) -> int | None:
        """Bytes that `rank` sends."""
        closed = self.closed_sent(case, rank) if self.closed_sent else None
        if closed is None and (schedule := self.schedule_for(case)) is not None:
            return sent_by(schedule, rank)
        return closed

    def time(self, case: Case, t_s: Seconds, t_w: Seconds, c: Seconds = 0) -> Seconds | None:
        """Modeled time until the last rank is done if all start at 0; combining costs c per byte."""
        closed = self.closed_time(case, t_s, t_w) if self.closed_time else None
        combined = self.closed_combined(case) if c else 0
        if closed is not None and combined is not None:
            return closed + c * combined
        schedule = self.schedule_for(case)
        return None if schedule is None else elapsed(schedule, case.ranks, t_s, t_w, c)

    def held(self, case: Case) -> int | None:
        """Largest number of items on any rank at any time; None if not claimed."""
        return self.holds(case) if self.holds else None

    def check(self, case: Case) -> None:
        """Raise UnsupportedCaseError if the algorithm does not support the case."""
        if reason := self.why_unsupported(case):
            kind = "" if self.kind in ("intra", self.operation) else f"{self.kind} "
            raise UnsupportedCaseError(f"{kind}{self.operation} {self.name}: {reason}")

    @property
    def card(self) -> dict[str, str]:
        """The lines of the algorithm's card by label: Rounds, Sent per rank, Scratch, Time, Fits, ...

        The card is the docstring of the function's module; a user's algorithm may have an incomplete card or none.
        """
        function = getattr(self.run, "func", self.run)  # of a functools.partial
        module = sys.modules.get(getattr(function, "__module__", None) or "")
        return read_card(getattr(module, "__doc__", None) or "")

    @property
    def bits(self) -> Bits | None:
        """Causes of different bits in floating-point reductions, as stated on the card; None without a claim."""
        line = self.card.get(REDUCTION_LABEL)
        return None if line is None else Bits.parse(line)

    @property
    def source(self) -> str:
        """The publication."""
        return self.card.get("Source", "")


_make = Algorithm.__init__


@wraps(_make)
def _make_with_earlier_names(
    self: Algorithm, *args: Any, fits: Callable[[Case], str | None] | None = None, **facts: Any
) -> None:
    """Accept `fits`, the earlier name of `why_unsupported`."""
    _make(self, *args, **(facts if fits is None else facts | {"why_unsupported": fits}))


Algorithm.__init__ = _make_with_earlier_names  # type: ignore[method-assign]  # of a dataclass
