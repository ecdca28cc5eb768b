"""The class `MPI.buffer` (also `MPI.memory`), and the allocation of memory."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any, SupportsIndex, overload
from weakref import WeakValueDictionary

import numpy as np

from fakempi.errors import MPITypeError, MPIValueError
from fakempi.errors.classes import ERR_ARG, ERR_BASE
from fakempi.mpi.base.array_protocols import is_device_memory
from fakempi.mpi.base.info import INFO_NULL, Info
from fakempi.mpi.base.mpi_errors import integer, mpi_error
from fakempi.mpi.buffers.phantom import Phantom
from fakempi.mpi.buffers.raw import NO_BYTES, Bytes, address_of, at_address, bytes_of, memory_of
from fakempi.mpi.interfaces.arrays import Array
from fakempi.mpi.interfaces.buffers import Buffer

if TYPE_CHECKING:
    from typing_extensions import Self

_ABSENT: Any = object()


class buffer(np.ndarray[Any, np.dtype[np.uint8]]):
    """A region of memory, as bytes.

    Pure Python cannot export the buffer protocol before Python 3.12, but numpy arrays can, so this is a flat array of
    unsigned bytes on the memory of the object that it was made from. Differences to mpi4py: it also has the methods and
    operators of numpy arrays, and a `memoryview` of it that is made after `release()` still refers to the memory.
    """

    __module__ = "fakempi.MPI"

    _memory: Bytes  # the memory as a plain array; empty after a release
    _obj: Any  # the object that has the memory, or None
    _address: int | None  # the address, if it is not that of the memory
    _allocated: bool
    _on_device: bool  # whether the object declares it to be GPU memory: it can be sent, but the program cannot read it

    @overload
    def __new__(cls) -> Self: ...
    @overload
    def __new__(cls, buf: Buffer, /) -> Self: ...
    def __new__(cls, *buf: Any) -> Any:
        return cls.frombuffer(buf[0]) if buf else cls.allocate(0)._without_address()

    def __array_finalize__(self, parent: object) -> None:
        self._memory, self._obj, self._address, self._allocated = self.view(np.ndarray), parent, None, False
        self._on_device = False

    @classmethod
    def _of_memory(cls, memory: Bytes, obj: object) -> buffer:
        new: buffer = memory.view(cls)
        new._obj = obj
        return new

    def _without_address(self) -> buffer:
        self._memory, self._obj, self._address = NO_BYTES, None, 0
        return self

    # -- creation -----------------------------------------------------------------------------------------------------

    @staticmethod
    def allocate(nbytes: int, clear: bool = False) -> buffer:
        """Allocate memory; it is filled with zeros whether or not `clear` is true."""
        size = integer("nbytes", nbytes, 64)
        if size < 0:
            raise ValueError(f"expecting a nonnegative size, got {size}")
        fresh = np.zeros(size, np.uint8)
        return buffer._of_memory(fresh, fresh)

    @staticmethod
    def frombuffer(obj: Buffer, readonly: bool = False) -> buffer:
        """Return the memory of an object."""
        memory = bytes_of(memory_of(obj)[0])
        if isinstance(memory, Phantom):
            raise mpi_error(ERR_ARG, f"{obj!r} has no memory.", MPITypeError)
        new = buffer._of_memory(memory, obj)
        new._on_device = is_device_memory(obj)
        return new.toreadonly() if readonly else new

    @staticmethod
    def fromaddress(address: int, nbytes: int, readonly: bool = False) -> buffer:
        """Return the memory at an address; the caller ensures that it exists as long as the buffer."""
        start, size = integer("address", address, 65), integer("nbytes", nbytes, 64)
        if size < 0:
            raise ValueError(f"expecting a nonnegative buffer length, got {size}")
        if size and not start:
            raise ValueError(f"expecting an address other than 0 for {size} bytes")
        new = buffer._of_memory(at_address(start, size) if size else NO_BYTES, None)
        new._address = start
        return new.toreadonly() if readonly else new

    # -- sequence of bytes ---------------------------------------------------------------------------------------------

    def __len__(self) -> int:
        return len(self._memory)

    def __bool__(self) -> bool:
        return len(self._memory) > 0

    def __eq__(self, other: object) -> bool:
        return self is other

    def __ne__(self, other: object) -> bool:
        return self is not other

    def __hash__(self) -> int:  # type: ignore[override]  # numpy's arrays have none
        return id(self) >> 4

    def __repr__(self) -> str:
        return f"<MPI.buffer of {len(self._memory)} bytes>"

    __str__ = __repr__

    def __reduce__(self) -> str | tuple[Any, ...]:
        raise TypeError("cannot pickle an MPI.buffer: it is memory of this process")

    def __reduce_ex__(self, protocol: SupportsIndex) -> str | tuple[Any, ...]:
        return self.__reduce__()

    @overload  # type: ignore[override]  # bytes and slices only, not numpy's other indices
    def __getitem__(self, item: int, /) -> int: ...
    @overload
    def __getitem__(self, item: slice, /) -> buffer: ...
    def __getitem__(self, item: Any, /) -> Any:
        if isinstance(item, slice):
            part = buffer._of_memory(self._memory[_check_step(item)], self)
            part._on_device = self._on_device
            return part
        return int(self._host_memory()[self._position(item)])

    @overload  # type: ignore[override]  # bytes and slices only, not numpy's other indices
    def __setitem__(self, item: int, value: int, /) -> None: ...
    @overload
    def __setitem__(self, item: slice, value: Buffer, /) -> None: ...
    def __setitem__(self, item: Any, value: Any, /) -> None:
        if self.readonly:
            raise TypeError("the buffer is read-only")
        self._host_memory()
        if not isinstance(item, slice):
            self._memory[self._position(item)] = _byte(value)
            return
        target = self._memory[_check_step(item)]
        if isinstance(value, (int, np.integer)):
            target[...] = _byte(value)
            return
        memory = bytes_of(memory_of(value)[0])
        if len(memory) != len(target):
            raise ValueError(f"the slice has {len(target)} bytes, the buffer assigned to it {len(memory)}")
        target[...] = memory

    def __delitem__(self, item: object) -> None:
        raise NotImplementedError("bytes of an MPI.buffer cannot be deleted")

    def _position(self, item: SupportsIndex) -> int:
        try:
            position = operator.index(item)
        except TypeError:
            raise TypeError(f"the index must be an integer or a slice, not {type(item).__name__!r}") from None
        if not -len(self) <= position < len(self):
            raise IndexError(f"index {position} is out of range for {len(self)} bytes")
        return position

    def _host_memory(self) -> Bytes:
        if self._on_device:
            raise BufferError("the memory is on a device, so the host cannot read it")
        return self._memory

    # -- whole buffer -------------------------------------------------------------------------------------------------

    def cast(self, format: str, shape: list[int] | tuple[int, ...] = _ABSENT) -> memoryview:
        """Return a memoryview of elements of another format, and of a shape."""
        memory: Any = self._host_memory()  # numpy's stubs lack the buffer protocol before 2.5
        view: Any = memoryview(memory)
        result: memoryview = view.cast(format) if shape is _ABSENT else view.cast(format, shape)
        return result

    def tobytes(self, order: str | None = None) -> bytes:
        """Return a copy of the bytes; `order` has no effect, since there is one dimension."""
        return self._host_memory().tobytes()

    def toreadonly(self) -> buffer:
        """Return a read-only buffer of the same memory."""
        new = buffer._of_memory(self._memory, self._obj)
        new._on_device = self._on_device
        new._memory.flags.writeable = new.flags.writeable = False
        return new

    def release(self) -> None:
        """Release the memory; the buffer is empty from now on."""
        self._without_address()
        self._allocated = False

    @property
    def address(self) -> int:
        """The address of the memory; 0 if there is none."""
        return address_of(self._memory) if self._address is None else self._address

    @property
    def obj(self) -> Buffer | None:
        """The object that has the memory, or None."""
        owner: Buffer | None = self._obj
        return owner

    @property
    def nbytes(self) -> int:
        """The length in bytes."""
        return len(self._memory)

    @property
    def readonly(self) -> bool:
        """Whether the memory is read-only."""
        return not self._memory.flags.writeable

    @property
    def format(self) -> str:
        """The format of the elements: B, unsigned bytes."""
        return "B"


memory = buffer


def Alloc_mem(size: int, info: Info = INFO_NULL) -> buffer:
    """Allocate memory for communication; here it does not differ from other memory."""
    nbytes = integer("size", size, 64)
    if nbytes < 0:
        raise mpi_error(ERR_ARG, f"size {nbytes} is negative.", MPIValueError)
    new = buffer.allocate(nbytes)
    new._obj, new._allocated = None, True
    if nbytes:
        _allocated[new.address, nbytes] = new.base  # type: ignore[assignment]  # not None: it is a view
    return new


_allocated: WeakValueDictionary[tuple[int, int], Array] = WeakValueDictionary()
"""(address, length) -> memory of `Alloc_mem` that has not been freed. A window may return another buffer of that memory."""


def Free_mem(mem: buffer) -> None:
    """Free memory of `Alloc_mem`; any buffer of the whole memory is accepted."""
    if not isinstance(mem, buffer):
        raise mpi_error(ERR_BASE, f"expecting a buffer from Alloc_mem, not {type(mem).__name__!r}.", MPITypeError)
    known = _allocated.pop((mem.address, len(mem)), None) is not None if len(mem) else mem._allocated
    if not known:
        sentence = f"this buffer of {len(mem)} bytes is not from Alloc_mem, or has been freed."
        raise mpi_error(ERR_BASE, sentence, MPIValueError)
    mem.release()


def _check_step(item: slice) -> slice:
    if item.step not in (None, 1):
        raise IndexError(f"slices of a buffer have step 1, not {item.step}")
    return item


def _byte(value: SupportsIndex) -> int:
    try:
        number = operator.index(value)
    except TypeError:
        raise TypeError(f"an integer is required, not {type(value).__name__!r}") from None
    if not 0 <= number <= 255:
        raise OverflowError(f"{number} does not fit a byte")
    return number
