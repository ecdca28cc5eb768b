"""The numbers of ranks in a text such as `1..8,16`.

A range has every number, unlike in `fakempi compare`, where it has the powers of two.

>>> numbers("1..4,8"), spelled([1, 2, 3, 4, 8])
([1, 2, 3, 4, 8], '1..4,8')
"""

from __future__ import annotations

import re
from argparse import Namespace
from collections.abc import Sequence

from fakempi.core import options as parse
from fakempi.core.network.cost import MAX_PROCESSES

MAX_NUMBERS = 100_000
"""Maximum number of numbers: more would not fit the budget of any search."""


def are_several(text: str) -> bool:
    """Return whether a text is a list or a range: `1,2` or `1..16`; otherwise it is one number, or wrong."""
    return "," in text or ".." in text


def numbers(text: str) -> list[int]:
    """Return the numbers of ranks in a text, each once, smallest first."""
    found: set[int] = set()
    for part in text.split(","):
        first, dots, last = part.partition("..")
        if not first.strip() or (dots and not last.strip()):
            example = "a first and a last number, such as 1..16" if dots else "numbers with commas, such as 1..8,16"
            raise parse.usage_error(f"-n {text}: {part!r} is not a number or a range of ranks: use {example}.")
        low = parse.count(first)
        high = parse.count(last) if dots else low
        if low > high:
            raise parse.usage_error(f"-n {text}: {part.strip()!r} is an empty range: {low} is larger than {high}.")
        if low < 1:
            raise parse.usage_error(f"-n {text}: there must be at least 1 rank.")
        if high > MAX_PROCESSES:
            raise parse.usage_error(f"-n {text}: {high:,} ranks are too many; the maximum is {MAX_PROCESSES:,}.")
        if high - low >= MAX_NUMBERS:
            raise parse.usage_error(f"-n {text}: the range has {high - low + 1:,} numbers; the maximum is {MAX_NUMBERS:,}.")
        found.update(range(low, high + 1))
    return sorted(found)


def numbers_of(options: Namespace) -> list[int]:
    """Return the numbers of ranks of `-n` from `--min-ranks` on."""
    found = [number for number in numbers(options.ranks) if number >= options.min_ranks]
    if not found:
        raise parse.usage_error(f"-n {options.ranks}: no number of ranks is at least {options.min_ranks} (--min-ranks).")
    return found


def check_single(options: Namespace) -> None:
    """Reject what a single number cannot mean: a range with a dash, and options for several numbers."""
    if match := re.fullmatch(r"\s*([0-9]+)\s*-\s*([0-9]+)\s*", options.ranks):
        raise parse.usage_error(f"-n {options.ranks}: a range is written with two dots: -n {match[1]}..{match[2]}.")
    if options.all_numbers:
        raise parse.usage_error(f"--all has no effect with -n {options.ranks}: use several numbers, such as -n 1..16.")
    if options.min_ranks > 1 and parse.count(options.ranks) < options.min_ranks:
        raise parse.usage_error(f"-n {options.ranks}: --min-ranks {options.min_ranks} requires more ranks.")


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
