"""Collective calls with invalid arguments, the same on all ranks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.real_mpi.random.invalid.scene import Scene

ROOTED = ("Bcast", "Reduce", "Gather", "Scatter", "Gatherv", "Scatterv")
REDUCING = ("Reduce", "Allreduce", "Scan", "Exscan", "Reduce_scatter_block", "Reduce_scatter")


def _call(s: Scene, name: str, *args: Any, **kwargs: Any) -> Any:
    """Blocking, nonblocking or persistent."""
    mode = s.pick("", "I", "init")
    if mode == "":
        getattr(s.comm, name)(*args, **kwargs)
    elif mode == "I":
        getattr(s.comm, f"I{name.lower()}")(*args, **kwargs).Wait()
    else:
        s.keep(getattr(s.comm, f"{name}_init")(*args, **kwargs))
    return "accepted"


def _arguments(s: Scene, name: str, sent: Any, received: Any) -> tuple[Any, ...]:
    return (sent,) if name == "Bcast" else (sent, received)


def _root(s: Scene) -> Any:
    name = s.pick(*ROOTED)
    one, all_of_them = [s.ints[:2], 2, s.MPI.INT], [s.more[: 2 * s.size], s.MPI.INT]
    many = s.pick(False, True)
    args = _arguments(s, name, *((all_of_them, one) if name.startswith("Scatter") else (one, all_of_them)))
    if many:
        args = args[::-1]
    return _call(s, name, *args, root=s.pick(s.bad_rank(), s.MPI.PROC_NULL))


def _root_of_objects(s: Scene) -> Any:
    name = s.pick("bcast", "gather", "scatter", "reduce")
    return getattr(s.comm, name)([0] * s.size, root=s.pick(s.bad_rank(), s.MPI.PROC_NULL)) and "accepted"


def _op(s: Scene, op: Any, sent: Any = None) -> Any:
    name = s.pick(*REDUCING)
    sent = [s.more, 1, s.MPI.INT] if sent is None else sent
    if name.startswith("Reduce_scatter"):
        sent = [sent[0], s.size, sent[2]]
    kwargs = {"recvcounts": [1] * s.size} if name == "Reduce_scatter" else {}
    return _call(s, name, sent, [s.ints, 1, sent[2]], op=op, **kwargs)


def _wrong_op(s: Scene) -> Any:
    """An operation that is not defined for the type."""
    MPI = s.MPI
    name, kind = s.pick(
        ("BAND", "DOUBLE"),
        ("BXOR", "FLOAT"),
        ("MAXLOC", "INT"),
        ("MINLOC", "DOUBLE"),
        ("SUM", "BYTE"),
        ("LAND", "BYTE"),
        ("MAX", "BYTE"),
        ("SUM", "INT_INT"),
        ("PROD", "DOUBLE_INT"),
        ("MAX", "C_DOUBLE_COMPLEX"),
        ("MIN", "C_FLOAT_COMPLEX"),
        ("SUM", "C_BOOL"),
        ("BAND", "C_DOUBLE_COMPLEX"),
        ("MAX", "C_BOOL"),
    )
    return _op(s, getattr(MPI, name), [s.more.view("u1"), 1, getattr(MPI, kind)])


def _local_op(s: Scene) -> Any:
    MPI = s.MPI
    name, kind = s.pick(
        ("BAND", "DOUBLE"), ("MAXLOC", "INT"), ("SUM", "BYTE"), ("SUM", "INT_INT"), ("MAX", "C_FLOAT_COMPLEX")
    )
    datatype = getattr(MPI, kind)
    return getattr(MPI, name).Reduce_local([s.more.view("u1"), 1, datatype], [s.ints.view("u1"), 1, datatype])


def _count(s: Scene) -> Any:
    name = s.pick("Bcast", "Allgather", "Alltoall", "Gather", "Allreduce", "Scan")
    bad = [s.ints, s.pick(-1, -4), s.MPI.INT]
    return _call(s, name, *_arguments(s, name, bad, [s.more, s.MPI.INT]))


def _type(s: Scene, datatype: Any) -> Any:
    name = s.pick("Bcast", "Allgather", "Alltoall", "Gather")
    bad, count = [s.more, s.size if name == "Alltoall" else 1, datatype], [s.more, s.size, datatype]
    return _call(s, name, *_arguments(s, name, bad, count if name in ("Allgather", "Alltoall", "Gather") else bad[:]))


def _counts(s: Scene) -> Any:
    name = s.pick("Allgatherv", "Alltoallv")
    counts = [1] * s.size
    counts[s.pick(*range(s.size))] = s.pick(-1, -3)
    good = [s.more, [1] * s.size, list(range(s.size)), s.MPI.INT]
    bad = [s.more[:], counts, list(range(s.size)), s.MPI.INT]
    return _call(s, name, [s.ints, 1, s.MPI.INT] if name == "Allgatherv" else good, bad)


def _too_few(s: Scene) -> Any:
    """Fewer counts than ranks; mpi4py checks this."""
    name = s.pick("Allgatherv", "Alltoallv")
    counts = [1] * (s.size + s.pick(-1, 1))
    good = [s.more, [1] * s.size, list(range(s.size)), s.MPI.INT]
    return _call(s, name, [s.ints, 1, s.MPI.INT] if name == "Allgatherv" else good, [s.more[:], counts, s.MPI.INT])


def _in_place(s: Scene) -> Any:
    """MPI.IN_PLACE where it is not allowed."""
    MPI = s.MPI
    name, args = s.pick(
        ("Bcast", (MPI.IN_PLACE,)),
        ("Allgather", ([s.ints, 1, MPI.INT], MPI.IN_PLACE)),
        ("Alltoall", ([s.more, s.size, MPI.INT], MPI.IN_PLACE)),
        ("Allreduce", ([s.ints, 1, MPI.INT], MPI.IN_PLACE)),
    )
    return _call(s, name, *args)


def _same_buffer(s: Scene) -> Any:
    """The send buffer is the receive buffer; MPI forbids the overlap."""
    name, buffer = s.pick("Allreduce", "Scan"), [s.more, 2 if s.size > 1 else 1, s.MPI.INT]
    return _call(s, name, buffer, buffer[:])


def _inter_root(s: Scene) -> Any:
    inter = s.inter()
    return inter.Bcast(s.ints, root=s.pick(-77, -5, s.size + 3))


CASES: dict[str, Callable[[Scene], Any]] = {
    "collective: root": _root,
    "collective of objects: root": _root_of_objects,
    "collective: op null": lambda s: _op(s, s.MPI.OP_NULL),
    "collective: op for one-sided calls": lambda s: _op(s, s.pick(s.MPI.REPLACE, s.MPI.NO_OP)),
    "collective: op of another type": _wrong_op,
    "Reduce_local: op of another type": _local_op,
    "Reduce_local: op null": lambda s: s.MPI.OP_NULL.Reduce_local(s.ints[:2], s.ints[2:4]),
    "collective: count": _count,
    "collective: datatype null": lambda s: _type(s, s.MPI.DATATYPE_NULL),
    "collective: datatype not committed": lambda s: _type(s, s.keep(s.MPI.INT.Create_contiguous(1))),
    "collective: counts": _counts,
    "collective: number of counts": _too_few,
    "collective: IN_PLACE": _in_place,
    "collective: one buffer": _same_buffer,
    "collective on null": lambda s: getattr(s.MPI.Intracomm(), s.pick("Barrier", "Ibarrier"))(),
    "collective of objects on null": lambda s: getattr(s.MPI.Intracomm(), s.pick("bcast", "allreduce", "gather"))(1),
    "collective of an intercommunicator: root": _inter_root,
    "Op.Free of a predefined": lambda s: s.MPI.Op(s.pick(s.MPI.SUM, s.MPI.MAX)).Free(),
    "Op.Free of null": lambda s: s.MPI.Op().Free(),
    "Op.Is_commutative of null": lambda s: s.MPI.Op().Is_commutative(),
}
