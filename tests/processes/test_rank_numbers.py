"""rank-number is also found with `--processes`, where the variables of the program are in another process."""

from __future__ import annotations

from pathlib import Path

from tests.processes.harness import both

SCRIPT = """
import numpy as np


def decorated(function):
    return function


@decorated
def shift(buffer):
    left = rank - 1
    comm.recv(source=left)
    for _ in range(3):  # a call that is prepared
        comm.Recv(buffer, left)
    null = MPI.PROC_NULL
    comm.Recv(buffer, null)


if rank == 0:
    shift(np.zeros(3))
    left = comm.rank - 1
    comm.sendrecv(1, left, 0,
        source=rank - 1)
"""


def test_a_number_that_a_function_has_computed_is_found_in_both_ways(tmp_path: Path) -> None:
    """The values of its variables decide, and they are the child's."""
    one, several = both(tmp_path, SCRIPT, 2)
    assert several.findings == one.findings
    assert (one.error, several.error) == ("", "")
    found = [text for text in one.findings if "rank-number" in text]
    assert sum("source is -1" in text for text in found) == 3
    assert not any("null" in text for text in found)
