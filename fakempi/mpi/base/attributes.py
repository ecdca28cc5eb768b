"""Names and attributes that a program attaches to communicators, datatypes and windows.

An attribute has a key ("keyval") that the program creates. A key belongs to one kind of object and may have two functions:
one is called when the object is duplicated and decides what the duplicate inherits, the other when a value is deleted. Keys
belong to a run, not to a rank, because a module that creates its key at import is imported once for all ranks. Each value
belongs to one rank.
"""

from __future__ import annotations

from collections.abc import Callable
from operator import index
from typing import TYPE_CHECKING, Any, ClassVar, SupportsIndex, TypeAlias
from weakref import WeakValueDictionary

from fakempi.core.hooks import HookedCalls
from fakempi.errors import MPITypeError, MPIValueError
from fakempi.errors.classes import ERR_ARG, ERR_KEYVAL
from fakempi.mpi.base import constants as c
from fakempi.mpi.base.current import current_process
from fakempi.mpi.base.identity import NumberTable, number_table
from fakempi.mpi.base.mpi_errors import callback_error, fits, integer, mpi_error, overflow
from fakempi.mpi.base.resource_tracker import track, untrack

if TYPE_CHECKING:
    from typing_extensions import Self

_NAMES = (
    "TAG_UB", "IO", "WTIME_IS_GLOBAL", "UNIVERSE_SIZE", "APPNUM", "LASTUSEDCODE", "WIN_BASE", "WIN_SIZE", "WIN_DISP_UNIT",
    "WIN_CREATE_FLAVOR", "WIN_MODEL",
)  # fmt: skip
PREDEFINED: dict[int, str] = {getattr(c, name): name for name in _NAMES}
_KIND_OF_PREDEFINED = {key: "Win" if name.startswith("WIN_") else "Comm" for key, name in PREDEFINED.items()}


CopyFunction: TypeAlias = Callable[[Any, int, Any], Any]
DeleteFunction: TypeAlias = Callable[[Any, int, Any], None]


class _Key:
    """A keyval. Values keep their key alive, so that it outlives Free_keyval, as MPI requires."""

    __slots__ = ("__weakref__", "copy_fn", "delete_fn", "kind", "nopython")

    def __init__(
        self, kind: str, copy_fn: CopyFunction | bool | None, delete_fn: DeleteFunction | None, nopython: bool
    ) -> None:
        self.kind = kind
        self.copy_fn = copy_fn
        self.delete_fn = delete_fn
        self.nopython = nopython


Values: TypeAlias = dict[int, tuple[_Key, object]]

_outside: dict[int, Values] = {}  # attributes of shared objects set while no rank runs


class _Keys(NumberTable):
    """The keys of a run, by number."""

    before_first = c.KEYVAL_INVALID

    def __init__(self, universe: Any) -> None:
        self.keys: dict[int, _Key] = {}
        self.freed: WeakValueDictionary[int, _Key] = WeakValueDictionary()  # usable as long as they have values
        self.uses: dict[int, int] = {}  # values of a key that have not been deleted
        super().__init__(universe)

    def copy(self, parent: _Keys) -> None:
        """Start with the keys of another table."""
        self.keys, self.freed, self.uses = parent.keys.copy(), parent.freed.copy(), parent.uses.copy()

    def is_used(self, number: int) -> bool:
        """Return whether a key has the number."""
        return number in self.keys or number in self.uses  # not in `freed`: the garbage collector would decide

    def keep(self, run: _Keys, number: int) -> None:
        """Take a key from the table of a run that ends."""
        if number in run.keys and not self.is_used(number):
            self.keys[number] = run.keys[number]

    def find(self, number: int) -> _Key | None:
        """Return the key of that number, also a freed one that has values."""
        return self.keys.get(number) or (self.freed.get(number) if self.uses.get(number) else None)

    def count(self, number: int, more: int) -> None:
        """Count a new value of a key, or a deleted one."""
        uses = self.uses[number] = self.uses.get(number, 0) + more
        if not uses:
            del self.uses[number]


