"""Hypothesis strategies for MPI programs: how many ranks, two groups of them, how much each has, and in which schedule.

    @given(strategies.sizes(), strategies.decisions(), st.data())
    def test_everybody_gets_all(p, decisions, data):
        counts = data.draw(strategies.counts(p))
        fakempi.run(main, p, counts, decisions=decisions)

They shrink to the least.
"""

from __future__ import annotations

from hypothesis import strategies as st

from collectives.distributions import DISTRIBUTIONS
from fakempi.choices.token import write


def sizes(max_size: int = 32) -> st.SearchStrategy[int]:
    """A number of ranks: all small ones, and those at and beside powers of two, where algorithms have their edges."""
    edges = sorted({n for d in range(1, max_size.bit_length() + 1) for n in (2**d - 1, 2**d, 2**d + 1) if n <= max_size})
    return st.one_of(st.integers(1, min(max_size, 9)), st.sampled_from(edges or [1]), st.integers(1, max_size))


def decisions(max_size: int = 12, buffering: str | None = None) -> st.SearchStrategy[str]:
    """A schedule for `run(..., decisions=...)` that fits every program: "z:0.2.1?". It shrinks to the fewest deviations."""
    kinds = st.sampled_from(["zero", "infinite"]) if buffering is None else st.just(buffering)
    return st.builds(lambda kind, numbers: f"{write(kind, numbers)}?", kinds, st.lists(st.integers(0, 7), max_size=max_size))


def group_pairs(max_size: int = 16) -> st.SearchStrategy[tuple[int, int]]:
    """The sizes (p, q) of the two groups of an intercommunicator, either of them the larger."""
    return st.tuples(sizes(max_size), sizes(max_size))


def counts(size: int, max_count: int = 64) -> st.SearchStrategy[list[int]]:
    """How many elements each of so many ranks has: zeros are common, and sometimes one rank has all."""
    one = st.one_of(st.just(0), st.integers(0, max_count))
    lonely = st.tuples(st.integers(0, size - 1), st.integers(0, max_count)).map(
        lambda drawn: [drawn[1] if rank == drawn[0] else 0 for rank in range(size)]
    )
    return st.one_of(st.lists(one, min_size=size, max_size=size), lonely)


def distributions(size: int, max_total: int = 1024) -> st.SearchStrategy[list[int]]:
    """A total, spread over so many ranks by one of the distributions of Träff et al."""
    return st.tuples(st.sampled_from(list(DISTRIBUTIONS)), st.integers(0, max_total)).map(
        lambda drawn: list(DISTRIBUTIONS[drawn[0]](drawn[1], size))
    )
