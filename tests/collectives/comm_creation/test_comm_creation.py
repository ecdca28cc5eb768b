"""Agreement on new communicators: results, and the claimed rounds, bytes and time."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fakempi
from collectives import Case, find
from collectives.catalogue.schedule import elapsed, longest_chain
from collectives.chain.derived_chains import linked
from fakempi import Hockney
from tests.helpers.breadth import examples

T_S, T_W = 7, 2
COST = Hockney(T_S, T_W, eager_limit=0)


@given(numbers=st.lists(st.integers(0, 99), min_size=1, max_size=20))
@settings(max_examples=examples(30), deadline=None)
def test_all_members_agree_on_the_largest_number(numbers: list[int]) -> None:
    """On a chain in descending rank order, and on a communicator."""
    algorithm, p = find("create_group", "chain"), len(numbers)

    def main(comm: Any) -> int:
        chain = linked(comm, comm.rank + 1 if comm.rank + 1 < p else -1, comm.rank - 1)
        number: int = algorithm.run(chain, numbers[comm.rank])
        return number

    def straight(comm: Any) -> int:
        number: int = algorithm.run(comm, numbers[comm.rank], tag=3)
        return number

    assert fakempi.run(main, p, cost=COST).returns == [max(numbers)] * p
    run, case = fakempi.run(straight, p, cost=COST), Case(p)
    assert run.returns == [max(numbers)] * p
    assert run.time == algorithm.time(case, T_S, T_W)
    assert [nbytes for _, nbytes in run.sent] == [algorithm.sent(case, rank) for rank in range(p)]


@given(p=st.integers(1, 9), q=st.integers(1, 9), numbers=st.lists(st.integers(0, 99), min_size=18, max_size=18))
@settings(max_examples=examples(40), deadline=None)
def test_two_groups_exchange_numbers_and_members(p: int, q: int, numbers: list[int]) -> None:
    """create_intercomm and merge return the expected values; time and bytes of every rank equal the claims."""
    introduce, merge, case = find("create_intercomm", "chain"), find("merge", "chain"), Case(p, q=q)

    def introduced(comm: Any) -> Any:
        low = comm.rank < p
        local = comm.Split(low, comm.rank)
        members = [10 + rank for rank in (range(p) if low else range(p, p + q))]
        return introduce.run(local, comm, members, numbers[comm.rank], remote_leader=p if low else 0)

    def merged(comm: Any) -> Any:
        low = comm.rank < p
        local = comm.Split(low, comm.rank)
        inter = local.Create_intercomm(0, comm, p if low else 0)
        return merge.run(inter, local, low, numbers[comm.rank])

    most = max(numbers[: p + q])
    theirs = [[10 + rank for rank in range(p + q) if (rank < p) != own] for own in (True, False)]
    one, two = (fakempi.run(main, p + q, cost=COST) for main in (introduced, merged))
    assert one.returns == [(most, theirs[rank >= p]) for rank in range(p + q)]
    assert two.returns == [(most, rank >= p) for rank in range(p + q)]
    for algorithm, run in ((introduce, one), (merge, two)):
        assert run.time == algorithm.time(case, T_S, T_W)
        assert [nbytes for _, nbytes in run.sent] == [algorithm.sent(case, rank) for rank in range(p + q)]


@pytest.mark.sample
@pytest.mark.slow
def test_closed_forms_equal_the_schedules() -> None:
    """For all sizes up to 17, and one large group."""
    for operation in ("create_group", "create_intercomm", "merge"):
        algorithm = find(operation, "chain")
        for p in (*range(1, 18), 65):
            for q in (0,) if operation == "create_group" else range(1, 18):
                case = Case(p, q=q)
                assert algorithm.rounds(case) == longest_chain(algorithm.schedule_for(case) or [], p + q)
                assert algorithm.time(case, T_S, T_W) == elapsed(algorithm.schedule_for(case) or [], p + q, T_S, T_W)
