"""The collectives of Silva & Silva (1999): who takes part, what is refused, and what is claimed where order is open."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fakempi
from collectives import CATALOGUE, Algorithm, Case, DoesNotFit, find
from collectives.between.groups import Part
from collectives.catalogue.schedule import message
from collectives.verification.cases import ROOTED
from tests.collectives.inter.cases import two_groups
from tests.collectives.inter.harness import EXACT, calling, ghostly, run_groups

WMPI = {a.operation: a for a in CATALOGUE if a.kind == "inter" and a.name == "wmpi"}
MPI = fakempi.MPI


def test_every_operation_of_the_paper_is_there() -> None:
    """Reduce_scatter_block, which MPI has since version 2.2, goes the same way."""
    rooted = {"reduce", "bcast", "gather", "gatherv", "scatter", "scatterv"}
    gathering = {"allgather", "allgatherv", "alltoall", "alltoallv", "alltoallw"}
    assert WMPI.keys() == rooted | gathering | {"reduce_scatter", "reduce_scatter_block", "allreduce", "barrier"}


@pytest.mark.parametrize("operation", sorted(ROOTED))
@pytest.mark.parametrize("carrier", ["greenlets", "threads"])
@given(data=st.data())
@settings(max_examples=5, deadline=None)
def test_ranks_beside_the_root_have_no_part(operation: str, carrier: str, data: Any) -> None:
    """PROC_NULL: no message, no buffer, and done at time 0, however long the others take."""
    case = data.draw(two_groups(WMPI[operation], largest=6))
    run = run_groups(ghostly(WMPI[operation], case), case.p, case.q, EXACT, carrier=carrier)
    beside = [rank for rank in range(case.p) if rank != case.root]
    assert [run.returns[rank] for rank in beside] == [0.0] * len(beside)
    assert [WMPI[operation].sent(case, rank) for rank in beside] == [0] * len(beside)
    ends = {end for transfers in WMPI[operation].plan(case) or () for t in transfers for end in (t.source, t.dest)}
    assert ends.isdisjoint(beside)


@pytest.mark.parametrize("operation", sorted(ROOTED))
@pytest.mark.parametrize("root", [3, -1, None, "root", 1.0])
def test_what_is_no_root_is_refused(operation: str, root: Any) -> None:
    """Three ranks over there are 0, 1 and 2; MPI's own numbers for ROOT and PROC_NULL are not ours."""
    words = r"^root must be Part\.ROOT, Part\.PROC_NULL or a rank of the other group, 0 \.\. 2, but it is .*$"
    buffers = [np.zeros(6)] * (1 if operation == "bcast" else 2) + [[2, 2, 2]] * operation.endswith("v")
    more = {"op": MPI.SUM} if operation == "reduce" else {}

    def main(inter: Any, local: Any, in_a: bool) -> None:
        with pytest.raises(ValueError, match=words):
            WMPI[operation].run(inter, local, *buffers, root=root, **more)

    assert run_groups(main, 3, 3).messages == 0


@pytest.mark.parametrize(
    ("operation", "words"),
    [
        ("reduce", "the root of a reduce needs a buffer, not None"),
        ("bcast", "the root of a bcast needs a buffer, not None"),
        ("gather", "the root of a gather needs a buffer, not None"),
        ("gatherv", "the root of a gatherv needs a buffer, not None"),
        ("scatter", "the root of a scatter needs a buffer, not None"),
        ("scatterv", "the root of a scatterv needs a buffer, not None"),
    ],
)
def test_a_root_without_a_buffer_is_refused(operation: str, words: str) -> None:
    """By name."""
    buffers = (None,) * (1 if operation == "bcast" else 3 if operation.endswith("v") else 2)
    more = {"op": MPI.SUM} if operation == "reduce" else {}

    def main(inter: Any, local: Any, in_a: bool) -> None:
        if in_a:
            with pytest.raises(ValueError, match=f"^{words}$"):
                WMPI[operation].run(inter, local, *buffers, root=Part.ROOT, **more)

    run_groups(main, 1, 2)


