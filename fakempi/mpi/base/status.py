"""What a receive, a probe or a wait tells about a message: from whom, which tag, how much, and whether it went well."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from functools import cache
from operator import index
from typing import TYPE_CHECKING, Any

from fakempi.error_classes import ERR_ARG, ERR_COUNT, ERR_TYPE, SUCCESS
from fakempi.errors import MPITypeError, MPIValueError
from fakempi.mpi.base.complain import complaint
from fakempi.mpi.base.constants import ANY_SOURCE, ANY_TAG, F_STATUS_SIZE, UNDEFINED

if TYPE_CHECKING:
    from typing_extensions import Self


class Status:
    """Source, tag, error, size in bytes and cancellation of a message. Datatypes default to BYTE."""

    __slots__ = ("__weakref__", "_cancelled", "_error", "_memory", "_nbytes", "_source", "_tag")

    _source: int
    _tag: int
    _error: int
    _nbytes: int
    _cancelled: bool
    _memory: memoryview
    _unmapped: type[Status] | None = None  # of a status with memory, the class it had before
    __hash__ = None  # type: ignore[assignment]

    def __new__(cls, status: Status | None = None) -> Self:
        self = super().__new__(cls)
        if status is None:
            self._source, self._tag, self._error, self._nbytes, self._cancelled = ANY_SOURCE, ANY_TAG, SUCCESS, 0, False
        elif isinstance(status, Status):
            self._source, self._tag, self._error, self._nbytes, self._cancelled = status._fields()
        else:
            raise complaint(ERR_ARG, f"cannot make a Status of {status!r}.", MPITypeError)
        return self

    def _fill(self, source: int, tag: int, nbytes: int) -> None:
        """Say what has arrived. The error field is left alone, as MPI wants where a call has one status."""
        self._source = source
        self._tag = tag
        self._nbytes = nbytes
        self._cancelled = False

    def _fill_empty(self) -> None:
        """Say that there was nothing to wait for."""
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
        """The rank of the sender."""
        return self._source

    def Set_source(self, source: int) -> None:
        """Set the rank of the sender."""
        self._source = _integer("source", source)

    def Get_tag(self) -> int:
        """The tag of the message."""
        return self._tag

    def Set_tag(self, tag: int) -> None:
        """Set the tag of the message."""
        self._tag = _integer("tag", tag)

    def Get_error(self) -> int:
        """The error code, SUCCESS if all went well."""
        return self._error

    def Set_error(self, error: int) -> None:
        """Set the error code."""
        self._error = _integer("error", error)

    def Is_cancelled(self) -> bool:
        """Whether the operation was cancelled."""
        return self._cancelled

    def Set_cancelled(self, flag: bool) -> None:
        """Say whether the operation was cancelled."""
        self._cancelled = bool(flag)

    # -- how much ----------------------------------------------------------------------------------------------------

    def Get_count(self, datatype: Any = None) -> int:
        """How many whole items of the datatype arrived, or UNDEFINED if they are not whole."""
        size = _size(datatype)
        if self._nbytes % size if size else self._nbytes:
            return UNDEFINED
        return self._nbytes // size if size else 0

    def Get_elements(self, datatype: Any) -> int:
        """How many basic elements arrived, counting inside items of the datatype, or UNDEFINED if not whole."""
        if not _size(datatype):
            return UNDEFINED if self._nbytes else 0
        elements: int | None = datatype._elements(self._nbytes)
        return UNDEFINED if elements is None else elements

    def Set_elements(self, datatype: Any, count: int) -> None:
        """Say how many basic elements arrived, counting inside items of the datatype (BYTE if None)."""
        size, count = _size(datatype), _integer("count", count, bits=64)
        if count < 0:
            raise complaint(ERR_COUNT, f"count {count} is negative.")
        self._nbytes = count if datatype is None else _nbytes(datatype, size, count)

    def _set_count(self, count: int) -> None:
        self.Set_elements(None, count)

    source = property(Get_source, Set_source)
    tag = property(Get_tag, Set_tag)
    error = property(Get_error, Set_error)
    count = property(Get_count, _set_count)
    cancelled = property(Is_cancelled, Set_cancelled)

    # -- the shape that C and Fortran know ---------------------------------------------------------------------------

    def py2f(self) -> list[int]:
        """The status as Fortran has it: low and high half of the size, the latter with the flag; source, tag, error."""
        return list(struct.unpack("=5i", self._packed()))

    @classmethod
    def f2py(cls, arg: Sequence[int]) -> Self:
        """The status that Fortran has in these integers."""
        if len(arg) < F_STATUS_SIZE:
            raise complaint(ERR_ARG, f"a Fortran status has {F_STATUS_SIZE} integers, not {len(arg)}.", MPIValueError)
        low, high, source, tag, error = (_integer("arg", number) for number in arg[:F_STATUS_SIZE])
        self = cls()
        self._source, self._tag, self._error = source, tag, error
        self._nbytes, self._cancelled = _size_of_words(low, high), bool(high & 1)
        return self

    def tomemory(self) -> memoryview:
        """The integers of `py2f` as memory, which the status has from now on: what is written there, it says."""
        if self._unmapped is None:
            self._memory = memoryview(bytearray(self._packed())).cast("i")
            kind: Any = type(self)
            self.__class__ = _mapped(kind)
        return self._memory

    def _packed(self) -> bytes:
        return _size_words(self._nbytes, self._cancelled) + struct.pack("=3i", self._source, self._tag, self._error)


@cache
def _mapped(cls: Any) -> Any:
    """The class of a status that has memory: as its own class, with the fields in that memory."""

    def word(place: int) -> property:
        return property(lambda self: self._memory[place], lambda self, value: self._memory.__setitem__(place, value))

    def set_nbytes(self: Any, nbytes: int) -> None:
        self._memory[0], self._memory[1] = struct.unpack("=2i", _size_words(nbytes, self._cancelled))

    def set_cancelled(self: Any, flag: bool) -> None:
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


def _integer(name: str, value: int, bits: int = 32) -> int:
    """The value, which must be an integer of at most so many bits."""
    try:
        number = index(value)
    except TypeError:
        raise complaint(ERR_ARG, f"{name} is {value!r}, not an integer.", MPITypeError) from None
    if not -1 << bits - 1 <= number < 1 << bits - 1:
        raise complaint(ERR_ARG, f"{name} is {number}, which does not fit in {bits} bits.", MPIValueError)
    return number


def _size(datatype: Any) -> int:
    """The size in bytes of a datatype, which must not be null; None stands for BYTE."""
    if datatype is None:
        return 1
    try:
        null, size = not datatype, datatype._size
    except AttributeError:
        raise complaint(ERR_TYPE, f"{datatype!r} is not a Datatype.", MPITypeError) from None
    if null:
        raise complaint(ERR_TYPE, "the datatype is null: DATATYPE_NULL, or freed.")
    return int(size)


def _nbytes(datatype: Any, size: int, count: int) -> int:
    """The bytes that so many basic elements take, item after item of the datatype."""
    each = datatype._elements(size) if size else 0
    if not each:
        if count:
            raise complaint(ERR_COUNT, f"count {count} does not fit: the datatype has no elements.")
        return 0
    items, left = divmod(count, each)
    part: int = next(part for part in (left * size // each, *range(size)) if datatype._elements(part) == left)
    return items * size + part
