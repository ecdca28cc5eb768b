"""Handles, as in mpi4py: Python objects that refer to MPI objects, with integers by which C code can pass them on.

Python objects such as a `Comm` or a `Group` are handles: two of them are equal if they refer to the same MPI object, and a
copy (`Group(group)`) refers to the same MPI object as the original. A handle gets its number when the program first reads
that number. The number is valid on that rank of that run, as long as the Python object exists. The number of an object that
all ranks share is valid on all ranks.
"""

from __future__ import annotations

import weakref
from functools import partial
from operator import index
from typing import Any, ClassVar, Generic, TypeVar

from fakempi.core.hooks import HookedCalls
from fakempi.errors import MPITypeError
from fakempi.errors.classes import ERR_ARG
from fakempi.mpi.base.current import current_process
from fakempi.mpi.base.mpi_errors import mpi_error
from fakempi.mpi.base.tables import NumberTable, table


class _Handles(NumberTable):
    """The handles of a run."""

    before_first = 0

    def __init__(self, universe: Any) -> None:
        # Address of an MPI object -> number of its handle. The reference removes the entry when the object is freed.
        self.numbers: dict[int, tuple[weakref.ref[Any], int]] = {}
        # Number and owner -> Python object. Ranks may share MPI objects, but not the Python objects that refer to them.
        self.objects: weakref.WeakValueDictionary[tuple[int, int | None], Handled[Any]] = weakref.WeakValueDictionary()
        self.used: set[int] = set()  # numbers of objects that are older than the run
        super().__init__(universe)

    def copy(self, parent: _Handles) -> None:
        """Start with the handles of another table."""
        for reference, number in list(parent.numbers.values()):
            if (mpi_object := reference()) is not None:
                self.add(mpi_object, number)
                self.used.add(number)
        self.objects.update(parent.objects)

    def is_used(self, number: int) -> bool:
        """Return whether an object that is older than the run has the number."""
        return number in self.used

    def add(self, mpi_object: object, number: int) -> int:
        """Give an MPI object a number, and return it."""
        address = id(mpi_object)
        self.numbers[address] = weakref.ref(mpi_object, partial(_forget, self.numbers, address)), number
        return number

    def number_of(self, mpi_object: object) -> int:
        """Return the number of an MPI object; it gets one if it has none."""
        known = self.numbers.get(id(mpi_object))
        return self.add(mpi_object, self.new_number()) if known is None else known[1]


def _forget(numbers: dict[int, Any], address: int, _: object) -> None:
    numbers.pop(address, None)


Kind = TypeVar("Kind")


class Identity:
    """An MPI object without state: equal only to itself."""

    __slots__ = ("__weakref__",)


class Handled(HookedCalls, Generic[Kind]):
    """Mixin with mpi4py's methods of handles, equality and truth. A class that uses it needs a slot `__weakref__`.

    The class implements `_mpi_object`. `Class(object)` returns a copy that refers to the same MPI object, and `Class()` a
    null handle. An object that all ranks share has `_shared = True`. Objects of the class that lists `Handled` among its
    bases, and of its subclasses, can be equal to each other.
    """

    __slots__ = ()
    __hash__ = None  # type: ignore[assignment]  # Python's way to make objects unhashable
    _handle_kind: ClassVar[type[Handled[Any]]]

    def __init_subclass__(cls, **kwargs: object) -> None:
        super().__init_subclass__(**kwargs)
        if Handled in cls.__bases__:
            cls._handle_kind = cls

    def _mpi_object(self) -> object | None:
        """The MPI object to which the handle refers (it must allow weak references), or None for a null handle."""
        raise NotImplementedError

    def __eq__(self, other: object) -> bool:
        return self._mpi_object() is other._mpi_object() if isinstance(other, self._handle_kind) else NotImplemented

    def __bool__(self) -> bool:
        return self._mpi_object() is not None

    @property
    def handle(self) -> int:
        """The number of the handle; 0 for a null handle."""
        mpi_object = self._mpi_object()
        if mpi_object is None:
            return 0
        handles = table(_Handles)
        number = handles.number_of(mpi_object)
        key = (number, None if getattr(self, "_shared", False) else _owner())
        known = handles.objects.get(key)
        if known is None or known._mpi_object() is not mpi_object:  # the known object was freed
            handles.objects[key] = self
        return number

    def toint(self) -> int:
        """The number of the handle."""
        return self.handle

    def py2f(self) -> int:
        """The number of the handle, for Fortran."""
        return self.handle

    @classmethod
    def fromhandle(cls, handle: int) -> Kind:
        """Return a copy of the object whose handle has that number."""
        try:
            number = index(handle)
        except TypeError:
            raise mpi_error(ERR_ARG, f"the handle is {handle!r}, not an integer.", MPITypeError) from None
        kind: Any = cls
        if number == 0:
            return kind()  # type: ignore[no-any-return]  # Kind is the class that lists `Handled[Kind]` as a base
        objects = table(_Handles).objects
        handle_object = objects.get((number, _owner())) or objects.get((number, None))
        if not isinstance(handle_object, cls):
            raise mpi_error(ERR_ARG, f"no {cls.__name__} has the handle {number}.")
        kind = type(handle_object)
        return kind(handle_object)  # type: ignore[no-any-return]  # as above

    @classmethod
    def fromint(cls, arg: int, /) -> Kind:
        """Return a copy of the object whose handle has that number."""
        return cls.fromhandle(arg)

    @classmethod
    def f2py(cls, arg: int) -> Kind:
        """Return a copy of the object whose handle has that number in Fortran."""
        return cls.fromhandle(arg)


def _owner() -> int:
    """The number of the running process, -1 outside a run."""
    process = current_process()
    return -1 if process is None else int(process.number)
