"""Sorts and splits, which return values instead of filling buffers: their cases and expected return values."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cmp_to_key
from inspect import signature
from typing import Any, Protocol, TypeAlias

from collectives.catalogue.algorithm import Algorithm
from collectives.catalogue.case import Case
from collectives.chain.chain import NO_RANK, Chain
from collectives.chain.meter import ItemMeter
from collectives.split import UNDEFINED
from collectives.verification.calls import Mismatch
from collectives.verification.choices import parameter_choices

ITEM_BYTES = 6
"""An item to sort: a number in two bytes, and the rank that it is from in four."""

SPLIT_BYTES = 25
"""An item of a split with integer colors and keys: 1 byte of header, 8 of color, 8 of key, 4 of rank, 4 of address."""

BITS = 16
"""Bits of the integers that a radix sort sorts."""

Make: TypeAlias = Callable[[], Any]
Check: TypeAlias = Callable[[Any], Mismatch | None]
CallAndCheck: TypeAlias = tuple[tuple[Any, ...], dict[str, Any], Check]
"""Arguments and options of a call, and the check of its return value."""

View: TypeAlias = tuple[int, int, int, int] | None
"""Rank, size, left and right neighbor in a chain; None for a rank without a color."""


@dataclass(frozen=True)
class SplitCase(Case):
    """A split with the colors and keys of all ranks."""

    colors: tuple[Any, ...] = ()
    keys: tuple[Any, ...] = ()


@dataclass(frozen=True)
class SortCase(Case):
    """A sort with one number for each position in the chain, and the ranks in the order of the chain."""

    numbers: tuple[int, ...] = ()
    order: tuple[int, ...] = ()


class HeldItems(Protocol):
    """Receives the largest number of items that a rank held, and whether it released all."""

    held: int
    released: bool


def has_exact_claims(case: Case) -> bool:
    """Return whether time and bytes are claimed for the case: all ranks participate, in rank order, with integers."""
    if isinstance(case, SplitCase):
        integers = all(isinstance(value, int) for value in (*case.colors, *case.keys))
        return integers and UNDEFINED not in case.colors
    return not isinstance(case, SortCase) or list(case.order) == sorted(case.order)


def moves_data(case: Case) -> bool:
    """Return whether the result depends on other ranks: two ranks have one color, or numbers are not in sorted order."""
    if isinstance(case, SplitCase):
        groups = [color for color in case.colors if color is not UNDEFINED]
        return len(set(groups)) < len(groups)
    return not isinstance(case, SortCase) or list(case.numbers) != sorted(case.numbers)


def with_reorder(case: Case) -> Case:
    """Return the case as `holds` of a split takes it: `reorder` states whether ranks pass keys."""
    if not isinstance(case, SplitCase):
        return case
    return replace(case, parameters={**case.parameters, "reorder": None not in case.keys})


def chain_cases(algorithm: Algorithm, p: int) -> Iterator[Case]:
    """Yield cases of a sort or split on p ranks, and two of them with each value of a parameter."""
    cases = list(_plain_cases(algorithm, p))
    yield from cases
    for number, choice in enumerate(parameter_choices(algorithm, p)[1:]):
        for case in (cases[number % len(cases)], cases[(3 * number + 1) % len(cases)]):
            yield replace(case, parameters={**case.parameters, **choice})


def _plain_cases(algorithm: Algorithm, p: int) -> Iterator[Case]:
    ranks = range(p)
    if algorithm.kind == "split":
        for colors in ([0] * p, [r % 3 for r in ranks], [-r for r in ranks], [r * r % 5 - 2 for r in ranks]):
            for keys in ([0] * p, [-r for r in ranks], [r * 7 % 10 for r in ranks]):
                yield SplitCase(p, SPLIT_BYTES, colors=tuple(colors), keys=tuple(keys))
        some = tuple(UNDEFINED if r % 4 == 1 else r % 2 for r in ranks)
        yield SplitCase(p, SPLIT_BYTES, colors=some, keys=tuple(-r for r in ranks))
        yield SplitCase(p, SPLIT_BYTES, colors=tuple(r % 2 for r in ranks), keys=(None,) * p)
        return
    parameters = {"bits": BITS} if sorts_integers(algorithm) else {}
    for order in (tuple(ranks), tuple(reversed(ranks)), tuple(sorted(ranks, key=lambda r: r * 7 % 5))):
        for numbers in ([0] * p, [7 * r % 5 for r in ranks], [p - r for r in ranks]):
            yield SortCase(p, ITEM_BYTES, numbers=tuple(numbers), order=order, parameters=parameters)


def prepare(algorithm: Algorithm, case: Case, comm: Any, held: HeldItems) -> tuple[Make, Check]:
    """Return one rank's call and the check of its return value; the call stores the items held in `held`."""
    meter = ItemMeter()
    metered = {} if algorithm.holds is None else {"meter": meter}
    args, options, check = (_split if isinstance(case, SplitCase) else _sort)(algorithm, case, comm)

    def make() -> Any:
        returned = algorithm.run(*args, **metered, **options, **case.parameters)
        held.held, held.released = meter.peak, meter.held == 0
        return returned

    return make, check


