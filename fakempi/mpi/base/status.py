"""Status: source, tag, size and error of a message, as a receive, a probe or a wait reports them."""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, Protocol

from fakempi.errors import MPITypeError, MPIValueError
from fakempi.errors.classes import ERR_ARG, ERR_COUNT, ERR_TYPE, SUCCESS
from fakempi.mpi.base.constants import ANY_SOURCE, ANY_TAG, F_STATUS_SIZE, UNDEFINED
from fakempi.mpi.base.mpi_errors import integer, mpi_error, shown

if TYPE_CHECKING:
    from typing_extensions import Self


class CountedType(Protocol):
    """A datatype, with the number of bytes and of basic elements of an item."""

    @property
    def _size(self) -> int: ...

    def _elements(self, nbytes: int) -> int | None: ...


class _Byte:
    """Stands for BYTE as the default of a parameter, since a higher package defines BYTE."""

    _size = 1

    def _elements(self, nbytes: int) -> int:
        return nbytes

    def __repr__(self) -> str:
        return "BYTE"


_BYTE = _Byte()


class Status:
    """Source, tag, error, size in bytes and cancellation of a message. Datatypes default to BYTE."""

    __slots__ = ("__weakref__", "_cancelled", "_error", "_memory", "_nbytes", "_source", "_tag")

    _source: int
    _tag: int
    _error: int
    _nbytes: int
    _cancelled: bool
    _memory: memoryview
    _unmapped: type[Status] | None = None  # for a status with memory, the class it had before
    __hash__ = None  # type: ignore[assignment]  # Python's way to make objects unhashable

    def __new__(cls, status: Status | None = None) -> Self:
        self = super().__new__(cls)
        if status is None:
            self._source, self._tag, self._error, self._nbytes, self._cancelled = ANY_SOURCE, ANY_TAG, SUCCESS, 0, False
        elif isinstance(status, Status):
            self._source, self._tag, self._error, self._nbytes, self._cancelled = status._fields()
        else:
            raise mpi_error(ERR_ARG, f"cannot create a Status from {status!r}.", MPITypeError)
        return self

    def _fill(self, source: int, tag: int, nbytes: int) -> None:
        """Describe a message. The error field does not change, as MPI requires for calls with one status."""
        self._source = source
        self._tag = tag
        self._nbytes = nbytes
        self._cancelled = False

    def _fill_empty(self) -> None:
        """Become an empty status."""
        self._fill(ANY_SOURCE, ANY_TAG, 0)
        self._error = SUCCESS

    def _fields(self) -> tuple[int, int, int, int, bool]:
        return self._source, self._tag, self._error, self._nbytes, self._cancelled

    def __eq__(self, other: object) -> bool:
        return self._fields() == other._fields() if isinstance(other, Status) else NotImplemented

    def __repr__(self) -> str:
        error = f", error {self._error}" if self._error != SUCCESS else ""
        cancelled = ", cancelled" if self._cancelled else ""
        return f"<Status: source {self._source}, tag {self._tag}, {self._nbytes} bytes{error}{cancelled}>"

    def __reduce__(self) -> tuple[Any, tuple[Any, ...], dict[str, Any]]:
        return self._unmapped or type(self), (), self.__getstate__()

    def __getstate__(self) -> dict[str, int]:
        names = ("source", "tag", "error", "count", "cancelled")
        return dict(zip(names, self._fields(), strict=True))

    def __setstate__(self, state: dict[str, int]) -> None:
        self._source, self._tag, self._error = state["source"], state["tag"], state["error"]
        self._nbytes, self._cancelled = state["count"], bool(state["cancelled"])

    # -- the fields --------------------------------------------------------------------------------------------------

    def Get_source(self) -> int:
        """Return the rank of the sender."""
        return self._source

    def Set_source(self, source: int) -> None:
        """Set the rank of the sender."""
        self._source = integer("source", source)

    def Get_tag(self) -> int:
        """Return the tag of the message."""
        return self._tag

    def Set_tag(self, tag: int) -> None:
        """Set the tag of the message."""
        self._tag = integer("tag", tag)

    def Get_error(self) -> int:
        """Return the error code, SUCCESS if there was no error."""
        return self._error

    def Set_error(self, error: int) -> None:
        """Set the error code."""
        self._error = integer("error", error)

    def Is_cancelled(self) -> bool:
        """Whether the operation was cancelled."""
        return self._cancelled

    def Set_cancelled(self, flag: bool) -> None:
        """Set whether the operation was cancelled."""
        self._cancelled = bool(flag)

    # -- the size ----------------------------------------------------------------------------------------------------

    def Get_count(self, datatype: CountedType = _BYTE) -> int:
        """Return the number of items of the datatype, or UNDEFINED if the last one is not complete."""
        size = _size(datatype)
        if self._nbytes % size if size else self._nbytes:
            return UNDEFINED
        return self._nbytes // size if size else 0

    def Get_elements(self, datatype: CountedType) -> int:
        """Return the number of basic elements in items of the datatype, or UNDEFINED if the last one is not complete."""
        if datatype is None:
            raise mpi_error(ERR_TYPE, "None is not a Datatype.", MPITypeError)
        if not _size(datatype):
            return UNDEFINED if self._nbytes else 0
        elements = datatype._elements(self._nbytes)
        return UNDEFINED if elements is None else elements

    def Set_elements(self, datatype: CountedType, count: int) -> None:
        """Set the number of basic elements in items of the datatype."""
        size, count = _size(datatype), integer("count", count, bits=64)
        if count < 0:
            raise mpi_error(ERR_COUNT, f"count {count} is negative.")
        self._nbytes = count if datatype is _BYTE else _nbytes(datatype, size, count)

    @property
    def source(self) -> int:
        """The rank of the sender."""
        return self._source

    @source.setter
    def source(self, source: int) -> None:
        self.Set_source(source)

    @property
    def tag(self) -> int:
        """The tag of the message."""
        return self._tag

    @tag.setter
    def tag(self, tag: int) -> None:
        self.Set_tag(tag)

    @property
    def error(self) -> int:
        """The error code, SUCCESS if there was no error."""
        return self._error

    @error.setter
    def error(self, error: int) -> None:
        self.Set_error(error)

    @property
    def count(self) -> int:
        """The number of bytes."""
        return self.Get_count()

    @count.setter
    def count(self, count: int) -> None:
        self.Set_elements(_BYTE, count)

    @property
    def cancelled(self) -> bool:
        """Whether the operation was cancelled."""
        return self._cancelled

    @cancelled.setter
    def cancelled(self, cancelled: bool) -> None:
        self.Set_cancelled(cancelled)

    # -- the representation in Fortran and C -------------------------------------------------------------------------

    def py2f(self) -> list[int]:
        """Return the status as in Fortran: low half of the size, high half with the cancelled flag, source, tag, error."""
        return list(struct.unpack("=5i", self._packed()))

    @classmethod
    def f2py(cls, arg: list[int]) -> Self:
        """Return the status for the integers of a Fortran status."""
        if not isinstance(arg, Sequence):
            raise mpi_error(ERR_ARG, f"arg is {shown(arg)}, not a list of {F_STATUS_SIZE} integers.", MPITypeError)
        if len(arg) < F_STATUS_SIZE:
            raise mpi_error(ERR_ARG, f"a Fortran status has {F_STATUS_SIZE} integers, not {len(arg)}.", MPIValueError)
        low, high, source, tag, error = (integer("arg", number) for number in arg[:F_STATUS_SIZE])
        self = cls()
        self._source, self._tag, self._error = source, tag, error
        self._nbytes, self._cancelled = _size_of_words(low, high), bool(high & 1)
        return self

    def tomemory(self) -> memoryview:
        """Return the integers of `py2f` as memory. From now on the fields of the status are in this memory."""
        return self._move_to(bytearray)

    def _move_to(self, allocate: Callable[[int], Any]) -> memoryview:
        """Move the fields to memory that a function allocates, unless they are in memory already; returns the memory."""
        if self._unmapped is None:
            packed = self._packed()
            memory = memoryview(allocate(len(packed)))
            memory[:] = packed
            self._memory = memory.cast("i")
            self.__class__ = _mapped(type(self))  # type: ignore[arg-type]  # classes are hashable, their objects are not
        return self._memory

    def _packed(self) -> bytes:
        return _size_words(self._nbytes, self._cancelled) + struct.pack("=3i", self._source, self._tag, self._error)


