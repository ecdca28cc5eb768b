"""The memory behind a Python object, and what it calls its elements.

Accepted is what mpi4py accepts (numpy arrays, anything with the buffer protocol, DLPack and the CUDA array interface
on the host), and beyond that objects with `__array_interface__`, numpy arrays of every dtype without Python objects, and
phantoms. Memory has to be contiguous, in C's order or Fortran's.
"""

from __future__ import annotations

import ctypes
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt
from numpy import frombuffer, ndarray

from fakempi.error_classes import ERR_BUFFER
from fakempi.errors import MPIBufferError, MPITypeError
from fakempi.mpi.base.complain import complaint
from fakempi.mpi.base.current import current_process
from fakempi.mpi.base.foreign import foreign_array
from fakempi.mpi.buffers.phantom import Phantom
from fakempi.mpi.buffers.places import BottomType, InPlaceType

Bytes = npt.NDArray[np.uint8]
Memory = Bytes | Phantom
Found = npt.NDArray[Any] | Phantom
"""A plain array in C's order, of the object's own elements if it is one of numpy's, else of bytes; or a phantom."""

Element = np.dtype[Any] | str
"""numpy's name for an element, or the buffer protocol's."""

U1 = np.dtype(np.uint8)
NOTHING: Bytes = np.empty(0, U1)
_NOWHERE: dict[tuple[type, bool | None], tuple[Bytes, Element | None]] = {
    (type(None), False): (NOTHING, None),
    (BottomType, False): (NOTHING, None),
    (BottomType, True): (NOTHING, None),
    (InPlaceType, False): (NOTHING, U1),
    (InPlaceType, True): (NOTHING, U1),
}
"""What stands for no memory in a specification; the second is `alone`. None does so in a list only."""

_FIRST: Any = ctypes.c_char.from_buffer
_LOWEST = 4096  # no object lives on the first page


def memory_of(thing: Any, writable: bool = False, alone: bool | None = None) -> tuple[Found, Element | None]:
    """The memory of an object, and its elements, if it has any.

    `alone` is for buffers of specifications, which may be None, BOTTOM or IN_PLACE: whether it was not in a list.
    """
    if isinstance(thing, ndarray):
        if type(thing) is not ndarray:
            # MPI.buffer knows itself which memory it holds, if it still does.
            thing = getattr(thing, "_held", thing).view(ndarray)
        flags = thing.flags
        if not flags.c_contiguous:
            thing = thing.T if flags.f_contiguous else _refused(thing)
        if writable and not flags.writeable:
            thing = _lent(thing)
        dtype = thing.dtype
        if dtype.hasobject:
            words = f"an array of dtype {dtype} holds references to Python objects: send those in lower case."
            raise complaint(ERR_BUFFER, words, MPITypeError)
        return thing, dtype
    if isinstance(thing, Phantom):
        return thing, thing.dtype
    nowhere = _NOWHERE.get((type(thing), alone))
    if nowhere is not None:
        return nowhere
    try:
        view = memoryview(thing)
    except TypeError:
        return memory_of(_imported(thing, alone), writable)
    if writable and view.readonly:
        words = f"the buffer is a read-only {type(thing).__name__}, nothing can be received into it."
        raise complaint(ERR_BUFFER, words, MPIBufferError)
    if not view.c_contiguous:
        return memory_of(np.asarray(view), writable)
    return frombuffer(view, U1) if view.nbytes else NOTHING, view.format


def bytes_of(found: Found) -> Memory:
    """The bytes of what `memory_of` has found, in the order they have in memory."""
    return Phantom(found.nbytes) if isinstance(found, Phantom) else flat(found)


def flat(array: npt.NDArray[Any]) -> Bytes:
    """The bytes of an array in C's order."""
    if not array.nbytes:
        return NOTHING
    if array.ndim != 1:
        array = array.reshape(-1)
    return array if array.dtype is U1 else array.view(U1)


def at_address(address: int, nbytes: int) -> Bytes:
    """The bytes from an address on."""
    if address < _LOWEST:
        raise complaint(ERR_BUFFER, f"there is no memory at address {address}.")
    there: Any = (ctypes.c_ubyte * nbytes).from_address(address)
    return frombuffer(there, U1) if nbytes else NOTHING


def address_of(memory: npt.NDArray[Any]) -> int:
    """Where an array starts."""
    if memory.nbytes and memory.flags.writeable:
        return ctypes.addressof(_FIRST(memory))  # a quarter of the time that either of the others takes
    address: int = memory.__array_interface__["data"][0]
    return address


def _lent(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """A read-only array as one to receive into, if it is we who have made it so, since it is in use."""
    process = current_process()
    found = None if process is None or process.pins is None else process.pins.lend(array)
    if found is None:
        raise complaint(ERR_BUFFER, "the array is read-only, nothing can be received into it.", MPIBufferError)
    return found  # type: ignore[no-any-return]


def _refused(array: npt.NDArray[Any]) -> NoReturn:
    words = (
        f"the array is not contiguous: shape {array.shape}, strides {array.strides} bytes, itemsize {array.itemsize}; "
        f"np.ascontiguousarray(...) makes a contiguous copy."
    )
    raise complaint(ERR_BUFFER, words, MPIBufferError)


def _imported(thing: Any, alone: bool | None) -> npt.NDArray[Any]:
    """An array on the memory of an object that has other ways than the buffer protocol to show it."""
    found = foreign_array(thing)
    if found is not None:
        return found
    if hasattr(thing, "__array_interface__"):
        return np.asarray(thing)
    wanted = "expecting a buffer or a list like [buffer, count, datatype]" if alone else "a bytes-like object is required"
    raise complaint(ERR_BUFFER, f"{wanted}, not {type(thing).__name__!r}.", MPITypeError)
