"""Numbers as people type them. Complaints are one sentence.

>>> sizes("8,1k,64k"), sizes("2..16"), groups("6+2")
([8, 1024, 65536], [2, 4, 8, 16], (6, 2))
"""

from __future__ import annotations

import re

_UNITS = {"": 1, "k": 2**10, "m": 2**20, "g": 2**30}


def whole(text: str) -> int:
    """A whole number that is not negative, with k, M or G for powers of 1024."""
    match = re.fullmatch(r"([+-]?\d+)([kmg]?)(?:i?b)?", text.strip().lower())
    if match is None:
        raise ValueError(f"{text.strip()!r} is not a number of bytes: say 0, 1500, 64k or 1M.")
    found = int(match[1]) * _UNITS[match[2]]
    if found < 0:
        raise ValueError(f"{text.strip()} is negative.")
    return found


def sizes(text: str) -> list[int]:
    """Sizes in bytes: `0,1k,64k`, or `1k..1M` for every power of two between."""
    found: list[int] = []
    for part in text.split(","):
        first, dots, last = part.partition("..")
        low, high = whole(first), whole(last if dots else first)
        if low > high:
            raise ValueError(f"{part!r} goes from {low} down to {high}: put the smaller first.")
        found += [0] * (low == 0)
        low = max(low, 1)
        while low <= high:
            found.append(low)
            low *= 2
    return found


def groups(text: str) -> tuple[int, int]:
    """The sizes of two groups: `6+2`."""
    first, plus, second = text.partition("+")
    if not plus or not (found := (whole(first), whole(second)))[0] or not found[1]:
        raise ValueError(f"{text!r} is not two groups: say 6+2.")
    return found