class Attributed(HookedCalls):
    """Gives a class attributes. The class needs the slot (or attribute) `_attributes`, which is None at first.

    An object that all ranks share (a predefined datatype) has `_shared = True`; its attributes are kept per rank. Keys
    belong to a kind of object: the name of the class that lists `Attributed` among its bases, unless it sets
    `_attribute_kind`. Predefined keys belong to the kinds "Comm" and "Win". A class may override `_predefined_attr`, which
    returns the values of predefined keys, and may have `_check_alive`, which raises an error for null and freed objects.
    """

    __slots__ = ()
    _attribute_kind: ClassVar[str]
    _attributes: Values | None

    def __init_subclass__(cls, **kwargs: object) -> None:
        super().__init_subclass__(**kwargs)
        if Attributed in cls.__bases__ and "_attribute_kind" not in cls.__dict__:
            cls._attribute_kind = cls.__name__

    # -- public calls ------------------------------------------------------------------------------------------------

    @classmethod
    def Create_keyval(
        cls,
        copy_fn: Callable[[Self, int, Any], Any] | None = None,
        delete_fn: Callable[[Self, int, Any], None] | None = None,
        nopython: bool = False,
    ) -> int:
        """Create a new key for attributes of this kind of object.

        A duplicated object inherits nothing (`copy_fn` None or False), the same value (True), or the result of
        `copy_fn(object, keyval, value)`, where NotImplemented stands for no value. `nopython` keys hold integers.
        """
        for name, function in (("copy_fn", copy_fn), ("delete_fn", delete_fn)):
            if not (function is None or isinstance(function, bool) or callable(function)):
                raise mpi_error(ERR_ARG, f"{name} is {function!r}, which cannot be called.", MPITypeError)
        keys = number_table(_Keys)
        number = keys.new_number()
        copies: Any = copy_fn  # True and False work as well, as in mpi4py, whose types do not mention them
        key = keys.keys[number] = _Key(
            cls._attribute_kind,
            copies if copies is not False else None,
            delete_fn if not isinstance(delete_fn, bool) else None,
            bool(nopython),
        )
        track("keyval-leak", key)
        return number

    @classmethod
    def Free_keyval(cls, keyval: int) -> int:
        """Free the key, and return KEYVAL_INVALID.

        Its values stay until they are deleted, or until their objects are freed. As long as there are values, the program
        can still get, set and delete them by the old number (MPI 4.1, 7.7.2).
        """
        number, key = cls._own_key(keyval)
        keys = number_table(_Keys)
        if number not in keys.keys:
            raise mpi_error(ERR_KEYVAL, f"keyval {number} has already been freed.")
        untrack("keyval-leak", key)
        keys.freed[number] = keys.keys.pop(number)
        return c.KEYVAL_INVALID

    def Get_attr(self, keyval: int) -> int | Any | None:
        """Return the value of the key, or None."""
        self._check_attributes()
        number = _number(keyval)
        if _KIND_OF_PREDEFINED.get(number) == self._attribute_kind:
            return self._predefined_attr(number)
        _, key = self._own_key(number)
        found = (self._values() or {}).get(number)
        return found[1] if found is not None and found[0] is key else None

    def Set_attr(self, keyval: int, attrval: Any) -> None:
        """Set the value of the key; an earlier value is deleted first."""
        self._check_attributes()
        number, key = self._own_key(keyval)
        if key.nopython:
            attrval = _integer(attrval)
        values = self._values(make=True)
        self._delete(values, number)
        values[number] = (key, attrval)
        number_table(_Keys).count(number, 1)

    def Delete_attr(self, keyval: int) -> None:
        """Delete the value of the key, if there is one."""
        self._check_attributes()
        number, _ = self._own_key(keyval)
        if values := self._values():
            self._delete(values, number)

    # -- for subclasses: overridden, or called at Dup and Free -------------------------------------------------------

    def _predefined_attr(self, keyval: int) -> object:
        """Return the value of a predefined key of this kind of object, or None if it is not set."""
        return None

    def _copy_attributes_to(self, other: Attributed) -> None:
        """Copy attributes to a new duplicate, as the copy functions decide, latest attribute first."""
        values = self._values()
        if not values:
            return
        keys = number_table(_Keys)
        for number, (key, value) in reversed(list(values.items())):
            is_current = keys.find(number) is key  # not a value that an earlier run has set
            if not is_current or key.copy_fn is None:
                continue
            copy = value if key.copy_fn is True else _call("copy", key.copy_fn, self, number, value)
            if copy is not NotImplemented:
                other._values(make=True)[number] = (key, _integer(copy) if key.nopython else copy)
                keys.count(number, 1)

    def _delete_attributes(self) -> None:
        """Delete all attributes, latest first, before the object is freed."""
        if values := self._values():
            for number in reversed(list(values)):
                self._delete(values, number)

    # -- internal ----------------------------------------------------------------------------------------------------

    def _check_attributes(self) -> None:
        check = getattr(self, "_check_alive", None)
        if check is not None:
            check()

    def _delete(self, values: Values, number: int) -> None:
        key, value = values.pop(number, (None, None))
        keys = number_table(_Keys)
        if key is None or keys.find(number) is not key:  # a value that an earlier run has set is dropped
            return
        keys.count(number, -1)
        if key.delete_fn is not None:
            _call("delete", key.delete_fn, self, number, value)

    def _values(self, make: bool = False) -> Any:
        """This rank's attributes of the object by key; if there have never been any, None or, with `make`, a new dict."""
        if getattr(self, "_shared", False):
            everything = _of_shared_objects()
            return everything.setdefault(id(self), {}) if make else everything.get(id(self))
        values = getattr(self, "_attributes", None)
        if values is None and make:
            values = self._attributes = {}  # type: ignore[misc]  # the slot is in the subclass
        return values

    @classmethod
    def _own_key(cls, keyval: int) -> tuple[int, _Key]:
        """The key of that number, which must exist, be of this kind, and not be predefined."""
        number = _number(keyval)
        key = number_table(_Keys).find(number)
        if key is not None and key.kind == cls._attribute_kind:
            return number, key
        if key is not None:
            raise mpi_error(ERR_KEYVAL, f"keyval {number} belongs to {key.kind}, not to {cls._attribute_kind}.")
        if number == c.KEYVAL_INVALID:
            raise mpi_error(ERR_KEYVAL, "the keyval is KEYVAL_INVALID: it was never created, or was freed.")
        if number not in PREDEFINED:
            sentence = f"there is no keyval {number}: it was never created, was freed, or belongs to another run."
            raise mpi_error(ERR_KEYVAL, sentence)
        name, kind = PREDEFINED[number], _KIND_OF_PREDEFINED[number]
        if kind != cls._attribute_kind:
            raise mpi_error(ERR_KEYVAL, f"keyval {name} belongs to {kind}, not to {cls._attribute_kind}.")
        raise mpi_error(ERR_KEYVAL, f"keyval {name} is predefined and read-only.")


