"""Colors and keys of Split: values of any type, checks that they can be compared, and their encoding for algorithms.

Numbers, strings, bytes and tuples of these are used as they are. Any other value is sent to other ranks as a pickle, as it
would be between processes, and compared on arrival: a class in a script is a different class on every rank.
"""

from __future__ import annotations

import pickle
import struct
from collections.abc import Callable, Hashable
from enum import Enum
from itertools import combinations
from operator import index
from reprlib import repr as shown
from typing import Any, Final, NamedTuple, NoReturn, TypeAlias

import numpy as np

from fakempi.errors import MPITypeError, MPIValueError
from fakempi.errors.classes import ERR_ARG, ERR_NOT_SAME
from fakempi.mpi.base.call_site import place_of_call
from fakempi.mpi.base.mpi_errors import mpi_error
from fakempi.mpi.base.rendezvous import Rendezvous

PLAIN: Final = (int, float, str, bytes, type(None))

Compare: TypeAlias = Callable[[object, object], int]


class PickledValue(NamedTuple):
    """A pickled value of another type."""

    data: bytes


class ValueType(Enum):
    """The types of colors and keys that algorithms distinguish; all ranks must use the same."""

    INTEGER = "an integer"
    FLOAT = "a float"
    STRING = "a string"
    BYTES = "bytes"
    TUPLE = "a tuple"
    OTHER = "an object"


_VALUE_TYPES: Final = {
    int: ValueType.INTEGER, float: ValueType.FLOAT, str: ValueType.STRING, bytes: ValueType.BYTES, tuple: ValueType.TUPLE,
}  # fmt: skip


class ValueTypes(NamedTuple):
    """The types of colors and of keys, the same on all ranks."""

    color: ValueType = ValueType.INTEGER
    key: ValueType = ValueType.INTEGER

    @property
    def are_numbers(self) -> bool:
        """Whether both are passed as 8-byte numbers."""
        return {self.color, self.key} <= {ValueType.INTEGER, ValueType.FLOAT}

    @property
    def compare(self) -> tuple[Compare | None, Compare | None]:
        """The functions that compare colors and keys; None for numbers, strings and bytes."""
        by_order = self.key in (ValueType.TUPLE, ValueType.OTHER)
        return _compare_colors if self.color is ValueType.OTHER else None, _compare_keys if by_order else None


def plain(what: str, value: object) -> Any:
    """Return a color or a key (`what`) as a plain value, or pickled; reject NaN and values that cannot be pickled."""
    if type(value) in (int, str, bytes):
        return value
    value = _plain(value)
    if _has_nan(value):
        sentence = f"{what} {shown(value)} is NaN, which equals nothing and has no order."
        raise mpi_error(ERR_ARG, sentence, MPIValueError)
    if value is None and what == "key":
        raise mpi_error(ERR_ARG, "key None has no order.", MPITypeError)
    if _is_plain(value):
        return value
    try:
        if what == "color":
            hash(value)
        return PickledValue(pickle.dumps(value))
    except Exception as error:  # any error of the type's methods
        sentence = f"{what} {shown(value)} of type {type(value).__name__} cannot be a {what}: {error}."
        raise mpi_error(ERR_ARG, sentence, MPITypeError) from None


def unpickled(value: object) -> Any:
    """Return the value that was passed, as the running rank sees it."""
    return pickle.loads(value.data) if isinstance(value, PickledValue) else value


def check_comparable(rendezvous: Rendezvous, color: object, key: object, *, by_algorithm: bool) -> None:
    """Raise an error if a color or key cannot be compared with the first rank's, or, for an algorithm, has another type."""
    if color is None:  # the rank is left out, and its key is ignored
        return
    for what, mine in (("color", color), ("key", key)):
        if what not in rendezvous.declared:
            rendezvous.declare(what, mine)
            continue
        first, place, name = rendezvous.declared[what]
        if type(mine) is type(first) and type(mine) in PLAIN:
            continue
        own, other = unpickled(mine), unpickled(first)
        own_type, other_type = value_type_of(mine), value_type_of(first)
        comparable = _comparable(what, own, other)
        if comparable and (own_type is other_type or not by_algorithm):
            continue
        here, there = f"{what} {shown(own)} here ({place_of_call()})", f"{what} {shown(other)} on {name} ({place})"
        sentence = f"{here} cannot be compared with {there}."
        if comparable:
            mismatch = f"{here} is {own_type.value}, but {there} is {other_type.value}"
            sentence = f"{mismatch}: a split algorithm needs a single type."
        raise mpi_error(ERR_NOT_SAME, sentence, MPITypeError)


