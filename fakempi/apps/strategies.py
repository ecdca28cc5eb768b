"""Hypothesis strategies for MPI programs: numbers of ranks, pairs of groups, counts per rank, and schedules.

    @given(strategies.sizes(), strategies.schedules(), st.data())
    def test_allgatherv(p, schedule, data):
        counts = data.draw(strategies.counts(p))
        fakempi.run(main, p, counts, schedule=schedule)

Examples shrink to the smallest values.
"""

from __future__ import annotations

from hypothesis import strategies as st

from collectives.distributions import DISTRIBUTIONS
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

    Cases that break programs are common, and a failure shrinks to the first of them that fails: all elements on
    one rank, ranks without elements, one element fewer on one rank than on the others. Then follow the distributions of
    Träff et al., and any other.

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
    named = [list(distribution(total, ranks)) for distribution in DISTRIBUTIONS.values()]
    known = [*edge_distributions(total, ranks), *named]
    known = [one for index, one in enumerate(known) if one not in known[:index]]  # each once: failures shrink to the first
    cuts = st.lists(st.integers(0, total), min_size=ranks - 1, max_size=ranks - 1).map(sorted)
    free = cuts.map(lambda drawn: [end - start for start, end in zip([0, *drawn], [*drawn, total], strict=True)])
    return st.one_of(st.sampled_from(known), free)


def edge_distributions(total: int, ranks: int) -> list[list[int]]:
    """Return the distributions that break programs, each once, without a strategy: for `@example` and loops.

    >>> edge_distributions(6, 3)
    [[6, 0, 0], [0, 6, 0], [0, 0, 6], [0, 3, 3], [3, 3, 0], [2, 2, 2], [3, 2, 1], [1, 2, 3]]
    """
    found = [[total if rank == owner else 0 for rank in range(ranks)] for owner in sorted({0, ranks // 2, ranks - 1})]
    if ranks > 1:
        others = _even(total, ranks - 1)
        found += [[0, *others], [*others, 0]]
    even = _even(total, ranks)
    found.append(even)
    if ranks > 1 and even[-1] > 0:
        found += [[even[0] + 1, *even[1:-1], even[-1] - 1], [even[0] - 1, *even[1:-1], even[-1] + 1]]
    return [one for index, one in enumerate(found) if one not in found[:index]]


def _even(total: int, ranks: int) -> list[int]:
    """Return an even distribution; the first ranks have one element more if there is a remainder."""
    return [total // ranks + (rank < total % ranks) for rank in range(ranks)]
