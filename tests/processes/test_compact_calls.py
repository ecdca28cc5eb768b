"""Calls of one line that describe their arguments in different ways: the parent keeps the last description of each line."""

from __future__ import annotations

from pathlib import Path

from tests.processes.harness import both

SCRIPT = """
import numpy as np


def call(name, *args):
    return getattr(comm, name)(*args)  # the line of all calls


def combine(one, other, datatype):
    call("Get_rank")  # in the middle of a call of the same line
    np.frombuffer(other, "d")[:] += np.frombuffer(one, "d")


peer, op = 1 - rank, MPI.Op.Create(combine, True)
arrays = np.arange(2), np.arange(3.0), np.ones((2, 2), "c16"), np.zeros(0), np.arange(5000.0), np.array([True])
objects = True, 1, 1.0, 0.0, -0.0, 2**70, "text", b"bytes", b"", None, [1, 2.0], (MPI.DOUBLE.Get_size(), "x")
for tag in range(3):
    for data in arrays:
        for wrapped in (lambda array: array, lambda array: [array, array.size]):
            into = np.empty_like(data)
            call("Sendrecv", wrapped(data), peer, tag, wrapped(into), peer, tag)
            print(into.ravel()[-3:])
    for data in objects:
        print(repr(call("sendrecv", data, peer, tag, None, peer, tag)))
    total = np.zeros(3)
    call("Allreduce", arrays[1], total, op)
    print(total)
    other = call("Split", tag, -rank)
    print(other.Get_rank(), [one.Wait() for one in (call("Irecv", total, peer, tag), call("Isend", arrays[1], peer, tag))])
    try:
        call("Send", arrays[1], 7, tag)
    except MPI.Exception as error:
        print(error)
"""


def test_one_line_may_make_calls_of_all_kinds(tmp_path: Path) -> None:
    """The parent never uses the description of an earlier call for a later one that differs."""
    one, several = both(tmp_path, SCRIPT, 2)
    assert (one.error, several.error) == ("", "")
    assert several == one
    assert one.out.count("-0.0") == one.out.count("1180591620717411303424") == 6
