"""The root of a collective call differs between ranks.

All ranks have to name the same root. With `root=rank` each rank takes itself for the root, and none receives from another
one.

Wrong:

    from mpi4py import MPI
    comm = MPI.COMM_WORLD
    value = comm.bcast(comm.rank, root=comm.rank)  # FM105

Right:

    from mpi4py import MPI
    comm = MPI.COMM_WORLD
    value = comm.bcast(comm.rank, root=0)

Fix: pass the same root on all ranks.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

from fakempi.apps.lint.analysis import formulas, mpi_calls
from fakempi.apps.lint.analysis.events import MpiCall
from fakempi.apps.lint.analysis.file_analysis import FileAnalysis
from fakempi.apps.lint.findings import LintFinding, finding
from fakempi.apps.lint.rules import paths
from fakempi.apps.lint.rules.rank_branch import shortened

CODE = "FM105"
TITLE = "a root that differs between ranks"
POSITIONS = {"bcast": 1, "Bcast": 1, "gather": 1, "scatter": 1, "reduce": 2, "Reduce": 3, "Gather": 2, "Scatter": 2,
             "Gatherv": 2, "Scatterv": 2}  # fmt: skip


def check(analysis: FileAnalysis) -> Iterator[LintFinding]:
    """Yield the findings of this rule. Methods are checked where they are called: a method may run on one rank only."""
    for function in analysis.functions:
        if "." not in function.name:
            for event in chain.from_iterable(paths.blocks(function.events, of_all_ranks=True)):  # a branch may be the root's
                if isinstance(event, MpiCall) and event.operation in mpi_calls.ROOTED:
                    yield from _of_call(event)


def _of_call(call: MpiCall) -> Iterator[LintFinding]:
    node, value = call.argument(POSITIONS[call.operation], "root")
    if node is None or value is None or value.depends is None or not value.depends.ids & call.ids:
        return  # a parameter called `rank` may be the root
    roots = formulas.table(value.formula, 4)
    if roots is not None and len(set(roots)) > 1 and all(isinstance(root, int) for root in roots):
        shown = ", ".join(map(str, roots))
        yield finding(
            CODE, node, f"the root of {call.operation} differs between ranks: `{shortened(node)}` is {shown} on 4 ranks",
            (), "pass the same root on all ranks",
        )  # fmt: skip
