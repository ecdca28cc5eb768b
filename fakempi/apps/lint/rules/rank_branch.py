"""A collective call that only a part of the ranks reaches.

All ranks of a communicator have to make the same collective calls in the same order. If a condition differs between ranks
and only one branch contains a collective call, the ranks in that branch wait for the others. The condition may be the
rank, a result that only the root has (`gather`, `reduce`), data that differ between ranks (`scatter`), or the time.

Wrong:

    from mpi4py import MPI
    comm = MPI.COMM_WORLD
    if comm.rank == 0:  # FM101
        total = comm.bcast(42)
    else:
        total = None

Right:

    from mpi4py import MPI
    comm = MPI.COMM_WORLD
    total = 42 if comm.rank == 0 else None
    total = comm.bcast(total)

Fix: make the call on all ranks, outside the branch; give the other branch the same calls; or create a communicator with
`Split` for the ranks that take part.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from fakempi.apps.lint.analysis.events import BranchEvents, Event
from fakempi.apps.lint.analysis.file_analysis import FileAnalysis
from fakempi.apps.lint.findings import LintFinding, finding
from fakempi.apps.lint.rules import paths

CODE = "FM101"
TITLE = "collective call in a branch that only some ranks take"
FIX = "make the same collective calls in both branches, or move them out of the branch"


def check(analysis: FileAnalysis) -> Iterator[LintFinding]:
    """Yield the findings of this rule."""
    for function in analysis.functions:
        for events in paths.blocks(function.events):
            yield from _in_block(events)


def _in_block(events: Sequence[Event]) -> Iterator[LintFinding]:
    accepted: set[int] = set()  # branches that together give each rank the same calls
    for position, event in enumerate(events):
        if isinstance(event, BranchEvents) and id(event) not in accepted:
            together = _partners(event, events[position + 1 :])
            accepted.update(map(id, together))
            if not together:
                yield from _of_branch(event)


def _partners(branch: BranchEvents, rest: Sequence[Event]) -> list[BranchEvents]:
    """Return the later branches with which the calls of all ranks are the same; an empty list if there are none."""
    why = branch.value.depends
    if why is None:
        return []
    later = [event for event in rest if isinstance(event, BranchEvents) and event.value.depends is not None]
    for count in range(1, min(len(later), 4) + 1):
        if paths.complementary([branch, *later[:count]], why):
            return later[:count]
    return []


def _of_branch(branch: BranchEvents) -> Iterator[LintFinding]:
    why = branch.value.depends
    if why is None or paths.always_aborts(branch.body) or paths.always_aborts(branch.orelse):
        return
    if paths.end_of(branch.body) or paths.end_of(branch.orelse):
        return  # a matter of FM102
    one, other = paths.steps(branch.body, why), paths.steps(branch.orelse, why)
    if not paths.differ(one, other):
        return
    condition = shortened(branch.test)
    calls = list(paths.collective_calls([*branch.body, *branch.orelse], why))
    both = bool(list(paths.names(one))) and bool(list(paths.names(other)))
    which = "different collective calls" if both else f"{calls[0]} is called only by some ranks"
    yield finding(
        CODE, branch.node, f"{which}: the condition `{condition}` differs between ranks ({why.reason}, line {why.line})",
        (paths.described("where it holds", branch.body, why), paths.described("elsewhere", branch.orelse, why)), FIX,
    )  # fmt: skip


def shortened(node: ast.AST, width: int = 60) -> str:
    """Return the source of an expression on one line, with dots if it is long."""
    text = " ".join(ast.unparse(node).split())
    return text if len(text) <= width else f"{text[: width - 3]}..."