def _split(algorithm: Algorithm, case: Any, comm: Any) -> CallAndCheck:
    rank = comm.Get_rank()
    view = expected(case.colors, case.keys)[rank]
    # The claims assume that all ranks know the width of the items; the claims of radix also assume BITS bits.
    known = {"widths": (0, 0)} if has_exact_claims(case) and "widths" in signature(algorithm.run).parameters else {}
    short = all(-1 << BITS - 1 <= value < 1 << BITS - 1 for value in (*case.colors, *case.keys) if isinstance(value, int))
    bits = {"bits": (BITS, BITS)} if sorts_integers(algorithm) and short else {}
    return (comm, case.colors[rank], case.keys[rank]), {**known, **bits}, lambda returned: _mismatch(_view(returned), view)


def _sort(algorithm: Algorithm, case: Any, comm: Any) -> CallAndCheck:
    chain = in_order(comm, case.order)
    if sorts_integers(algorithm):
        ranked = sorted(range(case.p), key=lambda index: (case.numbers[index], index))
        position = ranked.index(chain.rank), case.p
        return (chain, case.numbers[chain.rank]), {}, lambda returned: _mismatch((_view(returned) or ())[:2], position)
    items = [item(number, index) for index, number in enumerate(case.numbers)]
    return (chain, items[chain.rank]), {}, lambda returned: _mismatch(returned, sorted(items)[chain.rank])


def sorts_integers(algorithm: Algorithm) -> bool:
    """Return whether the algorithm sorts ranks by integers, instead of sorting items."""
    return algorithm.name == "radix"


def _view(returned: Any) -> Any:
    try:
        return view_of(returned)
    except AttributeError:  # not a chain
        return (returned,)


def _mismatch(returned: Any, expected: Any) -> Mismatch | None:
    if returned == expected:
        return None
    return Mismatch(f"the call returned {returned!r}, expected {expected!r}", repr(expected), repr(returned))


def item(number: int, rank: int) -> bytes:
    """Return an item that sorts by number, then by rank."""
    return number.to_bytes(2, "big") + rank.to_bytes(4, "big")


def in_order(comm: Any, order: Sequence[int], tag: int = 0) -> Chain:
    """Return the chain of these ranks of a communicator, as the calling rank sees it."""
    rank, size = order.index(comm.Get_rank()), len(order)
    left = order[rank - 1] if rank else NO_RANK
    right = order[rank + 1] if rank + 1 < size else NO_RANK
    return Chain(comm, rank, size, comm.Get_rank(), left, right, tag)


def view_of(chain: Any) -> View:
    """Return rank, size and neighbors of the calling rank in a chain."""
    return None if chain is None else (chain.rank, chain.size, chain.left, chain.right)


def expected(colors: Sequence[Any], keys: Sequence[Any], compare: Any = None) -> list[View]:
    """Return the expected views of all ranks after a split, computed by a sequential sort."""
    for_colors, for_keys = compare if isinstance(compare, tuple) else (compare, compare)
    views: list[View] = [None] * len(colors)
    groups: list[tuple[Any, list[int]]] = []
    for rank, color in enumerate(colors):
        if color == UNDEFINED:
            continue
        for other, ranks in groups:
            if for_colors(color, other) == 0 if for_colors and color is not None else color == other:
                ranks.append(rank)
                break
        else:
            groups.append((color, [rank]))
    for _, ranks in groups:
        if keys[0] is not None:
            sort_key = cmp_to_key(for_keys) if for_keys else (lambda key: key)
            ranks.sort(key=lambda rank: sort_key(keys[rank]))  # stable: ranks with equal keys stay in rank order
        for position, rank in enumerate(ranks):
            left = ranks[position - 1] if position else NO_RANK
            views[rank] = (position, len(ranks), left, ranks[position + 1] if position + 1 < len(ranks) else NO_RANK)
    return views
