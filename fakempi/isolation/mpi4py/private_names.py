"""Private names of mpi4py's `MPI` (with a leading underscore) that programs use."""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable
from threading import Lock
from typing import Any

import numpy as np

from fakempi import MPI

TAGS = 32768
"""Number of tags on a collective context; MPI guarantees tags up to this minus 1."""

HANDLE = ctypes.c_void_p
"""C type of a handle: as wide as a pointer. No C library can use the handle."""

# -- communicator attributes -------------------------------------------------------------------------------


class _CollectiveContext:
    """The collective context of a communicator: a duplicate, and for an intercommunicator also a local communicator."""

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


_CONTEXT, _LOCKS = MPI.Comm.Create_keyval(), MPI.Comm.Create_keyval()


def _cached(comm: Any, keyval: int, make: Callable[[], Any]) -> Any:
    """Return an attribute of a communicator, created by `make` on first use."""
    value = comm.Get_attr(keyval)
    if value is None:
        value = make()
        comm.Set_attr(keyval, value)
    return value


def _context(comm: Any) -> _CollectiveContext:
    """Return the collective context of a communicator and count the call; created collectively on first use."""
    context: _CollectiveContext = _cached(comm, _CONTEXT, lambda: _CollectiveContext(comm))
    context.calls += 1
    return context


def _commctx_intra(comm: Any) -> tuple[Any, int]:
    """Return a communicator for messages of a library, and the next tag on it."""
    context = _context(comm)
    return context.comm, context.calls % TAGS


def _commctx_inter(comm: Any) -> tuple[Any, int, Any, bool]:
    """Return the same for an intercommunicator; also the local communicator, and whether the local group is first."""
    context = _context(comm)
    return context.comm, context.calls % TAGS, context.local, context.low


def _comm_lock_table(comm: Any) -> dict[Any, Any]:
    """Return the locks of a communicator on this rank, by key."""
    table: dict[Any, Any] = _cached(comm, _LOCKS, dict)
    return table


def _comm_lock(comm: Any, key: Any = None) -> Any:
    """Return a lock of a communicator, created on first use."""
    return _comm_lock_table(comm).setdefault(key, Lock())


def _set_abort_status(status: int) -> None:
    """Abort the run with an exit code, unless an exception ends it, which reports more than a number."""
    if status and isinstance(sys.exc_info()[1], SystemExit | None):
        MPI.COMM_WORLD.Abort(status)


# -- datatypes -------------------------------------------------------------------------------------------------------


def _typecode(datatype: Any) -> str | None:
    """Return mpi4py's code for a predefined type, None for other types."""
    try:
        return str(datatype.tocode())
    except ValueError:
        return None


def _typealign(datatype: Any) -> int | None:
    """Return the alignment of a predefined type in bytes; for a pair of value and index, that of the value."""
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
_addresses: dict[int, ctypes.c_void_p] = {}  # by handle; never freed, since C code may use them
_statuses: dict[int, Any] = {}


def _sizeof(arg: Any) -> int:
    """Return the size of a handle or of a status in C, in bytes."""
    kind = arg if isinstance(arg, type) else type(arg)
    if issubclass(kind, MPI.Status):
        return int(MPI.F_STATUS_SIZE) * ctypes.sizeof(ctypes.c_int)
    if not issubclass(kind, _KINDS):
        raise TypeError("expecting an MPI type or instance")
    return ctypes.sizeof(HANDLE)


def _handleof(arg: Any) -> int:
    """Return the handle of an object as an int; for a status, its address."""
    if isinstance(arg, MPI.Status):
        return _addressof(arg)
    if not isinstance(arg, _KINDS):
        raise TypeError("expecting an MPI instance")
    return int(arg.handle) if arg else 0  # type: ignore[attr-defined]  # all classes of _KINDS have handles


def _addressof(arg: Any) -> int:
    """Return the address of a copy of an object's handle or status. Writing there does not change the object."""
    if isinstance(arg, MPI.Status):
        fields = arg.py2f()
        _statuses[id(arg)] = (ctypes.c_int * len(fields))(*fields)
        return ctypes.addressof(_statuses[id(arg)])
    number = _handleof(arg)
    return ctypes.addressof(_addresses.setdefault(number, HANDLE(number)))


NAMES: dict[str, Any] = {
    function.__name__: function
    for function in (
        _addressof, _comm_lock, _comm_lock_table, _commctx_inter, _commctx_intra, _handleof, _set_abort_status, _sizeof,
        _typealign, _typecode,
    )
}  # fmt: skip
"""Names to add to `mpi4py.MPI`."""
TABLES: dict[str, dict[str, MPI.Datatype]] = {
    "_typedict": _by_code(_ALL),
    "_typedict_c": _by_code(_C),
    "_typedict_f": {code: getattr(MPI, name) for code, name in _FORTRAN.items()},
}
"""Names of dictionaries that a program can change: each rank has a copy."""
NAMES |= TABLES
