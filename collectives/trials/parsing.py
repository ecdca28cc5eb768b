"""Parse sizes and group sizes as typed on a command line. Every error message is one sentence.

>>> parse_sizes("8,1k,64k"), parse_sizes("2..16"), parse_groups("6+2")
([8, 1024, 65536], [2, 4, 8, 16], (6, 2))
"""

from __future__ import annotations

import re

MAX_SIZE, MAX_DIGITS = 1 << 53, 99
_UNITS = {"": 1, "k": 2**10, "m": 2**20, "g": 2**30}


def parse_size(text: str) -> int:
    """Parse a non-negative integer with an optional k, M or G (powers of 1024); kB and KiB are the same as k."""
    match = re.fullmatch(r"([+-]?\d+)([kmg]?)(?:i?b)?", text.strip().lower())
    if match is None:
        raise ValueError(f"{text.strip()[:80]!r} is not a number: use a form such as 0, 1500, 64k or 1M.")
    if len(match[1]) > MAX_DIGITS or (size := int(match[1]) * _UNITS[match[2]]) > MAX_SIZE:
        raise ValueError(f"{text.strip()[:40]} is too large: the maximum is {MAX_SIZE:,}.")
    if size < 0:
        raise ValueError(f"{text.strip()} is negative: use 0 or more.")
    return size


def parse_sizes(text: str) -> list[int]:
    """Parse sizes in bytes: `0,1k,64k`, or `1k..1M` for repeated doubling."""
    sizes: list[int] = []
    for part in text.split(","):
        first, dots, last = part.partition("..")
        low, high = parse_size(first), parse_size(last if dots else first)
        if low > high:
            raise ValueError(f"the range {part!r} decreases from {low} to {high}: write the smaller size first.")
        sizes += [0] * (low == 0)
        low = max(low, 1)
        while low <= high:
            sizes.append(low)
            low *= 2
    return sizes


def parse_groups(text: str) -> tuple[int, int]:
    """Parse the sizes of two groups: `6+2`."""
    first, plus, second = text.partition("+")
    if not plus or not (sizes := (parse_size(first), parse_size(second)))[0] or not sizes[1]:
        raise ValueError(f"{text!r} does not specify two non-empty groups: use the form 6+2.")
    return sizes
