"""A path that ends between collective calls, under a condition that differs between ranks.

A rank that returns, raises an exception, or leaves a loop early does not make the collective calls that follow. The other ranks wait
for it there.

Wrong:

    from mpi4py import MPI
    def total(comm, values):
        if comm.rank == 0 and not values:
            return 0  # FM102
        return comm.allreduce(len(values))
    total(MPI.COMM_WORLD, [])

Right:

    from mpi4py import MPI
    def total(comm, values):
        empty = comm.bcast(not values)
        if empty:
            return 0
        return comm.allreduce(len(values))
    total(MPI.COMM_WORLD, [])

Fix: make the decision on one rank, broadcast it, and leave on all ranks; or end all ranks with `comm.Abort()`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from fakempi.apps.lint.analysis.events import BranchEvents, Event, LocalCall, PathEnd, Repetition, TryEvents
from fakempi.apps.lint.analysis.file_analysis import FileAnalysis
from fakempi.apps.lint.findings import LintFinding, finding
from fakempi.apps.lint.rules import paths
from fakempi.apps.lint.rules.rank_branch import shortened

CODE = "FM102"
TITLE = "a path that ends between collective calls on some ranks"
FIX = "broadcast the decision and leave on all ranks, or end all ranks with comm.Abort()"
WORDS = {"exit": "exit", "return": "return", "raise": "raise", "break": "break", "continue": "continue"}


def check(analysis: FileAnalysis) -> Iterator[LintFinding]:
    """Yield the findings of this rule."""
    for function in analysis.functions:
        yield from _in_block(function.events, [], None, False)


def _in_block(events: Sequence[Event], after: list[Event], loop: list[Event] | None, guarded: bool) -> Iterator[LintFinding]:
    """Check a block; `after` are the events that follow it, `loop` those of the loop around it, and `guarded` means inside `try`."""
    for position, event in enumerate(events):
        rest = list(events[position + 1 :])
        if isinstance(event, BranchEvents):
            yield from _of_branch(event, rest, after, loop, guarded)
            for part in (event.body, event.orelse):
                yield from _in_block(part, [*rest, *after], loop, guarded)
        elif isinstance(event, LocalCall):
            yield from _in_block(event.body, [], None, guarded)
        elif isinstance(event, Repetition):
            yield from _in_block(event.body, [*rest, *after], event.body, guarded)
        elif isinstance(event, TryEvents):
            for part in paths.parts_of(event):
                yield from _in_block(part, [*rest, *after], loop, guarded or part is event.body)


def _of_branch(
    branch: BranchEvents, rest: list[Event], after: list[Event], loop: list[Event] | None, guarded: bool
) -> Iterator[LintFinding]:
    why = branch.value.depends
    ends = paths.end_of(branch.body), paths.end_of(branch.orelse)
    if why is None or not any(ends) or "abort" in ends or all(ends):
        return
    side, other = (branch.body, branch.orelse) if ends[0] else (branch.orelse, branch.body)
    if paths.always_aborts(side) or (guarded and paths.end_of(side) == "raise"):
        return
    how, last = paths.end_of(side), side[-1]
    assert isinstance(last, PathEnd)
    if how == "break":
        rest = [*rest, *(loop or [])]
    elif how != "continue":
        rest = [*rest, *after]
    taken, elsewhere = paths.steps(side, why), paths.steps([*other, *rest], why)
    if not paths.differ(taken, elsewhere) or _ends_with_abort(rest):
        return
    if how == "break" and set(paths.names(taken)):
        return
    where = "where it holds" if side is branch.body else "elsewhere"
    yield finding(
        CODE, last.node,
        f"`{WORDS[how]}` skips collective calls of other ranks: the condition `{shortened(branch.test)}` (line {branch.test.lineno})"
        f" differs between ranks ({why.reason}, line {why.line})",
        (paths.described(where, side, why) + f", then {how}",
         paths.described("elsewhere" if side is branch.body else "where it holds", [*other, *rest], why)), FIX,
    )  # fmt: skip


def _ends_with_abort(events: list[Event]) -> bool:
    return any(isinstance(event, PathEnd) and event.how == "abort" for event in events)