def test_counts_of_a_gatherv_are_one_for_each_leaf_and_must_have_room() -> None:
    """Found by the root, before anything is received."""

    def main(inter: Any, local: Any, in_a: bool) -> None:
        if in_a:
            with pytest.raises(ValueError, match=r"^counts must say .* each of the 2 ranks, but there are 3$"):
                WMPI["gatherv"].run(inter, local, None, np.zeros(6), [2, 2, 2], root=Part.ROOT)
            with pytest.raises(ValueError, match=r"^a buffer of 3 elements cannot hold blocks of 4 in all$"):
                WMPI["gatherv"].run(inter, local, None, np.zeros(3), [2, 2], root=Part.ROOT)

    run_groups(main, 1, 2)


@pytest.mark.parametrize("carrier", ["greenlets", "threads"])
@pytest.mark.parametrize("block", [False, True])
@pytest.mark.parametrize(("p", "q"), [(1, 1), (3, 2), (2, 5), (4, 4)])
def test_groups_that_disagree_on_what_is_scattered_all_hear_of_it(p: int, q: int, block: bool, carrier: str) -> None:
    """A has 2 elements a rank more than it should; nobody hangs, also who gets an empty block."""

    def main(inter: Any, local: Any, in_a: bool) -> str:
        own = p if in_a else q
        each = (q + 2 if in_a else p) if block else 0
        counts = [p * q + 2 if in_a else p * q, *[0] * (own - 1)]
        total, mine = (each * own, each) if block else (counts[0], counts[local.Get_rank()])
        args = (np.zeros(total), np.zeros(mine), *([] if block else [counts]))
        with pytest.raises(ValueError, match=r"elements in all, but those of the other group") as caught:
            WMPI["reduce_scatter_block" if block else "reduce_scatter"].run(inter, local, *args, op=MPI.SUM)
        return str(caught.value)

    a, b = ((q + 2) * p if block else p * q + 2), p * q
    words = (
        "the blocks of this group are {} elements in all, but those of the other group {}: "
        "every operand must have exactly as many"
    )
    returns = run_groups(main, p, q, carrier=carrier).returns
    assert list(returns) == [words.format(a, b)] * p + [words.format(b, a)] * q


def test_blocks_that_are_not_as_much_in_all_do_not_fit_on_paper_either() -> None:
    """In bytes."""
    case = Case(2, counts=(1, 2), q=1, counts_b=(4,), itemsize=8)
    words = "the blocks of the groups are not as much in all, 24 bytes in A and 32 in B"
    assert WMPI["reduce_scatter"].fits(case) == words
    assert WMPI["reduce_scatter_block"].fits(Case(3, 8, q=4, m_b=8)) == words


def test_an_allreduce_of_groups_that_are_alike_asks_who_is_first() -> None:
    """WMPI has a mark in the communicator."""

    def main(inter: Any, local: Any, in_a: bool) -> None:
        with pytest.raises(DoesNotFit, match=r"^inter allreduce wmpi: the groups are alike, 2 ranks each with as much"):
            WMPI["allreduce"].run(inter, local, np.zeros(3), np.zeros(3), op=MPI.SUM)

    assert run_groups(main, 2, 2).messages == 0


def test_a_barrier_of_groups_that_are_alike_asks_only_if_its_part_needs_to_know() -> None:
    """Dissemination does not; recursive doubling does."""
    doubling = find("barrier", "recursive_doubling")
    assert WMPI["barrier"].fits(Case(3, q=3)) is None
    assert "say first=True in one" in str(WMPI["barrier"].fits(Case(3, q=3, parameters={"barrier": doubling})))
    assert WMPI["barrier"].fits(Case(3, q=3, parameters={"barrier": doubling, "first": True})) is None


