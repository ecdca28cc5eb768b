"""Operations of fakempi and of a real MPI: supported types, results, and arguments of user-defined functions.

As a script, this file is the part that runs on a real MPI: it prints its results on standard output. It runs in a separate
process because importing mpi4py starts MPI.
"""

from __future__ import annotations

import json
import sys
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from fakempi.errors import MPIError
from fakempi.mpi.buffers.address_constants import IN_PLACE
from fakempi.mpi.datatypes import predefined
from fakempi.mpi.datatypes.datatype import Datatype
from fakempi.mpi.operations import op as our_ops
from tests.real_mpi.processes import script_answer, through_json

OPS = list(our_ops.BY_NAME)
ABORTING = {"REAL16", "COMPLEX32"}  # MPICH 5.0 accepts them and then fails an assertion
TYPES = sorted(set(predefined.BY_NAME) - ABORTING - {"DATATYPE_NULL"})
NAN = float("nan")

OURS = SimpleNamespace(**predefined.BY_NAME, **our_ops.BY_NAME, Op=our_ops.Op, Datatype=Datatype,
                       Exception=MPIError, IN_PLACE=IN_PLACE)  # fmt: skip


def outcome(MPI: Any, function: Any) -> Any:
    """The result of a call, or its failure: MPI's error class, or Python's exception if mpi4py itself raises it."""
    try:
        return function()
    except (ValueError, TypeError, BufferError) as error:  # errors of fakempi have both types
        kinds = [kind.__name__ for kind in (ValueError, TypeError, BufferError) if isinstance(error, kind)]
        return f"raises {kinds[0]}"
    except MPI.Exception as error:
        return f"class {error.Get_error_class()}"


def operands(MPI: Any, name: str) -> list[Any]:
    """Two arrays of elements of a type, with small numbers, of which some are 0 or equal."""
    datatype, found = getattr(MPI, name), []
    for numbers in ([0, 0, 3, 5, 9, 6, -7, 2], [0, 7, 0, 2, 9, -6, -7, 3]):
        if name in ("INT_INT", "TWOINT") or name.endswith("_INT"):
            value = {"INT_INT": "i", "TWOINT": "i", "SHORT_INT": "h", "LONG_INT": "l"}.get(name)
            value = value or {"FLOAT_INT": "f", "DOUBLE_INT": "d"}.get(name, "g")
            dtype = np.dtype({"names": ["v", "i"], "formats": [value, "i"]}, align=True)
            pairs = np.zeros(len(numbers), dtype)
            pairs["v"], pairs["i"] = np.array(numbers) // 3, numbers
            found.append(pairs.view("u1"))
        elif datatype.typechar in "cSU?" or not datatype.typechar:
            found.append(np.array(numbers, "i4" if datatype.Get_size() == 4 else "i1").view("u1"))
        else:
            found.append(np.array(numbers).astype(datatype.typestr).view("u1"))
    return found


def reduced(MPI: Any, op: Any, name: str) -> Any:
    """The result of Reduce_local for two arrays, without the padding, which is undefined."""
    one, two = operands(MPI, name)
    datatype = getattr(MPI, name)
    op.Reduce_local([one, 8, datatype], [two, 8, datatype])
    if name == "LONG_DOUBLE_INT":
        return two.view(np.dtype({"names": ["v", "i"], "formats": ["g", "i"]}, align=True)).astype("f8,i4").tolist()
    if "LONG_DOUBLE" in name:  # on some machines 10 bytes and 6 of padding
        return repr(two.view(datatype.typestr).astype("D").tolist())
    elements = two.reshape(8, -1)
    if name == "SHORT_INT":
        return [elements[:, :2].tobytes().hex(), elements[:, 4:].tobytes().hex()]
    return elements[:, : datatype.Get_size()].tobytes().hex()


def table(MPI: Any) -> Any:
    """Every operation on every type."""
    return {f"{op} of {name}": outcome(MPI, lambda: reduced(MPI, getattr(MPI, op), name)) for op in OPS for name in TYPES}  # noqa: B023


def objects(MPI: Any) -> Any:
    """Every operation on Python objects."""
    some: list[tuple[Any, Any]] = [
        (3, 5), (5, 3), (0, 7), (3.5, 2), ("a", "b"), ([1], [2]), ((1, 2), (1, 1)), ((1, 1), (1, 2)), ((2, 1), (1, 1)),
        ((1, 1), (2, 0)), (None, 1), ((NAN, 3), (2, 1)), ((2, 3), (NAN, 1)), ((NAN, 1), (2, 3)), ([5, 1], (5, 1)),
        (True, False), ((1, "b"), (1, "a")), ((1, 2, 3), (1, 2, 3)), ([], [0]), ((1, None), (1, None)),
    ]  # fmt: skip
    return [[op, repr(pair), repr(outcome(MPI, lambda: getattr(MPI, op)(*pair)))] for op in OPS for pair in some]  # noqa: B023


