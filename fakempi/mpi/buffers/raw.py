"""Step 2 of 5 of reading a buffer specification: the memory of a Python object, and the type of its elements.

All objects that mpi4py accepts are valid: numpy arrays, and objects with the buffer protocol, DLPack or the CUDA array
interface on the host. Objects with `__array_interface__`, numpy's void type without fields, and phantoms are valid, too. The
memory must be contiguous, in C order or Fortran order.
"""

from __future__ import annotations

import ctypes
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt
from numpy import frombuffer, ndarray

from fakempi.errors import MPIBufferError, MPITypeError
from fakempi.errors.classes import ERR_BUFFER
from fakempi.mpi.base.array_protocols import protocol_array
from fakempi.mpi.base.current import current_process
from fakempi.mpi.base.mpi_errors import mpi_error, use_objects
from fakempi.mpi.buffers.address_constants import BottomType, InPlaceType
from fakempi.mpi.buffers.phantom import Phantom
from fakempi.mpi.interfaces.arrays import Array, Dtype

Bytes = npt.NDArray[np.uint8]
Memory = Bytes | Phantom
ArrayOrPhantom = Array | Phantom
"""A plain array in C order, of the object's own elements if it is a numpy array, otherwise of bytes; or a phantom."""

Element = Dtype | str
"""The type of an element: a dtype of numpy, or a format of the buffer protocol."""

U1 = np.dtype(np.uint8)
NO_BYTES: Bytes = np.empty(0, U1)
_WITHOUT_MEMORY: dict[tuple[type, bool | None], tuple[Bytes, Element | None]] = {
    (type(None), False): (NO_BYTES, None),
    (BottomType, False): (NO_BYTES, None),
    (BottomType, True): (NO_BYTES, None),
    (InPlaceType, False): (NO_BYTES, U1),
    (InPlaceType, True): (NO_BYTES, U1),
}
"""Objects that a specification may have in place of memory, by type and `bare`. None is accepted in a list only."""

_first_byte: Any = ctypes.c_char.from_buffer  # numpy's stubs lack the buffer protocol before 2.5
_LOWEST_ADDRESS = 4096  # no object is on the first page


def memory_of(obj: object, writable: bool = False, bare: bool | None = None) -> tuple[ArrayOrPhantom, Element | None]:
    """Return the memory of an object, and the type of its elements if it has one.

    The buffer of a specification may also be None, BOTTOM or IN_PLACE. For such a buffer, `bare` says whether it was not
    in a list.
    """
    if isinstance(obj, ndarray):
        array: Array = obj
        if type(array) is not ndarray:
            # After `release`, the memory of an MPI.buffer differs from its array.
            array = getattr(array, "_memory", array).view(ndarray)
        flags = array.flags
        if not flags.c_contiguous:
            array = array.T if flags.f_contiguous else _raise_not_contiguous(array)
        if writable and not flags.writeable:
            array = _writable_alias(array)
        dtype = array.dtype
        if dtype.hasobject:
            sentence = f"an array of dtype {dtype} holds references to Python objects; use the lower-case call to send them."
            raise mpi_error(ERR_BUFFER, sentence, MPITypeError)
        return array, dtype
    if isinstance(obj, Phantom):
        return obj, obj.dtype
    without_memory = _WITHOUT_MEMORY.get((type(obj), bare))
    if without_memory is not None:
        return without_memory
    try:
        view = memoryview(obj)  # type: ignore[arg-type]  # memoryview raises TypeError, which is handled
    except TypeError:
        return memory_of(_array_by_other_protocol(obj, bare), writable)
    if writable and view.readonly:
        sentence = f"the buffer is a read-only {type(obj).__name__}: nothing can be received into it."
        raise mpi_error(ERR_BUFFER, sentence, MPIBufferError)
    if not view.c_contiguous:
        return memory_of(np.asarray(view), writable)
    return frombuffer(view, U1) if view.nbytes else NO_BYTES, view.format


def bytes_of(memory: ArrayOrPhantom) -> Memory:
    """Return memory as bytes, in the order that they have in memory."""
    return Phantom(memory.nbytes) if isinstance(memory, Phantom) else flat(memory)


def flat(array: Array) -> Bytes:
    """Return the bytes of an array in C order."""
    if not array.nbytes:
        return NO_BYTES
    if array.ndim != 1:
        array = array.reshape(-1)
    return array if array.dtype is U1 else array.view(U1)


def at_address(address: int, nbytes: int) -> Bytes:
    """Return the memory at an address."""
    if address < _LOWEST_ADDRESS:
        raise mpi_error(ERR_BUFFER, f"there is no memory at address {address}.")
    if not nbytes:
        return NO_BYTES
    memory: Any = (ctypes.c_ubyte * nbytes).from_address(address)  # typeshed has its buffer protocol from Python 3.12 on
    return frombuffer(memory, U1)


def address_of(memory: Array) -> int:
    """Return the address of an array."""
    if memory.nbytes and memory.flags.writeable:
        return ctypes.addressof(_first_byte(memory))  # a quarter of the time of `__array_interface__`
    address: int = memory.__array_interface__["data"][0]
    return address


def _writable_alias(array: Array) -> Array:
    """Return a writable view of an array that the buffer checks have made read-only while it is in use."""
    process = current_process()
    alias = None if process is None or process.buffer_checks is None else process.buffer_checks.writable_alias(array)
    if alias is None:
        raise mpi_error(ERR_BUFFER, "the array is read-only: nothing can be received into it.", MPIBufferError)
    return alias


def _raise_not_contiguous(array: Array) -> NoReturn:
    sentence = (
        f"the array is not contiguous: shape {array.shape}, strides {array.strides} bytes, itemsize {array.itemsize}; "
        f"np.ascontiguousarray(...) makes a contiguous copy."
    )
    raise mpi_error(ERR_BUFFER, sentence, MPIBufferError)


def _array_by_other_protocol(obj: object, bare: bool | None) -> Array:
    """Return an array on the memory of an object without the buffer protocol."""
    array = protocol_array(obj)
    if array is not None:
        return array
    if hasattr(obj, "__array_interface__"):
        return np.asarray(obj)
    wanted = "expecting a buffer or a list like [buffer, count, datatype]" if bare else "a bytes-like object is required"
    raise mpi_error(ERR_BUFFER, f"{wanted}, not {type(obj).__name__!r}.{use_objects(obj)}", MPITypeError) from None
