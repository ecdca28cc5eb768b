"""Colour, key, rank and address of a process as one item: a few bytes, as many on all ranks, whose order is theirs.

An item is compared byte by byte, which is one call whatever it is made of: whole numbers are written with their most
significant byte first, counted from the smallest; strings and bytes are filled up to the longest, then comes their
length. Data with a comparison function of its own are pickled, and compared by it. A process without a colour has an
item too, behind all others.

    | 0 or 1 | colour | key | rank | address |
"""

from __future__ import annotations

import operator
import pickle
from collections.abc import Callable
from enum import Enum
from functools import cmp_to_key
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np

from collectives.catalogue.algorithm import DoesNotFit
from collectives.chain.chain import Chain
from collectives.chain.scan import allreduce

UNDEFINED: Final = -32766
"""The colour of a process that is to be in no group: MPI.UNDEFINED, in MPI's ABI, in MPICH and in Open MPI."""

Compare: TypeAlias = Callable[[Any, Any], int]
"""Negative, zero or positive if the first comes before, is the same as, or comes after the second."""

Compares: TypeAlias = Compare | tuple[Compare | None, Compare | None] | None
"""One for colours and keys, or one for each; None is the order of the data's own."""

Widths: TypeAlias = tuple[int, int] | None
"""Of colours and keys: 0 for whole numbers, otherwise bytes of the longest string. None: one allreduce finds out."""

Order: TypeAlias = Callable[[bytes], Any] | None
"""What items are sorted by; None for their bytes."""

RANK = 8
"""Bytes of rank and address at an item's end."""


class Kind(Enum):
    """What colours, or keys, are on all ranks."""

    NONE = 0
    WHOLE = 1
    TEXT = 2
    BYTES = 3
    PICKLED = 4


class Field(NamedTuple):
    """How colours, or keys, are written."""

    kind: Kind
    width: int
    compare: Compare | None

    @property
    def nbytes(self) -> int:
        """What it takes in an item."""
        return {Kind.NONE: 0, Kind.WHOLE: 8, Kind.PICKLED: self.width}.get(self.kind, self.width + 4)

    def write(self, value: Any) -> bytes:
        """A value as bytes; None as zeros."""
        if value is None:
            return bytes(self.nbytes)
        plain = as_bytes(value, self.compare)
        if len(plain) > (8 if self.kind is Kind.WHOLE else self.width):
            raise DoesNotFit(f"{value!r} has {len(plain)} bytes, but the longest was to have {self.width}")
        if self.kind is Kind.WHOLE or self.kind is Kind.PICKLED:
            return plain.ljust(self.nbytes, b"\0")
        return plain.ljust(self.width, b"\0") + len(plain).to_bytes(4, "big")


class Format(NamedTuple):
    """How items are written and compared, on all ranks alike."""

    color: Field
    key: Field

    @property
    def nbytes(self) -> int:
        """The length of an item."""
        return 1 + self.color.nbytes + self.key.nbytes + RANK

    def write(self, color: Any, key: Any, rank: int, address: int) -> bytes:
        """The item of a process; of one that is left out neither colour nor key matters."""
        mark = b"\0"
        if left_out(color):
            mark, color, key = b"\1", None, None
        place = rank.to_bytes(4, "big") + address.to_bytes(4, "big")
        return mark + self.color.write(color) + self.key.write(key) + place

    @property
    def order(self) -> Order:
        """What to sort items by."""
        if self.color.compare is None and self.key.compare is None:
            return None
        start, end = 1 + self.color.nbytes, 1 + self.color.nbytes + self.key.nbytes
        parts = [_part(self.color, 1, start), _part(self.key, start, end)]

        def order(item: bytes) -> Any:
            if item[0]:
                return (1, item[-RANK:-4])
            return (0, *(part(item) for part in parts), item[-RANK:-4])

        return order

    def together(self, a: bytes, b: bytes) -> bool:
        """Whether two items are of one group."""
        end = 1 + self.color.nbytes
        if a[:end] == b[:end] or a[0] or b[0] or self.color.compare is None:
            return a[:end] == b[:end]
        return self.color.compare(pickle.loads(a[1:end]), pickle.loads(b[1:end])) == 0


