"""Random reductions: predefined operations on all basic types, user-defined ones, and all calls that reduce."""

from __future__ import annotations

from random import Random
from typing import Any

import numpy as np

from tests.real_mpi.random.calling import MODES, call, communicator, members, random_scope
from tests.real_mpi.random.observing import Op, Program, attempt

RANKS = 4
INTEGERS = {
    "INT": "i4",
    "LONG": "i8",
    "SHORT": "i2",
    "SIGNED_CHAR": "i1",
    "UNSIGNED_CHAR": "u1",
    "UNSIGNED_SHORT": "u2",
    "UNSIGNED": "u4",
    "UNSIGNED_LONG": "u8",
    "LONG_LONG": "i8",
    "INT8_T": "i1",
    "INT16_T": "i2",
    "INT32_T": "i4",
    "INT64_T": "i8",
    "UINT8_T": "u1",
    "UINT16_T": "u2",
    "UINT32_T": "u4",
    "UINT64_T": "u8",
    "AINT": "i8",
    "OFFSET": "i8",
    "COUNT": "i8",
    "INTEGER": "i4",
    "CHAR": "i1",
}
LOGICALS = {"C_BOOL": "?", "CXX_BOOL": "?", "LOGICAL": "i4", "BYTE": "u1"}
REALS = {"FLOAT": "f4", "DOUBLE": "f8", "LONG_DOUBLE": "g", "REAL": "f4", "DOUBLE_PRECISION": "f8", "REAL8": "f8"}
COMPLEXES = {
    "C_FLOAT_COMPLEX": "F",
    "C_DOUBLE_COMPLEX": "D",
    "C_LONG_DOUBLE_COMPLEX": "G",
    "COMPLEX": "F",
    "DOUBLE_COMPLEX": "D",
}
PAIRS = {"FLOAT_INT": "f4", "DOUBLE_INT": "f8", "LONG_INT": "i8", "TWOINT": "i4", "SHORT_INT": "i2", "LONG_DOUBLE_INT": "g"}
TYPES = {**INTEGERS, **LOGICALS, **REALS, **COMPLEXES, **PAIRS}
OPERATIONS = ("MAX", "MIN", "SUM", "PROD", "LAND", "LOR", "LXOR", "BAND", "BOR", "BXOR", "MAXLOC", "MINLOC")
FITTING = {
    **{key: [INTEGERS, REALS] for key in OPERATIONS[:2]},
    **{key: [INTEGERS, REALS, COMPLEXES] for key in OPERATIONS[2:4]},
    **{key: [INTEGERS, LOGICALS] for key in OPERATIONS[4:7]},
    **{key: [INTEGERS, {"BYTE": "u1"}] for key in OPERATIONS[7:10]},
    **{key: [PAIRS] for key in OPERATIONS[10:]},
}
USER = {"affine": False, "left": False, "right": False, "plus": True}
"""User-defined operations and whether they commute."""
CALLS = ("Reduce", "Allreduce", "Scan", "Exscan", "Reduce_scatter", "Reduce_scatter_block", "Reduce_local", "object")


def program(seed: int) -> Program:
    """One to three reductions."""
    rng = Random(f"reductions {seed}")
    ranks = rng.randint(2, RANKS)
    return {"ranks": ranks, "ops": [_operation(rng, ranks) for _ in range(rng.randint(1, 3))]}


def _operation(rng: Random, ranks: int) -> Op:
    name = rng.choice(CALLS)
    alone = name in ("Scan", "Exscan", "object")
    scope = random_scope(rng, ranks, 0 if alone else 0.2)
    operation = rng.choice((*OPERATIONS, *USER))
    if operation in USER:
        datatype = "INT64_T"
    elif scope[0] == "inter" or rng.random() < 0.9:  # not all ranks of an intercommunicator check the operation
        datatype = rng.choice(list(rng.choice(FITTING[operation])))
    else:
        datatype = rng.choice(list(TYPES))
    if scope[0] == "inter" and datatype == "BYTE":  # logical operations reject them
        datatype = "INT"
    return {
        "op": name,
        "scope": scope,
        "type": datatype,
        "operation": operation,
        "count": rng.choice((0, 1, 2, 3, 5)),
        "counts": [rng.choice((0, 1, 2, 3)) for _ in range(ranks)],
        "root": rng.randrange(ranks),
        "in_place": rng.random() < 0.3,
        "mode": rng.choice(MODES),
        "seed": rng.randrange(10**6),
    }


def data(op: Op, rank: int, count: int) -> Any:
    """The contribution of a rank: integers, so that results are exact in any order of additions."""
    rng, name = Random(f"{op['seed']} {rank}"), op["type"]
    kind = np.dtype(TYPES[name])
    least = 0 if kind.kind in "ub" or name in LOGICALS else -3
    numbers = [rng.randint(least, 1 if name in LOGICALS and name != "BYTE" else 3) for _ in range(2 * count)]
    if name in PAIRS:
        pairs = np.zeros(count, np.dtype([("value", kind), ("index", "i4")], align=True))
        pairs["value"], pairs["index"] = numbers[:count], [abs(each) for each in numbers[count:]]
        return pairs
    array = np.array(numbers[:count]).astype(kind)
    if kind.kind == "c":
        array = array + np.array(1j).astype(kind) * np.array(numbers[count:]).astype(kind)
    return array


def values(array: Any) -> list[Any]:
    """The values of an array, without padding."""
    if array.dtype.names:
        return [[float(each["value"]), int(each["index"])] for each in array]
    if array.dtype.kind == "c":
        return [[float(each.real), float(each.imag)] for each in array]
    return [float(each) if array.dtype.kind == "f" else int(each) for each in array]


