"""Blocking receives in a cycle.

If every rank first receives from another rank and sends only afterward, all ranks wait, with any MPI library.

Wrong:

    from mpi4py import MPI
    comm = MPI.COMM_WORLD
    right, left = (comm.rank + 1) % comm.size, (comm.rank - 1) % comm.size
    comm.recv(source=left)  # FM202
    comm.send("text", dest=right)

Right:

    from mpi4py import MPI
    comm = MPI.COMM_WORLD
    right, left = (comm.rank + 1) % comm.size, (comm.rank - 1) % comm.size
    request = comm.isend("text", dest=right)
    comm.recv(source=left)
    request.wait()

Fix: use `sendrecv`, or `isend` before the receive and a wait after it; or let one rank send first.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from fakempi.apps.lint.analysis import formulas, mpi_calls
from fakempi.apps.lint.analysis.events import BranchEvents, Event, MpiCall, OtherCall
from fakempi.apps.lint.analysis.file_analysis import FileAnalysis
from fakempi.apps.lint.findings import LintFinding, finding
from fakempi.apps.lint.rules import paths
from fakempi.apps.lint.rules.send_cycle import cycle, described

CODE = "FM202"
TITLE = "blocking receives of all ranks in a cycle"
RANKS = 4
"""A number of ranks that programs are usually tested with."""
FIX = "use sendrecv, or isend before the receive and a wait after it"


def check(analysis: FileAnalysis) -> Iterator[LintFinding]:
    """Yield the findings of this rule."""
    for function in analysis.functions:
        first = _first_message(function.events)
        if first is not None:
            yield from _of_first(*first)


def _first_message(events: Sequence[Event]) -> tuple[MpiCall, Sequence[Event]] | None:
    """Return the first message call of a function and the events after it; None if another message may precede it."""
    for position, event in enumerate(events):
        if isinstance(event, MpiCall) and event.operation in mpi_calls.MESSAGES:
            return event, events[position + 1 :]
        if isinstance(event, OtherCall) and event.may_communicate:
            return None
        holds = isinstance(event, BranchEvents) and _holds_on_all_ranks(event)
        parts = paths.inside(event)[:1] if holds else paths.inside(event)
        if any(map(_has_messages, parts)):
            return _first_message(parts[0]) if len(parts) == 1 else None
    return None


def _holds_on_all_ranks(branch: BranchEvents) -> bool:
    """Return whether the condition is known to hold on all of some ranks, such as `size > 1`."""
    values = formulas.table(branch.value.formula, RANKS)
    return values is not None and all(values)


def _has_messages(events: Sequence[Event]) -> bool:
    return any(
        (isinstance(event, MpiCall) and event.operation in mpi_calls.MESSAGES)
        or (isinstance(event, OtherCall) and event.may_communicate)
        or any(map(_has_messages, paths.inside(event)))
        for event in events
    )


def _of_first(call: MpiCall, rest: Sequence[Event]) -> Iterator[LintFinding]:
    if call.operation not in ("recv", "Recv"):
        return
    source = call.argument(1, "source")[1]
    ranks = cycle(source)
    sends = [
        event
        for event in rest
        if isinstance(event, MpiCall) and event.operation in mpi_calls.SENDS and event.ids == call.ids
    ]
    if ranks and sends:
        yield finding(
            CODE, call.node,
            f"all ranks call {call.operation} before any of them calls {sends[0].operation} (line {sends[0].node.lineno}),"
            f" so that all wait: with {len(ranks)} ranks, {described(ranks)}", (), FIX,
        )  # fmt: skip
