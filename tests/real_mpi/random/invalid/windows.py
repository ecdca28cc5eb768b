"""One-sided calls with invalid arguments, or outside of an epoch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.real_mpi.random.invalid.scene import Scene

ACCESSES = ("Put", "Get", "Accumulate", "Rput", "Rget", "Raccumulate", "Get_accumulate", "Fetch_and_op", "Compare_and_swap")


def _access(
    s: Scene, win: Any, name: str, rank: int, count: int = 1, place: int = 0, op: Any = None, kind: Any = None
) -> Any:
    """An access of `count` elements; its request is completed."""
    datatype = s.MPI.INT if kind is None else kind
    data, result, target = [s.ints[:4], count, datatype], [s.ints[4:], count, datatype], [place, count, datatype]
    op = s.MPI.SUM if op is None else op
    bare = name.removeprefix("R").capitalize() if name.startswith("R") else name
    args: dict[str, Any] = {
        "Put": (data, rank, target),
        "Get": (data, rank, target),
        "Accumulate": (data, rank, target, op),
        "Get_accumulate": (data, result, rank, target, op),
        "Fetch_and_op": (data, result, rank, place, op),
        "Compare_and_swap": (data, [s.ints[2:], count, datatype], result, rank, place),
    }
    request = getattr(win, name)(*args[bare])
    if request is not None:
        request.Wait()
    return "accepted"


def _locked(s: Scene, rank: int, count: int = 1, place: int = 0, names: tuple[str, ...] = ACCESSES, **kwargs: Any) -> Any:
    """An access in an epoch of Lock_all."""
    win = s.window()
    win.Lock_all()
    try:
        return _access(s, win, s.pick(*names), rank, count, place, **kwargs)
    finally:
        win.Unlock_all()


def _no_epoch(s: Scene) -> Any:
    return _access(s, s.window(), s.pick(*ACCESSES), s.pick(*range(s.size)))


def _not_locked(s: Scene) -> Any:
    """An access to a rank that is not locked while another rank is."""
    win = s.window()
    win.Lock(s.rank)
    try:
        return _access(s, win, s.pick(*ACCESSES), (s.rank + 1) % s.size) if s.size > 1 else "one rank"
    finally:
        win.Unlock(s.rank)


def _synchronization(s: Scene) -> Any:
    """An end without beginning, or a flush outside of an epoch."""
    win = s.window()
    name = s.pick("Unlock", "Unlock_all", "Flush", "Flush_all", "Flush_local", "Flush_local_all", "Complete", "Wait", "Test")
    return getattr(win, name)(*([0] if name in ("Unlock", "Flush", "Flush_local") else []))


def _twice(s: Scene) -> Any:
    """An epoch within another one."""
    win = s.window()
    first = s.pick("Lock", "Lock_all")
    second = s.pick("Lock", "Lock_all", "Start", "Fence")
    group = s.group()
    getattr(win, first)(*([s.rank] if first == "Lock" else []))
    try:
        return getattr(win, second)(*({"Lock": [s.rank], "Start": [group]}.get(second, [])))
    finally:
        if first == "Lock":
            win.Unlock(s.rank)
        else:
            win.Unlock_all()


def _lock(s: Scene) -> Any:
    return s.window().Lock(*s.pick((s.bad_rank(),), (s.rank, 999), (s.rank, -1), (s.rank, s.MPI.LOCK_SHARED, -1)))


def _fence_then_lock(s: Scene) -> Any:
    """After a fence that begins no epoch, a lock is allowed."""
    win = s.window()
    win.Fence(s.MPI.MODE_NOSUCCEED)
    try:
        win.Lock(s.rank)
        win.Unlock(s.rank)
    finally:
        s.comm.Barrier()
    return "accepted"


def _create(s: Scene) -> Any:
    MPI = s.MPI
    unit = s.pick(0, -1, -4)
    kind = s.pick("Create", "Allocate", "Allocate_shared")
    if kind == "Create":
        return MPI.Win.Create(s.ints, unit, comm=s.comm)
    return getattr(MPI.Win, kind)(32, unit, comm=s.comm)


def _dynamic(s: Scene) -> Any:
    """Accesses to memory that is not attached, or detaching it."""
    MPI = s.MPI
    win = s.keep(MPI.Win.Create_dynamic(comm=s.comm))
    return win.Detach(s.ints)


def _attach(s: Scene) -> Any:
    return s.window().Attach(s.ints)


def _shared(s: Scene) -> Any:
    kind = s.pick("other flavor", "rank")
    if kind == "other flavor":
        win = s.keep(s.MPI.Win.Create(s.ints, 4, comm=s.comm))
        return len(win.Shared_query(0)[0]) if s.rank else "own memory"
    win = s.keep(s.MPI.Win.Allocate_shared(32, 4, comm=s.comm))
    return win.Shared_query(s.pick(-5, s.size, s.size + 2))[1]


def _null(s: Scene) -> Any:
    name = s.pick("Fence", "Lock_all", "Free", "Get_group", "Get_name", "Sync", "Lock", "Flush", "Complete")
    return getattr(s.MPI.Win(), name)(*([0] if name in ("Lock", "Flush") else []))


def _attribute(s: Scene) -> Any:
    MPI, win = s.MPI, s.window()
    key, call = s.pick(
        (MPI.KEYVAL_INVALID, "Get_attr"), (MPI.WIN_SIZE, "Set_attr"), (MPI.WIN_SIZE, "Delete_attr"), (MPI.TAG_UB, "x")
    )
    if call == "x":
        call = s.pick("Set_attr", "Delete_attr")
    return getattr(win, call)(*([key, 1] if call == "Set_attr" else [key]))


CASES: dict[str, Callable[[Scene], Any]] = {
    "access: rank": lambda s: _locked(s, s.bad_rank()),
    "access: rank is a wildcard": lambda s: _locked(s, s.MPI.ANY_SOURCE),
    "access: PROC_NULL": lambda s: _locked(s, s.MPI.PROC_NULL),
    "access: count": lambda s: _locked(
        s, s.pick(*range(s.size)), -1, 0, ("Put", "Get", "Accumulate", "Rput", "Get_accumulate")
    ),
    "access: displacement": lambda s: _locked(s, s.pick(*range(s.size)), 1, s.pick(-1, -3), ("Put", "Get", "Accumulate")),
    "access: op null": lambda s: _locked(s, 0, 1, 0, ("Accumulate", "Get_accumulate", "Fetch_and_op"), op=s.MPI.OP_NULL),
    "access: datatype null": lambda s: _locked(s, 0, 1, 0, ("Put", "Get", "Accumulate"), kind=s.MPI.DATATYPE_NULL),
    "access: datatype not committed": lambda s: _locked(
        s, 0, 1, 0, ("Put", "Get", "Accumulate"), kind=s.keep(s.MPI.INT.Create_contiguous(1))
    ),
    "Compare_and_swap: type": lambda s: _locked(s, 0, 1, 0, ("Compare_and_swap",), kind=s.pick(s.MPI.DOUBLE, s.MPI.FLOAT)),
    "Fetch_and_op: type": lambda s: _locked(
        s, 0, 1, 0, ("Fetch_and_op",), kind=s.keep(s.MPI.INT.Create_contiguous(1).Commit())
    ),
    "access without epoch": _no_epoch,
    "access to a rank that is not locked": _not_locked,
    "synchronization without epoch": _synchronization,
    "epoch in an epoch": _twice,
    "Lock": _lock,
    "Lock after a closing fence": _fence_then_lock,
    "Fence: assertion": lambda s: s.window().Fence(s.pick(-1, 1 << 29)),
    "Post: group null": lambda s: s.window().Post(s.MPI.Group()),
    "Start: group null": lambda s: s.window().Start(s.MPI.Group()),
    "Win.Create: unit": _create,
    "Win.Allocate: comm null": lambda s: getattr(s.MPI.Win, s.pick("Allocate", "Allocate_shared"))(
        32, 4, comm=s.MPI.Intracomm()
    ),
    "Win.Create: comm null": lambda s: s.MPI.Win.Create(s.ints, 4, comm=s.MPI.Intracomm()),
    "Win.Allocate: size": lambda s: getattr(s.MPI.Win, s.pick("Allocate", "Allocate_shared"))(
        s.pick(-1, -8), 4, comm=s.comm
    ),
    "Win.Detach": _dynamic,
    "Win.Attach": _attach,
    "Shared_query": _shared,
    "window null": _null,
    "window attribute": _attribute,
    "Win.Create_keyval": lambda s: s.MPI.Win.Free_keyval(s.MPI.KEYVAL_INVALID),
    "Alloc_mem": lambda s: s.MPI.Alloc_mem(s.pick(-1, -100)),
}
