"""The collectives of Silva & Silva (1999): idle ranks, invalid arguments, and claims if the order is undetermined."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fakempi
from collectives import CATALOGUE, Algorithm, Case, UnsupportedCaseError, find
from collectives.catalogue.conditions import power_of_two_only
from collectives.catalogue.schedule import message
from collectives.inter_patterns.groups import RootRole
from collectives.verification.cases import ROOTED
from tests.collectives.inter.cases import two_groups
from tests.collectives.inter.harness import EXACT, calling, phantom_call, run_groups
from tests.helpers.breadth import examples
from tests.helpers.loops import for_each

WMPI = {a.operation: a for a in CATALOGUE if a.kind == "inter" and a.name == "wmpi"}
MPI = fakempi.MPI


def test_every_operation_of_the_paper_exists() -> None:
    """Including reduce_scatter_block, which MPI has since version 2.2."""
    rooted = {"reduce", "bcast", "gather", "gatherv", "scatter", "scatterv"}
    gathering = {"allgather", "allgatherv", "alltoall", "alltoallv", "alltoallw"}
    assert WMPI.keys() == rooted | gathering | {"reduce_scatter", "reduce_scatter_block", "allreduce", "barrier"}


@pytest.mark.parametrize("operation", sorted(ROOTED))
@pytest.mark.parametrize("backend", ["greenlets", "threads"])
@given(data=st.data())
@settings(max_examples=5, deadline=None)
def test_other_ranks_of_the_roots_group_are_idle(operation: str, backend: Any, data: Any) -> None:
    """PROC_NULL: no message, no buffer, and done at time 0, independent of the other ranks."""
    case = data.draw(two_groups(WMPI[operation], largest=6))
    run = run_groups(phantom_call(WMPI[operation], case), case.p, case.q, EXACT, backend=backend)
    idle = [rank for rank in range(case.p) if rank != case.root]
    assert [run.returns[rank] for rank in idle] == [0.0] * len(idle)
    assert [WMPI[operation].sent(case, rank) for rank in idle] == [0] * len(idle)
    ends = {end for transfers in WMPI[operation].schedule_for(case) or () for t in transfers for end in (t.source, t.dest)}
    assert ends.isdisjoint(idle)


@for_each("operation", sorted(ROOTED))
@for_each("root", [3, -1, None, "root", 1.0])
def test_an_invalid_root_is_rejected(operation: str, root: Any) -> None:
    """The other group has ranks 0, 1 and 2; MPI's numbers for ROOT and PROC_NULL are not accepted."""
    expected = r"^root must be RootRole\.ROOT, RootRole\.PROC_NULL or a rank of the other group, 0 \.\. 2, but it is .*$"
    buffers = [np.zeros(6)] * (1 if operation == "bcast" else 2) + [[2, 2, 2]] * operation.endswith("v")
    more = {"op": MPI.SUM} if operation == "reduce" else {}

    def main(inter: Any, local: Any, in_a: bool) -> None:
        with pytest.raises(ValueError, match=expected):
            WMPI[operation].run(inter, local, *buffers, root=root, **more)

    assert run_groups(main, 3, 3).messages == 0


@pytest.mark.parametrize(
    ("operation", "expected"),
    [
        ("reduce", "the root of a reduce must pass a buffer, not None"),
        ("bcast", "the root of a bcast must pass a buffer, not None"),
        ("gather", "the root of a gather must pass a buffer, not None"),
        ("gatherv", "the root of a gatherv must pass a buffer, not None"),
        ("scatter", "the root of a scatter must pass a buffer, not None"),
        ("scatterv", "the root of a scatterv must pass a buffer, not None"),
    ],
)
def test_a_root_without_a_buffer_is_rejected(operation: str, expected: str) -> None:
    """The message names the operation."""
    buffers = (None,) * (1 if operation == "bcast" else 3 if operation.endswith("v") else 2)
    more = {"op": MPI.SUM} if operation == "reduce" else {}

    def main(inter: Any, local: Any, in_a: bool) -> None:
        if in_a:
            with pytest.raises(ValueError, match=f"^{expected}$"):
                WMPI[operation].run(inter, local, *buffers, root=RootRole.ROOT, **more)

    run_groups(main, 1, 2)


def test_wrong_counts_of_a_gatherv_are_rejected() -> None:
    """The root raises before it receives."""

    def main(inter: Any, local: Any, in_a: bool) -> None:
        if in_a:
            with pytest.raises(ValueError, match=r"^counts must .* each of the 2 ranks, but there are 3$"):
                WMPI["gatherv"].run(inter, local, None, np.zeros(6), [2, 2, 2], root=RootRole.ROOT)
            with pytest.raises(ValueError, match=r"^a buffer of 3 elements is too small for all blocks, 4 elements$"):
                WMPI["gatherv"].run(inter, local, None, np.zeros(3), [2, 2], root=RootRole.ROOT)

    run_groups(main, 1, 2)