def owner(item: bytes) -> int:
    """The address of the process whose item it is."""
    return int.from_bytes(item[-4:], "big")


def left_out(color: Any) -> bool:
    """Whether a process is to be in no group."""
    return isinstance(color, (int, np.integer)) and color == UNDEFINED


def as_bytes(value: Any, compare: Compare | None = None) -> bytes:
    """A colour or key alone; equal ones have equal bytes unless a function compares them."""
    if compare is not None:
        return pickle.dumps(value)
    if isinstance(value, str):
        return value.encode("utf-8", "surrogatepass")
    if isinstance(value, bytes):
        return value
    try:
        number = operator.index(value)
    except TypeError:
        kinds = "a whole number, a string nor bytes"
        raise DoesNotFit(f"{value!r} is neither {kinds}; give it with a comparison function") from None
    if not -(1 << 63) <= number < 1 << 63:
        raise DoesNotFit(f"{number} does not fit in 64 bits; give it with a comparison function")
    return (number + (1 << 63)).to_bytes(8, "big")


def compares(compare: Compares) -> tuple[Compare | None, Compare | None]:
    """One for colours and one for keys."""
    return compare if isinstance(compare, tuple) else (compare, compare)


def agree(chain: Chain, color: Any, key: Any, compare: Compares = None, widths: Widths = None) -> Format:
    """The format of everybody's items; without `widths` by one allreduce, which finds out who has something else."""
    functions, out = compares(compare), left_out(color)
    color = None if out else color
    kinds = [kind_of(value, function) for value, function in zip((color, key), functions, strict=True)]
    if widths is not None:
        if Kind.PICKLED in kinds:
            raise DoesNotFit("widths are for whole numbers, strings and bytes; what is compared by a function is pickled")
        found = [Kind.TEXT if width and kind is not Kind.NONE else kind for kind, width in zip(kinds, widths, strict=True)]
        if out:
            found[0] = Kind.TEXT if widths[0] else Kind.WHOLE
        return Format(Field(found[0], widths[0], None), Field(found[1], widths[1], None))
    if out:
        kinds, key = [Kind.NONE, Kind.NONE], None  # it has nothing to say of either
    lengths = [
        0 if kind is Kind.NONE else len(as_bytes(value, function))
        for kind, value, function in zip(kinds, (color, key), functions, strict=True)
    ]
    least = [9, 9] if out else [kind.value for kind in kinds]
    news = np.array([kinds[0].value, kinds[1].value, *lengths, -least[0], -least[1]], np.int64)
    first, second, width, key_width, *negated = (int(one) for one in allreduce(chain, news, np.maximum))
    for what, most, negative in (("colours", first, negated[0]), ("keys", second, negated[1])):
        if -negative not in (most, 9):
            names = [Kind(one).name.lower() for one in (-negative, most)]
            raise TypeError(f"split: some {what} are {names[0]} and some are {names[1]}; they must be of one kind")
    return Format(Field(Kind(first), width, functions[0]), Field(Kind(second), key_width, functions[1]))


def kind_of(value: Any, compare: Compare | None = None) -> Kind:
    """What a colour or key is."""
    if value is None:
        return Kind.NONE
    if compare is not None:
        return Kind.PICKLED
    if isinstance(value, str):
        return Kind.TEXT
    if isinstance(value, bytes):
        return Kind.BYTES
    return Kind.WHOLE


def _part(field: Field, start: int, end: int) -> Callable[[bytes], Any]:
    """A field of an item, as something that can be sorted by."""
    if field.compare is None or field.kind is Kind.NONE:
        return lambda item: item[start:end]
    key = cmp_to_key(field.compare)
    return lambda item: key(pickle.loads(item[start:end]))