@pytest.mark.parametrize(("p", "q"), [(1, 1), (4, 4), (3, 5), (6, 2)])
def test_nobody_leaves_a_barrier_before_the_last_has_come(p: int, q: int) -> None:
    """Whoever that is: one rank after the other comes 1000 seconds late."""
    for late in range(p + q):

        def main(inter: Any, local: Any, in_a: bool, late: int = late) -> float:
            if local.Get_rank() + (0 if in_a else p) == late:
                fakempi.compute(1000.0)
            WMPI["barrier"].run(inter, local)
            return float(MPI.Wtime())

        assert min(run_groups(main, p, q).returns) >= 1000.0


@given(data=st.data())
@settings(max_examples=30, deadline=None)
def test_an_allgather_takes_at_least_its_leaders_time_and_at_most_the_later_leaders_with_the_longer_broadcast(
    data: Any,
) -> None:
    """Also where the exact time is not claimed."""
    case = data.draw(two_groups(WMPI["allgather"]))
    bcast = case.parameters.get("bcast", find("bcast", "binomial"))
    of_a, of_b = case.p * message(case.m, 0, 1), case.q * message(case.m_b, 0, 1)
    spread_a = bcast.time(Case(case.p, case.q * case.m_b, itemsize=case.itemsize), 0, 1)
    spread_b = bcast.time(Case(case.q, case.p * case.m, itemsize=case.itemsize), 0, 1)
    time = run_groups(ghostly(WMPI["allgather"], case), case.p, case.q).time
    assert max(of_b + spread_a, of_a + spread_b) <= time <= max(of_a, of_b) + max(spread_a, spread_b)


@pytest.mark.parametrize("operation", ["alltoall", "alltoallv", "alltoallw"])
@given(data=st.data())
@settings(max_examples=15, deadline=None)
def test_an_alltoall_takes_as_long_as_its_busiest_port_at_least(operation: str, data: Any) -> None:
    """And at most as long as all of one direction one after the other."""
    algorithm = WMPI[operation]
    case = data.draw(two_groups(algorithm, largest=7))
    there = case.traffic or ((case.m // case.itemsize,) * case.q,) * case.p
    back = case.traffic_b or ((case.m_b // case.itemsize,) * case.p,) * case.q
    ports = [sum(line) for way in (there, back) for lines in (way, zip(*way, strict=True)) for line in lines]
    time = run_groups(calling(algorithm, case), case.p, case.q).time
    whole = max(sum(map(sum, way)) for way in (there, back))
    assert max(ports) * case.itemsize <= time <= whole * case.itemsize


def test_a_part_that_does_not_fit_is_named() -> None:
    """Before anything is sent."""
    part: Algorithm = find("bcast", "scatter_recursive_doubling_allgather")
    for operation in ("bcast", "allgather"):
        case = Case(2, 8, q=3, m_b=8, parameters={"bcast": part})
        words = "bcast scatter_recursive_doubling_allgather: p = 3 is not a power of two"
        assert WMPI[operation].fits(case) == words


def test_an_alltoallv_takes_blocks_from_where_displacements_say() -> None:
    """The last one first, with gaps."""

    def main(inter: Any, local: Any, in_a: bool) -> list[int]:
        q, me = inter.Get_remote_size(), local.Get_rank() + (0 if in_a else 10)
        places, counts = [3 * (q - 1 - s) for s in range(q)], [2] * q
        mine, theirs = 100 * me + np.arange(3 * q), np.full(3 * q, -1)
        WMPI["alltoallv"].run(inter, local, mine, theirs, counts, counts, sdispls=places, rdispls=places)
        return [int(value) for value in theirs]

    # rank j of B, which is 10 + j, has for rank i of A what lies at 3 (p - 1 - i)
    run = run_groups(main, 3, 2)
    assert run.returns[0] == [1106, 1107, -1, 1006, 1007, -1]
    assert run.returns[3] == [203, 204, -1, 103, 104, -1, 3, 4, -1]


def test_an_alltoallw_takes_blocks_with_types_of_their_own() -> None:
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
def test_counts_and_blocks_are_one_for_each_rank(operation: str) -> None:
    """Two ranks over there, three here; one too few of everything."""
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
