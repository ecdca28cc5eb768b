"""Info objects: hints for MPI as string keys and values, with MPI's calls and the methods of a dict."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Union

from fakempi.errors import MPITypeError, MPIValueError
from fakempi.errors.classes import ERR_ARG, ERR_INFO, ERR_INFO_KEY, ERR_INFO_NOKEY, ERR_INFO_VALUE
from fakempi.mpi.base.constants import MAX_INFO_KEY, MAX_INFO_VAL
from fakempi.mpi.base.identity import Handled
from fakempi.mpi.base.mpi_errors import integer, mpi_error, shown
from fakempi.mpi.base.resource_tracker import track, untrack

if TYPE_CHECKING:
    from typing_extensions import Self

Items = Union["Info", Mapping[str, str], Iterable[tuple[str, str]]]


class _Entries(dict[str, str]):
    """The items of an Info handle and its copies."""

    __slots__ = ("__weakref__",)


class Info(Handled["Info"]):
    """An info object. For a null handle, MPI's calls raise an error; the methods of a dict treat it as empty."""

    __slots__ = ("__weakref__", "_entries")

    _entries: _Entries | None  # None: null

    def __new__(cls, info: Info | None = None) -> Self:
        if info is not None and not isinstance(info, Info):
            raise mpi_error(ERR_INFO, f"cannot create an Info from {info!r}; use Info.Create.", MPITypeError)
        self = super().__new__(cls)
        self._entries = None if info is None else info._entries
        return self

    def _mpi_object(self) -> object | None:
        return self._entries

    @property
    def _shared(self) -> bool:
        return self._entries is INFO_ENV._entries

    def __reduce__(self) -> str | tuple[Any, ...]:
        for name, info in (("INFO_NULL", INFO_NULL), ("INFO_ENV", INFO_ENV)):
            if self is info:
                return name
            if self == info:
                return type(self), (info,)
        return type(self).Create, (self.items(),)

    def __repr__(self) -> str:
        return "<Info: null>" if self._entries is None else f"<Info: {dict(self._entries)}>"

    # -- MPI's calls -------------------------------------------------------------------------------------------------

    @classmethod
    def Create(cls, items: Items | None = None) -> Self:
        """Create an info object, empty or with these items."""
        self = cls._copy_of(None)
        if items is not None:
            try:
                pairs = list(items.items() if isinstance(items, Info | Mapping) else ((key, value) for key, value in items))
            except (TypeError, ValueError):
                sentence = f"items is {shown(items)}, not a mapping or a sequence of pairs."
                raise mpi_error(ERR_INFO, sentence, MPITypeError) from None
            self.update(pairs)
        track("info-leak", self._entries)
        return self

    @classmethod
    def _copy_of(cls, info: Info | None) -> Self:
        """Return a copy of an info object, for fakempi itself: it is not tracked as a leak."""
        if info is not None and not isinstance(info, Info):
            raise mpi_error(ERR_INFO, f"info is {shown(info)}, not an Info: use MPI.Info.Create().", MPITypeError)
        self = cls()
        self._entries = _Entries({} if info is None else info._entries or {})
        return self

    @classmethod
    def Create_env(cls, args: Sequence[str] | None = None) -> Self:
        """Create an info object about the start of a program: its command and its arguments, if they are given."""
        self = cls.Create()
        command, *arguments = [args] if isinstance(args, str) else [*_arguments(args)] or [""]
        if command:
            self.Set("command", command)
        if arguments:
            self.Set("argv", " ".join(arguments))
        return self

    def Dup(self) -> Self:
        """Return a new info object with the same items, in the same order."""
        return type(self).Create(self._alive())

    def Free(self) -> None:
        """Free the info object: this handle becomes null."""
        untrack("info-leak", self._writable())
        self._entries = None

    def free(self) -> None:
        """Like `Free`, but a null handle is no error, and INFO_ENV is not freed."""
        if self is not INFO_ENV:
            untrack("info-leak", self._entries)
            self._entries = None

    def Get(self, key: str) -> str | None:
        """Return the value of the key, or None."""
        return self._alive().get(_key(key))

    def Set(self, key: str, value: str) -> None:
        """Set or replace the value of the key."""
        entries, key, value = self._writable(), _key(key), _text("value", value)
        if (size := len(value.encode())) > MAX_INFO_VAL:
            raise mpi_error(ERR_INFO_VALUE, f"the value of {key!r} has {size} bytes; at most {MAX_INFO_VAL} are allowed.")
        entries[key] = value

    def Delete(self, key: str) -> None:
        """Remove the key and its value; raise an error if there is no such key."""
        entries, key = self._writable(), _key(key)
        if key not in entries:
            raise mpi_error(ERR_INFO_NOKEY, f"there is no key {key!r}.")
        del entries[key]

    def Get_nkeys(self) -> int:
        """Return the number of keys."""
        return len(self._alive())

    def Get_nthkey(self, n: int) -> str:
        """Return the key number `n`, counted from 0 in the order in which keys were first set."""
        keys, n = list(self._alive()), integer("n", n)
        if not 0 <= n < len(keys):
            raise mpi_error(ERR_ARG, f"there is no key number {n}: the info object has {len(keys)} keys.")
        return keys[n]

    # -- methods of a dict -------------------------------------------------------------------------------------------

    def __len__(self) -> int:
        return len(self._seen())

    def __bool__(self) -> bool:
        return self._entries is not None

    def __iter__(self) -> Iterator[str]:
        return iter(self.keys())

    def __contains__(self, key: str) -> bool:
        return self._entries is not None and _key(key) in self._entries

    def __getitem__(self, key: str) -> str:
        return self._existing(key)[_key(key)]

    def __setitem__(self, key: str, value: str) -> None:
        if self._entries is None:
            raise KeyError(key)
        self.Set(key, value)

    def __delitem__(self, key: str) -> None:
        self._existing(key)
        self.Delete(key)

    def get(self, key: str, default: str | None = None) -> str | None:
        """Return the value of the key, or the default."""
        return self._seen().get(_key(key), default)

    def keys(self) -> list[str]:
        """Return all keys."""
        return list(self._seen())

    def values(self) -> list[str]:
        """Return all values."""
        return list(self._seen().values())

    def items(self) -> list[tuple[str, str]]:
        """Return all keys with their values."""
        return list(self._seen().items())

    def update(self, items: Items = (), **kwds: str) -> None:
        """Set all these items."""
        if self._entries is None:
            raise KeyError("the info object is null")
        pairs = items.items() if isinstance(items, Info | Mapping) else items
        for key, value in [*pairs, *kwds.items()]:
            self.Set(key, value)

    def pop(self, key: str, *default: str) -> str:
        """Remove the key and return its value, or the default if there is no such key."""
        if default and key not in self:
            (value,) = default
            return value
        value = self[key]
        self.Delete(key)
        return value

    def popitem(self) -> tuple[str, str]:
        """Remove the last key and return it with its value."""
        if not self._entries:
            raise KeyError("the info object has no items")
        self._writable()
        return self._entries.popitem()

    def copy(self) -> Self:
        """Return a new info object with the same items, or a null handle for a null handle."""
        return type(self)() if self._entries is None else self.Dup()

    def clear(self) -> None:
        """Remove all items."""
        if self._entries is not None:
            self._writable().clear()

    # -- internal ----------------------------------------------------------------------------------------------------

    def _seen(self) -> Mapping[str, str]:
        return {} if self._entries is None else self._entries

    def _existing(self, key: str) -> _Entries:
        if self._entries is None or _key(key) not in self._entries:
            raise KeyError(key)
        return self._entries

    def _alive(self) -> _Entries:
        if self._entries is None:
            raise mpi_error(ERR_INFO, "the info object is null: INFO_NULL, or freed.")
        return self._entries

    def _writable(self) -> _Entries:
        entries = self._alive()
        if entries is INFO_ENV._entries:
            raise mpi_error(ERR_INFO, "INFO_ENV is read-only.")
        return entries