def value_types_of(rendezvous: Rendezvous) -> ValueTypes:
    """Return the types of the first rank's color and key; if no rank has a color, any types will do."""
    if not rendezvous.declared:
        return ValueTypes()
    return ValueTypes(value_type_of(rendezvous.declared["color"][0]), value_type_of(rendezvous.declared["key"][0]))


def value_type_of(value: object) -> ValueType:
    """Return the type of a color or a key."""
    return _VALUE_TYPES.get(type(value), ValueType.OTHER)


def encoded_color(color: object) -> object:
    """Return a color as algorithms get it: equal for equal colors; their order is not kept."""
    if isinstance(color, float):
        # The sum turns -0.0 into 0.0. The result cannot be MPI.UNDEFINED, whose bits are those of a NaN.
        number: int = struct.unpack("<q", struct.pack("<d", color + 0.0))[0]
        return number
    if isinstance(color, tuple) and not isinstance(color, PickledValue):
        return repr(_normalized(color)).encode()
    return _encoded("color", color)


def encoded_key(key: object) -> object:
    """Return a key as algorithms get it, in the same order."""
    if isinstance(key, float):
        number: int = struct.unpack("<q", struct.pack("<d", key + 0.0))[0]
        return number if number >= 0 else number ^ (1 << 63) - 1  # the bits of negative floats are in reverse order
    return _encoded("key", key)


def by_color(values: dict[int, tuple[Any, Any]]) -> dict[Any, list[int]]:
    """Return the ranks of each color from {rank: (color, key)}, sorted by key and then rank; skip the color None."""
    groups: dict[Hashable, list[tuple[Any, int]]] = {}
    for rank in sorted(values):
        color, key = values[rank]
        if color is not None:
            groups.setdefault(unpickled(color), []).append((unpickled(key), rank))
    for group in groups.values():
        try:
            group.sort(key=lambda pair: pair[0])
        except TypeError:
            raise _unordered(group) from None
    return {color: [rank for _, rank in group] for color, group in groups.items()}


def _unordered(group: list[tuple[object, int]]) -> MPITypeError:
    for (one, rank), (other, other_rank) in combinations(group, 2):
        if not _comparable("key", one, other):
            problem = f"key {shown(one)} of rank {rank} cannot be compared with key {shown(other)} of rank {other_rank}"
            return MPITypeError(ERR_NOT_SAME, f"Split: {problem}.")
    return MPITypeError(ERR_NOT_SAME, "Split: the keys have no order.")


def _plain(value: Any) -> Any:
    if isinstance(value, np.generic):
        value = value.item()
    if type(value) is tuple:
        return tuple(_plain(item) for item in value)
    if type(value) in PLAIN:
        return value
    try:
        return index(value)
    except TypeError:
        return value


def _is_plain(value: object) -> bool:
    return all(map(_is_plain, value)) if type(value) is tuple else type(value) in PLAIN


def _has_nan(value: object) -> bool:
    if type(value) is tuple:
        return any(map(_has_nan, value))
    try:
        return bool(value != value)
    except (TypeError, ValueError):  # a comparison of arrays is an array
        return False


def _normalized(value: object) -> Any:
    """Return a value in which equal numbers have equal representations."""
    if isinstance(value, tuple):
        return tuple(map(_normalized, value))
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _encoded(what: str, value: object) -> object:
    if isinstance(value, int) and not -1 << 63 <= value < 1 << 63:
        sentence = f"{what} {shown(value)} does not fit in the 64-bit integers of split algorithms."
        raise mpi_error(ERR_ARG, sentence, MPIValueError)
    return unpickled(value)


def _comparable(what: str, one: Any, other: Any) -> bool:
    """Return whether two values have an order; two colors of one type need none."""
    if what == "color" and type(one) is type(other):
        return True
    try:
        return bool(one < other) or True
    except (TypeError, ValueError):
        return False


def _compare_colors(one: object, other: object) -> int:
    return 0 if one == other else _ordered(one, other, "colors") or _no_order("colors", one, other)


def _compare_keys(one: object, other: object) -> int:
    return _ordered(one, other, "keys")


def _ordered(one: Any, other: Any, what: str) -> int:
    try:
        return -1 if one < other else int(other < one)
    except TypeError:
        _no_order(what, one, other)


def _no_order(what: str, one: object, other: object) -> NoReturn:
    sentence = f"the {what} {shown(one)} and {shown(other)} have no order, which a split algorithm needs."
    raise mpi_error(ERR_ARG, sentence, MPITypeError) from None
