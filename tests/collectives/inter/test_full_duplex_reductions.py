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
from collectives.verification.reduction_ops import ops_of
from fakempi.apps.compare.bounds import lower_bound
from tests.collectives.inter.harness import modeled, run_groups
from tests.helpers.breadth import examples

STARTUP_BYTES = 1000  # t_s / t_w in all times here
EAGER, EXACT = (fakempi.Hockney(t_s=8.0, t_w=0.5, eager_limit=limit) for limit in (10**6, 0))


def inter(operation: str, name: str) -> Algorithm:
    return find(operation, name, kind="inter")


def even(operation: str, p: int, q: int, k: int) -> Case:
    """k bytes for each pair of ranks: the blocks of each group, or one operand, have p q k bytes in total."""
    if operation == "reduce_scatter_block":
        return Case(p, q * k, q=q, m_b=p * k)
    if operation == "reduce_scatter":
        return Case(p, counts=(q * k,) * p, q=q, counts_b=(p * k,) * q)
    if operation == "allreduce":
        return Case(p, p * q * k, q=q, m_b=p * q * k)
    return Case(p, k, q=q, m_b=k)


@pytest.mark.parametrize("operation", ["allreduce", "reduce_scatter", "reduce_scatter_block"])
@given(p=st.integers(2, 24), q=st.integers(2, 24), more=st.integers(0, 10**6))
@settings(max_examples=examples(15), deadline=None)
def test_long_operands_are_within_1_5_of_the_bound(operation: str, p: int, q: int, more: int) -> None:
    """Groups of two or more ranks, at least 100 start-ups per rank.

    An allreduce is two rings and an exchange, a reduce_scatter one ring and an exchange.
    """
    case = even(operation, p, q, (100 * (p + q) * STARTUP_BYTES + more) // (p * q))
    time = inter(operation, "even_cut").time(case, STARTUP_BYTES, 1)
    assert time is not None
    bound = lower_bound(operation, case, STARTUP_BYTES, 1)
    assert bound <= time <= bound * 3 / 2


@pytest.mark.quick(1)
@pytest.mark.parametrize("operation", ["allreduce", "reduce_scatter", "reduce_scatter_block"])
@given(q=st.integers(3, 40), more=st.integers(0, 10**5), swapped=st.booleans())
@settings(max_examples=6, deadline=None)
def test_one_rank_and_many_are_within_1_5_of_the_bound(operation: str, q: int, more: int, swapped: bool) -> None:
    """By one leader, which sends and receives at once; at least 400 start-ups per rank, and three ranks."""
    k = 400 * STARTUP_BYTES + more
    case = even(operation, q, 1, k) if swapped else even(operation, 1, q, k)
    time = inter(operation, "one_leader").time(case, STARTUP_BYTES, 1)
    assert time is not None
    assert time <= lower_bound(operation, case, STARTUP_BYTES, 1) * 3 / 2


@pytest.mark.parametrize("operation", ["allreduce", "reduce_scatter", "reduce_scatter_block"])
def test_one_rank_and_two_take_1_5_of_the_bound_plus_startups(operation: str) -> None:
    """By an even cut: the two ranks must exchange the data that the one rank sends them."""
    case = even(operation, 1, 2, 600)
    time, bound = inter(operation, "even_cut").time(case, 0, 1), lower_bound(operation, case, 0, 1)
    sizes = 24 if operation == "reduce_scatter" else 0  # 8 bytes for each of the three blocks
    assert time is not None
    assert (time - sizes) * 2 <= bound * 3


@given(p=st.integers(1, 30), q=st.integers(1, 30), k=st.integers(1, 10**5))
@settings(max_examples=examples(40), deadline=None)
def test_an_alltoall_in_rounds_takes_the_bound_plus_startups(p: int, q: int, k: int) -> None:
    """A rank of the smaller group sends max(p, q) blocks, and no rank waits."""
    case = even("alltoall", p, q, k)
    assert inter("alltoall", "pairwise").time(case, 0, 1) == lower_bound("alltoall", case, 0, 1)


@given(p=st.integers(1, 60), q=st.integers(1, 60))
@settings(max_examples=examples(25), deadline=None)
def test_short_messages_take_logarithmically_many_startups(p: int, q: int) -> None:
    """An alltoall on the union of both groups; an allreduce by reduce, exchange and broadcast."""
    assert inter("alltoall", "bruck").time(even("alltoall", p, q, 1), 1, 0) == ceil_log2(p + q)
    tree_time = inter("allreduce", "reduce_exchange_bcast").time(Case(p, 8, q=q, m_b=8), 1, 0)
    assert tree_time == 1 + 2 * ceil_log2(max(p, q))
    for operation in ("reduce_scatter", "reduce_scatter_block"):
        in_blocks = inter(operation, "reduce_exchange_scatter").time(even(operation, p, q, 1), 1, 0)
        assert in_blocks == 1 + 2 * ceil_log2(max(p, q))


@pytest.mark.quick(2)
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
@settings(max_examples=10, deadline=None)
def test_the_run_takes_the_claimed_time_with_any_buffering(
    operation: str, name: str, p: int, q: int, k: int, data: Any
) -> None:
    """All sends are synchronous, so the eager limit has no effect."""
    algorithm, case = inter(operation, name), even(operation, p, q, k)
    if operation == "allreduce":
        case = replace(case, m=k, m_b=data.draw(st.integers(0, 30)))
    if name == "one_leader":
        case = replace(case, parameters={"first": True, "startup_bytes": data.draw(st.integers(1, 20))})
    assert modeled(algorithm, case, EXACT) == modeled(algorithm, case, EAGER) == algorithm.time(case, 8, 0.5)


def test_different_total_sizes_raise_on_every_rank() -> None:
    """Every rank raises before the reduction."""
    algorithm = inter("reduce_scatter", "even_cut")
    expected = (
        r"^the blocks of this group have \d+ elements in total, but those of the other group \d+: both totals must "
        r"equal the operand size$"
    )

    def main(inter: Any, local: Any, in_a: bool) -> None:
        size = 3 if in_a else 4
        buffers = fakempi.phantom(size * local.Get_size()), fakempi.phantom(size)
        with pytest.raises(ValueError, match=expected):
            algorithm.run(inter, local, *buffers, (size,) * local.Get_size(), op=ops_of(fakempi.MPI)["sum"])

    run_groups(main, 3, 2)


def test_a_noncommutative_op_needs_a_reduce_scatter_in_rank_order() -> None:
    """The ring does not support it; by reduce and scatterv it fits.

    `test_inter_catalogue` checks the result.
    """
    case = Case(3, 8, q=2, m_b=8, commutative=False)
    ring = "reduce_scatter ring: the op is not commutative, but this algorithm does not combine in rank order"
    assert inter("allreduce", "even_cut").why_unsupported(case) == ring
    ordered = {"reduce_scatter": find("reduce_scatter", "reduce_scatterv")}
    assert inter("allreduce", "even_cut").why_unsupported(replace(case, parameters=ordered)) is None


def test_reduce_then_scatter_takes_twice_as_long_as_wmpi() -> None:
    """Table 1's case, 4 + 4 ranks and 2 MB: one hop more for the result, and one direction after the other."""
    quarter = (2097152 // 4,) * 4
    case = Case(4, counts=quarter, q=4, counts_b=quarter, parameters={"first": True})
    alternative = inter("reduce_scatter", "reduce_then_scatter").time(case, 0, 1)
    wmpi = inter("reduce_scatter", "wmpi").time(replace(case, parameters={}), 0, 1)
    assert alternative == (2 * (2 + 1) + Fraction(3, 4)) * 2097152
    assert wmpi == 3 * 2097152 + 4 * 8 + 2 * 8
    assert round(alternative / wmpi, 2) == 2.25
