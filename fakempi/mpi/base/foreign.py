"""Memory of objects that show it by DLPack or by the CUDA array interface, as tensors of other libraries do.

numpy's own reading of DLPack (`from_dlpack`) would not do: it makes read-only arrays of most tensors, and takes over a
capsule's tensor for good, which crashes where that does not outlive its capsule. Here a capsule is only looked into. It
keeps its name, so its own destructor frees the tensor, and it lives as long as the array made of its memory.

Both protocols may name memory of a GPU. Whether this process can read it is asked of the operating system, since what
calls itself CUDA memory may be host memory, managed or pinned.
"""

from __future__ import annotations

import ctypes
import os
import sys
import warnings
from collections.abc import Iterable, Sequence
from contextlib import suppress
from functools import cache, lru_cache
from math import prod
from mmap import PAGESIZE
from typing import Any

import numpy as np
import numpy.typing as npt

from fakempi.error_classes import ERR_BUFFER
from fakempi.errors import MPIBufferError, MPIError, MPIKeyError, MPITypeError, MPIValueError
from fakempi.mpi.base.complain import complaint

_HOST = {1: "the CPU", 3: "pinned by CUDA", 11: "pinned by ROCm", 13: "managed by CUDA"}
"""DLPack's numbers for memory that every process can read."""

_BYTE = ctypes.c_ubyte * 1
_PIPE = 2**16  # bytes, as much as most pipes hold
_READ_ONLY = 1  # a flag of version 1
_KINDS = {0: "i", 1: "u", 2: "f", 5: "c", 6: "b"}  # DLPack's codes, and numpy's letters
_ORDERS = "|<" if sys.byteorder == "little" else "|>"

# Prototypes of our own: attributes of `ctypes.pythonapi` are shared with whoever else sets them.
_CAPSULE, _NAME = ctypes.py_object, ctypes.c_char_p
_pointer_of = ctypes.PYFUNCTYPE(ctypes.c_void_p, _CAPSULE, _NAME)(("PyCapsule_GetPointer", ctypes.pythonapi))
_is_capsule = ctypes.PYFUNCTYPE(ctypes.c_int, _CAPSULE, _NAME)(("PyCapsule_IsValid", ctypes.pythonapi))


class Tensor(ctypes.Structure):
    """DLPack's record of memory; a capsule of the older version points to one."""

    _fields_ = (
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    )


class Versioned(ctypes.Structure):
    """What a capsule of version 1 points to."""

    _fields_ = (
        ("major", ctypes.c_uint32),
        ("minor", ctypes.c_uint32),
        ("context", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p),
        ("flags", ctypes.c_uint64),
        ("tensor", Tensor),
    )


def foreign_array(thing: Any) -> npt.NDArray[Any] | None:
    """A flat array on the memory of an object that shows it by one of the two protocols, else None."""
    if hasattr(thing, "__dlpack__"):
        return _dlpack_array(thing)
    return _cuda_array(thing) if hasattr(thing, "__cuda_array_interface__") else None


def is_of_a_device(thing: Any) -> bool:
    """Whether the memory that an object shows by one of the two protocols calls itself a GPU's."""
    if hasattr(thing, "__dlpack__"):
        return _device(thing)[0] not in _HOST
    return hasattr(thing, "__cuda_array_interface__")


def _dlpack_array(thing: Any) -> npt.NDArray[Any]:
    device = _device(thing)
    where = {} if device[0] == 1 else {"stream": -1}  # -1: wait for nothing on the device
    try:
        capsule, name = thing.__dlpack__(max_version=(1, 0), copy=False, **where), b"dltensor_versioned"
    except TypeError:  # older than version 1
        capsule, name = thing.__dlpack__(**where), b"dltensor"
    if name != b"dltensor" and _is_capsule(capsule, b"dltensor"):
        name = b"dltensor"  # it took the arguments, and knows only the older version
    if not _is_capsule(capsule, name):
        raise _unusable(thing, f"gives {_words(capsule)} instead of a DLPack capsule that nobody has used")
    start = _pointer_of(capsule, name)
    readonly = False
    if name == b"dltensor":
        tensor = Tensor.from_address(start)
    else:
        managed = Versioned.from_address(start)
        if managed.major != 1:
            raise _unusable(thing, f"speaks version {managed.major}.{managed.minor} of DLPack, not 1")
        tensor, readonly = managed.tensor, bool(managed.flags & _READ_ONLY)
    shape = _shape(thing, tensor)
    if tensor.strides:
        _check_order(thing, shape, tensor.strides[: tensor.ndim], 1)
    dtype, each = _dl_element(tensor)
    place = (tensor.data or 0) + tensor.byte_offset
    return _array(thing, place, prod(shape) * each, dtype, readonly, capsule, device)


