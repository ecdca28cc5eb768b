"""Rendezvous: the ranks of a communicator exchange values and agree on a result, in zero modeled time.

Each rank contributes a value. When the last rank arrives, one function computes the result for all of them, and all ranks
continue at that time. The k-th calls of all ranks on a communicator belong to the same rendezvous, so no names are needed.
A rank that arrives with a different call gets an error that names both calls.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, MutableMapping
from typing import Any, Protocol, TypeAlias, TypeVar

from fakempi.core.kernel.agenda import Time
from fakempi.core.reports.dependencies import ProgramStep
from fakempi.errors import MPIError
from fakempi.mpi.base.call_site import place_of_call
from fakempi.mpi.base.current import current_name, running_process
from fakempi.mpi.base.mpi_errors import call_mismatch
from fakempi.mpi.base.process import RunState, Universe
from fakempi.mpi.base.waiting import Completion

K = TypeVar("K")

Conclude: TypeAlias = Callable[[dict[int, Any]], Any]
"""Computes the result from the values of all ranks, by slot."""

Check: TypeAlias = "Callable[[Rendezvous], None]"
"""Raises an error if the value of a rank conflicts with the declarations of other ranks."""


class ProcessNumbers(Protocol):
    """The numbers of processes, by their slot in a rendezvous."""

    def __len__(self) -> int: ...

    def __iter__(self) -> Iterator[int]: ...


class Rendezvous:
    """The ranks that have arrived so far, and the value of each."""

    __slots__ = (
        "arrivals", "call", "conclude", "declaration_waits", "declared", "expected", "needs", "place", "rank_name",
        "values",
    )  # fmt: skip
    recipe = waiting = None  # a collective call may find a rendezvous in place of its `CallEntry`; call matching reports it

    def __init__(self, call: str, expected: ProcessNumbers, conclude: Conclude) -> None:
        self.call = call
        self.place, self.rank_name = place_of_call(), current_name()  # of the first rank that arrives
        self.expected = expected  # the numbers of the processes that take part, by slot
        self.conclude = conclude
        self.arrivals: list[Completion] = []
        self.values: dict[int, Any] = {}
        self.declared: dict[str, tuple[object, str, str | None]] = {}  # name -> first value, its call site, its rank
        self.declaration_waits: list[Completion] = []  # of ranks that wait for the first declaration
        # the events on which the arrived ranks depend without buffering, if they are recorded
        self.needs: ProgramStep | None = None

    def declare(self, what: str, value: object) -> None:
        """Record a value that must be equal on all ranks."""
        self.declared[what] = value, place_of_call(), current_name()

    def first_declaration(self) -> Completion:
        """Return an operation that ends when a rank has declared something, or when all ranks have arrived."""
        wait = Completion(self)
        self.declaration_waits.append(wait)
        return wait

    def join(self, slot: int, value: object, now: Time) -> Completion:
        """Record that a process arrives; return the operation that it waits for, whose result is that of the rendezvous."""
        arrival = Completion(self)
        self.values[slot] = value
        self.arrivals.append(arrival)
        if self.declaration_waits and (self.declared or len(self.values) == len(self.expected)):
            for wait in self.declaration_waits:
                wait.complete(now)
            self.declaration_waits = []
        if len(self.values) == len(self.expected):
            result = error = None
            try:
                result = self.conclude(self.values)
            except MPIError as failure:
                error = failure
            for completion in self.arrivals:
                completion.result, completion.error = result, error
                completion.complete(now)
            self.arrivals = []
        return arrival

    def missing(self) -> list[int]:
        """The numbers of the processes that have not arrived."""
        return [number for slot, number in enumerate(self.expected) if slot not in self.values]


class GroupRendezvous(RunState):
    """Rendezvous of groups that have no communicator."""

    def __init__(self, universe: Universe) -> None:
        super().__init__(universe)
        self.table: dict[Hashable, Rendezvous] = {}


def join_rendezvous(
    table: MutableMapping[K, Rendezvous], key: K, call: str, expected: ProcessNumbers, conclude: Conclude,
    slot: int, value: object, now: Time, check: Check | None = None,
) -> Completion:  # fmt: skip
    """Join the rendezvous with that key, which the first rank creates; `check` compares the rank with the others."""
    process = running_process()
    choices = process.universe.choices
    if choices is not None:
        choices.synchronized(call)
    rendezvous = table.get(key)
    if rendezvous is None:
        rendezvous = table[key] = Rendezvous(call, expected, conclude)
    elif rendezvous.call != call:
        raise call_mismatch(call, rendezvous.rank_name, rendezvous.call, rendezvous.place)
    if check is not None:
        check(rendezvous)
    if process.loop.wait_tracker is not None:
        rendezvous.needs = process.loop.wait_tracker.joined(rendezvous.needs)
    completion = rendezvous.join(slot, value, now)
    if not rendezvous.arrivals:
        del table[key]
    return completion
