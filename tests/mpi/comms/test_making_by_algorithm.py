"""Create_group, Create_intercomm and Merge by an algorithm: the same communicators as for free, in its time."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fakempi
from collectives import Case, find
from fakempi import MPI, Hockney, TwoLevel
from fakempi.errors import DeadlockError, MPIValueError, RankError

EXACT = Hockney(t_s=8, t_w=1, eager_limit=0)
ASKED = {"create_group": "chain", "create_intercomm": "chain", "merge": "chain"}
CARRIERS = st.sampled_from(["greenlets", "threads"])


def world_ranks(group: Any) -> list[int]:
    world = MPI.COMM_WORLD.Get_group()
    return list(MPI.Group.Translate_ranks(group, list(range(group.Get_size())), world))


def claimed(operation: str, p: int, q: int = 0) -> Any:
    return find(operation, "chain").time(Case(p, q=q), 8, 1)


@given(size=st.integers(1, 12), data=st.data(), carrier=CARRIERS)
@settings(max_examples=30, deadline=None)
def test_a_group_is_made_by_its_members_alone(size: int, data: st.DataObject, carrier: str) -> None:
    """In any order, two disjoint ones at once, and as long as claimed; the others take no time."""
    order = data.draw(st.permutations(range(size)))
    cut, end = sorted(data.draw(st.tuples(st.integers(0, size), st.integers(0, size))))
    groups = [order[:cut], order[cut:end]]

    def main(comm: Any) -> Any:
        for tag, ranks in enumerate(groups):
            if comm.rank in ranks:
                made = comm.Create_group(comm.Get_group().Incl(ranks), tag)
                took = MPI.Wtime()
                assert made.allgather(comm.rank) == ranks
                return world_ranks(made.Get_group()), took
        return None, MPI.Wtime()

    for algorithms in (None, ASKED):
        run = fakempi.run(main, size, cost=EXACT, carrier=carrier, algorithms=algorithms)
        for ranks in groups:
            time = claimed("create_group", p=len(ranks)) if algorithms and ranks else 0
            assert [run.returns[rank][0] for rank in ranks] == [ranks] * len(ranks)
            assert max((run.returns[rank][1] for rank in ranks), default=0) == time
        assert all(run.returns[rank] == (None, 0) for rank in order[end:])


@pytest.mark.parametrize("carrier", ["greenlets", "threads"])
@pytest.mark.parametrize(("p", "q"), [(1, 1), (1, 5), (4, 4), (7, 3), (8, 9)])
def test_two_groups_are_introduced_and_merged(p: int, q: int, carrier: str) -> None:
    """The same groups and orders as for free; each takes what it claims with leaders at rank 0."""

    def main(comm: Any) -> Any:
        low = comm.rank < p
        local = comm.Split(0 if low else 1)
        inter = local.Create_intercomm(0, comm, p if low else 0, 7)
        introduced = MPI.Wtime()
        assert inter.Get_remote_size() == (q if low else p)
        assert world_ranks(inter.Get_remote_group()) == list(range(p, p + q) if low else range(p))
        inter.Barrier()
        start = MPI.Wtime()
        merged = inter.Merge(high=low)
        return introduced, start, MPI.Wtime(), world_ranks(merged.Get_group()), merged.allreduce(1)

    free = fakempi.run(main, p + q, cost=EXACT, carrier=carrier)
    asked = fakempi.run(main, p + q, cost=EXACT, carrier=carrier, algorithms=ASKED)
    assert [each[3:] for each in asked.returns] == [each[3:] for each in free.returns]
    assert asked.returns[0][3] == [*range(p, p + q), *range(p)]
    introduced, starts, ends = zip(*(each[:3] for each in asked.returns), strict=True)
    assert max(introduced) == claimed("create_intercomm", p=p, q=q)
    assert max(ends) - max(starts) == claimed("merge", p=p, q=q)
    assert free.returns[0][0] == 0


@given(p=st.integers(1, 6), q=st.integers(1, 6), data=st.data(), carrier=CARRIERS)
@settings(max_examples=25, deadline=None)
def test_leaders_and_what_they_speak_through_are_free_to_choose(p: int, q: int, data: st.DataObject, carrier: str) -> None:
    """Any ranks, through an intercommunicator too, and with messages of the program under way with the same tag."""
    first, second = data.draw(st.integers(0, p - 1)), data.draw(st.integers(0, q - 1))
    high = data.draw(st.booleans())

    def main(comm: Any) -> Any:
        low = comm.rank < p
        local = comm.Split(0 if low else 1, -comm.rank)
        leaders = [p - 1 - first, p + q - 1 - second]
        request = comm.isend("for later", leaders[1], 5) if comm.rank == leaders[0] else None
        inter = local.Create_intercomm(first if low else second, comm, leaders[low], 5)
        again = local.Create_intercomm(first if low else second, inter, second if low else first, 5)
        if comm.rank == leaders[1]:
            assert comm.recv(source=leaders[0], tag=5) == "for later"
        if request is not None:
            request.wait()
        merged = again.Merge(high if low else not high)
        return world_ranks(again.Get_remote_group()), world_ranks(merged.Get_group())

    runs = [fakempi.run(main, p + q, cost=EXACT, carrier=carrier, algorithms=asked) for asked in (None, ASKED)]
    assert runs[0].returns == runs[1].returns
    assert runs[1].time > runs[0].time


def test_it_begins_when_all_have_come() -> None:
    """The last one's clock and the algorithm's time."""

    def main(comm: Any) -> float:
        fakempi.compute(100 * comm.rank)
        comm.Create_group(comm.Get_group())
        return MPI.Wtime()

    assert max(fakempi.run(main, 6, cost=EXACT, algorithms=ASKED).returns) == 500 + claimed("create_group", p=6)


def test_a_trace_has_them_as_regions() -> None:
    """With the algorithm's name."""
    cost = TwoLevel(2, intra=Hockney(1, 0), inter=Hockney(9, 1))
    run = fakempi.run(lambda comm: comm.Create_group(comm.Get_group()) and None, 4, cost=cost, algorithms=ASKED, trace=True)
    assert run.trace is not None
    assert {(region.name, region.algorithm) for region in run.trace.regions} == {("create_group", "chain")}


def test_what_is_not_there_is_refused_at_once() -> None:
    """A name, and an operation."""
    with pytest.raises(MPIValueError, match=r"^create_group: there is no algorithm 'tree'; there is chain\.$"):
        fakempi.run(lambda comm: None, 1, algorithms={"create_group": "tree"})
    with pytest.raises(MPIValueError, match=r"^algorithms: there is no operation 'creategroup'; .* create_group\?$"):
        fakempi.run(lambda comm: None, 1, algorithms={"creategroup": "chain"})


def test_ranks_that_disagree_or_stay_away_are_told_as_for_free() -> None:
    """The meeting comes before the algorithm."""

    def away(comm: Any) -> None:
        if comm.rank:
            comm.Create_group(comm.Get_group())

    with pytest.raises(DeadlockError, match="Create_group"):
        fakempi.run(away, 3, cost=EXACT, algorithms=ASKED)

    def tags(comm: Any) -> None:
        comm.Split(comm.rank).Create_intercomm(0, comm, 1 - comm.rank, comm.rank)

    with pytest.raises(RankError, match="leader 0 says tag 0, leader 1 says 1"):
        fakempi.run(tags, 2, cost=EXACT, algorithms=ASKED)
