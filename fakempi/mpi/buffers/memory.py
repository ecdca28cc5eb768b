"""Memory as programs hold it: `MPI.buffer` (also called `MPI.memory`), and its allocation."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from fakempi.error_classes import ERR_ARG, ERR_BASE
from fakempi.errors import MPITypeError, MPIValueError
from fakempi.mpi.base.complain import complaint, integer
from fakempi.mpi.base.foreign import is_of_a_device
from fakempi.mpi.buffers.phantom import Phantom
from fakempi.mpi.buffers.raw import NOTHING, Bytes, address_of, at_address, bytes_of, memory_of

_ABSENT: Any = object()


class buffer(np.ndarray[Any, np.dtype[np.uint8]]):
    """A stretch of memory, as bytes.

    Pure Python cannot export the buffer protocol before Python 3.12, but numpy's arrays can, so this is one: flat, of
    unsigned bytes, on the memory of the object it was made from. Where it differs from mpi4py's: numpy's methods and
    operators are there, too; and a `memoryview` of it taken after `release()` still sees the memory.
    """

    __module__ = "fakempi.MPI"

    _held: Bytes  # the memory as a plain array; nothing after a release
    _obj: Any
    _at: int | None  # the address, where it is not that of the memory
    _allocated: bool
    _remote: bool  # whether it calls itself a GPU's: such memory can be sent from here, but no program may look into it

    def __new__(cls, buf: Any = _ABSENT, /) -> buffer:
        return cls.allocate(0)._without_address() if buf is _ABSENT else cls.frombuffer(buf)

    def __array_finalize__(self, parent: Any) -> None:
        self._held, self._obj, self._at, self._allocated = self.view(np.ndarray), parent, None, False
        self._remote = False

    @classmethod
    def _over(cls, memory: Bytes, obj: Any) -> buffer:
        made: buffer = memory.view(cls)
        made._obj = obj
        return made

    def _without_address(self) -> buffer:
        self._held, self._obj, self._at = NOTHING, None, 0
        return self

    # -- making -------------------------------------------------------------------------------------------------------

    @staticmethod
    def allocate(nbytes: int, clear: bool = False) -> buffer:
        """New memory; it is cleared whether or not that is asked for."""
        size = operator.index(nbytes)
        if size < 0:
            raise ValueError(f"expecting a size that is not negative, got {size}")
        fresh = np.zeros(size, np.uint8)
        return buffer._over(fresh, fresh)

    @staticmethod
    def frombuffer(obj: Any, readonly: bool = False) -> buffer:
        """The memory of an object."""
        found = bytes_of(memory_of(obj)[0])
        if isinstance(found, Phantom):
            raise complaint(ERR_ARG, f"{obj!r} has no memory.", MPITypeError)
        made = buffer._over(found, obj)
        made._remote = is_of_a_device(obj)
        return made.toreadonly() if readonly else made

    @staticmethod
    def fromaddress(address: int, nbytes: int, readonly: bool = False) -> buffer:
        """The memory at an address: what is there, and for how long, is the caller's business."""
        start, size = operator.index(address), operator.index(nbytes)
        if size < 0:
            raise ValueError(f"expecting a buffer length that is not negative, got {size}")
        if size and not start:
            raise ValueError(f"expecting an address other than 0 for {size} bytes")
        made = buffer._over(at_address(start, size) if size else NOTHING, None)
        made._at = start
        return made.toreadonly() if readonly else made

    # -- as a sequence of bytes ---------------------------------------------------------------------------------------

    def __len__(self) -> int:
        return len(self._held)

    def __bool__(self) -> bool:
        return len(self._held) > 0

    def __eq__(self, other: object) -> bool:
        return self is other

    def __ne__(self, other: object) -> bool:
        return self is not other

    def __hash__(self) -> int:  # type: ignore[override]
        return id(self) >> 4

    def __repr__(self) -> str:
        return f"<MPI.buffer of {len(self._held)} bytes>"

    __str__ = __repr__

    def __reduce__(self) -> Any:
        raise TypeError("cannot pickle an MPI.buffer: it is memory of this process")

    def __reduce_ex__(self, protocol: Any) -> Any:
        return self.__reduce__()

    def __getitem__(self, item: Any) -> Any:
        if isinstance(item, slice):
            part = buffer._over(self._held[_whole(item)], self)
            part._remote = self._remote
            return part
        return int(self._seen()[self._position(item)])

    def __setitem__(self, item: Any, value: Any) -> None:
        if self.readonly:
            raise TypeError("the buffer is read-only")
        self._seen()
        if not isinstance(item, slice):
            self._held[self._position(item)] = _byte(value)
            return
        place = self._held[_whole(item)]
        if isinstance(value, (int, np.integer)):
            place[...] = _byte(value)
            return
        found = bytes_of(memory_of(value)[0])
        if len(found) != len(place):
            raise ValueError(f"the slice has {len(place)} bytes, the buffer assigned to it {len(found)}")
        place[...] = found

    def __delitem__(self, item: Any) -> None:
        raise NotImplementedError("bytes of an MPI.buffer cannot be deleted")

    def _position(self, item: Any) -> int:
        try:
            position = operator.index(item)
        except TypeError:
            raise TypeError(f"the index must be an integer or a slice, not {type(item).__name__!r}") from None
        if not -len(self) <= position < len(self):
            raise IndexError(f"index {position} is out of range for {len(self)} bytes")
        return position

    def _seen(self) -> Bytes:
        if self._remote:
            raise BufferError("the memory is a device's, which the host cannot look into")
        return self._held

    # -- as a whole ---------------------------------------------------------------------------------------------------

    def cast(self, format: str, shape: Any = None) -> memoryview:
        """A memoryview of elements of another format, and of a shape."""
        held: Any = self._seen()
        view: Any = memoryview(held)
        made: memoryview = view.cast(format) if shape is None else view.cast(format, shape)
        return made

    def tobytes(self, order: Any = None) -> bytes:
        """A copy of the bytes; there is only one order they can have."""
        return self._seen().tobytes()

    def toreadonly(self) -> buffer:
        """The same memory, read-only."""
        made = buffer._over(self._held, self._obj)
        made._remote = self._remote
        made._held.flags.writeable = made.flags.writeable = False
        return made

    def release(self) -> None:
        """Let go of the memory; the buffer is empty from now on."""
        self._without_address()
        self._allocated = False

    @property
    def address(self) -> int:
        """Where the memory starts; 0 if there is none."""
        return address_of(self._held) if self._at is None else self._at

    @property
    def obj(self) -> Any:
        """The object that has the memory, or None."""
        return self._obj

    @property
    def nbytes(self) -> int:
        """The length in bytes."""
        return len(self._held)

    @property
    def readonly(self) -> bool:
        """Is writing forbidden?"""
        return not self._held.flags.writeable

    @property
    def format(self) -> str:
        """The elements' format: B, unsigned bytes."""
        return "B"


