"""Hidden functions of mpi4py's `MPI` that its own `util.pkl5` and `util.dtlib` use: twins of communicators, type codes."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import Any

import numpy as np

from fakempi.mpi.base.constants import UNDEFINED
from fakempi.mpi.comms.comm import Comm

TAGS = 32768
"""How many calls may be under way on one twin; MPI promises no larger tags than this minus 1."""


class _Twin:
    """What is kept with a communicator: its twin, and for groups that face each other the local one."""

    keyval: int | None = None

    def __init__(self, comm: Any) -> None:
        self.comm = comm.Dup()
        self.calls = -1
        self.local: Any = None
        self.low = False
        if comm.Is_inter():
            merged = comm.Merge()
            group = comm.Get_group()
            self.local = merged.Create_group(group)
            self.low = group.Translate_ranks([merged.Get_group().Translate_ranks([0])[0]])[0] != UNDEFINED
            merged.Free()

    @classmethod
    def of(cls, comm: Any) -> _Twin:
        """That of a communicator, made by all its ranks together when they first need it."""
        if cls.keyval is None:
            cls.keyval = Comm.Create_keyval(nopython=False)
        twin: _Twin | None = comm.Get_attr(cls.keyval)
        if twin is None:
            twin = cls(comm)
            comm.Set_attr(cls.keyval, twin)
        twin.calls += 1
        return twin


def _commctx_intra(comm: Any) -> tuple[Any, int]:
    twin = _Twin.of(comm)
    return twin.comm, twin.calls % TAGS


def _commctx_inter(comm: Any) -> tuple[Any, int, Any, bool]:
    twin = _Twin.of(comm)
    return twin.comm, twin.calls % TAGS, twin.local, twin.low


def _comm_lock(comm: Any, key: Any = None) -> AbstractContextManager[None]:
    """Nothing to lock: one thread of a rank calls MPI."""
    return nullcontext()


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

NAMES = {function.__name__: function for function in (_commctx_intra, _commctx_inter, _comm_lock, _typecode, _typealign)}
"""What to add to the stand-in."""
