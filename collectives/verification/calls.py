"""CheckedCall: one rank's call of a collective with its expected result; contents and comparison of buffers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from collectives.catalogue.case import Case

Array = NDArray[Any]
DTYPES: Mapping[int, str] = {1: "uint8", 2: "int16", 4: "int32", 8: "float64", 16: "complex128"}
PERIOD = 251
"""Values of an input repeat after this number of elements: a prime, so that a segment that is shifted differs."""
MAX_ELEMENTS = 6
"""The number of elements of a buffer that messages show."""


class Mismatch(NamedTuple):
    """A buffer or return value that differs from the expected one: a message, the expected value and the actual one."""

    message: str
    expected: str
    actual: str


@dataclass
class CheckedCall:
    """One rank's call: arguments, result buffer, expected contents, and input buffers with their original contents."""

    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    result: Array
    expected: Array
    untouched: tuple[tuple[Array, Array], ...] = ()

    def wrong_result(self) -> Mismatch | None:
        """Return the difference between the result and the expected one, if any."""
        return difference(self.result, self.expected)

    def changed_input(self) -> Mismatch | None:
        """Return the first change of an input buffer, if any."""
        return next(filter(None, (difference(buffer, before) for buffer, before in self.untouched)), None)


def input_only(args: tuple[Any, ...], kwargs: dict[str, Any], operand: Any) -> CheckedCall:
    """Return the call of a rank without a result: the only check is that its input does not change."""
    return CheckedCall(args, kwargs, operand[0:0], operand[0:0], ((operand, operand.copy()),))


def difference(actual: Array, expected: Array) -> Mismatch | None:
    """Return the difference between two buffers, or None if they are equal.

    >>> difference(np.array([1, 2, 3]), np.array([1, 5, 4]))
    Mismatch(message='element 1 is 2, expected 5 (2 of 3 wrong)', expected='1 5 4', actual='1 2 3')
    """
    if actual.shape != expected.shape:
        return Mismatch(f"the buffer has size {actual.size}, expected {expected.size}", as_text(expected), as_text(actual))
    differing = np.flatnonzero(actual != expected)
    if not differing.size:
        return None
    first = int(differing[0])
    values = f"{number(actual[first])}, expected {number(expected[first])}"
    message = f"element {first} is {values} ({differing.size} of {actual.size} wrong)"
    return Mismatch(message, as_text(expected), as_text(actual))


def as_text(buffer: Array) -> str:
    """Return the first few elements as text."""
    dots = " ..." if buffer.size > MAX_ELEMENTS else ""
    return " ".join(number(element) for element in buffer[:MAX_ELEMENTS]) + dots or "nothing"


def number(value: Any) -> str:
    """Return an element as text, without a decimal point or imaginary part if its value is an integer."""
    whole = value.real
    return str(int(whole)) if np.isfinite(value) and value == int(whole) else str(value)


def contents(rank: int, size: int, itemsize: int) -> Array:
    """Return a rank's input: values that depend on rank and index, and fit into every dtype."""
    values = (np.arange(min(size, PERIOD)) * 7 + rank * 31 + 1) % PERIOD
    return repeated(values.astype(DTYPES[itemsize]), size)


def repeated(period: Array, size: int) -> Array:
    """Return an array of a size from its first period; long arrays take a fraction of the time to compute all elements."""
    return period if period.size == size else np.resize(period, size)


def blank(size: int, itemsize: int) -> Array:
    """Return a receive buffer, filled with a value that no input contains."""
    return np.full(size, 255, DTYPES[itemsize])


def sizes(case: Case) -> list[int]:
    """Return the block sizes of all ranks, in elements."""
    return [case.layout.size(r) for r in range(case.p)]