@pytest.mark.parametrize("backend", ["greenlets", "threads"])
@pytest.mark.parametrize("block", [False, True])
@pytest.mark.parametrize(("p", "q"), [(1, 1), (3, 2), (2, 5), (4, 4)])
def test_different_total_sizes_raise_on_every_rank(p: int, q: int, block: bool, backend: Any) -> None:
    """A has 2 elements per rank too many; no rank hangs, including ranks with an empty block."""

    def main(inter: Any, local: Any, in_a: bool) -> str:
        own = p if in_a else q
        each = (q + 2 if in_a else p) if block else 0
        counts = [p * q + 2 if in_a else p * q, *[0] * (own - 1)]
        total, mine = (each * own, each) if block else (counts[0], counts[local.Get_rank()])
        args = (np.zeros(total), np.zeros(mine), *([] if block else [counts]))
        with pytest.raises(ValueError, match=r"^the operand has \d+ elements, but the blocks of the other group") as caught:
            WMPI["reduce_scatter_block" if block else "reduce_scatter"].run(inter, local, *args, op=MPI.SUM)
        return str(caught.value)

    a, b = ((q + 2) * p if block else p * q + 2), p * q
    expected = "the operand has {} elements, but the blocks of the other group have {} in total: both must be equal"
    returns = run_groups(main, p, q, backend=backend).returns
    assert list(returns) == [expected.format(a, b)] * p + [expected.format(b, a)] * q


def test_different_total_sizes_do_not_fit() -> None:
    """`why_unsupported` compares the totals in bytes."""
    case = Case(2, counts=(1, 2), q=1, counts_b=(4,), itemsize=8)
    expected = "the total sizes of the groups' blocks differ: 24 bytes in A, 32 bytes in B"
    assert WMPI["reduce_scatter"].why_unsupported(case) == expected
    assert WMPI["reduce_scatter_block"].why_unsupported(Case(3, 8, q=4, m_b=8)) == expected


def test_an_allreduce_of_equal_groups_needs_first() -> None:
    """WMPI stores a flag in the communicator; here the caller passes `first`."""

    def main(inter: Any, local: Any, in_a: bool) -> None:
        expected = r"^inter allreduce wmpi: both groups have 2 ranks and the same amount of data"
        with pytest.raises(UnsupportedCaseError, match=expected):
            WMPI["allreduce"].run(inter, local, np.zeros(3), np.zeros(3), op=MPI.SUM)

    assert run_groups(main, 2, 2).messages == 0


def test_a_barrier_of_equal_groups_needs_first_only_if_its_part_does() -> None:
    """Dissemination does not need it; recursive doubling does."""
    doubling = find("barrier", "recursive_doubling")
    assert WMPI["barrier"].why_unsupported(Case(3, q=3)) is None
    assert "pass first=True in one" in str(WMPI["barrier"].why_unsupported(Case(3, q=3, parameters={"barrier": doubling})))
    assert WMPI["barrier"].why_unsupported(Case(3, q=3, parameters={"barrier": doubling, "first": True})) is None


@pytest.mark.parametrize(("p", "q"), [(1, 1), (4, 4), (3, 5), (6, 2)])
def test_no_rank_leaves_a_barrier_before_the_last_arrives(p: int, q: int) -> None:
    """Each rank in turn arrives 1000 seconds late."""
    for late in range(p + q):

        def main(inter: Any, local: Any, in_a: bool, late: int = late) -> float:
            if local.Get_rank() + (0 if in_a else p) == late:
                fakempi.compute(1000.0)
            WMPI["barrier"].run(inter, local)
            return float(MPI.Wtime())

        assert min(run_groups(main, p, q).returns) >= 1000.0


@given(data=st.data())
@settings(max_examples=examples(30), deadline=None)
def test_the_time_of_an_allgather_is_within_bounds(
    data: Any,
) -> None:
    """At least a leader's time, at most the later leader's plus the longer broadcast; also if no exact time is claimed."""
    case = data.draw(two_groups(WMPI["allgather"]))
    bcast = case.parameters.get("bcast", find("bcast", "binomial"))
    of_a, of_b = case.p * message(case.m, 0, 1), case.q * message(case.m_b, 0, 1)
    spread_a = bcast.time(Case(case.p, case.q * case.m_b, itemsize=case.itemsize), 0, 1)
    spread_b = bcast.time(Case(case.q, case.p * case.m, itemsize=case.itemsize), 0, 1)
    time = run_groups(phantom_call(WMPI["allgather"], case), case.p, case.q).time
    assert max(of_b + spread_a, of_a + spread_b) <= time <= max(of_a, of_b) + max(spread_a, spread_b)


