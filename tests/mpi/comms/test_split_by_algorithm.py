"""Split, Split_type and Create by an algorithm: the same communicators as by default, in the algorithm's time."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import collectives
import fakempi
from collectives.split import UNDEFINED
from fakempi import MPI, Hockney, TwoLevel
from fakempi.errors import DeadlockError, MPIValueError, RankError
from tests.helpers.loops import for_each

COST = Hockney(t_s=1, t_w=0, eager_limit=0)
NAMES = sorted(each.name for each in collectives.CATALOGUE if each.kind == "split")
View = tuple[int, int, list[int]] | None


def view_of(comm: Any) -> View:
    """Rank, size, and all ranks in COMM_WORLD; messages must work, too."""
    if comm == MPI.COMM_NULL:
        return None
    world, group = MPI.COMM_WORLD.Get_group(), comm.Get_group()
    members = MPI.Group.Translate_ranks(group, list(range(group.Get_size())), world)
    assert comm.allgather(comm.Get_rank()) == list(range(comm.Get_size()))
    return comm.Get_rank(), comm.Get_size(), list(members)


PLANS = st.lists(st.tuples(st.sampled_from([None, 0, 1, 2, 7, 2**31 - 1]), st.integers(-3, 3)), min_size=1, max_size=20)


@pytest.mark.quick(1)
@pytest.mark.parametrize("name", NAMES)
@given(plan=PLANS, backend=st.sampled_from(["greenlets", "threads"]))
@settings(max_examples=6, deadline=None)
def test_the_communicators_are_the_same_as_by_default(name: str, plan: list[tuple[int | None, int]], backend: Any) -> None:
    """Colors including UNDEFINED, and keys of any kind; twice, the second time within a result of the first."""

    def main(comm: Any) -> Any:
        color, key = plan[comm.Get_rank()]
        part = comm.Split(MPI.UNDEFINED if color is None else color, key)
        seen = view_of(part)
        return seen if seen is None else (seen, view_of(part.Split(part.Get_rank() % 2, -key)))

    free = fakempi.run(main, len(plan), cost=COST, backend=backend)
    by_name = fakempi.run(main, len(plan), cost=COST, backend=backend, algorithms={"split": name})
    assert by_name.returns == free.returns


@pytest.mark.quick(3)
@pytest.mark.parametrize("name", NAMES)
@for_each("size, backend", [(1, "greenlets"), (2, "greenlets"), (6, "threads"), (16, "greenlets"), (33, "greenlets")])
def test_time_and_messages_are_those_of_the_algorithm(name: str, size: int, backend: Any) -> None:
    """On every rank, exactly; by default there is no time and no message."""
    algorithm = collectives.find("split", name, kind="split")
    widths = {} if name == "radix" else {"widths": (0, 0)}
    cost = TwoLevel(4, intra=Hockney(3, 1), inter=Hockney(50, 2), eager_limit=0)

    def color(rank: int) -> int | None:
        return None if rank % 5 == 4 else rank % 3

    def split(comm: Any) -> None:
        comm.Split(MPI.UNDEFINED if color(comm.Get_rank()) is None else color(comm.Get_rank()), -comm.Get_rank())

    def alone(comm: Any) -> None:
        own = color(comm.Get_rank())
        algorithm.run(comm, UNDEFINED if own is None else own, -comm.Get_rank(), **widths)

    requested = fakempi.run(split, size, cost=cost, backend=backend, algorithms={"split": name})
    itself = fakempi.run(alone, size, cost=cost, backend=backend)
    free = fakempi.run(split, size, cost=cost, backend=backend)
    assert (requested.clocks, requested.sent, requested.received) == (itself.clocks, itself.sent, itself.received)
    assert (free.time, free.messages) == (0, 0)
    assert (requested.time > 0) == (size > 1)


@pytest.mark.parametrize("name", [name for name in NAMES if name != "radix"])
def test_nodes_are_found_by_name(name: str) -> None:
    """Split_type with host names."""
    cost = TwoLevel(placement=["b", "a", "b", "long-name", "a", "b"], intra=COST, inter=COST)
    run = fakempi.run(lambda comm: view_of(comm.Split_type(MPI.COMM_TYPE_SHARED)), 6, cost=cost, algorithms={"split": name})
    groups = [[0, 2, 5], [1, 4], [0, 2, 5], [3], [1, 4], [0, 2, 5]]
    assert [view and view[2] for view in run.returns] == groups
    assert run.time > 0

    def without_two(comm: Any) -> View:
        """A rank without a color does not need the names of hosts."""
        kind = MPI.UNDEFINED if comm.Get_rank() == 2 else MPI.COMM_TYPE_SHARED
        return view_of(comm.Split_type(kind, -comm.Get_rank()))

    run = fakempi.run(without_two, 6, cost=cost, algorithms={"split": name})
    assert [view and view[2] for view in run.returns] == [[5, 0], [4, 1], None, [3], [4, 1], [5, 0]]


@pytest.mark.parametrize("name", NAMES)
def test_create_uses_an_algorithm_as_well(name: str) -> None:
    """Create with two groups at once, of ranks in any order, and with a rank in no group."""

    def main(comm: Any) -> View:
        ranks = [4, 0, 2] if comm.Get_rank() % 2 == 0 else [1, 5]
        return view_of(comm.Create(comm.Get_group().Incl(ranks)))

    free, requested = (fakempi.run(main, 7, cost=COST, algorithms=given) for given in (None, {"split": name}))
    assert requested.returns == free.returns
    assert requested.returns[2] == (2, 3, [4, 0, 2])
    assert requested.returns[3] is None
    assert requested.time > free.time


def test_messages_of_two_splits_do_not_mix_with_other_calls() -> None:
    """The last message of a split has any source: a rank that is done may already send the next message."""

    def main(comm: Any) -> list[int]:
        rank, sums = comm.Get_rank(), []
        for turn in range(4):
            comm.Split(rank % 3, rank * (7, -1)[turn % 2] % 13)
            sums.append(comm.allreduce(rank + turn))
        return sums

    run = fakempi.run(main, 29, cost=Hockney(1, 1), algorithms={"split": "bitonic", "allreduce": "recursive_doubling"})
    total = 29 * 28 // 2
    assert run.returns == [[total + 29 * turn for turn in range(4)]] * 29


def test_an_unknown_name_is_rejected_at_once() -> None:
    """The error lists the names and a suggestion; also for a parameter."""
    with pytest.raises(MPIValueError, match=r"^split: there is no algorithm 'bitonik'; .*did you mean bitonic\?$"):
        fakempi.run(lambda comm: None, 2, algorithms={"split": "bitonik"})
    with pytest.raises(MPIValueError, match=r"^split: cheng has no parameter 'N'; there are M and alltoall\.$"):
        fakempi.run(lambda comm: None, 2, algorithms={"split": ("cheng", {"N": 3})})


def test_an_algorithm_that_does_not_support_the_data_has_a_reason() -> None:
    """Radix needs integers, and hosts have names."""
    cost = TwoLevel(placement=["a", "b"])
    with pytest.raises(RankError, match="split radix: 'a' is not an integer") as caught:
        fakempi.run(lambda comm: comm.Split_type(MPI.COMM_TYPE_SHARED), 2, cost=cost, algorithms={"split": "radix"})
    assert isinstance(caught.value.exception, MPIValueError)


def test_a_missing_rank_is_named() -> None:
    """As in any collective call."""
    with pytest.raises(DeadlockError, match="Split") as caught:
        fakempi.run(lambda comm: comm.Get_rank() and comm.Split(0), 4, cost=COST, algorithms={"split": "hash"})
    assert "rank 0" in str(caught.value)
