"""Sorts and splits at boundaries: colors, keys and numbers around powers of two, and colors that are strings or bytes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from collectives.catalogue.algorithm import Algorithm
from collectives.catalogue.case import Case
from collectives.verification.plan.boundaries import INTEGERS, NUMBERS, TEXTS
from collectives.verification.sort_and_split import BITS, ITEM_BYTES, SPLIT_BYTES, SortCase, SplitCase, sorts_integers

RANKS = (6, 9, 5, 8, 7, 12)
"""Numbers of ranks of these cases, in turn."""

SORTED = (1, 128, 256, 1000, 1 << 15, (1 << 16) - 2)
"""Numbers to sort; each case has one of them and both neighbors."""

MOST_INTEGER = 1 << 31
"""A split by radix claims to hold the items of numbers of 32 bits."""


def boundary_chains(algorithm: Algorithm, ranks: int) -> Iterator[Case]:
    """Yield cases of a sort or a split on up to `ranks` ranks, including cases that the algorithm rejects."""
    yield from _splits(algorithm, ranks) if algorithm.kind == "split" else _sorts(algorithm, ranks)
    numbered = [name for name, default in algorithm.parameters.items() if type(default) is int]
    for number, (name, value) in enumerate((name, value) for name in numbered for value in NUMBERS):
        yield with_parameters(algorithm, _ranks(ranks, number), {name: value})


def _ranks(ranks: int, number: int) -> int:
    return min(ranks, RANKS[number % len(RANKS)])


def with_parameters(algorithm: Algorithm, p: int, parameters: dict[str, Any]) -> Case:
    if algorithm.kind == "split":
        keys = tuple(-r * 7 % 10 for r in range(p))
        return SplitCase(p, SPLIT_BYTES, colors=tuple(r % 2 for r in range(p)), keys=keys, parameters=parameters)
    return _sort(algorithm, [7 * r % 5 for r in range(p)], parameters)


def _splits(algorithm: Algorithm, ranks: int) -> Iterator[Case]:
    integers = [value for value in INTEGERS if not sorts_integers(algorithm) or abs(value) < MOST_INTEGER - 1]
    values: list[list[Any]] = [[value - 1, value, value + 1] for value in integers]
    values += [[-1, 0, 1], [integers[0], max(integers), min(integers)]]
    if not sorts_integers(algorithm):
        values += [list(TEXTS), [text.encode() for text in TEXTS]]
    for number, some in enumerate(values):
        p = _ranks(ranks, number)
        turned = [some[(r + number) % len(some)] for r in range(p)]
        yield SplitCase(p, SPLIT_BYTES, colors=tuple(turned), keys=tuple(-r for r in range(p)))
        yield SplitCase(p, SPLIT_BYTES, colors=(number % 2,) * p, keys=tuple(reversed(turned)))
        yield SplitCase(p, SPLIT_BYTES, colors=tuple(turned[::-1]), keys=tuple(turned))


def _sorts(algorithm: Algorithm, ranks: int) -> Iterator[Case]:
    for number, value in enumerate(SORTED):
        p = _ranks(ranks, number)
        yield _sort(algorithm, [value + 1 - r % 3 for r in range(p)], {})
        yield _sort(algorithm, [(value, 0, (1 << BITS) - 1)[r % 3] for r in range(p)], {})


def _sort(algorithm: Algorithm, numbers: Sequence[int], parameters: dict[str, Any]) -> SortCase:
    p = len(numbers)
    bits = {"bits": BITS} if sorts_integers(algorithm) else {}
    return SortCase(p, ITEM_BYTES, numbers=tuple(numbers), order=tuple(range(p)), parameters={**bits, **parameters})