def seen(MPI: Any) -> Any:
    """The arguments of a user-defined function."""
    calls: list[Any] = []

    def function(first: Any, second: Any, datatype: Any) -> None:
        calls.append([first.tobytes().hex(), second.tobytes().hex(), datatype.Get_size(), list(datatype.Get_extent())])
        second[:] = bytes((2 * one + two) % 256 for one, two in zip(first.tobytes(), second.tobytes(), strict=True))

    op, byte = MPI.Op.Create(function), MPI.BYTE
    kinds = [
        byte, MPI.INT, byte.Create_vector(2, 1, 3), byte.Create_resized(-4, 12), byte.Create_resized(4, 12),
        byte.Create_hindexed([1], [8]), MPI.Datatype.Create_struct([1, 1], [8, 3], [byte, byte]),
        byte.Create_resized(0, 0), byte.Create_hvector(3, 1, 5), MPI.DOUBLE_INT,
    ]  # fmt: skip
    for datatype in kinds:
        for count in (3, 0):
            one, two = np.arange(100, dtype="u1"), np.arange(100, dtype="u1") + 100
            if not datatype.is_predefined:
                datatype.Commit()
            op.Reduce_local([one, count, datatype], [two, count, datatype])
            calls.append([one.tobytes().hex(), two.tobytes().hex()])
    op.Free()
    return [calls, bool(op), op.is_predefined]


def mistakes(MPI: Any) -> Any:
    """Errors for wrong arguments."""
    a, b, null = np.zeros(3), np.zeros(3), MPI.OP_NULL
    vector, fresh = MPI.DOUBLE.Create_vector(2, 1, 2).Commit(), MPI.DOUBLE.Create_contiguous(2)
    mine = MPI.Op.Create(lambda *given: None)
    calls: list[Any] = [
        lambda: MPI.SUM.Reduce_local(np.zeros(3), np.zeros(4)),
        lambda: MPI.SUM.Reduce_local(np.zeros(4), np.zeros(3)),
        lambda: MPI.SUM.Reduce_local(np.zeros(3), np.zeros(3, "f")),
        lambda: MPI.SUM.Reduce_local(np.zeros(3, "f"), np.zeros(3, "i")),
        lambda: MPI.BAND.Reduce_local(np.zeros(3, "f"), np.zeros(4, "i")),
        lambda: MPI.SUM.Reduce_local(np.zeros(3, "l"), [np.zeros(3, "l"), MPI.INT64_T]),
        lambda: MPI.SUM.Reduce_local([a, MPI.DOUBLE], [b, MPI.DOUBLE.Dup()]),
        lambda: MPI.SUM.Reduce_local([np.zeros(6), 1, vector], [np.zeros(6), 1, vector]),
        lambda: MPI.SUM.Reduce_local([np.zeros(6), 0, vector], [np.zeros(6), 0, vector]),
        lambda: mine.Reduce_local([np.zeros(6), 1, fresh], [np.zeros(6), 1, fresh]),
        lambda: MPI.SUM.Reduce_local(a, a),
        lambda: MPI.SUM.Reduce_local(a[:0], a[:0]),
        lambda: mine.Reduce_local(a, a),
        lambda: MPI.SUM.Reduce_local(None, b),
        lambda: MPI.SUM.Reduce_local(a, b.tobytes()),
        lambda: MPI.SUM.Reduce_local(np.zeros((4, 4))[:, 1], np.zeros(4)),
        lambda: MPI.SUM.Reduce_local(np.zeros(4, ">f8"), np.zeros(4, ">f8")),
        lambda: MPI.SUM.Reduce_local([None, 0, MPI.INT], [None, 0, MPI.INT]),
        lambda: MPI.SUM.Reduce_local(b, MPI.IN_PLACE),
        lambda: null.Reduce_local(a, b),
        lambda: null.Free(),
        lambda: null.free(),
        lambda: null.Is_commutative(),
        lambda: null(1, 2),
        lambda: MPI.SUM.Free(),
        lambda: MPI.SUM.free(),
        lambda: MPI.Op(MPI.SUM).Free(),
        lambda: MPI.Op(3),
        lambda: MPI.Op(mine)(1, 2),
        lambda: hash(MPI.SUM),
        lambda: MPI.SUM(1),
        lambda: MPI.SUM(x=1, y=2),
    ]
    return [[number, outcome(MPI, call)] for number, call in enumerate(calls)]


def handles(MPI: Any) -> Any:
    """Properties of operations."""
    known = [getattr(MPI, op) for op in OPS]
    mine = [MPI.Op.Create(print), MPI.Op.Create(print, True), MPI.Op.Create(print, commute="yes")]
    about = [[bool(op), op.is_predefined, outcome(MPI, op.Is_commutative)] for op in known + mine]
    return [about, [op.__reduce__() for op in known], [list(map(repr, op.__reduce__()[1])) for op in mine]]


QUESTIONS = [table, objects, seen, mistakes, handles]


def answer() -> None:
    """The part that runs on a real MPI."""
    from mpi4py import MPI

    json.dump({question.__name__: question(MPI) for question in QUESTIONS}, sys.stdout)


@pytest.fixture(scope="module")
def real() -> Any:
    """The results of a real MPI."""
    return script_answer(__file__)


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda question: question.__doc__)
def test_operations_agree(real: Any, question: Any) -> None:
    """Each result is compared."""
    theirs, ours = real[question.__name__], through_json(question(OURS))
    if isinstance(theirs, dict):
        assert {key: [ours[key], theirs[key]] for key in theirs if ours[key] != theirs[key]} == {}
    assert ours == theirs


if __name__ == "__main__":
    answer()