def _cuda_array(thing: Any) -> npt.NDArray[Any]:
    entry = _Entries(thing, thing.__cuda_array_interface__)
    data, typestr, shape = entry("data", tuple), entry("typestr", str), entry("shape", tuple)
    if len(data) != 2:
        raise entry.wrong("data", "an address and whether it is read-only", MPIValueError)
    if entry.entries.get("mask") is not None:
        raise _unusable(thing, "has a mask")
    if shape and min(shape) < 0:
        raise _unusable(thing, f"has the shape {shape}")
    if typestr[:1] not in _ORDERS or not typestr:
        raise _unusable(thing, f"has elements of type {typestr!r}, which is not this machine's byte order")
    if not typestr[2:].isdecimal():
        raise entry.wrong("typestr", "a type and its size, such as '<f8'", MPIValueError)
    dtype, each = _element(typestr[1], int(typestr[2:]))
    if entry.entries.get("strides") is not None:
        _check_order(thing, shape, entry("strides", tuple), int(typestr[2:]))
    if entry.entries.get("descr") is not None and entry("descr", list) != [("", typestr)]:
        words = f"the 'descr' of a {type(thing).__name__} is not looked at: its elements are {typestr!r} in a message."
        warnings.warn(words, RuntimeWarning, stacklevel=2)
    address, readonly = data
    return _array(thing, address or 0, prod(shape) * each, dtype, bool(readonly), thing, (2, 0))


def _array(
    thing: Any, address: int, count: int, dtype: np.dtype[Any], readonly: bool, owner: Any, device: tuple[int, int]
) -> npt.NDArray[Any]:
    nbytes = count * dtype.itemsize
    if nbytes and device[0] not in _HOST and not _readable(address, address + nbytes - 1):
        words = f"is on another device, {device} in DLPack's terms: copy it to the host first"
        raise complaint(ERR_BUFFER, f"the memory of a {type(thing).__name__} {words}.", MPIBufferError)
    if not nbytes:
        return np.empty(0, dtype)
    memory: Any = _stretch(nbytes).from_address(address)
    memory.owner = owner  # which the array keeps alive with it
    found = np.frombuffer(memory, dtype)
    if readonly:
        found.flags.writeable = False
    return found


@lru_cache(maxsize=256)
def _stretch(nbytes: int) -> Any:
    """The class of so many bytes in a row; ctypes forgets those that are not in use, and making one takes a while."""
    return ctypes.c_ubyte * nbytes


def _readable(first: int, last: int) -> bool:
    """Whether this process can read both bytes. The operating system says so when it is told to write them to a pipe."""
    if os.name != "posix":
        return False
    bytes_there = [_BYTE.from_address(first)]
    if first // PAGESIZE != last // PAGESIZE:
        bytes_there.append(_BYTE.from_address(last))
    reader, writer = _pipe()
    try:
        return os.writev(writer, bytes_there) == len(bytes_there)
    except BlockingIOError:  # it is full, which is no answer
        with suppress(BlockingIOError):  # a process that was forked has emptied it
            os.read(reader, _PIPE)
        return _readable(first, last)
    except OSError:
        return False


@cache
def _pipe() -> tuple[int, int]:
    reader, writer = os.pipe()
    os.set_blocking(reader, False)
    os.set_blocking(writer, False)
    return reader, writer


# -- DLPack ------------------------------------------------------------------------------------------------------------