memory = buffer


def Alloc_mem(size: int, info: Any = None) -> buffer:
    """Memory for communication; here it is like any other."""
    nbytes = integer("size", size)
    if nbytes < 0:
        raise complaint(ERR_ARG, f"size {nbytes} is negative.", MPIValueError)
    made = buffer.allocate(nbytes)
    made._obj, made._allocated = None, True
    return made


def Free_mem(mem: buffer) -> None:
    """Give back what `Alloc_mem` gave."""
    if not isinstance(mem, buffer):
        raise complaint(ERR_BASE, f"expecting a buffer from Alloc_mem, not {type(mem).__name__!r}.", MPITypeError)
    if not mem._allocated:
        words = f"this buffer of {len(mem)} bytes is not from Alloc_mem, or was freed."
        raise complaint(ERR_BASE, words, MPIValueError)
    mem.release()


def _whole(item: slice) -> slice:
    if item.step not in (None, 1):
        raise IndexError(f"slices of a buffer have step 1, not {item.step}")
    return item


def _byte(value: Any) -> int:
    try:
        number = operator.index(value)
    except TypeError:
        raise TypeError(f"an integer is required, not {type(value).__name__!r}") from None
    if not 0 <= number <= 255:
        raise OverflowError(f"{number} does not fit a byte")
    return number
