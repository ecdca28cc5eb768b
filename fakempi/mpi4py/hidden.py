"""Names of mpi4py's `MPI` that begin with an underscore and that programs use nevertheless."""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable
from threading import Lock
from typing import Any

import numpy as np

from fakempi import MPI

TAGS = 32768
"""How many calls may be under way on one twin; MPI promises no larger tags than this minus 1."""

HANDLE = ctypes.c_void_p
"""What a handle is in C here: as wide as a pointer. There is no C library that could take it."""

# -- what is kept with a communicator -------------------------------------------------------------------------------


class _Twin:
    """A communicator's twin, and for groups that face each other the local one."""

    def __init__(self, comm: Any) -> None:
        self.comm = comm.Dup()
        self.calls = -1
        self.local: Any = None
        self.low = False
        if comm.Is_inter():
            merged = comm.Merge()
            group = comm.Get_group()
            self.local = merged.Create_group(group)
            self.low = group.Translate_ranks([merged.Get_group().Translate_ranks([0])[0]])[0] != MPI.UNDEFINED
            merged.Free()


_keyvals: dict[str, int] = {}


def _kept(comm: Any, what: str, make: Callable[[], Any]) -> Any:
    """What a rank keeps with a communicator, made when it is first asked for."""
    if what not in _keyvals:
        _keyvals[what] = MPI.Comm.Create_keyval()
    found = comm.Get_attr(_keyvals[what])
    if found is None:
        found = make()
        comm.Set_attr(_keyvals[what], found)
    return found


def _twin(comm: Any) -> _Twin:
    """That of a communicator, made by all its ranks together when they first need it."""
    twin: _Twin = _kept(comm, "twin", lambda: _Twin(comm))
    twin.calls += 1
    return twin


def _commctx_intra(comm: Any) -> tuple[Any, int]:
    """A communicator for a library's own messages, and the next tag on it."""
    twin = _twin(comm)
    return twin.comm, twin.calls % TAGS


def _commctx_inter(comm: Any) -> tuple[Any, int, Any, bool]:
    """The same between two groups; also one of the own group, and whether that comes first."""
    twin = _twin(comm)
    return twin.comm, twin.calls % TAGS, twin.local, twin.low


def _comm_lock_table(comm: Any) -> dict[Any, Any]:
    """The locks of a communicator, by key; each rank has its own."""
    table: dict[Any, Any] = _kept(comm, "locks", dict)
    return table


def _comm_lock(comm: Any, key: Any = None) -> Any:
    """A lock of a communicator. Nobody waits for one: one thread of a rank calls MPI."""
    return _comm_lock_table(comm).setdefault(key, Lock())


def _set_abort_status(status: int) -> None:
    """The program is about to end and all others with it. By an exception they do anyway, which says more than a number."""
    if status and isinstance(sys.exc_info()[1], SystemExit | None):
        MPI.COMM_WORLD.Abort(status)


# -- datatypes -------------------------------------------------------------------------------------------------------


def _typecode(datatype: Any) -> str | None:
    """mpi4py's code for a predefined type."""
    try:
        return str(datatype.tocode())
    except ValueError:
        return None


def _typealign(datatype: Any) -> int | None:
    """At what multiples of bytes a predefined type may lie; a pair of a number and an int, as its number."""
    if not datatype.is_predefined:
        return None
    kind = _PAIRS.get(datatype.Get_name()) if _typecode(datatype) is None else datatype.typestr
    return None if kind is None else int(np.dtype(kind).alignment)


_PAIRS = {
    "MPI_SHORT_INT": "i", "MPI_2INT": "i", "MPI_LONG_INT": "l", "MPI_FLOAT_INT": "i", "MPI_DOUBLE_INT": "d",
    "MPI_LONG_DOUBLE_INT": "g",
}  # fmt: skip

_C = "? b h i l q B H I L Q f d g F D G b1 i1 i2 i4 i8 u1 u2 u4 u8 f2 f4 c8 f8 c16 f16 c32"
_ALL = f"{_C} e Zf Zd Zg n N p P c a S S1 s 1s U U1 u 1u w 1w M M8 m m8"
_FORTRAN = {
    "l": "LOGICAL", "i": "INTEGER", "r": "REAL", "s": "REAL", "d": "DOUBLE_PRECISION", "c": "COMPLEX", "z": "DOUBLE_COMPLEX",
    "i1": "INTEGER1", "i2": "INTEGER2", "i4": "INTEGER4", "i8": "INTEGER8", "r4": "REAL4", "r8": "REAL8", "r16": "REAL16",
    "c8": "COMPLEX8", "c16": "COMPLEX16", "c32": "COMPLEX32",
}  # fmt: skip


def _by_code(codes: str) -> dict[str, MPI.Datatype]:
    return {code: MPI.Datatype.fromcode(code) for code in codes.split()}


# -- handles ---------------------------------------------------------------------------------------------------------

_KINDS: tuple[type, ...] = (
    MPI.Comm, MPI.Datatype, MPI.Errhandler, MPI.Group, MPI.Info, MPI.Message, MPI.Op, MPI.Request, MPI.Win, MPI.File,
    MPI.Session,
)  # fmt: skip
_places: dict[int, ctypes.c_void_p] = {}  # by number, kept for good: nobody says when an address is needed no more
_statuses: dict[int, Any] = {}


def _sizeof(arg: Any) -> int:
    """Bytes of a handle, or of a status, in C."""
    kind = arg if isinstance(arg, type) else type(arg)
    if issubclass(kind, MPI.Status):
        return int(MPI.F_STATUS_SIZE) * ctypes.sizeof(ctypes.c_int)
    if not issubclass(kind, _KINDS):
        raise TypeError("expecting an MPI type or instance")
    return ctypes.sizeof(HANDLE)


def _handleof(arg: Any) -> int:
    """The number of an object's handle; of a status, its address."""
    if isinstance(arg, MPI.Status):
        return _addressof(arg)
    if not isinstance(arg, _KINDS):
        raise TypeError("expecting an MPI instance")
    return int(arg.handle) if arg else 0  # type: ignore[attr-defined]


def _addressof(arg: Any) -> int:
    """Where the number of an object's handle lies in memory, or what a status says now. To write there changes nothing."""
    if isinstance(arg, MPI.Status):
        said = arg.py2f()
        _statuses[id(arg)] = (ctypes.c_int * len(said))(*said)
        return ctypes.addressof(_statuses[id(arg)])
    number = _handleof(arg)
    return ctypes.addressof(_places.setdefault(number, HANDLE(number)))


NAMES: dict[str, Any] = {
    function.__name__: function
    for function in (
        _addressof, _comm_lock, _comm_lock_table, _commctx_inter, _commctx_intra, _handleof, _set_abort_status, _sizeof,
        _typealign, _typecode,
    )
}  # fmt: skip
"""What to add to the namespace."""
NAMES |= {
    "_typedict": _by_code(_ALL),
    "_typedict_c": _by_code(_C),
    "_typedict_f": {code: getattr(MPI, name) for code, name in _FORTRAN.items()},
}
