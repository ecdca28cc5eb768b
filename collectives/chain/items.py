"""Items: color, key, rank and address of a process, encoded as bytes. All items have the same length.

One comparison of bytes compares color, key and rank. An integer is stored as its distance from the smallest 64-bit integer,
most significant byte first. Strings and bytes are padded to the longest length, and their own length follows. Values with a
comparison function are pickled; the function compares the unpickled values. Items of processes without a color sort last.

    | 0 or 1 | color | key | rank | address |
"""

from __future__ import annotations

import operator
import pickle
from collections.abc import Callable
from enum import Enum
from functools import cmp_to_key
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np

from collectives.catalogue.algorithm import UnsupportedCaseError
from collectives.chain.chain import Chain
from collectives.chain.scan import allreduce

UNDEFINED: Final = -32766
"""The color of a process that is in no group: MPI.UNDEFINED of MPI's ABI, MPICH and Open MPI."""

Compare: TypeAlias = Callable[[Any, Any], int]
"""Returns a negative number, zero or a positive number if the first argument is less, equal or greater, respectively."""

Compares: TypeAlias = Compare | tuple[Compare | None, Compare | None] | None
"""A comparison function for colors and keys, or one for each; None is the natural order."""

Widths: TypeAlias = tuple[int, int] | None
"""Widths of colors and keys: 0 for integers, otherwise the length of the longest string. None: an allreduce finds them."""

SortKey: TypeAlias = Callable[[bytes], Any] | None
"""The sort key of items; None to compare their bytes."""

RANK_BYTES = 8
"""Number of bytes of rank and address, at the end of an item."""


class ValueKind(Enum):
    """The type of the colors, or of the keys, of all ranks."""

    NONE = 0
    INTEGER = 1
    STRING = 2
    BYTES = 3
    PICKLED = 4


class Field(NamedTuple):
    """The encoding of colors, or of keys."""

    kind: ValueKind
    width: int
    compare: Compare | None

    @property
    def nbytes(self) -> int:
        """Bytes of the field in an item."""
        return {ValueKind.NONE: 0, ValueKind.INTEGER: 8, ValueKind.PICKLED: self.width}.get(self.kind, self.width + 4)

    def write(self, value: Any) -> bytes:
        """Encode a value as bytes; None becomes zeros."""
        if value is None:
            return bytes(self.nbytes)
        encoded = as_bytes(value, self.compare)
        if len(encoded) > (8 if self.kind is ValueKind.INTEGER else self.width):
            raise UnsupportedCaseError(f"{value!r} has {len(encoded)} bytes, but widths= specifies at most {self.width}")
        if self.kind is ValueKind.INTEGER or self.kind is ValueKind.PICKLED:
            return encoded.ljust(self.nbytes, b"\0")
        return encoded.ljust(self.width, b"\0") + len(encoded).to_bytes(4, "big")


class ItemFormat(NamedTuple):
    """The encoding of items, equal on all ranks."""

    color: Field
    key: Field

    @property
    def nbytes(self) -> int:
        """Bytes of an item."""
        return 1 + self.color.nbytes + self.key.nbytes + RANK_BYTES

    def write(self, color: Any, key: Any, rank: int, address: int) -> bytes:
        """Return the item of a process; color and key are ignored if the color is UNDEFINED."""
        flag = b"\0"
        if is_undefined(color):
            flag, color, key = b"\1", None, None
        rank_and_address = rank.to_bytes(4, "big") + address.to_bytes(4, "big")
        return flag + self.color.write(color) + self.key.write(key) + rank_and_address

    @property
    def order(self) -> SortKey:
        """The sort key of items; None to compare their bytes."""
        if self.color.compare is None and self.key.compare is None:
            return None
        start, end = 1 + self.color.nbytes, 1 + self.color.nbytes + self.key.nbytes
        parts = [_part(self.color, 1, start), _part(self.key, start, end)]

        def order(item: bytes) -> Any:
            if item[0]:
                return (1, item[-RANK_BYTES:-4])
            return (0, *(part(item) for part in parts), item[-RANK_BYTES:-4])

        return order

    def same_group(self, a: bytes, b: bytes) -> bool:
        """Return whether two items have equal colors."""
        end = 1 + self.color.nbytes
        if a[:end] == b[:end] or a[0] or b[0] or self.color.compare is None:
            return a[:end] == b[:end]
        return self.color.compare(pickle.loads(a[1:end]), pickle.loads(b[1:end])) == 0


