"""A loop with collective calls whose number of passes differs between ranks.

Each pass makes collective calls. A rank with more passes than the others waits in its last one.

Wrong:

    from mpi4py import MPI
    comm = MPI.COMM_WORLD
    for item in range(comm.rank, 10, comm.size):  # FM103
        comm.allreduce(item)

Right:

    from mpi4py import MPI
    comm = MPI.COMM_WORLD
    mine = [item for item in range(comm.rank, 10, comm.size)]
    for _ in range(comm.allreduce(len(mine), MPI.MAX)):
        comm.allreduce(mine.pop() if mine else 0)

Fix: give all ranks the same number of passes, for example the maximum from `allreduce`; or move the call behind the loop.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

from fakempi.apps.lint.analysis.events import Repetition
from fakempi.apps.lint.analysis.file_analysis import FileAnalysis
from fakempi.apps.lint.analysis.rank_values import RankDependence
from fakempi.apps.lint.findings import LintFinding, finding
from fakempi.apps.lint.rules import paths
from fakempi.apps.lint.rules.rank_branch import shortened

CODE = "FM103"
TITLE = "a loop with collective calls that has more passes on some ranks"
FIX = "give all ranks the same number of passes (the maximum from allreduce), or move the call behind the loop"


def check(analysis: FileAnalysis) -> Iterator[LintFinding]:
    """Yield the findings of this rule."""
    for function in analysis.functions:
        for event in chain.from_iterable(paths.blocks(function.events)):
            if isinstance(event, Repetition) and event.depends is not None:
                yield from _of_loop(event, event.depends)


def _of_loop(loop: Repetition, why: RankDependence) -> Iterator[LintFinding]:
    calls = list(paths.collective_calls(loop.body, why))
    if calls and not paths.always_aborts(loop.body):
        yield finding(
            CODE, loop.node,
            f"{calls[0]} is called in a loop whose number of passes differs between ranks: `{shortened(loop.what)}`"
            f" ({why.reason}, line {why.line})",
            (paths.described("in each pass", loop.body, why), "on a rank with fewer passes: no such call"), FIX,
        )  # fmt: skip
