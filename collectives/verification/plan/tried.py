"""The cases of a verification as lines of text: numbers of ranks, sizes, and values of parameters."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from itertools import count
from typing import Any

from collectives.catalogue.algorithm import Algorithm
from collectives.catalogue.case import Case
from collectives.chain.items import UNDEFINED
from collectives.verification.cases import ROOTED
from collectives.verification.plan.large_cases import LONG_BYTES, largest_block

FEWEST_POWERS = 3
"""Of fewer powers of two among the sizes, the text does not mention them: all short sizes may be there by chance."""

MOST_VALUES = 12
"""Of more values of a parameter, the text has the number and the range."""


def tried_lines(algorithm: Algorithm, cases: Sequence[Case]) -> list[str]:
    """Return lines about the cases that the algorithm accepted."""
    lines = [_ranks, _sizes, _values, _parameters] if cases else []
    return [line for some in lines for line in some(algorithm, cases)]


def _ranks(algorithm: Algorithm, cases: Sequence[Case]) -> Iterator[str]:
    if algorithm.kind == "inter":
        groups = ((case.p for case in cases), (case.q for case in cases))
        a, b = (ranges(set(sizes)) for sizes in groups)
        yield f"ranks: {ranges({case.ranks for case in cases})} in both groups, {a} in A, {b} in B"
    else:
        yield f"ranks: {ranges({case.p for case in cases})}"
    if algorithm.kind == "intra" and algorithm.operation in ROOTED:
        yield f"roots: {_roots(cases)}"


def _roots(cases: Sequence[Case]) -> str:
    roots: defaultdict[int, set[int]] = defaultdict(set)  # by number of ranks
    for case in cases:
        roots[case.p].add(case.root)
    complete = [p for p, tried in roots.items() if len(tried) == p]
    ends = [p for p, tried in roots.items() if len(tried) < p and {0, p // 2, p - 1} <= tried]
    texts = [f"all on {ranges(complete)} ranks"] if complete else []
    if ends:
        texts.append(f"the first, the middle, the last and some others on {ranges(ends)}{'' if complete else ' ranks'}")
    rest = "some on other numbers of ranks" if texts else "some on each number of ranks"
    return ", ".join([*texts, *([rest] if len(complete) + len(ends) < len(roots) else [])])


def _sizes(algorithm: Algorithm, cases: Sequence[Case]) -> Iterator[str]:
    if algorithm.kind not in ("intra", "inter") or algorithm.operation == "barrier":
        return
    elements = [largest_block(case) for case in cases]
    nbytes = [number * case.itemsize for number, case in zip(elements, cases, strict=True)]
    long = sum(each >= LONG_BYTES for each in nbytes)
    sizes = f"{min(elements):,} to {max(elements):,} elements, {min(nbytes):,} to {max(nbytes):,} bytes"
    yield f"largest message or block: {sizes}; more than 64 KiB in {long:,} case{'s' * (long != 1)}"
    power = _last_power({*nbytes})
    if power > FEWEST_POWERS:
        yield f"its sizes include every power of two up to {1 << power:,} bytes, and one byte less and more"


def _last_power(sizes: Collection[int]) -> int:
    """Return the last k such that 2^1, ... 2^k and their neighbors are among the sizes; 0 if there is none."""
    return next(k for k in count() if not {(2 << k) - 1, 2 << k, (2 << k) + 1} <= {*sizes})


def _values(algorithm: Algorithm, cases: Sequence[Case]) -> Iterator[str]:
    """Yield the range and the types of the colors and keys of splits, and of the numbers of sorts."""
    for name in {"split": ("colors", "keys"), "chain": ("numbers",)}.get(algorithm.kind, ()):
        values = [value for case in cases for value in getattr(case, name) if value is not None]
        integers = [value for value in values if isinstance(value, int) and (name != "colors" or value != UNDEFINED)]
        texts = [f"{min(integers):,} to {max(integers):,}"] if integers else []
        texts += ["UNDEFINED"] if name == "colors" and UNDEFINED in values else []
        texts += [text for kind, text in ((str, "strings"), (bytes, "bytes")) if any(isinstance(v, kind) for v in values)]
        yield f"{name}: {', '.join(texts)}"


def _parameters(algorithm: Algorithm, cases: Sequence[Case]) -> Iterator[str]:
    for name, default in algorithm.parameters.items():
        values = [case.parameters[name] for case in cases if name in case.parameters]
        others = {repr(value): value for value in values if repr(value) != repr(default)}
        is_tried = len(values) < len(cases) or len(others) < len({*map(repr, values)})
        texts = [f"{_text(default)} (default)"] * is_tried + _texts([*others.values()])
        yield f"{name}: {', '.join(texts)}"


def _texts(values: Sequence[Any]) -> list[str]:
    numbers = {value for value in values if isinstance(value, int) and not isinstance(value, bool)}
    words = [_text(value) for value in values if isinstance(value, (bool, str, Algorithm))]
    rest = sum(not isinstance(value, (int, str, Algorithm)) for value in values)
    few = (
        [ranges(numbers)]
        if len(numbers) <= MOST_VALUES
        else [f"{len(numbers)} values from {min(numbers):,} to {max(numbers):,}"]
    )
    return [*(few if numbers else []), *words, *([f"{rest} lists or functions"] if rest else [])]


def _text(value: Any) -> str:
    if isinstance(value, Algorithm):
        return value.name
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)


def ranges(numbers: Collection[int]) -> str:
    """Return numbers with consecutive ones joined.

    >>> ranges({1, 2, 3, 5, 1000})
    '1-3, 5, 1,000'
    """
    ends: list[list[int]] = []
    for number in sorted(numbers):
        if ends and number == ends[-1][1] + 1:
            ends[-1][1] = number
        else:
            ends.append([number, number])
    return ", ".join(f"{first:,}" if first == last else f"{first:,}-{last:,}" for first, last in ends)
