"""A path that ends between collective calls, under a condition that differs between ranks.

A rank that returns, raises an exception, or leaves a loop early does not make the collective calls that follow. The other
ranks wait for it there.

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
from fakempi.apps.lint.analysis.rank_values import ANY, RankDependence
from fakempi.apps.lint.findings import LintFinding, finding
from fakempi.apps.lint.rules import paths
from fakempi.apps.lint.rules.rank_branch import shortened

CODE = "FM102"
TITLE = "a path that ends between collective calls on some ranks"
FIX = "broadcast the decision and leave on all ranks, or end all ranks with comm.Abort()"


def check(analysis: FileAnalysis) -> Iterator[LintFinding]:
    """Yield the findings of this rule."""
    for function in analysis.functions:
        yield from _in_block(function.events, [], None, False)


def _in_block(events: Sequence[Event], after: list[Event], loop: list[Event] | None, guarded: bool) -> Iterator[LintFinding]:
    """Check a block; `after` are the events that follow it, `loop` those of the loop around it; `guarded`: inside `try`."""
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
    sides = branch.body, branch.orelse
    ends = [paths.end_of(side) for side in sides]
    if why is None or "abort" in ends or all(ends) or any(paths.always_aborts(side) for side in sides):
        return
    for side, other in (sides, sides[::-1]):
        if paths.end_of(other):
            continue
        for path in _ending_paths(side):
            how = paths.end_of(path)
            if how in ("raise", "exit") and (guarded or ANY in why.ids):
                continue  # it may be caught, or it ends a wait with a time limit
            following = rest if how == "continue" else [*rest, *(loop or [])] if how == "break" else [*rest, *after]
            if not _skips_calls(path, [*other, *following], why):
                continue
            if path is side is branch.orelse and how in ("raise", "exit") and len(side) == 1:
                continue  # the last case of a chain of conditions, which no rank should reach
            yield _finding(branch, path, side is branch.body, [*other, *following], why)


def _ending_paths(side: list[Event]) -> Iterator[list[Event]]:
    """Yield the paths through a block that end early: at its end, or in a branch inside."""
    if paths.end_of(side):
        yield side
        return
    for position, event in enumerate(side):
        if isinstance(event, BranchEvents) and event.value.depends is None:
            for part in (event.body, event.orelse):
                if not paths.always_aborts(part):
                    yield from ([*side[:position], *path] for path in _ending_paths(part))


def _skips_calls(path: list[Event], others: list[Event], why: RankDependence) -> bool:
    """Return whether ranks on other paths make collective calls that ranks on this path do not make."""
    taken, elsewhere = paths.steps(path, why), paths.steps(others, why)
    if paths.end_of(path) == "break" and set(paths.names(taken)):
        return False
    return paths.differ(taken, elsewhere) and _definite(elsewhere) and not paths.always_aborts(others)


def _finding(branch: BranchEvents, path: list[Event], holds: bool, others: list[Event], why: RankDependence) -> LintFinding:
    last = path[-1]
    assert isinstance(last, PathEnd)
    labels = ("where it holds", "elsewhere")
    taken, others_taken = paths.described(labels[not holds], path, why), paths.described(labels[holds], others, why)
    return finding(
        CODE, last.node,
        f"`{last.how}` skips collective calls of other ranks: the condition `{shortened(branch.test)}` (line"
        f" {branch.test.lineno}) differs between ranks ({why.reason}, line {why.line})",
        (f"{taken}, then {last.how}", others_taken), FIX,
    )  # fmt: skip


def _definite(path: paths.Steps) -> bool:
    """Return whether a path makes a collective call whatever other conditions are."""
    return any(
        each != paths.UNKNOWN_CALL if isinstance(each, str) else all(_definite(part) for part in each[1:]) for each in path
    )
