"""Values that are read again only after a call that may have changed them.

To copy 300 entries of `matplotlib.rcParams` at each switch would take as long as a message. Only a few functions change
them, so the copy is made at the first switch after a call of one of these functions. Ranks that have set equal values
share one copy, so a switch between such ranks replaces nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from typing import Any

from fakempi.isolation.settings.exchange import MISSING, ProcessSetting

_REMEMBERED = 8  # copies that new ones are compared with: more would make a change take long if all ranks differ


class Tracked(ProcessSetting):
    """A value that one function returns and another one sets, with a key; each change must be made by `Settings`."""

    __slots__ = ("current", "get", "is_stale", "known", "set")

    def __init__(self, name: Hashable, get: Callable[[], Any], set: Callable[[Any], Any]) -> None:
        super().__init__(name)
        self.get, self.set = get, set
        self.current: Any = None
        self.is_stale, self.known = True, list[Any]()

    def read(self) -> Any:
        """Return the value; the same object as before unless it has changed."""
        if self.is_stale:
            value = self.get()
            self.current = next((known for known in self.known if equal(known, value)), value)
            if self.current is value:
                self.known = [value, *self.known[: _REMEMBERED - 1]]
            self.is_stale = False
        return self.current

    def write(self, value: Any) -> None:
        """Replace the value."""
        self.set(value)
        self.current, self.is_stale = value, False

    def is_same(self, one: Any, other: Any) -> bool:
        """Return whether both are one object."""
        return one is other

    def before_change(self, outside: Any) -> None:
        """Do nothing: the value is a copy."""

    def after_change(self) -> None:
        """Read the value again at the next switch."""
        self.is_stale = True


class DictContents(Tracked):
    """The contents of a dictionary that stays the same object, and of dictionaries in it; `after` is called after a write.

    To compare 300 entries takes 70 us, ten times as long as a message, so the differences between two values are kept.
    """

    __slots__ = ("after", "differences", "namespace")

    def __init__(self, name: Hashable, namespace: dict[str, Any], after: Callable[[], Any] | None = None) -> None:
        super().__init__(name, lambda: _copied(namespace), self.replace)
        self.namespace, self.after = namespace, after
        self.differences: dict[tuple[int, int], tuple[Any, ...]] = {}  # by the addresses of two values, which it contains

    def replace(self, value: dict[str, Any]) -> None:
        """Replace the entries that differ, in place, because other modules have references to the dictionary."""
        before = self.read()
        key = id(before), id(value)
        if key not in self.differences:
            if len(self.differences) >= _PAIRS:
                self.differences.clear()
            self.differences[key] = before, value, list(_differences(self.namespace, before, value))
        for namespace, name, entry in self.differences[key][2]:
            if entry is MISSING:
                dict.pop(namespace, name, None)
            else:
                dict.__setitem__(namespace, name, _copied(entry) if type(entry) is dict else entry)
        if self.after is not None:
            self.after()


_PAIRS = 1000


def _copied(namespace: dict[str, Any]) -> dict[str, Any]:
    return {name: _copied(entry) if type(entry) is dict else entry for name, entry in dict.items(namespace)}


def _differences(namespace: dict[str, Any], before: dict[str, Any], value: dict[str, Any]) -> Iterator[tuple[Any, str, Any]]:
    """Yield the entries to replace, each with its dictionary and name; `MISSING` for one to delete."""
    for name in before.keys() - value.keys():
        yield namespace, name, MISSING
    for name, entry in value.items():
        known = before.get(name, MISSING)
        if type(entry) is dict and type(known) is dict:
            yield from _differences(dict.__getitem__(namespace, name), known, entry)
        elif known is not entry:
            yield namespace, name, entry


def equal(one: Any, other: Any) -> bool:
    """Return whether two values are equal and of the same type, and so are those in them."""
    if one is other:
        return True
    if type(one) is not type(other):
        return False
    try:
        if isinstance(one, dict):
            return one.keys() == other.keys() and all(equal(value, other[name]) for name, value in one.items())
        if isinstance(one, list | tuple):
            return len(one) == len(other) and all(map(equal, one, other))
        return bool(one == other)
    except Exception:  # a class of some package decides
        return False
