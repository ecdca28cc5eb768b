"""Handles, as in mpi4py: Python objects that refer to MPI objects, with integers by which C code can pass them on.

Python objects such as a `Comm` or a `Group` are handles: two of them are equal if they refer to the same MPI object, and a
copy (`Group(group)`) refers to the same MPI object as the original. A handle gets its number when the program first reads
that number. The number is valid on that rank of that run, as long as the Python object exists. The number of an object that
all ranks share is valid on all ranks.

Handles, attribute keys and error codes are numbered in tables. Each run has its own: nothing in them outlives the run, and a
program gets the same numbers in every run. The tables of a run start as copies of those of the code that has started the
run, so that keys and codes that a module creates when it is imported are valid in all runs. If a rank imports a module that
stays loaded after the run, the module's keys and codes are kept, under the same numbers.
"""

from __future__ import annotations

import sys
import weakref
from functools import partial
from types import FrameType, ModuleType
from typing import Any, ClassVar, Generic, TypeVar

from fakempi.core.hooks import HookedCalls
from fakempi.errors.classes import ERR_ARG
from fakempi.mpi.base.call_site import frame_at
from fakempi.mpi.base.current import current_process
from fakempi.mpi.base.mpi_errors import integer, mpi_error, overflow
from fakempi.mpi.base.process import RunState, Universe

T = TypeVar("T", bound="NumberTable")

_outside: dict[type[NumberTable], Any] = {}  # the tables of code outside runs


class NumberTable(RunState):
    """A table of numbered objects. A subclass has the first number and the objects, and copies those of another table."""

    before_first: int  # the number before the first one

    def __init__(self, universe: Universe | None) -> None:
        self.last = self.before_first
        self._imported: list[tuple[ModuleType, int]] = []
        self._parent: Any = None
        if universe is not None:
            self._parent = _of(universe.outer, type(self))
            self.copy(self._parent)
            universe.at_end.append(self._end)

    def copy(self, parent: Any) -> None:
        """Fill the new table with the objects of another one."""
        raise NotImplementedError

    def is_used(self, number: int) -> bool:
        """Return whether an object has the number."""
        raise NotImplementedError

    def keep(self, run: Any, number: int) -> None:
        """Take an object from the table of a run that ends, unless the number is used."""

    def new_number(self) -> int:
        """Return a number that no object has had in this run."""
        self.last += 1
        while self.is_used(self.last):
            self.last += 1
        if self._parent is not None and (module := _module_that_is_imported()) is not None:
            self._imported.append((module, self.last))
        return self.last

    def _end(self) -> None:
        for module, number in self._imported:
            if sys.modules.get(module.__name__) is module:
                self._parent.keep(self, number)
        self._imported, self._parent = [], None


def number_table(kind: type[T]) -> T:
    """Return the table of the run that calls, or the one of code outside runs."""
    process = current_process()
    return _of(None if process is None else process.universe, kind)


def _of(universe: Universe | None, kind: type[T]) -> T:
    if universe is not None:
        return universe.state(kind)
    known: T = _outside.get(kind) or _outside.setdefault(kind, kind(None))
    return known


def _module_that_is_imported() -> ModuleType | None:
    """Return the module whose import calls this function, if any."""
    frame: FrameType | None = frame_at(1)
    while frame is not None:
        if frame.f_code.co_name == "<module>":
            module = sys.modules.get(frame.f_globals.get("__name__", ""))
            if getattr(module, "__dict__", None) is frame.f_globals and _is_initializing(module):
                return module
        frame = frame.f_back
    return None


def _is_initializing(module: Any) -> bool:
    return bool(getattr(module.__spec__, "_initializing", False))


# -- handles ---------------------------------------------------------------------------------------------------------


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
        handles = number_table(_Handles)
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
        number = integer("handle", handle, 65)  # mpi4py's handles may be addresses, which have no sign
        if number < 0:
            overflow("handle", handle, 64)
        kind: Any = cls
        if number == 0:
            return kind()  # type: ignore[no-any-return]  # Kind is the class that lists `Handled[Kind]` as a base
        objects = number_table(_Handles).objects
        handle_object = objects.get((number, _owner())) or objects.get((number, None))
        if not isinstance(handle_object, cls):
            raise mpi_error(ERR_ARG, f"no {cls.__name__} has the handle {number}.")
        kind = type(handle_object)
        return kind(handle_object)  # type: ignore[no-any-return]  # as above

    @classmethod
    def fromint(cls, arg: int, /) -> Kind:
        """Return a copy of the object whose handle has that number."""
        return cls.fromhandle(integer("arg", arg))

    @classmethod
    def f2py(cls, arg: int) -> Kind:
        """Return a copy of the object whose handle has that number in Fortran."""
        return cls.fromhandle(integer("arg", arg))


def _owner() -> int:
    """The number of the running process, -1 outside a run."""
    process = current_process()
    return -1 if process is None else int(process.number)
