"""The buffer protocol for classes before Python 3.12, which does not call `__buffer__`: `np.frombuffer(win)`.

CPython calls a C function of the type. This module stores such a function at its offset in the type object, which is the
same in CPython 3.10 and 3.11 on 64-bit machines. The neighboring fields are checked first; if they differ, nothing is
changed.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # a process of a rank imports this module before numpy
    from fakempi.mpi.buffers.raw import Bytes

NAME, AS_BUFFER = 24, 160
"""Offsets in bytes of the pointers to the name (tp_name) and to the buffer functions (tp_as_buffer) in a type object."""

TYPE_SIZE = 2000
"""The buffer functions of a type that is defined in Python are in the type object, within this number of bytes."""

_function = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.c_void_p, ctypes.c_int)
_get_buffer = ctypes.pythonapi.PyObject_GetBuffer
_get_buffer.argtypes, _get_buffer.restype = [ctypes.py_object, ctypes.c_void_p, ctypes.c_int], ctypes.c_int
_kept: list[object] = []  # keeps alive the functions that types refer to


def export_buffer(cls: type, memory: Callable[[Any], Bytes]) -> bool:
    """Let objects of a class export the array that `memory` returns for each; return False if that is impossible here."""
    if sys.implementation.name != "cpython" or sys.version_info >= (3, 12) or ctypes.sizeof(ctypes.c_void_p) != 8:
        return False
    start = id(cls)
    table = ctypes.c_void_p.from_address(start + AS_BUFFER).value
    name = ctypes.c_char_p.from_address(start + NAME).value
    if name != cls.__name__.encode() or table is None or not start < table < start + TYPE_SIZE:
        return False

    def get_buffer(obj: object, view: int, flags: int) -> int:
        try:
            return int(_get_buffer(memory(obj), view, flags))
        except BaseException:
            ctypes.c_void_p.from_address(view).value = None  # as the protocol requires on failure
            return -1

    function = _function(get_buffer)
    _kept.append(function)
    ctypes.c_void_p.from_address(table).value = ctypes.cast(function, ctypes.c_void_p).value
    return True
