"""Handles: the integers by which programs pass MPI objects through code that knows no Python objects.

MPI objects are handles in the first place: two Python objects are equal if they stand for the same thing, and a copy
(`Group(group)`) stands for what the original does. A handle gets its number when a program first asks for it, and the
number is good on the rank that asked, for as long as the object that was asked; that of an object all ranks share is
good everywhere.
"""

from __future__ import annotations

import itertools
import weakref
from operator import index
from typing import TYPE_CHECKING, Any, ClassVar

from fakempi.error_classes import ERR_ARG
from fakempi.errors import MPITypeError
from fakempi.mpi.base.complain import complaint
from fakempi.mpi.base.current import current_process

if TYPE_CHECKING:
    from typing_extensions import Self

_counter = itertools.count(1)
_numbers: dict[int, int] = {}  # id of what a handle stands for -> its number
# Number and owner -> object. What ranks have handles to, they may share, but the handles are each one's own.
_objects: weakref.WeakValueDictionary[tuple[int, int | None], Handled] = weakref.WeakValueDictionary()


class Identity:
    """A thing to stand for, where there is nothing better: equal to itself alone."""

    __slots__ = ("__weakref__",)


class Handled:
    """Gives a class mpi4py's handle calls, equality and truth. It needs a slot `__weakref__`, and is not hashable.

    The class answers `_stands_for`, and `Class(object)` makes a copy that stands for the same thing, `Class()` null.
    An object that all ranks share says so by `_shared = True`. Objects of the class that lists `Handled` among its
    bases, and of its subclasses, compare with each other.
    """

    __slots__ = ()
    __hash__ = None  # type: ignore[assignment]
    _handle_kind: ClassVar[type[Handled]]

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if Handled in cls.__bases__:
            cls._handle_kind = cls

    def _stands_for(self) -> object | None:
        """The thing behind the handle (it must allow weak references), or None for a null handle."""
        raise NotImplementedError

    def __eq__(self, other: object) -> bool:
        return self._stands_for() is other._stands_for() if isinstance(other, self._handle_kind) else NotImplemented

    def __bool__(self) -> bool:
        return self._stands_for() is not None

    @property
    def handle(self) -> int:
        """The number of the handle; 0 is the null handle's."""
        thing = self._stands_for()
        if thing is None:
            return 0
        number = _numbers.get(id(thing))
        if number is None:
            number = _numbers[id(thing)] = next(_counter)
            weakref.finalize(thing, _numbers.pop, id(thing), None).atexit = False
        key = (number, None if getattr(self, "_shared", False) else _owner())
        known = _objects.get(key)
        if known is None or known._stands_for() is not thing:  # it was freed; this one is alive
            _objects[key] = self
        return number

    def toint(self) -> int:
        """The number of the handle."""
        return self.handle

    def py2f(self) -> int:
        """The number of the handle, for Fortran."""
        return self.handle

    @classmethod
    def fromhandle(cls, handle: int) -> Self:
        """A copy of the object whose handle has that number."""
        try:
            number = index(handle)
        except TypeError:
            raise complaint(ERR_ARG, f"the handle is {handle!r}, not an integer.", MPITypeError) from None
        if number == 0:
            return cls()
        found: Any = _objects.get((number, _owner())) or _objects.get((number, None))
        if not isinstance(found, cls):
            raise complaint(ERR_ARG, f"no {cls.__name__} has the handle {number}.")
        return type(found)(found)  # type: ignore[call-arg]

    @classmethod
    def fromint(cls, arg: int, /) -> Self:
        """A copy of the object whose handle has that number."""
        return cls.fromhandle(arg)

    @classmethod
    def f2py(cls, arg: int) -> Self:
        """A copy of the object whose handle has that number in Fortran."""
        return cls.fromhandle(arg)


def _owner() -> int:
    """The number of the running process, -1 outside a run."""
    process = current_process()
    return -1 if process is None else int(process.number)