def _arguments(args: Sequence[str] | None) -> list[str]:
    """Return a command line as a list of arguments."""
    try:
        return [_text("args", word) for word in args or ()]
    except TypeError:
        raise mpi_error(ERR_ARG, f"args is {args!r}, not a sequence of strings.", MPITypeError) from None


def _text(name: str, text: str | bytes) -> str:
    """Return a key or value as a string; bytes are decoded as UTF-8, as in mpi4py."""
    if isinstance(text, bytes):
        text = text.decode()
    if not isinstance(text, str):
        raise mpi_error(ERR_INFO, f"the {name} is {text!r}, not a string.", MPITypeError)
    if "\0" in text:
        raise mpi_error(ERR_INFO, f"the {name} {text!r} contains a null character.", MPIValueError)
    return text


def _key(key: str | bytes) -> str:
    """Return a key as a string; raise an error if it is blank or too long."""
    text = _text("key", key)
    if not text.strip():
        raise mpi_error(ERR_INFO_KEY, f"the key {text!r} is blank.")
    if (size := len(text.encode())) > MAX_INFO_KEY:
        raise mpi_error(ERR_INFO_KEY, f"the key {text[:20]!r}... has {size} bytes; at most {MAX_INFO_KEY} are allowed.")
    return text


INFO_NULL = Info()
INFO_ENV = Info.Create()