def _of_shared_objects() -> dict[int, Values]:
    """The running rank's attributes of objects that all ranks share, by the object's id: such objects are never freed."""
    process = current_process()
    if process is None:
        return _outside
    if process.attributes is None:
        process.attributes = {}
    return process.attributes  # type: ignore[no-any-return]  # the attribute belongs to this module


def _number(keyval: SupportsIndex) -> int:
    """Return the keyval as an integer."""
    return integer("keyval", keyval, code=ERR_KEYVAL)


def _integer(value: SupportsIndex) -> int:
    """Return the value of a `nopython` key as an integer that fits in a pointer, signed or not, as in mpi4py."""
    try:
        number = index(value)
    except TypeError:
        raise mpi_error(ERR_ARG, f"a nopython keyval holds integers, not {value!r}.", MPITypeError) from None
    return number if fits(number, 64) or (fits(number, 65) and number > 0) else overflow("attrval", value, 64)


def _call(what: str, function: CopyFunction, of: Attributed, number: int, value: object) -> Any:
    """Call a copy or delete function of the program; if it fails, the MPI call fails, with the cause chained."""
    try:
        return function(of, number, value)
    except Exception as reason:
        raise mpi_error(*callback_error(f"the {what} function of keyval {number}", reason)) from reason


def object_name(name: object) -> str:
    """Return the name, truncated to MAX_OBJECT_NAME bytes of UTF-8, which include C's final zero.

    MPICH truncates as well, also in the middle of a character; here the whole character is removed.

    >>> len(object_name("x" * 1000)), len(object_name("\\u00e4" * 100))
    (127, 63)
    """
    if isinstance(name, bytes):
        encoded = name
    elif isinstance(name, str):
        encoded = name.encode()
    else:
        raise mpi_error(ERR_ARG, f"the name is {name!r}, not a string.", MPITypeError)
    if b"\0" in encoded:
        raise mpi_error(ERR_ARG, f"the name {name!r} contains a null character.", MPIValueError)
    return encoded[: c.MAX_OBJECT_NAME - 1].decode(errors="ignore")
