"""An upper-case call with an object that is no buffer.

Calls such as `Send` and `Bcast` take buffers: arrays, or other objects with the buffer protocol. A list of numbers, a
text, a number or a dictionary has none; the call raises TypeError. Calls in lower case take any object.

Wrong:

    from mpi4py import MPI
    comm = MPI.COMM_WORLD
    comm.Bcast([1.0, 2.0, 3.0])  # FM303

Right:

    from mpi4py import MPI
    comm = MPI.COMM_WORLD
    comm.bcast([1.0, 2.0, 3.0])

Fix: use the call in lower case, or a numpy array.
"""

from __future__ import annotations

from collections.abc import Iterator

from fakempi.apps.lint.analysis import mpi_calls
from fakempi.apps.lint.analysis.file_analysis import FileAnalysis
from fakempi.apps.lint.findings import LintFinding, finding

CODE = "FM303"
TITLE = "an upper-case call with an object that is no buffer"
KINDS = {"numbers": "a list of numbers", "text": "a text", "number": "a number", "dict": "a dictionary", "set": "a set"}


def check(analysis: FileAnalysis) -> Iterator[LintFinding]:
    """Yield the findings of this rule."""
    for call in analysis.calls.values():
        if call.operation not in mpi_calls.OF_BUFFERS:
            continue
        two = call.operation in mpi_calls.OF_TWO_BUFFERS
        arguments = [call.argument(0, "sendbuf" if two else "buf")] + ([call.argument(1, "recvbuf")] if two else [])
        for node, value in arguments:
            if node is not None and value is not None and value.kind in KINDS:
                lower = call.operation.lower().rstrip("v")
                yield finding(
                    CODE, node, f"{call.operation} takes a buffer, and the argument is {KINDS[value.kind]}",
                    (), f"call {lower}, which takes any object, or pass a numpy array",
                )  # fmt: skip
