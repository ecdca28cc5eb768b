"""The numbers of ranks in a text such as `1..8,16`.

A range has every number, unlike in `fakempi compare`, where it has the powers of two.

>>> numbers("1..4,8"), spelled([1, 2, 3, 4, 8])
([1, 2, 3, 4, 8], '1..4,8')
"""

from __future__ import annotations

from collections.abc import Sequence

from fakempi.core import options as parse
from fakempi.core.network.cost import MAX_PROCESSES

MAX_NUMBERS = 100_000
"""Maximum number of numbers: more would not fit the budget of any search."""


def are_several(text: str) -> bool:
    """Return whether a text is a list or a range: `1,2` or `1..16`; otherwise it is one number, or wrong."""
    return "," in text or ".." in text


def numbers(text: str, option: str = "-n ") -> list[int]:
    """Return the numbers of ranks in a text, each once, smallest first; `option` is before the text in messages."""
    found: set[int] = set()
    for part in text.split(","):
        first, dots, last = part.partition("..")
        if not first.strip() or (dots and not last.strip()):
            example = "a first and a last number, such as 1..16" if dots else "numbers with commas, such as 1..8,16"
            raise parse.usage_error(f"{option}{text}: {part!r} is not a number or a range of ranks: use {example}.")
        low = parse.count(first)
        high = parse.count(last) if dots else low
        if low > high:
            raise parse.usage_error(f"{option}{text}: {part.strip()!r} is an empty range: {low} is larger than {high}.")
        if low < 1:
            raise parse.usage_error(f"{option}{text}: there must be at least 1 rank.")
        if high > MAX_PROCESSES:
            raise parse.usage_error(f"{option}{text}: {high:,} ranks are too many; the maximum is {MAX_PROCESSES:,}.")
        if high - low >= MAX_NUMBERS:
            many = f"the range has {high - low + 1:,} numbers; the maximum is {MAX_NUMBERS:,}"
            raise parse.usage_error(f"{option}{text}: {many}.")
        found.update(range(low, high + 1))
    return sorted(found)


def spelled(found: Sequence[int]) -> str:
    """Return the text of sorted numbers: ranges of three or more have dots."""
    parts: list[list[int]] = []
    for number in found:
        if parts and number == parts[-1][-1] + 1:
            parts[-1].append(number)
        else:
            parts.append([number])
    return ",".join(f"{part[0]}..{part[-1]}" if len(part) > 2 else ",".join(map(str, part)) for part in parts)


def on_ranks(found: Sequence[int]) -> str:
    """Return sorted numbers with their noun.

    >>> on_ranks([1]), on_ranks([1, 2, 3])
    ('1 rank', '1..3 ranks')
    """
    return f"{spelled(found)} rank{'s' * (list(found) != [1])}"