def owner(item: bytes) -> int:
    """Return the address of the process whose item this is."""
    return int.from_bytes(item[-4:], "big")


def is_undefined(color: Any) -> bool:
    return isinstance(color, (int, np.integer)) and color == UNDEFINED


def as_bytes(value: Any, compare: Compare | None = None) -> bytes:
    """Return a color or key as bytes; equal values have equal bytes unless there is a comparison function."""
    if compare is not None:
        return pickle.dumps(value)
    if isinstance(value, str):
        return value.encode("utf-8", "surrogatepass")
    if isinstance(value, bytes):
        return value
    try:
        number = operator.index(value)
    except TypeError:
        problem = f"{value!r} is not an integer, a string or bytes; pass a comparison function, compare="
        raise UnsupportedCaseError(problem) from None
    if not -(1 << 63) <= number < 1 << 63:
        raise UnsupportedCaseError(f"{number} does not fit in 64 bits; pass a comparison function, compare=")
    return (number + (1 << 63)).to_bytes(8, "big")


def compares(compare: Compares) -> tuple[Compare | None, Compare | None]:
    """Return the comparison functions of colors and of keys."""
    return compare if isinstance(compare, tuple) else (compare, compare)


def agree_on_format(chain: Chain, color: Any, key: Any, compare: Compares = None, widths: Widths = None) -> ItemFormat:
    """Return the format of the items of all ranks. Without `widths`, one allreduce determines it and detects mixed types."""
    functions, undefined = compares(compare), is_undefined(color)
    color = None if undefined else color
    kinds = [kind_of(value, function) for value, function in zip((color, key), functions, strict=True)]
    if widths is not None:
        if ValueKind.PICKLED in kinds:
            raise UnsupportedCaseError("widths apply to integers, strings and bytes, and keys with compare= are pickled")
        agreed = [
            ValueKind.STRING if width and kind is not ValueKind.NONE else kind
            for kind, width in zip(kinds, widths, strict=True)
        ]
        if undefined:
            agreed[0] = ValueKind.STRING if widths[0] else ValueKind.INTEGER
        return ItemFormat(Field(agreed[0], widths[0], None), Field(agreed[1], widths[1], None))
    if undefined:
        kinds, key = [ValueKind.NONE, ValueKind.NONE], None
    lengths = [
        0 if kind is ValueKind.NONE else len(as_bytes(value, function))
        for kind, value, function in zip(kinds, (color, key), functions, strict=True)
    ]
    least = [9, 9] if undefined else [kind.value for kind in kinds]  # 9: no color; -9 is less than the others' values
    summary = np.array([kinds[0].value, kinds[1].value, *lengths, -least[0], -least[1]], np.int64)
    first, second, width, key_width, *negated = (int(number) for number in allreduce(chain, summary, np.maximum))
    for name, greatest, negative in (("colors", first, negated[0]), ("keys", second, negated[1])):
        if -negative not in (greatest, 9):
            kinds_found = " and ".join(ValueKind(number).name.lower() for number in (-negative, greatest))
            raise TypeError(f"split: the {name} have the types {kinds_found}; all ranks must pass the same type")
    return ItemFormat(Field(ValueKind(first), width, functions[0]), Field(ValueKind(second), key_width, functions[1]))


def kind_of(value: Any, compare: Compare | None = None) -> ValueKind:
    """Return the kind of a color or key."""
    if value is None:
        return ValueKind.NONE
    if compare is not None:
        return ValueKind.PICKLED
    if isinstance(value, str):
        return ValueKind.STRING
    return ValueKind.BYTES if isinstance(value, bytes) else ValueKind.INTEGER


def _part(field: Field, start: int, end: int) -> Callable[[bytes], Any]:
    """Return the function that extracts the sort key of a field from an item."""
    if field.compare is None or field.kind is ValueKind.NONE:
        return lambda item: item[start:end]
    key = cmp_to_key(field.compare)
    return lambda item: key(pickle.loads(item[start:end]))
