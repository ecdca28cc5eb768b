"""Comparison of the results of one program on several numbers of ranks: `--compare across`.

A result is a name with the parts of its value, or the output of rank 0: its numbers, and the texts between them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from math import isfinite, isnan
from typing import Any

Parts = tuple[Sequence[tuple[str, Any]], "float | None"]
"""The parts of a value, as (place, part), and its tolerance; see `fakempi.result`."""

ResultParts = Mapping[str, Sequence[Parts]]
"""Name -> the values of its calls."""

TOLERANCE = 1e-9
"""The default of the relative tolerance of floating-point numbers: rounding is smaller, unless results cancel."""

NUMBER = re.compile(r"(?<![\w.])[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?(?![\w.]*\w)")
OUTPUT = "output of rank 0"
MISSING = "nothing"


@dataclass(frozen=True)
class Difference:
    """The first part that differs: its result and place, and both values; `MISSING` if one does not exist."""

    name: str
    place: str
    left: Any
    right: Any

    @property
    def where(self) -> str:
        """The result, and the place in it."""
        return f"{self.name}{self.place}"

    @property
    def size(self) -> float | None:
        """The absolute difference of two numbers; None for other values."""
        if not (_is_number(self.left) and _is_number(self.right)):
            return None
        size = abs(self.left - self.right)
        return size if isfinite(size) else None

    @property
    def is_inexact(self) -> bool:
        """Whether rounding can be the reason: a finite difference of numbers that are not both integers."""
        return self.size is not None and not (isinstance(self.left, int) and isinstance(self.right, int))


def first_difference(left: ResultParts, right: ResultParts, tolerance: float = TOLERANCE) -> Difference | None:
    """Return the first part that differs between two runs; None if there is none."""
    for name in [*left, *(name for name in right if name not in left)]:
        calls: Iterable[tuple[Parts, Parts]] = zip_longest(left.get(name, ()), right.get(name, ()), fillvalue=([], None))
        for call, (one, other) in enumerate(calls):
            text = f", call {call + 1}" if call else ""
            allowed = next((given for _, given in (one, other) if given is not None), tolerance)
            for a, b in zip_longest(one[0], other[0]):
                place, first = (b[0], MISSING) if a is None else a
                second = MISSING if b is None else b[1]
                if (a is not None and b is not None and a[0] != b[0]) or not _equal(first, second, allowed):
                    return Difference(name, f"{place}{text}", first, second)
    return None


def of_output(text: str) -> ResultParts:
    """Return the parts of an output: its numbers, and the texts between them, by line.

    >>> of_output("sum = 2.50 after 3")["output of rank 0"][0][0]
    [(', line 1', 'sum ='), (', line 1, number 1', 2.5), (', line 1', 'after'), (', line 1, number 2', 3)]
    """
    parts: list[tuple[str, Any]] = []
    for line, content in enumerate(text.splitlines(), 1):
        place, end = f", line {line}", 0
        for index, match in enumerate(NUMBER.finditer(content), 1):
            value = int(match[0]) if re.fullmatch(r"[+-]?\d+", match[0]) else float(match[0])
            parts += [(place, content[end : match.start()].strip()), (f"{place}, number {index}", value)]
            end = match.end()
        parts.append((place, content[end:].strip()))
    return {OUTPUT: [([part for part in parts if part[1] != ""], None)]}


def value_at(parts: ResultParts, difference: Difference) -> Any:
    """Return the number of another run at the place of a difference; None if it has none."""
    for call, (one, _) in enumerate(parts.get(difference.name, ())):
        text = f", call {call + 1}" if call else ""
        for place, part in one:
            if f"{place}{text}" == difference.place and _is_number(part):
                return part
    return None


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float, complex)) and not isinstance(value, bool)


def _equal(left: Any, right: Any, tolerance: float) -> bool:
    """Return whether two parts are equal: integers and texts exactly, other numbers within the tolerance."""
    if not (_is_number(left) and _is_number(right)):
        return type(left) is type(right) and bool(left == right)
    if left == right or (isinstance(left, int) and isinstance(right, int)):
        return bool(left == right)
    if any(isinstance(value, float) and isnan(value) for value in (left, right)):
        return bool(left != left and right != right)
    difference = abs(left - right)
    return bool(isfinite(difference) and difference <= tolerance * max(abs(left), abs(right)))
