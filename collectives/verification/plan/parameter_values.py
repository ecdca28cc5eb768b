"""Other values of one parameter: those that the default suggests, and those that a message of `why_unsupported` names."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from collectives import entries
from collectives.catalogue.algorithm import Algorithm
from collectives.catalogue.case import Case

SMALL_BYTES = (1, 24, 100)
"""Segment and block sizes that cut even short messages into many pieces."""

RADICES = range(2, 9)
"""Values of every integer parameter whose default is at least 1: the arity of a tree, the radix of an exchange."""

WORDS: Mapping[str, Mapping[str, Sequence[str]]] = {
    "order": {"right": ("ascending", "left"), "descending": ("ascending",)},
}
"""Values of parameters that are words and that `why_unsupported` does not check, by name and default."""

ALTERNATIVES = 3
"""Number of algorithms to try for a parameter that is an algorithm."""


def other_values(algorithm: Algorithm, name: str) -> list[Any]:
    """Return values of a parameter other than its default; `why_unsupported` may reject some of them."""
    default = algorithm.parameters[name]
    if isinstance(default, Algorithm):
        same = [a for a in entries.CATALOGUE if (a.operation, a.kind) == (default.operation, default.kind)]
        return [a for a in same if a.name != default.name][:ALTERNATIVES]
    if name.endswith("_bytes"):
        return list(SMALL_BYTES)
    if isinstance(default, bool):
        return [not default]
    named = list(_named_values(algorithm, name, default))
    if isinstance(default, str):
        named += WORDS.get(name, {}).get(default, ())
    elif isinstance(default, int):
        # Larger values should work as well as the default; smaller ones may be invalid, and are rejected then.
        numbers = [*RADICES, default // 2, default + 1, 2 * default + 1] if default > 0 else []
        named += [number for number in numbers if number > 1]
    return [value for value in dict.fromkeys(named) if value != default]


def _named_values(algorithm: Algorithm, name: str, default: object) -> Iterator[Any]:
    """Yield the values that `why_unsupported` accepts among the words and numbers in its messages about invalid values.

    Also the least integer that it accepts, 0 or 1, if it rejects the one below.
    """
    for invalid in ("?",) if isinstance(default, str) else (-1, 0) if isinstance(default, int) else ():
        reason = _rejection(algorithm, name, invalid)
        if reason is None:
            continue
        words = re.findall(r"[A-Za-z_]\w*|\d+", reason)
        candidates = words if isinstance(invalid, str) else [invalid + 1, *map(int, filter(str.isdecimal, words))]
        for value in candidates:
            if _rejection(algorithm, name, value) is None:
                yield value


def _rejection(algorithm: Algorithm, name: str, value: object) -> str | None:
    case = Case(8, 64, q=6 if algorithm.kind == "inter" else 0, parameters={name: value})
    try:
        return algorithm.why_unsupported(case)
    except Exception:
        return "fits raised an exception"  # reported when a case is run
