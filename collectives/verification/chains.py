"""Sorts and splits, which return something in place of filling buffers: what they must return, and cases of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cmp_to_key
from inspect import signature
from typing import Any, Protocol, TypeAlias

from collectives.catalogue.algorithm import Algorithm
from collectives.catalogue.case import Case
from collectives.chain.chain import NOBODY, Chain
from collectives.chain.meter import Meter
from collectives.split import UNDEFINED
from collectives.verification.calls import Wrong

ITEM_BYTES = 6
"""An item to sort: two bytes of a number, four of who had it."""

SPLIT_BYTES = 25
"""An item of a split where colours and keys are numbers: a byte, 8 + 8 of these, 4 + 4 of the rank and the address."""

BITS = 16
"""What whole numbers fit in."""

Make: TypeAlias = Callable[[], Any]
Judge: TypeAlias = Callable[[Any], Wrong | None]
Prepared: TypeAlias = tuple[tuple[Any, ...], dict[str, Any], Judge]
"""A call's arguments and options, and what is wrong with what it returns."""

View: TypeAlias = tuple[int, int, int, int] | None
"""Rank, size, left and right neighbour; None of who has no colour."""


@dataclass(frozen=True)
class SplitCase(Case):
    """Colours and keys of all ranks."""

    colors: tuple[Any, ...] = ()
    keys: tuple[Any, ...] = ()


@dataclass(frozen=True)
class SortCase(Case):
    """A number for each place of a chain, and the ranks in the chain's order."""

    numbers: tuple[int, ...] = ()
    order: tuple[int, ...] = ()


class Metered(Protocol):
    """Where it is told how much a rank held."""

    held: int
    released: bool


def exact(case: Case) -> bool:
    """Whether the claims on time and bytes are for such a case: everybody takes part, in order of rank."""
    if isinstance(case, SplitCase):
        return UNDEFINED not in case.colors and None not in (*case.colors, *case.keys)
    return not isinstance(case, SortCase) or list(case.order) == sorted(case.order)


def chain_cases(algorithm: Algorithm, p: int) -> Iterator[Case]:
    """A handful on p ranks."""
    ranks = range(p)
    if algorithm.kind == "split":
        for colors in ([0] * p, [r % 3 for r in ranks], [-r for r in ranks], [r * r % 5 - 2 for r in ranks]):
            for keys in ([0] * p, [-r for r in ranks], [r * 7 % 10 for r in ranks]):
                yield SplitCase(p, SPLIT_BYTES, colors=tuple(colors), keys=tuple(keys))
        some = tuple(UNDEFINED if r % 4 == 1 else r % 2 for r in ranks)
        yield SplitCase(p, SPLIT_BYTES, colors=some, keys=tuple(-r for r in ranks))
        yield SplitCase(p, SPLIT_BYTES, colors=tuple(r % 2 for r in ranks), keys=(None,) * p)
        return
    parameters = {"bits": BITS} if _of_numbers(algorithm) else {}
    for order in (tuple(ranks), tuple(reversed(ranks)), tuple(sorted(ranks, key=lambda r: r * 7 % 5))):
        for numbers in ([0] * p, [7 * r % 5 for r in ranks], [p - r for r in ranks]):
            yield SortCase(p, ITEM_BYTES, numbers=tuple(numbers), order=order, parameters=parameters)


def prepare(algorithm: Algorithm, case: Case, comm: Any, told: Metered) -> tuple[Make, Judge]:
    """One rank's call, and what is wrong with what it returns."""
    meter = Meter()
    metered = {} if algorithm.holds is None else {"meter": meter}
    args, options, judge = (_split if isinstance(case, SplitCase) else _sort)(algorithm, case, comm)

    def make() -> Any:
        returned = algorithm.run(*args, **metered, **options, **case.parameters)
        told.held, told.released = meter.peak, meter.held == 0
        return returned

    return make, judge


def _split(algorithm: Algorithm, case: Any, comm: Any) -> Prepared:
    rank = comm.Get_rank()
    must = expected(case.colors, case.keys)[rank]
    # Claims are for items whose width everybody knows. Of radix they are for so many bits.
    known = {"widths": (0, 0)} if exact(case) and "widths" in signature(algorithm.run).parameters else {}
    bits = {"bits": (BITS, BITS)} if _of_numbers(algorithm) else {}
    return (comm, case.colors[rank], case.keys[rank]), {**known, **bits}, lambda found: _other(_seen(found), must)


def _sort(algorithm: Algorithm, case: Any, comm: Any) -> Prepared:
    chain = in_order(comm, case.order)
    if _of_numbers(algorithm):
        ranked = sorted(range(case.p), key=lambda at: (case.numbers[at], at))
        place = ranked.index(chain.rank), case.p
        return (chain, case.numbers[chain.rank]), {}, lambda found: _other((_seen(found) or ())[:2], place)
    items = [item(number, at) for at, number in enumerate(case.numbers)]
    return (chain, items[chain.rank]), {}, lambda found: _other(found, sorted(items)[chain.rank])


def _of_numbers(algorithm: Algorithm) -> bool:
    """Whether it sorts processes by their numbers, and not items."""
    return algorithm.name == "radix"


def _seen(returned: Any) -> Any:
    try:
        return view_of(returned)
    except AttributeError:  # it is no chain
        return (returned,)


def _other(found: Any, expected: Any) -> Wrong | None:
    return None if found == expected else Wrong(f"{found!r}, not {expected!r}", repr(expected), repr(found))


def item(number: int, rank: int) -> bytes:
    """What is sorted: by number, then by who had it."""
    return number.to_bytes(2, "big") + rank.to_bytes(4, "big")


def in_order(comm: Any, order: Sequence[int], tag: int = 0) -> Chain:
    """The chain of these ranks of a communicator, as the calling rank sees it."""
    rank, size = order.index(comm.Get_rank()), len(order)
    left = order[rank - 1] if rank else NOBODY
    right = order[rank + 1] if rank + 1 < size else NOBODY
    return Chain(comm, rank, size, comm.Get_rank(), left, right, tag)


def view_of(chain: Any) -> View:
    """What a chain looks like from where one stands."""
    return None if chain is None else (chain.rank, chain.size, chain.left, chain.right)


def expected(colors: Sequence[Any], keys: Sequence[Any], compare: Any = None) -> list[View]:
    """Groups and orders by sorting in one place."""
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
            by = cmp_to_key(for_keys) if for_keys else (lambda key: key)
            ranks.sort(key=lambda rank: by(keys[rank]))  # which keeps the order of ranks with equal keys
        for at, rank in enumerate(ranks):
            left = ranks[at - 1] if at else NOBODY
            views[rank] = (at, len(ranks), left, ranks[at + 1] if at + 1 < len(ranks) else NOBODY)
    return views
