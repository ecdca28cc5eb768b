"""Arrays on the memory of objects with DLPack or the CUDA array interface, such as tensors of other libraries.

`numpy.from_dlpack` is not sufficient: it returns read-only arrays for most tensors, and it takes ownership of the capsule's
tensor, which crashes if the tensor does not outlive its capsule. Here a capsule is only read. It keeps its name, so its own
destructor frees the tensor, and it lives as long as the array on its memory.

Both protocols may refer to memory of a GPU. The operating system decides whether this process can read it, because memory
that is labeled as CUDA memory may be managed or pinned host memory.
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

from fakempi.errors import MPIBufferError, MPIError, MPIKeyError, MPITypeError, MPIValueError
from fakempi.errors.classes import ERR_BUFFER
from fakempi.mpi.base.mpi_errors import mpi_error
from fakempi.mpi.interfaces.arrays import Array, Dtype

_HOST = {1: "the CPU", 3: "pinned by CUDA", 11: "pinned by ROCm", 13: "managed by CUDA"}
"""DLPack's device types whose memory every process can read."""

_BYTE = ctypes.c_ubyte * 1
_PIPE = 2**16  # bytes: the capacity of most pipes
_READ_ONLY = 1  # a flag of version 1
_KINDS = {0: "i", 1: "u", 2: "f", 5: "c", 6: "b"}  # DLPack's codes, and numpy's letters
_ORDERS = "|<" if sys.byteorder == "little" else "|>"

# Private prototypes: attributes of `ctypes.pythonapi` are shared with all other modules.
_CAPSULE, _NAME = ctypes.py_object, ctypes.c_char_p
_pointer_of = ctypes.PYFUNCTYPE(ctypes.c_void_p, _CAPSULE, _NAME)(("PyCapsule_GetPointer", ctypes.pythonapi))
_is_capsule = ctypes.PYFUNCTYPE(ctypes.c_int, _CAPSULE, _NAME)(("PyCapsule_IsValid", ctypes.pythonapi))


class Tensor(ctypes.Structure):
    """DLPack's description of memory; a capsule of a version before 1 points to it."""

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
    """The structure to which a capsule of version 1 points."""

    _fields_ = (
        ("major", ctypes.c_uint32),
        ("minor", ctypes.c_uint32),
        ("context", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p),
        ("flags", ctypes.c_uint64),
        ("tensor", Tensor),
    )


def protocol_array(obj: object) -> Array | None:
    """Return a flat array on the memory of an object with one of the two protocols, otherwise None."""
    if hasattr(obj, "__dlpack__"):
        return _dlpack_array(obj)
    return _cuda_array(obj) if hasattr(obj, "__cuda_array_interface__") else None


def is_device_memory(obj: object) -> bool:
    """Whether an object has one of the two protocols, and its memory is labeled as memory of a GPU."""
    if hasattr(obj, "__dlpack__"):
        return _device(obj)[0] not in _HOST
    return hasattr(obj, "__cuda_array_interface__")


def _dlpack_array(obj: Any) -> Array:
    device = _device(obj)
    where = {} if device[0] == 1 else {"stream": -1}  # -1: wait for nothing on the device
    try:
        capsule, name = obj.__dlpack__(max_version=(1, 0), copy=False, **where), b"dltensor_versioned"
    except TypeError:  # older than version 1
        capsule, name = obj.__dlpack__(**where), b"dltensor"
    if name != b"dltensor" and _is_capsule(capsule, b"dltensor"):
        name = b"dltensor"  # it accepts the arguments but implements an older version
    if not _is_capsule(capsule, name):
        raise _unusable(obj, f"returns {_capsule_text(capsule)} instead of an unused DLPack capsule")
    start = _pointer_of(capsule, name)
    readonly = False
    if name == b"dltensor":
        tensor = Tensor.from_address(start)
    else:
        managed = Versioned.from_address(start)
        if managed.major != 1:
            raise _unusable(obj, f"has version {managed.major}.{managed.minor} of DLPack, not 1")
        tensor, readonly = managed.tensor, bool(managed.flags & _READ_ONLY)
    shape = _shape(obj, tensor)
    if tensor.strides:
        _check_order(obj, shape, tensor.strides[: tensor.ndim], 1)
    dtype, items_per_element = _dl_element(tensor)
    place = (tensor.data or 0) + tensor.byte_offset
    return _array(obj, place, prod(shape) * items_per_element, dtype, readonly, capsule, device)


def _cuda_array(obj: Any) -> Array:
    entry = _Interface(obj, obj.__cuda_array_interface__)
    data, typestr, shape = entry("data", tuple), entry("typestr", str), entry("shape", tuple)
    if len(data) != 2:
        raise entry.wrong("data", "an address and whether it is read-only", MPIValueError)
    if entry.entries.get("mask") is not None:
        raise _unusable(obj, "has a mask")
    if shape and min(shape) < 0:
        raise _unusable(obj, f"has the shape {shape}")
    if typestr[:1] not in _ORDERS or not typestr:
        raise _unusable(obj, f"has elements of type {typestr!r}, which is not this machine's byte order")
    if not typestr[2:].isdecimal():
        raise entry.wrong("typestr", "a type and its size, such as '<f8'", MPIValueError)
    dtype, items_per_element = _element(typestr[1], int(typestr[2:]))
    if entry.entries.get("strides") is not None:
        _check_order(obj, shape, entry("strides", tuple), int(typestr[2:]))
    if entry.entries.get("descr") is not None and entry("descr", list) != [("", typestr)]:
        sentence = f"the 'descr' of a {type(obj).__name__} is ignored: its elements are {typestr!r} in a message."
        warnings.warn(sentence, RuntimeWarning, stacklevel=2)
    address, readonly = data
    return _array(obj, address or 0, prod(shape) * items_per_element, dtype, bool(readonly), obj, (2, 0))


