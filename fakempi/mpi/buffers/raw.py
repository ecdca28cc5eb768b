"""Raw memory: the bytes behind a Python object, as a flat numpy array, and what it calls its elements.

Accepted is what mpi4py accepts (numpy arrays, anything with the buffer protocol, DLPack on the CPU), and beyond that
objects with `__array_interface__`, numpy arrays of every dtype without Python objects, and phantoms. Memory has to be
contiguous, in C's order or Fortran's.
"""

from __future__ import annotations

import ctypes
import sys
from typing import Any

import numpy as np
import numpy.typing as npt

from fakempi.error_classes import ERR_BUFFER
from fakempi.errors import MPIBufferError, MPITypeError
from fakempi.mpi.base.complain import complaint
from fakempi.mpi.buffers.phantom import Phantom

Bytes = npt.NDArray[np.uint8]
Element = np.dtype[Any] | str
"""numpy's name for an element, or the buffer protocol's."""

U1 = np.dtype(np.uint8)
NOTHING: Bytes = np.empty(0, U1)
_FOREIGN = ">!" if sys.byteorder == "little" else "<"
_CPU = 1  # DLPack's number for it
_LOWEST = 4096  # no object lives on the first page


def has_memory(thing: Any) -> bool:
    """Can `memory_of` do anything with it?"""
    if isinstance(thing, (np.ndarray, bytes, bytearray, memoryview, Phantom)):
        return True
    try:
        memoryview(thing)
    except TypeError:
        return hasattr(thing, "__dlpack__") or hasattr(thing, "__array_interface__")
    except BufferError:
        pass
    return True


def memory_of(thing: Any, *, writable: bool = False) -> tuple[Bytes | Phantom, Element]:
    """The bytes of an object, in the order they have in memory, and its elements."""
    if isinstance(thing, np.ndarray):
        array = contiguous(thing, writable=writable)
        return flat(array), array.dtype
    if isinstance(thing, Phantom):
        return thing.view(U1), thing.dtype
    try:
        view = memoryview(thing)
    except TypeError:
        return memory_of(_imported(thing), writable=writable)
    if writable and view.readonly:
        words = f"the buffer is a read-only {_name(thing)}, nothing can be received into it."
        raise complaint(ERR_BUFFER, words, MPIBufferError)
    if not view.c_contiguous:
        return memory_of(np.asarray(view), writable=writable)
    return np.frombuffer(view, U1) if view.nbytes else NOTHING, view.format


def contiguous(array: npt.NDArray[Any], *, writable: bool = False) -> npt.NDArray[Any]:
    """A plain array in C's order with the same memory as `array`, which must be contiguous."""
    if type(array) is not np.ndarray:
        # MPI.buffer knows itself which memory it holds, if it still does.
        array = getattr(array, "_held", array).view(np.ndarray)
    flags = array.flags
    if not flags.c_contiguous:
        if not flags.f_contiguous:
            words = (
                f"the array is not contiguous: shape {array.shape}, strides {array.strides} bytes, itemsize "
                f"{array.itemsize}; np.ascontiguousarray(...) makes a contiguous copy."
            )
            raise complaint(ERR_BUFFER, words, MPIBufferError)
        array = array.T
    if writable and not flags.writeable:
        raise complaint(ERR_BUFFER, "the array is read-only, nothing can be received into it.", MPIBufferError)
    if array.dtype.hasobject:
        words = f"an array of dtype {array.dtype} holds references to Python objects: send those in lower case."
        raise complaint(ERR_BUFFER, words, MPITypeError)
    return array


def check_byte_order(element: Element) -> None:
    """Refuse numbers whose bytes are swapped; they would arrive as other numbers."""
    if not element.isnative if isinstance(element, np.dtype) else element[:1] in _FOREIGN and element:
        words = f"elements of type {str(element)!r} have another byte order than this machine."
        raise complaint(ERR_BUFFER, words, MPIBufferError)


def flat(array: npt.NDArray[Any]) -> Bytes:
    """The bytes of an array in C's order."""
    if not array.nbytes:
        return NOTHING
    if array.ndim != 1:
        array = array.reshape(-1)
    return array if array.dtype is U1 else array.view(U1)


def at_address(address: int, nbytes: int) -> Bytes:
    """The bytes from an address on: what is there is the caller's business, as it is in C."""
    if address < _LOWEST:
        raise complaint(ERR_BUFFER, f"there is no memory at address {address}.")
    there: Any = (ctypes.c_ubyte * nbytes).from_address(address)
    return np.frombuffer(there, U1) if nbytes else NOTHING


def address_of(memory: npt.NDArray[Any]) -> int:
    """Where an array starts."""
    return int(memory.ctypes.data)


def _imported(thing: Any) -> npt.NDArray[Any]:
    """An array on the memory of an object that has other ways than the buffer protocol to show it."""
    if hasattr(thing, "__dlpack__"):
        device = thing.__dlpack_device__()
        if device[0] != _CPU:
            words = f"the memory of a {_name(thing)} is on another device, {tuple(map(int, device))} in DLPack's terms."
            raise complaint(ERR_BUFFER, words, MPIBufferError)
        return np.from_dlpack(thing)
    if hasattr(thing, "__array_interface__"):
        return np.asarray(thing)
    raise complaint(ERR_BUFFER, f"a bytes-like object is required, not {_name(thing)!r}.", MPITypeError)


def _name(thing: Any) -> str:
    return type(thing).__name__
