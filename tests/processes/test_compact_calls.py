"""Calls of one line with arguments of all kinds: most are marshaled, the others are pickled."""

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


ARRAYS = """
import numpy as np


def call(name, *args):
    return getattr(comm, name)(*args)


call("Barrier")  # numpy is found, and the line is known
arrays = [
    np.array(7.0), np.zeros(0), np.zeros((0, 3)), np.arange(6).reshape(2, 3), np.arange(511.0), np.arange(512.0),
    np.arange(2047.0), np.arange(2048.0), np.arange(9000.0), np.ones(2, "e"), np.ones(2, "g"), np.ones(2, "G"),
    np.ones(2, "?"), np.arange(6.0).reshape(2, 3).T, np.arange(8)[::2], np.ones(2, ">f8"), np.ones(1, "i4,f8"),
    np.array(["text"]), np.ones(2, "M8[s]"), [1.0], np.float64(3), None,
]
for data in arrays:
    for name, *args in ("Ibcast", 0), *[("Bcast", *root) for root in ((), (0,), (True,), (2**70,), (1.5,), ("0",))]:
        try:
            request = call(name, data, *args)
            if request is not None:
                request.Wait()
            print(name, args, type(data), getattr(data, "dtype", ""), np.shape(data))
        except Exception as error:
            print(name, args, type(data), type(error), error)
constant = np.arange(3.0)
constant.flags.writeable = False
for data in [constant, *arrays[:13]]:
    for _ in range(2):
        if rank == 0:
            call("Send", data, 1)
        else:
            into = np.zeros_like(data)
            call("Recv", into, 0)
            print(into.dtype, into.shape, np.array_equal(into, data), into.sum())
try:
    call("Recv", constant, rank)
except Exception as error:
    print(type(error), error)
"""


def test_small_arrays_of_all_kinds(tmp_path: Path) -> None:
    """Results and errors of calls with one array are those of ranks of one process."""
    one, several = both(tmp_path, ARRAYS, 2)
    assert (one.error, several.error) == ("", "")
    assert several == one
    assert one.out.count(" True ") == 28


def test_one_line_may_make_calls_of_all_kinds(tmp_path: Path) -> None:
    """Each call gets its own arguments, whatever the other calls of its line have."""
    one, several = both(tmp_path, SCRIPT, 2)
    assert (one.error, several.error) == ("", "")
    assert several == one
    assert one.out.count("-0.0") == one.out.count("1180591620717411303424") == 6
