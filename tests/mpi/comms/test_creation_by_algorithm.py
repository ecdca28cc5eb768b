"""Create_group, Create_intercomm and Merge by an algorithm: the same communicators as by default, in its time."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fakempi
from collectives import Case, find
from fakempi import MPI, Hockney, TwoLevel
from fakempi.errors import DeadlockError, MPIValueError, RankError
from tests.helpers.breadth import examples

EXACT = Hockney(t_s=8, t_w=1, eager_limit=0)
REQUESTED = {"create_group": "chain", "create_intercomm": "chain", "merge": "chain"}
BACKENDS = st.sampled_from(["greenlets", "threads"])


def world_ranks(group: Any) -> list[int]:
    world = MPI.COMM_WORLD.Get_group()
    return list(MPI.Group.Translate_ranks(group, list(range(group.Get_size())), world))


def claimed(operation: str, p: int, q: int = 0) -> Any:
    return find(operation, "chain").time(Case(p, q=q), 8, 1)


@pytest.mark.sample
@pytest.mark.slow
@given(size=st.integers(1, 12), data=st.data(), backend=BACKENDS)
@settings(max_examples=examples(30), deadline=None)
def test_a_group_is_created_by_its_members_only(size: int, data: st.DataObject, backend: Any) -> None:
    """In any order, two disjoint ones at once, in the claimed time; other ranks take no time."""
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

    for algorithms in (None, REQUESTED):
        run = fakempi.run(main, size, cost=EXACT, backend=backend, algorithms=algorithms)
        for ranks in groups:
            time = claimed("create_group", p=len(ranks)) if algorithms and ranks else 0
            assert [run.returns[rank][0] for rank in ranks] == [ranks] * len(ranks)
            assert max((run.returns[rank][1] for rank in ranks), default=0) == time
        assert all(run.returns[rank] == (None, 0) for rank in order[end:])


@pytest.mark.parametrize("backend", ["greenlets", "threads"])
@pytest.mark.parametrize(("p", "q"), [(1, 1), (1, 5), (4, 4), (7, 3), (8, 9)])
def test_two_groups_are_joined_and_merged(p: int, q: int, backend: Any) -> None:
    """The same groups and orders as by default; each call takes the claimed time with leaders at rank 0."""

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

    free = fakempi.run(main, p + q, cost=EXACT, backend=backend)
    requested = fakempi.run(main, p + q, cost=EXACT, backend=backend, algorithms=REQUESTED)
    assert [each[3:] for each in requested.returns] == [each[3:] for each in free.returns]
    assert requested.returns[0][3] == [*range(p, p + q), *range(p)]
    introduced, starts, ends = zip(*(each[:3] for each in requested.returns), strict=True)
    assert max(introduced) == claimed("create_intercomm", p=p, q=q)
    assert max(ends) - max(starts) == claimed("merge", p=p, q=q)
    assert free.returns[0][0] == 0


@pytest.mark.sample
@pytest.mark.slow
@given(p=st.integers(1, 6), q=st.integers(1, 6), data=st.data(), backend=BACKENDS)
@settings(max_examples=examples(25), deadline=None)
def test_any_leaders_and_any_peer_communicator_work(p: int, q: int, data: st.DataObject, backend: Any) -> None:
    """Any ranks, also through an intercommunicator, and with pending messages of the program with the same tag."""
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

    runs = [fakempi.run(main, p + q, cost=EXACT, backend=backend, algorithms=requested) for requested in (None, REQUESTED)]
    assert runs[0].returns == runs[1].returns
    assert runs[1].time > runs[0].time


def test_it_starts_when_all_ranks_have_called() -> None:
    """The time is the last clock plus the algorithm's time."""

    def main(comm: Any) -> float:
        fakempi.compute(100 * comm.rank)
        comm.Create_group(comm.Get_group())
        return MPI.Wtime()

    assert max(fakempi.run(main, 6, cost=EXACT, algorithms=REQUESTED).returns) == 500 + claimed("create_group", p=6)


def test_a_trace_has_regions_for_these_calls() -> None:
    """With the algorithm's name, after the one in which the rank waits until all have called."""
    cost = TwoLevel(2, intra=Hockney(1, 0), inter=Hockney(9, 1))

    def main(comm: MPI.Intracomm) -> None:
        comm.Create_group(comm.Get_group())

    run = fakempi.run(main, 4, cost=cost, algorithms=REQUESTED, trace=True)
    assert run.trace is not None
    for rank in range(4):
        of_rank = [(region.name, region.algorithm) for region in run.trace.regions if region.rank == rank]
        assert of_rank == [("create_group", ""), ("create_group", "chain")]


def test_unknown_algorithms_are_rejected_at_once() -> None:
    """A name, and an operation."""
    with pytest.raises(MPIValueError, match=r"^create_group: there is no algorithm 'tree'; there is chain\.$"):
        fakempi.run(lambda comm: None, 1, algorithms={"create_group": "tree"})
    with pytest.raises(MPIValueError, match=r"^algorithms: there is no operation 'creategroup'; .* create_group\?$"):
        fakempi.run(lambda comm: None, 1, algorithms={"creategroup": "chain"})


def test_disagreeing_or_missing_ranks_are_reported_as_without_an_algorithm() -> None:
    """Calls are matched before the algorithm runs."""

    def away(comm: Any) -> None:
        if comm.rank:
            comm.Create_group(comm.Get_group())

    with pytest.raises(DeadlockError, match="Create_group"):
        fakempi.run(away, 3, cost=EXACT, algorithms=REQUESTED)

    def tags(comm: Any) -> None:
        comm.Split(comm.rank).Create_intercomm(0, comm, 1 - comm.rank, comm.rank)

    with pytest.raises(RankError, match="leader 0 passes tag 0, leader 1 passes tag 1"):
        fakempi.run(tags, 2, cost=EXACT, algorithms=REQUESTED)