def _affine(a: Any, b: Any, datatype: Any) -> None:
    """Compose x -> m x + c: the first map is the left operand."""
    first, second = np.frombuffer(a, "i8").reshape(-1, 2), np.frombuffer(b, "i8").reshape(-1, 2)
    second[:, 1] += second[:, 0] * first[:, 1]
    second[:, 0] *= first[:, 0]


def _left(a: Any, b: Any, datatype: Any) -> None:
    np.frombuffer(b, "i8")[:] = np.frombuffer(a, "i8")


def _right(a: Any, b: Any, datatype: Any) -> None:
    pass


def _plus(a: Any, b: Any, datatype: Any) -> None:
    np.frombuffer(b, "i8")[:] += np.frombuffer(a, "i8")


FUNCTIONS = {"affine": _affine, "left": _left, "right": _right, "plus": _plus}


class Tools:
    """The operation and the datatype of a call; `width` numbers make an element."""

    def __init__(self, MPI: Any, op: Op) -> None:
        self.user = op["operation"] in USER
        self.width = 2 if op["operation"] == "affine" else 1
        self.datatype = MPI.INT64_T.Create_contiguous(2).Commit() if self.width == 2 else getattr(MPI, op["type"])
        name = op["operation"]
        self.op = MPI.Op.Create(FUNCTIONS[name], USER[name]) if self.user else getattr(MPI, name)

    def free(self) -> None:
        if self.user:
            self.op.Free()
        if self.width == 2:
            self.datatype.Free()


def perform(MPI: Any, comm: Any, program: Program, rank: int) -> list[Any]:
    """One observation for each reduction."""
    return [_scoped(MPI, comm, op, rank, program["ranks"]) for op in program["ops"]]


def _scoped(MPI: Any, world: Any, op: Op, rank: int, ranks: int) -> Any:
    tools = Tools(MPI, op)
    with communicator(MPI, world, op["scope"]) as comm:
        found = attempt(MPI, lambda: _reduce(MPI, comm, op, rank, ranks, tools))
    tools.free()
    return found


def _reduce(MPI: Any, comm: Any, op: Op, rank: int, ranks: int, tools: Tools) -> Any:
    own, other = members(op["scope"], ranks, rank)
    me, inter, width = own.index(rank), op["scope"][0] == "inter", tools.width
    in_place = op["in_place"] and not inter

    def array(count: int, of: int = rank) -> Any:
        return data(op, of, count * width)

    def message(found: Any, count: int) -> Any:
        return [found, count, tools.datatype]

    def run(name: str, *args: Any, **kwargs: Any) -> None:
        call(comm, name, op["mode"], *args, **kwargs)

    name, n = op["op"], op["count"]
    if name == "Reduce_local":
        left, right = array(n), array(n, rank + 10)
        tools.op.Reduce_local(message(left, n), message(right, n))
        return values(right)
    if name == "object":
        return _objects(MPI, comm, op, rank, own)
    mine = array(n)
    if name == "Reduce":
        root = op["root"]
        if inter:
            is_root, first = root == rank, root < op["scope"][1]
            in_root_group = (rank < op["scope"][1]) == first
            number = MPI.ROOT if is_root else MPI.PROC_NULL if in_root_group else other.index(root)
            out = array(n, 99)
            run(
                name,
                None if in_root_group else message(mine, n),
                message(out, n) if is_root else None,
                op=tools.op,
                root=number,
            )
            return values(out) if is_root else None
        number = root % len(own)
        out = array(n) if in_place else array(n, 99)
        if me == number:
            run(name, MPI.IN_PLACE if in_place else message(mine, n), message(out, n), op=tools.op, root=number)
            return values(out)
        run(name, message(mine, n), None, op=tools.op, root=number)
        return values(mine)
    if name in ("Allreduce", "Scan", "Exscan"):
        out = mine if in_place else array(n, 99)
        run(name, MPI.IN_PLACE if in_place else message(mine, n), message(out, n), op=tools.op)
        return None if name == "Exscan" and me == 0 else values(out)
    if name == "Reduce_scatter_block":
        block = n * (len(other) if inter else 1)
        total, counts = block * len(own), [block] * len(own)
    else:
        counts = [op["counts"][each] for each in own]
        total = sum(counts)
        if inter:  # both groups reduce the same number of elements
            total = sum(op["counts"])
            counts = [total, *[0] * (len(own) - 1)]
    mine = array(total)
    out = mine if in_place else array(counts[me], 99)
    room = [out, total if in_place else counts[me], tools.datatype]
    source = MPI.IN_PLACE if in_place else message(mine, total)
    if name == "Reduce_scatter":
        run(name, source, room, counts, op=tools.op)
    else:
        source = source if in_place else message(mine, block)  # a count is that of a block
        run(name, source, [out, block, tools.datatype], op=tools.op)
    return values(out[: counts[me] * width])


def _objects(MPI: Any, comm: Any, op: Op, rank: int, own: list[int]) -> Any:
    """The calls in lower case, on strings, lists and numbers."""
    rng = Random(op["seed"])
    function = rng.choice((lambda a, b: a + b, MPI.SUM))
    mine: Any = rng.choice((f"<{rank}>", [rank, rank + 1], rank * 10 + 1))
    if rng.random() < 0.3:
        function, mine = rng.choice((MPI.MAX, MPI.MIN, MPI.PROD)), rank % 3 - 1
    elif rng.random() < 0.3:
        function, mine = rng.choice((MPI.MAXLOC, MPI.MINLOC)), (rank % 2, rank)
    name = rng.choice(("reduce", "allreduce", "scan", "exscan"))
    if name == "reduce":
        return comm.reduce(mine, op=function, root=op["root"] % len(own))
    return getattr(comm, name)(mine, op=function)
