"""The order of distributions, simplest first, and a strategy that shrinks along it.

Hypothesis shrinks a number by a few tries: 0, 1, one less, two less. If one number chose the distribution, a failure of
the cases 3 and 40 could stay at 40. So each draw offers the next two cases, and chooses one of them or goes on. The shrinker
tries 0 and 1 at each draw: every earlier case. An earlier case has fewer draws, which Hypothesis prefers.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from itertools import combinations_with_replacement, islice
from math import comb

from hypothesis import strategies as st

from collectives.distributions import DISTRIBUTIONS

LISTED = 96
"""Cases in order at most: the shrinker gives up after 200 tries without a success, and tries each case once or twice."""

PER_DRAW = 2
"""Cases that one draw offers. Hypothesis documents that it tries 0 and 1 for each number."""

Shares = tuple[int, ...]


@st.composite
def in_order(draw: st.DrawFn, total: int, ranks: int) -> list[int]:
    """Return a listed case; or, as often, any other distribution if the list has not all of them."""
    cases = ordered_cases(total, ranks)
    others = 0 if comb(total + ranks - 1, ranks - 1) == len(cases) else len(cases)
    for start in range(0, len(cases), PER_DRAW):
        choice = draw(st.integers(0, len(cases) - start + others - 1))  # equally likely cases
        if choice < min(PER_DRAW, len(cases) - start):
            return list(cases[start + choice])
    return list(_from_cuts([draw(st.integers(0, total)) for _ in range(ranks - 1)], total))


@lru_cache(maxsize=256)
def ordered_cases(total: int, ranks: int) -> tuple[Shares, ...]:
    """Return the first cases, simplest first, each once: all distributions if there are at most `LISTED`."""
    found = dict.fromkeys(islice(_patterns(total, ranks), LISTED))
    if comb(total + ranks - 1, ranks - 1) <= LISTED:
        found |= dict.fromkeys(_all(total, ranks))
    return tuple(found)


def edges(total: int, ranks: int) -> list[Shares]:
    """Return the distributions that break programs, each once."""
    found = [_only_on(range(owner, owner + 1), total, ranks) for owner in sorted({0, ranks // 2, ranks - 1})]
    if ranks > 1:
        found += [_only_on(range(1, ranks), total, ranks), _only_on(range(ranks - 1), total, ranks)]
    even = _only_on(range(ranks), total, ranks)
    found.append(even)
    if ranks > 1 and even[-1] > 0:
        found += [_moved(even, ranks - 1, 0), _moved(even, 0, ranks - 1)]
    return list(dict.fromkeys(found))


def _patterns(total: int, ranks: int) -> Iterator[Shares]:
    """Yield the cases that break programs, those of Träff et al., and the same mistakes on every other rank."""
    yield from edges(total, ranks)
    for distribution in DISTRIBUTIONS.values():
        yield distribution(total, ranks)
    for block in dict.fromkeys([-(-total // ranks), total // ranks, -(-total // ranks) + 1]):
        blocks = _blocks(block, total, ranks)
        yield from (blocks, blocks[::-1])
    even = _only_on(range(ranks), total, ranks)
    for rank in range(ranks):
        yield _only_on([rank], total, ranks)
        if ranks > 1:
            yield _only_on([other for other in range(ranks) if other != rank], total, ranks)  # one rank has nothing
        if rank + 1 < ranks > 2:
            yield _only_on([other for other in range(ranks) if other not in (rank, rank + 1)], total, ranks)  # two in a row
        if even[rank] > 0:
            yield _moved(even, rank, (rank + 1) % ranks)
            yield _moved(even, rank, (rank - 1) % ranks)
    if ranks > 1:
        yield _only_on(range(1, ranks, 2), total, ranks)  # every other rank; `half` has the even ones
    for first in range(1, ranks):
        yield _only_on(range(first), total, ranks)  # the last ranks have nothing


def _only_on(owners: range | list[int], total: int, ranks: int) -> Shares:
    """Return an even distribution over some ranks; the first of them have one element more if there is a remainder."""
    shares = [0] * ranks
    for index, rank in enumerate(owners):
        shares[rank] = total // len(owners) + (index < total % len(owners))
    return tuple(shares)


def _blocks(block: int, total: int, ranks: int) -> Shares:
    """Return blocks of one size on the first ranks, and the rest on the rank after them, or on the last one."""
    shares = [max(0, min(block, total - rank * block)) for rank in range(ranks - 1)]
    return (*shares, total - sum(shares))


def _moved(shares: Shares, source: int, target: int) -> Shares:
    """Return the distribution after one element moved to another rank."""
    return tuple(share - (rank == source) + (rank == target) for rank, share in enumerate(shares))


def _all(total: int, ranks: int) -> Iterator[Shares]:
    """Yield every distribution, those with most elements on low ranks first."""
    for cuts in combinations_with_replacement(range(total + 1), ranks - 1):
        yield _from_cuts(list(cuts), total)


def _from_cuts(drawn: list[int], total: int) -> Shares:
    """Return the distances between the cuts; a cut is counted from the end, so that zeros are all elements on rank 0."""
    cuts = sorted(total - cut for cut in drawn)
    return tuple(end - start for start, end in zip([0, *cuts], [*cuts, total], strict=True))
