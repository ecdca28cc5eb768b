"""Attributes: things a program hangs on a communicator, a datatype or a window under a key of its own making.

A key ("keyval") belongs to one kind of object and may bring two functions: one that decides what a duplicate of the
object inherits, one that is told when a value goes away. Keys are numbered process-wide, not per rank, because a module
that makes its key when imported is imported once for all ranks; what is stored under a key is always a rank's own.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from operator import index
from typing import Any, ClassVar

from fakempi.error_classes import ERR_ARG, ERR_KEYVAL
from fakempi.errors import MPITypeError
from fakempi.mpi.base import constants as c
from fakempi.mpi.base.callbacks import told
from fakempi.mpi.base.complain import complaint
from fakempi.mpi.base.current import current_process
from fakempi.mpi.base.duties import done, owes

PREDEFINED: dict[int, str] = {
    c.TAG_UB: "TAG_UB",
    c.IO: "IO",
    c.WTIME_IS_GLOBAL: "WTIME_IS_GLOBAL",
    c.UNIVERSE_SIZE: "UNIVERSE_SIZE",
    c.APPNUM: "APPNUM",
    c.LASTUSEDCODE: "LASTUSEDCODE",
    c.WIN_BASE: "WIN_BASE",
    c.WIN_SIZE: "WIN_SIZE",
    c.WIN_DISP_UNIT: "WIN_DISP_UNIT",
    c.WIN_CREATE_FLAVOR: "WIN_CREATE_FLAVOR",
    c.WIN_MODEL: "WIN_MODEL",
}
_KIND_OF_PREDEFINED = {key: "Win" if name.startswith("WIN_") else "Comm" for key, name in PREDEFINED.items()}


class _Key:
    """What is known about a keyval; values keep their key alive, so that it outlives Free_keyval as MPI wants."""

    __slots__ = ("copy_fn", "delete_fn", "kind", "nopython")

    def __init__(self, kind: str, copy_fn: Any, delete_fn: Any, nopython: bool) -> None:
        self.kind = kind
        self.copy_fn = copy_fn
        self.delete_fn = delete_fn
        self.nopython = nopython


Values = dict[int, tuple[_Key, Any]]

_keys: dict[int, _Key] = {}
_numbers = itertools.count(c.KEYVAL_INVALID + 1)
_outside: dict[int, Values] = {}  # attributes of shared objects set while no rank runs


class Attributed:
    """Gives a class attributes. The class needs the slot (or attribute) `_attributes`, None to begin with.

    An object all ranks share (a predefined datatype) says so by `_shared = True`; its attributes are kept per rank.
    The kind of object that keys belong to is the name of the class that lists `Attributed` among its bases, unless it
    sets `_attribute_kind`; MPI's own keys belong to the kinds "Comm" and "Win". Two hooks: `_predefined_attr` answers
    the keys MPI defines, and `_check_alive`, where the class has it, refuses null and freed objects.
    """

    __slots__ = ()
    _attribute_kind: ClassVar[str]
    _attributes: Values | None

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if Attributed in cls.__bases__ and "_attribute_kind" not in cls.__dict__:
            cls._attribute_kind = cls.__name__

    # -- what programs call ------------------------------------------------------------------------------------------

    @classmethod
    def Create_keyval(
        cls,
        copy_fn: Callable[[Any, int, Any], Any] | bool | None = None,
        delete_fn: Callable[[Any, int, Any], None] | None = None,
        nopython: bool = False,
    ) -> int:
        """A new key for attributes of this kind of object.

        A duplicated object inherits nothing (`copy_fn` None or False), the same value (True), or what
        `copy_fn(object, keyval, value)` returns, where NotImplemented means nothing. `nopython` keys hold integers.
        """
        for name, function in (("copy_fn", copy_fn), ("delete_fn", delete_fn)):
            if not (function is None or isinstance(function, bool) or callable(function)):
                raise complaint(ERR_ARG, f"{name} is {function!r}, which cannot be called.", MPITypeError)
        number = next(_numbers)
        key = _keys[number] = _Key(
            cls._attribute_kind,
            copy_fn if copy_fn is not False else None,
            delete_fn if not isinstance(delete_fn, bool) else None,
            bool(nopython),
        )
        owes("keyval-leak", key)
        return number

    @classmethod
    def Free_keyval(cls, keyval: int) -> int:
        """Give the key up; values under it stay until their objects go. Returns KEYVAL_INVALID."""
        number, key = cls._own_key(keyval)
        done("keyval-leak", key)
        del _keys[number]
        return c.KEYVAL_INVALID

    def Get_attr(self, keyval: int) -> Any:
        """The value stored under the key, or None."""
        self._check_attributes()
        number = _number(keyval)
        if _KIND_OF_PREDEFINED.get(number) == self._attribute_kind:
            return self._predefined_attr(number)
        self._own_key(number)
        values = self._values()
        return values[number][1] if values and number in values else None

    def Set_attr(self, keyval: int, attrval: Any) -> None:
        """Store a value under the key; a value already there is deleted first."""
        self._check_attributes()
        number, key = self._own_key(keyval)
        if key.nopython:
            attrval = _integer(attrval)
        values = self._values(make=True)
        self._delete(values, number)
        values[number] = (key, attrval)

    def Delete_attr(self, keyval: int) -> None:
        """Delete the value stored under the key, if there is one."""
        self._check_attributes()
        number, _ = self._own_key(keyval)
        if values := self._values():
            self._delete(values, number)

    # -- what the class may override, and calls at Dup and Free ------------------------------------------------------

    def _predefined_attr(self, keyval: int) -> Any:
        """The value of a key that MPI defines for this kind of object, or None if it is not set."""
        return None

    def _copy_attributes_to(self, other: Attributed) -> None:
        """Let a fresh duplicate inherit what the copy functions say, latest attribute first."""
        values = self._values()
        if not values:
            return
        for number, (key, value) in reversed(list(values.items())):
            if key.copy_fn is None:
                continue
            copy = value if key.copy_fn is True else _call("copy", key.copy_fn, self, number, value)
            if copy is not NotImplemented:
                other._values(make=True)[number] = (key, _integer(copy) if key.nopython else copy)

    def _delete_attributes(self) -> None:
        """Delete all attributes, latest first: the object is about to be freed."""
        if values := self._values():
            for number in reversed(list(values)):
                self._delete(values, number)

    # -- inside ------------------------------------------------------------------------------------------------------

    def _check_attributes(self) -> None:
        check = getattr(self, "_check_alive", None)
        if check is not None:
            check()

    def _delete(self, values: Values, number: int) -> None:
        key, value = values.pop(number, (None, None))
        if key is not None and key.delete_fn is not None:
            _call("delete", key.delete_fn, self, number, value)

    def _values(self, make: bool = False) -> Any:
        """This rank's attributes of the object by key, or None if there never were any and none are to be made."""
        if getattr(self, "_shared", False):
            everything = _of_shared_objects()
            return everything.setdefault(id(self), {}) if make else everything.get(id(self))
        values = getattr(self, "_attributes", None)
        if values is None and make:
            owner: Any = self  # the slot is the subclass's, which the type checker cannot know
            values = owner._attributes = {}
        return values

    @classmethod
    def _own_key(cls, keyval: int) -> tuple[int, _Key]:
        """The key of that number, which must be alive, of this kind, and not one of MPI's own."""
        number = _number(keyval)
        key = _keys.get(number)
        if key is not None and key.kind == cls._attribute_kind:
            return number, key
        if key is not None:
            raise complaint(ERR_KEYVAL, f"keyval {number} was made for {key.kind}, this is {cls._attribute_kind}.")
        if number == c.KEYVAL_INVALID:
            raise complaint(ERR_KEYVAL, "the keyval is KEYVAL_INVALID: it was never made, or was freed.")
        if number not in PREDEFINED:
            raise complaint(ERR_KEYVAL, f"there is no keyval {number}: it was never made, or was freed.")
        name, kind = PREDEFINED[number], _KIND_OF_PREDEFINED[number]
        if kind != cls._attribute_kind:
            raise complaint(ERR_KEYVAL, f"keyval {name} belongs to {kind}, this is {cls._attribute_kind}.")
        raise complaint(ERR_KEYVAL, f"keyval {name} is MPI's own and read-only.")


def _of_shared_objects() -> dict[int, Values]:
    """The running rank's attributes of objects that all ranks share, by the object's id: such objects never die."""
    process = current_process()
    if process is None:
        return _outside
    if process.attributes is None:
        process.attributes = {}
    attributes: dict[int, Values] = process.attributes
    return attributes


def _number(keyval: Any) -> int:
    """The keyval as the integer it must be."""
    try:
        return index(keyval)
    except TypeError:
        raise complaint(ERR_KEYVAL, f"keyval is {keyval!r}, not an integer.", MPITypeError) from None


def _integer(value: Any) -> int:
    """The value as an integer, which is all that a `nopython` key holds."""
    try:
        return index(value)
    except TypeError:
        raise complaint(ERR_ARG, f"a nopython keyval holds integers, not {value!r}.", MPITypeError) from None


def _call(what: str, function: Callable[[Any, int, Any], Any], of: Attributed, number: int, value: Any) -> Any:
    """Call a program's copy or delete function; if it fails, so does the MPI call, with the reason chained."""
    try:
        return function(of, number, value)
    except Exception as reason:
        raise complaint(*told(f"the {what} function of keyval {number}", reason)) from reason