@pytest.mark.quick(1)
@pytest.mark.parametrize("operation", ["alltoall", "alltoallv", "alltoallw"])
@given(data=st.data())
@settings(max_examples=examples(15), deadline=None)
def test_an_alltoall_takes_at_least_as_long_as_its_busiest_port(operation: str, data: Any) -> None:
    """And at most as long as all messages of one direction one after the other."""
    algorithm = WMPI[operation]
    case = data.draw(two_groups(algorithm, largest=7))
    there = case.traffic or ((case.m // case.itemsize,) * case.q,) * case.p
    back = case.traffic_b or ((case.m_b // case.itemsize,) * case.p,) * case.q
    ports = [sum(line) for way in (there, back) for lines in (way, zip(*way, strict=True)) for line in lines]
    time = run_groups(calling(algorithm, case), case.p, case.q).time
    whole = max(sum(map(sum, way)) for way in (there, back))
    assert max(ports) * case.itemsize <= time <= whole * case.itemsize


def test_a_part_that_does_not_fit_is_named() -> None:
    """The error is raised before any message is sent."""
    part: Algorithm = replace(find("bcast", "binomial"), why_unsupported=power_of_two_only)
    for operation in ("bcast", "allgather"):
        case = Case(2, 8, q=3, m_b=8, parameters={"bcast": part})
        expected = "bcast binomial: p = 3 is not a power of two"
        assert WMPI[operation].why_unsupported(case) == expected


def test_an_alltoallv_uses_displacements() -> None:
    """The last block first, with gaps."""

    def main(inter: Any, local: Any, in_a: bool) -> list[int]:
        q, me = inter.Get_remote_size(), local.Get_rank() + (0 if in_a else 10)
        places, counts = [3 * (q - 1 - s) for s in range(q)], [2] * q
        mine, theirs = 100 * me + np.arange(3 * q), np.full(3 * q, -1)
        WMPI["alltoallv"].run(inter, local, mine, theirs, counts, counts, sdispls=places, rdispls=places)
        return [int(value) for value in theirs]

    # the block from rank j of B, which is 10 + j, to rank i of A is at 3 (p - 1 - i)
    run = run_groups(main, 3, 2)
    assert run.returns[0] == [1106, 1107, -1, 1006, 1007, -1]
    assert run.returns[3] == [203, 204, -1, 103, 104, -1, 3, 4, -1]


def test_an_alltoallw_uses_the_datatype_of_each_block() -> None:
    """Rows of one group's matrix arrive as columns in the other."""

    def main(inter: Any, local: Any, in_a: bool) -> Any:
        q, rank = inter.Get_remote_size(), local.Get_rank()
        mine = np.arange(2 * q, dtype="int32").reshape(q, 2) + 100 * rank
        theirs = np.zeros((2, q), "int32")
        column = MPI.INT.Create_vector(2, 1, q).Commit()
        rows = [[mine[s], 2, MPI.INT] for s in range(q)]
        columns = [[theirs.ravel()[s:], 1, column] for s in range(q)]
        WMPI["alltoallw"].run(inter, local, rows, columns)
        column.Free()
        return theirs.tolist()

    run = run_groups(main, 3, 2)
    assert run.returns[1] == [[2, 102], [3, 103]]
    assert run.returns[4] == [[2, 102, 202], [3, 103, 203]]


@pytest.mark.parametrize("operation", ["alltoallw", "alltoallv", "reduce_scatter"])
def test_counts_and_blocks_need_one_entry_per_rank(operation: str) -> None:
    """Two ranks in the other group, three in this one; one entry too few in each list."""
    args = {
        "alltoallw": ([np.zeros(1)], [np.zeros(1)] * 2),
        "alltoallv": (np.zeros(1), np.zeros(2), [1], [1, 1]),
        "reduce_scatter": (np.zeros(2), np.zeros(1), [1, 1]),
    }[operation]
    more = {"op": MPI.SUM} if operation == "reduce_scatter" else {}

    def main(inter: Any, local: Any, in_a: bool) -> None:
        if in_a:
            with pytest.raises(ValueError, match=r"each of the [23] ranks, but there are [12]$"):
                WMPI[operation].run(inter, local, *args, **more)

    assert run_groups(main, 3, 2).messages == 0
