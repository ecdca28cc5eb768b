"""Allreduce, reduce_scatter and alltoall between groups near the one-port bound, and Silva & Silva's alternative."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fakempi
from collectives import Algorithm, Case, find
from collectives.tools.numbers import ceil_log2
from collectives.verification.ops import ops_of
from fakempi.compare.bounds import lower_bound
from tests.collectives.inter.harness import modelled, run_groups

STARTUP_BYTES = 1000  # t_s / t_w in all times here
EAGER, EXACT = (fakempi.Hockney(t_s=8.0, t_w=0.5, eager_limit=limit) for limit in (10**6, 0))


def inter(operation: str, name: str) -> Algorithm:
    return find(operation, name, kind="inter")


def even(operation: str, p: int, q: int, k: int) -> Case:
    """k bytes for each pair of ranks: both groups have p q k in all, or one operand of as much."""
    if operation == "reduce_scatter_block":
        return Case(p, q * k, q=q, m_b=p * k)
    if operation == "reduce_scatter":
        return Case(p, counts=(q * k,) * p, q=q, counts_b=(p * k,) * q)
    if operation == "allreduce":
        return Case(p, p * q * k, q=q, m_b=p * q * k)
    return Case(p, k, q=q, m_b=k)


@pytest.mark.parametrize("operation", ["allreduce", "reduce_scatter", "reduce_scatter_block"])
@given(p=st.integers(2, 24), q=st.integers(2, 24), more=st.integers(0, 10**6))
@settings(max_examples=25, deadline=None)
def test_long_operands_are_within_half_of_the_bound(operation: str, p: int, q: int, more: int) -> None:
    """Groups of two and more, from 100 start-ups a rank on: two rings, an exchange, and a ring or not."""
    case = even(operation, p, q, (100 * (p + q) * STARTUP_BYTES + more) // (p * q))
    time = inter(operation, "even_cut").time(case, STARTUP_BYTES, 1)
    assert time is not None
    bound = lower_bound(operation, case, STARTUP_BYTES, 1)
    assert bound <= time <= bound * 3 / 2


@pytest.mark.parametrize("operation", ["allreduce", "reduce_scatter", "reduce_scatter_block"])
@given(q=st.integers(3, 40), more=st.integers(0, 10**5), swapped=st.booleans())
@settings(max_examples=20, deadline=None)
def test_one_rank_and_many_are_within_half_of_the_bound_too(operation: str, q: int, more: int, swapped: bool) -> None:
    """By one leader, who sends and receives at once; from 400 start-ups a rank on, and three ranks."""
    k = 400 * STARTUP_BYTES + more
    case = even(operation, q, 1, k) if swapped else even(operation, 1, q, k)
    time = inter(operation, "one_leader").time(case, STARTUP_BYTES, 1)
    assert time is not None
    assert time <= lower_bound(operation, case, STARTUP_BYTES, 1) * 3 / 2


@pytest.mark.parametrize("operation", ["allreduce", "reduce_scatter", "reduce_scatter_block"])
def test_one_rank_and_two_take_half_more_than_the_bound_but_for_startups(operation: str) -> None:
    """By an even cut: the two must exchange what the one sends them."""
    case = even(operation, 1, 2, 600)
    time, bound = inter(operation, "even_cut").time(case, 0, 1), lower_bound(operation, case, 0, 1)
    told = 24 if operation == "reduce_scatter" else 0  # 8 bytes for each of the three blocks
    assert time is not None
    assert (time - told) * 2 <= bound * 3


@given(p=st.integers(1, 30), q=st.integers(1, 30), k=st.integers(1, 10**5))
@settings(max_examples=40, deadline=None)
def test_an_alltoall_in_rounds_is_the_bound_but_for_startups(p: int, q: int, k: int) -> None:
    """Somebody has max(p, q) blocks to send, and here nobody waits for anybody."""
    case = even("alltoall", p, q, k)
    assert inter("alltoall", "pairwise").time(case, 0, 1) == lower_bound("alltoall", case, 0, 1)


@given(p=st.integers(1, 60), q=st.integers(1, 60))
@settings(max_examples=40, deadline=None)
def test_short_ones_take_log_many_startups(p: int, q: int) -> None:
    """An alltoall on both groups as one; an allreduce up, across and down."""
    assert inter("alltoall", "bruck").time(even("alltoall", p, q, 1), 1, 0) == ceil_log2(p + q)
    up_and_down = inter("allreduce", "reduce_exchange_bcast").time(Case(p, 8, q=q, m_b=8), 1, 0)
    assert up_and_down == 1 + 2 * ceil_log2(max(p, q))
    for operation in ("reduce_scatter", "reduce_scatter_block"):
        in_blocks = inter(operation, "reduce_exchange_scatter").time(even(operation, p, q, 1), 1, 0)
        assert in_blocks == 1 + 2 * ceil_log2(max(p, q))


@pytest.mark.parametrize(
    ("operation", "name"),
    [
        ("allreduce", "even_cut"),
        ("reduce_scatter", "even_cut"),
        ("reduce_scatter_block", "even_cut"),
        ("reduce_scatter_block", "one_leader"),
        ("alltoall", "pairwise"),
    ],
)
@given(p=st.integers(1, 7), q=st.integers(1, 7), k=st.integers(0, 20), data=st.data())
@settings(max_examples=20, deadline=None)
def test_the_run_takes_what_paper_says_whatever_is_buffered(
    operation: str, name: str, p: int, q: int, k: int, data: Any
) -> None:
    """Sends wait for their receives."""
    algorithm, case = inter(operation, name), even(operation, p, q, k)
    if operation == "allreduce":
        case = replace(case, m=k, m_b=data.draw(st.integers(0, 30)))
    if name == "one_leader":
        case = replace(case, parameters={"first": True, "startup_bytes": data.draw(st.integers(1, 20))})
    assert modelled(algorithm, case, EXACT) == modelled(algorithm, case, EAGER) == algorithm.time(case, 8, 0.5)


def test_groups_whose_blocks_differ_in_all_are_refused_everywhere() -> None:
    """Everybody learns of it before the reduction."""
    algorithm = inter("reduce_scatter", "even_cut")
    words = (
        r"^the blocks of this group are \d+ elements in all, but those of the other group \d+: every operand must have "
        r"exactly as many$"
    )

    def main(inter: Any, local: Any, in_a: bool) -> None:
        size = 3 if in_a else 4
        buffers = fakempi.phantom(size * local.Get_size()), fakempi.phantom(size)
        with pytest.raises(ValueError, match=words):
            algorithm.run(inter, local, *buffers, (size,) * local.Get_size(), op=ops_of(fakempi.MPI)["sum"])

    run_groups(main, 3, 2)


def test_an_op_that_does_not_commute_wants_a_reduce_scatter_that_keeps_order() -> None:
    """The ring does not; by reduce and scatterv it fits, and `test_between_groups` looks at the result."""
    case = Case(3, 8, q=2, m_b=8, commutative=False)
    ring = "reduce_scatter ring: the op is not commutative, and this algorithm does not keep to rank order"
    assert inter("allreduce", "even_cut").fits(case) == ring
    ordered = {"reduce_scatter": find("reduce_scatter", "reduce_scatterv")}
    assert inter("allreduce", "even_cut").fits(replace(case, parameters=ordered)) is None


def test_silvas_alternative_takes_twice_as_long_as_silvas_way() -> None:
    """Table 1's case, 4 + 4 ranks and 2 MB: the result makes a hop more, and the two ways take turns."""
    quarter = (2097152 // 4,) * 4
    case = Case(4, counts=quarter, q=4, counts_b=quarter, parameters={"first": True})
    alternative = inter("reduce_scatter", "reduce_then_scatter").time(case, 0, 1)
    own_way = inter("reduce_scatter", "wmpi").time(replace(case, parameters={}), 0, 1)
    assert alternative == (2 * (2 + 1) + Fraction(3, 4)) * 2097152
    assert own_way == 3 * 2097152 + 4 * 8 + 2 * 8
    assert round(alternative / own_way, 2) == 2.25