@cache
def _mapped(cls: type[Status]) -> type[Status]:
    """Return a subclass whose fields are in the memory of the status."""

    def word(i: int) -> property:
        return property(lambda self: self._memory[i], lambda self, value: self._memory.__setitem__(i, value))

    def set_nbytes(self: Status, nbytes: int) -> None:
        self._memory[0], self._memory[1] = struct.unpack("=2i", _size_words(nbytes, self._cancelled))

    def set_cancelled(self: Status, flag: bool) -> None:
        self._memory[1] = self._memory[1] & ~1 | flag

    fields = {
        "_source": word(2),
        "_tag": word(3),
        "_error": word(4),
        "_nbytes": property(lambda self: _size_of_words(self._memory[0], self._memory[1]), set_nbytes),
        "_cancelled": property(lambda self: bool(self._memory[1] & 1), set_cancelled),
    }
    return type(cls.__name__, (cls,), {"__slots__": (), "__module__": cls.__module__, "_unmapped": cls, **fields})


def _size_words(nbytes: int, cancelled: bool) -> bytes:
    return struct.pack("=2I", nbytes & 0xFFFFFFFF, (nbytes >> 32) << 1 | cancelled)


def _size_of_words(low: int, high: int) -> int:
    return low & 0xFFFFFFFF | (high & 0xFFFFFFFE) << 31


def _size(datatype: CountedType) -> int:
    """Return the size in bytes of a datatype, which must not be null."""
    if datatype is _BYTE:
        return 1
    try:
        null, size = not datatype, datatype._size
    except AttributeError:
        raise mpi_error(ERR_TYPE, f"{datatype!r} is not a Datatype.", MPITypeError) from None
    if null:
        raise mpi_error(ERR_TYPE, "the datatype is null: DATATYPE_NULL, or freed.")
    return size


def check_status(status: object) -> None:
    """Raise an error if an argument is not a status."""
    if not isinstance(status, Status):
        raise mpi_error(ERR_ARG, f"status is {shown(status)}, not a Status: use status = MPI.Status().", MPITypeError)


def _nbytes(datatype: CountedType, size: int, count: int) -> int:
    """Return the number of bytes of `count` basic elements in consecutive items of the datatype."""
    per_item = datatype._elements(size) if size else 0
    if not per_item:
        if count:
            raise mpi_error(ERR_COUNT, f"count {count} does not fit: the datatype has no elements.")
        return 0
    items, remainder = divmod(count, per_item)
    part: int = next(part for part in (remainder * size // per_item, *range(size)) if datatype._elements(part) == remainder)
    return items * size + part
