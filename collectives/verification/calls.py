"""One rank's call of a collective, and what ranks have to give."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from collectives.catalogue.case import Case

Array = NDArray[Any]
DTYPES: Mapping[int, str] = {1: "uint8", 2: "int16", 4: "int32", 8: "float64", 16: "complex128"}
SHOWN = 6
"""Elements of a buffer that are shown."""


class Wrong(NamedTuple):
    """A buffer that does not hold what it must, in words and as what must be there and what is."""

    words: str
    expected: str
    found: str


@dataclass
class Call:
    """One rank's call: arguments, the buffer to look at afterwards, what it must hold, what must not change."""

    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    result: Array
    expected: Array
    untouched: tuple[tuple[Array, Array], ...] = ()

    def wrong_result(self) -> Wrong | None:
        """What is wrong with the result, if anything."""
        return difference(self.result, self.expected)

    def changed_input(self) -> Wrong | None:
        """What has become of an input that must stay as it is."""
        return next(filter(None, (difference(buffer, before) for buffer, before in self.untouched)), None)


def gives(args: tuple[Any, ...], kwargs: dict[str, Any], mine: Any) -> Call:
    """The call of a rank that only gives: all that can be seen of it is that its buffer stays as it is."""
    return Call(args, kwargs, mine[0:0], mine[0:0], ((mine, mine.copy()),))


def difference(found: Array, expected: Array) -> Wrong | None:
    """Where two buffers differ.

    >>> difference(np.array([1, 2, 3]), np.array([1, 5, 4]))
    Wrong(words='2 at element 1, not 5 (2 of 3 differ)', expected='1 5 4', found='1 2 3')
    """
    if found.shape != expected.shape:
        return Wrong(f"{found.size} elements, not {expected.size}", shown(expected), shown(found))
    places = np.flatnonzero(found != expected)
    if not places.size:
        return None
    at = int(places[0])
    words = f"{number(found[at])} at element {at}, not {number(expected[at])}"
    return Wrong(f"{words} ({places.size} of {found.size} differ)", shown(expected), shown(found))


def shown(buffer: Array) -> str:
    """The first few elements."""
    return " ".join(number(each) for each in buffer[:SHOWN]) + (" ..." if buffer.size > SHOWN else "") or "nothing"


def number(value: Any) -> str:
    """An element, as short as it can be said: all of ours are whole numbers."""
    whole = value.real
    return str(int(whole)) if np.isfinite(value) and value == int(whole) else str(value)


def contents(rank: int, size: int, itemsize: int) -> Array:
    """What a rank has to give: different for every rank and place, as far as the type can hold it."""
    values = (np.arange(size) * 7 + rank * 31 + 1) % 251
    return values.astype(DTYPES[itemsize])


def blank(size: int, itemsize: int) -> Array:
    """A buffer to receive in."""
    return np.full(size, 255, DTYPES[itemsize])


def sizes(case: Case) -> list[int]:
    """The blocks of all ranks, in elements."""
    return [case.layout.size(r) for r in range(case.p)]
