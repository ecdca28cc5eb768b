"""Rooted operations between groups near the one-port bound: long messages, short messages, and buffering."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fakempi
from collectives import Algorithm, Case, find
from collectives.tools.numbers import ceil_log2
from fakempi.apps.compare.bounds import lower_bound
from tests.collectives.inter.harness import modeled
from tests.helpers.breadth import examples

STARTUP_BYTES = 1000  # t_s / t_w in all times here, and the algorithms' parameter
BCAST, REDUCE, CHAIN = (
    find(operation, name, kind="inter")
    for operation, name in (("bcast", "joined"), ("reduce", "circulant"), ("reduce", "chain"))
)
LOG_MANY = [BCAST, REDUCE]
TREES = [find(operation, "binomial", kind="inter") for operation in ("gather", "gatherv", "scatter", "scatterv")]


def rooted(operation: str, p: int, q: int, root: int, nbytes: int) -> Case:
    """A case with a message or a block of `nbytes` bytes."""
    if operation in ("gatherv", "scatterv"):
        return Case(p, q=q, root=root, counts_b=(nbytes,) * q)
    return Case(p, nbytes, q=q, root=root, m_b=nbytes)


@st.composite
def long_messages(draw: Any, algorithm: Algorithm, largest: int) -> Case:
    """Cases with at least 20 start-ups per hop: ceil(log2 (q+1)) - 1 hops, in a chain q - 1."""
    p, q = draw(st.integers(1, 5)), draw(st.integers(1, largest))
    hops = q - 1 if algorithm is CHAIN else ceil_log2(q + 1) - 1
    nbytes = 21 * max(1, hops) * STARTUP_BYTES + draw(st.integers(0, 10**7))
    return rooted(algorithm.operation, p, q, draw(st.integers(0, p - 1)), nbytes)


@pytest.mark.parametrize("algorithm", [*LOG_MANY, CHAIN], ids=repr)
@given(data=st.data())
@settings(max_examples=examples(30), deadline=None)
def test_long_messages_are_within_1_5_of_the_bound(algorithm: Algorithm, data: Any) -> None:
    """The start-up of a message takes as long as 1000 bytes."""
    case = data.draw(long_messages(algorithm, largest=40))
    time = algorithm.time(case, STARTUP_BYTES, 1)
    assert time is not None
    assert lower_bound(algorithm.operation, case, STARTUP_BYTES, 1) <= time
    assert 2 * time <= 3 * lower_bound(algorithm.operation, case, STARTUP_BYTES, 1)


@pytest.mark.parametrize("algorithm", LOG_MANY, ids=repr)
@given(q=st.integers(1, 300), nbytes=st.integers(1, 100))
@settings(max_examples=examples(40), deadline=None)
def test_short_messages_take_the_fewest_startups(algorithm: Algorithm, q: int, nbytes: int) -> None:
    """ceil(log2 (q+1)): each round at most doubles the number of ranks with the message."""
    case = rooted(algorithm.operation, 1, q, 0, nbytes)
    assert algorithm.time(case, 1, 0) == ceil_log2(q + 1) == lower_bound(algorithm.operation, case, 1, 0)


@pytest.mark.parametrize("algorithm", LOG_MANY, ids=repr)
@pytest.mark.parametrize(("nbytes", "before", "now"), [(8 << 20, 58.7, 8.85), (1 << 20, 7.35, 1.22)])
def test_eight_megabytes_to_64_ranks(algorithm: Algorithm, nbytes: int, before: float, now: float) -> None:
    """Milliseconds with the default costs, of a tree and of this algorithm; the bound is 8.39 and 1.05."""
    case = rooted(algorithm.operation, 1, 64, 0, nbytes)
    by_tree = find(algorithm.operation, "wmpi", kind="inter").time(case, 1e-6, 1e-9)
    assert by_tree == pytest.approx(before / 1e3, rel=0.01)
    assert algorithm.time(case, 1e-6, 1e-9) == pytest.approx(now / 1e3, rel=0.01)


@pytest.mark.quick(1)
@pytest.mark.parametrize("algorithm", [*LOG_MANY, CHAIN], ids=repr)
@given(p=st.integers(1, 3), q=st.integers(1, 12), nbytes=st.integers(0, 3000), startup=st.sampled_from([1, 30]))
@settings(max_examples=examples(30), deadline=None)
def test_the_run_takes_the_claimed_time_with_any_buffering(
    algorithm: Algorithm, p: int, q: int, nbytes: int, startup: int
) -> None:
    """All sends are synchronous; in a chain this makes no difference."""
    case = rooted(algorithm.operation, p, q, p - 1, nbytes)
    case = replace(case, parameters={"startup_bytes": startup})
    exact, eager = (fakempi.Hockney(t_s=float(startup), t_w=1.0, eager_limit=limit) for limit in (0, 10**6))
    assert modeled(algorithm, case, exact) == modeled(algorithm, case, eager) == algorithm.time(case, startup, 1)


@pytest.mark.parametrize("algorithm", TREES, ids=repr)
@given(p=st.integers(1, 5), q=st.integers(1, 100), nbytes=st.integers(1, 10**5))
@settings(max_examples=examples(30), deadline=None)
def test_trees_take_log_startups_and_the_fewest_bytes(algorithm: Algorithm, p: int, q: int, nbytes: int) -> None:
    """If only the root knows the block sizes, these are sent up first, which doubles the start-ups."""
    case, levels = rooted(algorithm.operation, p, q, p - 1, nbytes), ceil_log2(q + 1)
    sized = algorithm.operation.endswith("v")
    startups, moved = algorithm.time(case, 1, 0), algorithm.time(case, 0, 1)
    assert startups is not None
    assert moved is not None
    assert levels <= startups <= (2 * levels - 1 if sized else levels)
    assert q * nbytes <= moved <= q * nbytes + 8 * (levels - 1) * sized


def test_startup_bytes_must_be_positive() -> None:
    """A segment would have no length."""
    expected = "startup_bytes = 0 is not positive"
    for algorithm in (*LOG_MANY, CHAIN):
        assert algorithm.why_unsupported(Case(1, 8, q=2, m_b=8, parameters={"startup_bytes": 0})) == expected