def _device(thing: Any) -> tuple[int, int]:
    found = thing.__dlpack_device__() if callable(getattr(thing, "__dlpack_device__", None)) else None
    if type(found) is tuple and len(found) == 2 and isinstance(found[0], int) and isinstance(found[1], int):
        return int(found[0]), int(found[1])
    if not isinstance(found, tuple) or not all(isinstance(number, (int, np.integer)) for number in found):
        raise _unusable(thing, f"has the DLPack device {found!r}, not two integers", MPITypeError)
    if len(found) != 2:
        raise _unusable(thing, f"has the DLPack device {found!r}, not two integers", MPIValueError)
    return int(found[0]), int(found[1])


def _words(capsule: Any) -> str:
    return "a used one" if type(capsule).__name__ == "PyCapsule" else repr(capsule)


def _shape(thing: Any, tensor: Tensor) -> list[int]:
    if tensor.ndim < 0 or (tensor.ndim and not tensor.shape):
        raise _unusable(thing, f"has {tensor.ndim} dimensions{' and no shape' * (tensor.ndim > 0)}")
    shape: list[int] = tensor.shape[: tensor.ndim] if tensor.ndim else []
    if shape and min(shape) < 0:
        raise _unusable(thing, f"has the shape {tuple(shape)}")
    return shape


def _dl_element(tensor: Tensor) -> tuple[np.dtype[Any], int]:
    """What numpy calls an element, and how many of those it is. An element with two lanes of floats is a complex number."""
    kind, bits = _KINDS.get(tensor.code, "V"), tensor.bits * tensor.lanes
    if tensor.lanes == 2 and kind == "f":
        kind = "c"
    elif tensor.lanes != 1:
        kind = "V"
    return _element(kind, (bits + 7) // 8)


# -- both --------------------------------------------------------------------------------------------------------------


@cache
def _element(kind: str, itemsize: int) -> tuple[np.dtype[Any], int]:
    """numpy's type and 1; for what it has none, bytes, and how many of them."""
    if kind in "biufc":
        try:
            return np.dtype(f"{kind}{itemsize}"), 1
        except TypeError:
            pass
    return np.dtype(np.uint8), itemsize


def _check_order(thing: Any, shape: Sequence[int], strides: Sequence[int], step: int) -> None:
    """Refuse memory with holes, and elements that lie neither in C's order nor in Fortran's."""
    if len(shape) == len(strides) == 1 and strides[0] == step:
        return

    def dense(dimensions: Iterable[tuple[int, int]]) -> bool:
        expected = step
        for extent, stride in dimensions:
            if extent > 1 and stride != expected:
                return False
            expected *= extent
        return True

    dimensions = list(zip(shape, strides, strict=True))
    if 0 not in shape and not dense(dimensions) and not dense(reversed(dimensions)):
        raise _unusable(thing, f"is not contiguous: shape {tuple(shape)}, strides {tuple(strides)}, elements of {step}")


class _Entries:
    """The dictionary of a CUDA array interface, and what is wrong with it."""

    def __init__(self, thing: Any, entries: Any) -> None:
        self.thing, self.entries = thing, entries
        if not isinstance(entries, dict):
            raise _unusable(thing, f"has {entries!r} as __cuda_array_interface__, not a dictionary", MPITypeError)

    def __call__(self, key: str, kind: type) -> Any:
        if key not in self.entries:
            raise _unusable(self.thing, f"has no {key!r} in its __cuda_array_interface__", MPIKeyError)
        if not isinstance(self.entries[key], kind):
            raise self.wrong(key, f"a {kind.__name__}", MPITypeError)
        return self.entries[key]

    def wrong(self, key: str, wanted: str, kind: type[MPIError]) -> MPIError:
        """An error about an entry."""
        words = f"has {self.entries[key]!r} as {key!r} in its __cuda_array_interface__, not {wanted}"
        return _unusable(self.thing, words, kind)


def _unusable(thing: Any, words: str, kind: type[MPIError] = MPIBufferError) -> MPIError:
    return complaint(ERR_BUFFER, f"the memory of a {type(thing).__name__} cannot be used: it {words}.", kind)
