"""Meetings: how the ranks of a communicator agree on something, for free in modelled time.

Each brings a value; when the last one has come, one of them draws the conclusion for all and everybody leaves at that
moment. The k-th meeting of a rank on a communicator is the k-th of all its ranks, so no names are needed, and ranks that
come to the same meeting with different plans are told.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Protocol, TypeAlias

from fakempi.errors import MPIError
from fakempi.mpi.base.complain import call_site, out_of_step
from fakempi.mpi.base.current import current_name, running_process
from fakempi.mpi.base.waiting import Completion

Conclude: TypeAlias = Callable[[dict[int, Any]], Any]
"""Draws the conclusion from what each has brought, by place."""

Check: TypeAlias = "Callable[[Meeting], None]"
"""Complains if what a rank brings to a meeting does not fit what others have said there."""


class Places(Protocol):
    """The numbers of processes, by their place in a meeting."""

    def __len__(self) -> int: ...

    def __iter__(self) -> Iterator[int]: ...


class Meeting:
    """Those who have come so far, and what each has brought."""

    __slots__ = ("awaits", "came", "conclude", "curious", "name", "plan", "said", "site", "values")

    def __init__(self, plan: str, awaits: Places, conclude: Conclude) -> None:
        self.plan = plan  # the call
        self.site, self.name = call_site(), current_name()  # of the first to come
        self.awaits = awaits  # the numbers of the processes that have to come, by place
        self.conclude = conclude
        self.came: list[Completion] = []
        self.values: dict[int, Any] = {}
        self.said: dict[str, tuple[Any, str, str | None]] = {}  # what the first to say it has said, where and who
        self.curious: list[Completion] = []  # those who wait for the first word

    def say(self, what: str, value: Any) -> None:
        """Put down what all others have to say likewise."""
        self.said[what] = value, call_site(), current_name()

    def first_word(self) -> Completion:
        """What to wait for until somebody has said something, or all have come."""
        word = Completion(self)
        self.curious.append(word)
        return word

    def join(self, place: int, value: Any, now: Any) -> Completion:
        """A process comes; returns what it has to wait for, whose result is the conclusion."""
        arrival = Completion(self)
        self.values[place] = value
        self.came.append(arrival)
        if self.curious and (self.said or len(self.values) == len(self.awaits)):
            for word in self.curious:
                word.complete(now)
            self.curious = []
        if len(self.values) == len(self.awaits):
            result = error = None
            try:
                result = self.conclude(self.values)
            except MPIError as failure:
                error = failure
            for completion in self.came:
                completion.result, completion.error = result, error
                completion.complete(now)
            self.came = []
        return arrival

    def missing(self) -> list[int]:
        """The numbers of the processes that have not come."""
        return [number for place, number in enumerate(self.awaits) if place not in self.values]


def meet(
    table: dict[Any, Meeting], key: Any, plan: str, awaits: Places, conclude: Conclude,
    place: int, value: Any, now: Any, check: Check | None = None,
) -> Completion:  # fmt: skip
    """Join the meeting of that key, which the first to come calls; `check` complains of what does not fit the others'."""
    choices = running_process().universe.choices
    if choices is not None:
        choices.met(plan)
    meeting = table.get(key)
    if meeting is None:
        meeting = table[key] = Meeting(plan, awaits, conclude)
    elif meeting.plan != plan:
        raise out_of_step(plan, meeting.name, meeting.plan, meeting.site)
    if check is not None:
        check(meeting)
    completion = meeting.join(place, value, now)
    if not meeting.came:
        del table[key]
    return completion
