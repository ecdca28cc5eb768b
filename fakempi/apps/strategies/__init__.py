"""Hypothesis strategies for MPI programs: numbers of ranks, pairs of groups, counts per rank, and schedules.

    @given(strategies.sizes(), strategies.schedules(), st.data())
    def test_allgatherv(p, schedule, data):
        counts = data.draw(strategies.counts(p))
        fakempi.run(main, p, counts, schedule=schedule)

Examples shrink to the smallest values.
"""

from __future__ import annotations

from hypothesis import strategies as st

from fakempi.apps.strategies.distribution_order import edges, in_order
from fakempi.modelcheck.steering.token import UNLIMITED, LibraryMode, write


def sizes(max_size: int = 32) -> st.SearchStrategy[int]:
    """Numbers of ranks: all small ones, and the neighbors of powers of two, which are edge cases of many algorithms."""
    edges = sorted({n for d in range(1, max_size.bit_length() + 1) for n in (2**d - 1, 2**d, 2**d + 1) if n <= max_size})
    return st.one_of(st.integers(1, min(max_size, 9)), st.sampled_from(edges or [1]), st.integers(1, max_size))


def schedules(max_size: int = 12, buffering: str | None = None) -> st.SearchStrategy[str]:
    """Schedules for `run(..., schedule=...)` that fit every program: "z:0.2.1?". They shrink to the fewest deviations."""
    limits = {"zero": [-1], "infinite": [UNLIMITED], "size": [0, 8, 64, 1024, 65536]}
    kept = [limit for kind, known in limits.items() if buffering in (None, kind) for limit in known]
    if not kept:
        raise ValueError(f"schedules: buffering {buffering!r} is unknown; choose from {', '.join(limits)}.")
    modes = st.builds(LibraryMode, st.sampled_from(kept), st.booleans(), st.booleans())
    return st.builds(lambda mode, numbers: f"{write(mode, numbers)}?", modes, st.lists(st.integers(0, 7), max_size=max_size))


def group_pairs(max_size: int = 16) -> st.SearchStrategy[tuple[int, int]]:
    """Sizes (p, q) of the two groups of an intercommunicator; either one may be larger."""
    return st.tuples(sizes(max_size), sizes(max_size))


def counts(size: int, max_count: int = 64) -> st.SearchStrategy[list[int]]:
    """Element counts of `size` ranks: zeros are common, and sometimes one rank has all elements."""
    count = st.one_of(st.just(0), st.integers(0, max_count))
    lonely = st.tuples(st.integers(0, size - 1), st.integers(0, max_count)).map(
        lambda drawn: [drawn[1] if rank == drawn[0] else 0 for rank in range(size)]
    )
    return st.one_of(st.lists(count, min_size=size, max_size=size), lonely)


def ranks(max_size: int = 16, min_size: int = 1) -> st.SearchStrategy[int]:
    """Numbers of ranks from `min_size` to `max_size`, all equally likely. They shrink to the smallest one."""
    if not 1 <= min_size <= max_size:
        raise ValueError(f"ranks: min_size is {min_size} and max_size is {max_size}; use 1 <= min_size <= max_size.")
    return st.integers(min_size, max_size)


def distributions(total: int | st.SearchStrategy[int], ranks: int) -> st.SearchStrategy[list[int]]:
    """A total distributed over `ranks` ranks: how many elements each rank has.

    About half of the distributions are cases that break programs (all elements on one rank, ranks without elements, one
    element fewer on one rank than on the others, blocks of equal size with a smaller or larger last one), or those of Träff
    et al.; the others are arbitrary. If there are at most 96 distributions, all of them are cases.

    A failure shrinks to the smallest distribution, which is the first case that fails. The first cases are those of
    `edge_distributions(total, ranks)`. If no case fails, it shrinks to a distribution from which no small change leads to a
    smaller one, but a smaller one may exist. A total that is drawn shrinks like other integers.

    Parameters
    ----------
    total : the number of elements, or a strategy for it, such as `strategies.totals(1024)`
    ranks : the number of ranks
    """
    if isinstance(total, int):
        return _distributed(total, ranks)
    return total.flatmap(lambda drawn: _distributed(drawn, ranks))


def totals(max_total: int = 1024) -> st.SearchStrategy[int]:
    """Totals for `distributions`: 0 is common."""
    return st.one_of(st.just(0), st.integers(0, max_total))


def _distributed(total: int, ranks: int) -> st.SearchStrategy[list[int]]:
    if total < 0 or ranks < 1:
        raise ValueError(f"distributions: {total} elements on {ranks} ranks; use at least 0 elements and 1 rank.")
    return in_order(total, ranks)


def edge_distributions(total: int, ranks: int) -> list[list[int]]:
    """Return the distributions that break programs, each once, without a strategy: for `@example` and loops.

    >>> edge_distributions(6, 3)
    [[6, 0, 0], [0, 6, 0], [0, 0, 6], [0, 3, 3], [3, 3, 0], [2, 2, 2], [3, 2, 1], [1, 2, 3]]
    """
    return [list(shares) for shares in edges(total, ranks)]