def _array(
    obj: object, address: int, count: int, dtype: Dtype, readonly: bool, owner: object, device: tuple[int, int]
) -> Array:
    nbytes = count * dtype.itemsize
    if nbytes and device[0] not in _HOST and not _readable(address, address + nbytes - 1):
        problem = f"is on another device, {device} in DLPack's terms: copy it to the host first"
        raise mpi_error(ERR_BUFFER, f"the memory of a {type(obj).__name__} {problem}.", MPIBufferError)
    if not nbytes:
        return np.empty(0, dtype)
    memory: Any = _byte_array(nbytes).from_address(address)
    memory.owner = owner  # the array keeps it alive
    array = np.frombuffer(memory, dtype)
    if readonly:
        array.flags.writeable = False
    return array


@lru_cache(maxsize=256)
def _byte_array(nbytes: int) -> type[ctypes.Array[ctypes.c_ubyte]]:
    """Return the ctypes class of `nbytes` bytes. Cached: ctypes does not keep unused classes, and to create one is slow."""
    return ctypes.c_ubyte * nbytes


def _readable(first: int, last: int) -> bool:
    """Whether this process can read both bytes: a write of them to a pipe succeeds."""
    if os.name != "posix":
        return False
    bytes_there = [_BYTE.from_address(first)]
    if first // PAGESIZE != last // PAGESIZE:
        bytes_there.append(_BYTE.from_address(last))
    reader, writer = _pipe()
    try:
        return os.writev(writer, bytes_there) == len(bytes_there)
    except BlockingIOError:  # the pipe is full
        with suppress(BlockingIOError):  # a forked process has emptied it
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


def _device(obj: object) -> tuple[int, int]:
    device = getattr(obj, "__dlpack_device__", None)
    pair = device() if callable(device) else None
    if type(pair) is tuple and len(pair) == 2 and isinstance(pair[0], int) and isinstance(pair[1], int):
        return int(pair[0]), int(pair[1])
    if not isinstance(pair, tuple) or not all(isinstance(number, (int, np.integer)) for number in pair):
        raise _unusable(obj, f"has the DLPack device {pair!r}, not two integers", MPITypeError)
    if len(pair) != 2:
        raise _unusable(obj, f"has the DLPack device {pair!r}, not two integers", MPIValueError)
    return int(pair[0]), int(pair[1])


def _capsule_text(capsule: object) -> str:
    return "a used one" if type(capsule).__name__ == "PyCapsule" else repr(capsule)


def _shape(obj: object, tensor: Tensor) -> list[int]:
    if tensor.ndim < 0 or (tensor.ndim and not tensor.shape):
        raise _unusable(obj, f"has {tensor.ndim} dimensions{' and no shape' * (tensor.ndim > 0)}")
    shape: list[int] = tensor.shape[: tensor.ndim] if tensor.ndim else []
    if shape and min(shape) < 0:
        raise _unusable(obj, f"has the shape {tuple(shape)}")
    return shape


def _dl_element(tensor: Tensor) -> tuple[Dtype, int]:
    """Return numpy's dtype, and its number per element (more than 1 for bytes). Two lanes of floats are a complex number."""
    kind, bits = _KINDS.get(tensor.code, "V"), tensor.bits * tensor.lanes
    if tensor.lanes == 2 and kind == "f":
        kind = "c"
    elif tensor.lanes != 1:
        kind = "V"
    return _element(kind, (bits + 7) // 8)


# -- common ------------------------------------------------------------------------------------------------------------


@cache
def _element(kind: str, itemsize: int) -> tuple[Dtype, int]:
    """Return numpy's dtype and 1; if numpy has no such type, the dtype of bytes and their number."""
    if kind in "biufc":
        try:
            return np.dtype(f"{kind}{itemsize}"), 1
        except TypeError:
            pass
    return np.dtype(np.uint8), itemsize


def _check_order(obj: object, shape: Sequence[int], strides: Sequence[int], step: int) -> None:
    """Raise an error unless the elements are contiguous, in C order or in Fortran order."""
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
        raise _unusable(obj, f"is not contiguous: shape {tuple(shape)}, strides {tuple(strides)}, elements of {step}")


class _Interface:
    """The dictionary of a CUDA array interface, with checks of its entries."""

    def __init__(self, obj: object, entries: object) -> None:
        if not isinstance(entries, dict):
            raise _unusable(obj, f"has {entries!r} as __cuda_array_interface__, not a dictionary", MPITypeError)
        self.obj, self.entries = obj, entries

    def __call__(self, key: str, kind: type) -> Any:
        if key not in self.entries:
            raise _unusable(self.obj, f"has no {key!r} in its __cuda_array_interface__", MPIKeyError)
        if not isinstance(self.entries[key], kind):
            raise self.wrong(key, f"a {kind.__name__}", MPITypeError)
        return self.entries[key]

    def wrong(self, key: str, wanted: str, kind: type[MPIError]) -> MPIError:
        """Return an error about an entry."""
        sentence = f"has {self.entries[key]!r} as {key!r} in its __cuda_array_interface__, not {wanted}"
        return _unusable(self.obj, sentence, kind)


def _unusable(obj: object, problem: str, kind: type[MPIError] = MPIBufferError) -> MPIError:
    return mpi_error(ERR_BUFFER, f"the memory of a {type(obj).__name__} cannot be used: it {problem}.", kind)
