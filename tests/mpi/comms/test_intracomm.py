"""Intracommunicators: split, split by node, creation from groups, and creation of intercommunicators."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import fakempi
from fakempi import MPI
from tests.helpers.runs import fails, run


def world_ranks(comm: Any) -> list[int]:
    """Return the members of a communicator as ranks in COMM_WORLD."""
    ranks: list[int] = comm.Get_group().Translate_ranks()
    return ranks


# -- split ---------------------------------------------------------------------------------------------------------


def test_split_by_color_and_key(backend: Any) -> None:
    """Ranks of a color form a group, in the order of keys; equal keys keep the old order."""

    def main(comm: Any) -> Any:
        even_odd = comm.Split(comm.rank % 2, -comm.rank)
        same = comm.Split(7)
        return world_ranks(even_odd), even_odd.rank, even_odd.size, world_ranks(same)

    everyone = [0, 1, 2, 3, 4]
    evens, odds = [4, 2, 0], [3, 1]
    expected = [
        (group, group.index(rank), len(group), everyone) for rank in everyone for group in (odds if rank % 2 else evens,)
    ]
    assert run(main, 5, backend) == expected


def test_undefined_colors_are_omitted() -> None:
    """They get a null communicator, which is an Intracomm."""

    def main(comm: Any) -> Any:
        part = comm.Split(MPI.UNDEFINED if comm.rank == 1 else 0)
        return type(part) is MPI.Intracomm, part == MPI.COMM_NULL, world_ranks(part) if part else None

    assert run(main, 3) == [(True, False, [0, 2]), (True, True, None), (True, False, [0, 2])]


def test_parts_have_separate_messages() -> None:
    """Messages with equal ranks and tags in the parts and the whole are different."""

    def main(comm: Any) -> Any:
        part = comm.Split(comm.rank // 2)
        other, world_other = 1 - part.rank, comm.rank ^ 1
        requests = [comm.isend(("world", comm.rank), world_other), part.isend(("part", comm.rank), other)]
        received = part.recv(source=other), comm.recv(source=world_other)
        MPI.Request.Waitall(requests)
        return received

    assert run(main, 4) == [(("part", rank ^ 1), ("world", rank ^ 1)) for rank in range(4)]


@given(st.lists(st.tuples(st.sampled_from([None, 0, 1, 2]), st.integers(-3, 3)), min_size=1, max_size=7))
def test_split_is_a_stable_sort_by_key_within_colors(choices: list[tuple[int | None, int]]) -> None:
    """For any colors and keys."""

    def main(comm: Any) -> Any:
        color, key = choices[comm.rank]
        part = comm.Split(MPI.UNDEFINED if color is None else color, key)
        return world_ranks(part) if part else None

    def expected(rank: int) -> list[int] | None:
        color = choices[rank][0]
        ranks = [other for other in range(len(choices)) if choices[other][0] == color]
        return None if color is None else sorted(ranks, key=lambda other: choices[other][1])

    assert run(main, len(choices)) == [expected(rank) for rank in range(len(choices))]


def test_a_negative_color_is_rejected() -> None:
    """Some libraries accept it, the standard does not."""

    def main(comm: Any) -> None:
        with fails("Split on rank 0: color -3 is negative and not UNDEFINED.", MPI.ERR_ARG):
            comm.Split(-3)

    run(main, 1)


def test_split_of_a_split_of_a_split() -> None:
    """To single ranks."""

    def main(comm: Any) -> Any:
        sizes = []
        while comm.size > 1:
            comm = comm.Split(comm.rank // ((comm.size + 1) // 2), comm.rank)
            sizes.append(comm.size)
        return sizes, comm.rank, comm == MPI.COMM_SELF, comm.Compare(MPI.COMM_SELF) == MPI.CONGRUENT

    assert run(main, 8) == [([4, 2, 1], 0, False, True)] * 8


# -- by node -------------------------------------------------------------------------------------------------------


def test_split_type_follows_the_placement() -> None:
    """Ranks that share a node; without nodes in the model, all ranks do."""

    def main(comm: Any) -> Any:
        node = comm.Split_type(MPI.COMM_TYPE_SHARED, -comm.rank)
        none = comm.Split_type(MPI.UNDEFINED)
        return world_ranks(node), type(none) is MPI.Intracomm, bool(none)

    nodes = run(main, 4, cost=fakempi.TwoLevel(2))
    assert nodes == [([1, 0], True, False)] * 2 + [([3, 2], True, False)] * 2
    assert run(main, 3) == [([2, 1, 0], True, False)] * 3
    placed = run(main, 3, cost=fakempi.TwoLevel(placement=["a", "b", "a"]))
    assert [node for node, _, _ in placed] == [[2, 0], [1], [2, 0]]


@pytest.mark.parametrize("split_type", [MPI.COMM_TYPE_HW_GUIDED, MPI.COMM_TYPE_RESOURCE_GUIDED])
def test_a_guided_split_supports_one_resource(split_type: int) -> None:
    """The shared memory of a node; any other, or none, gives null."""

    def main(comm: Any) -> Any:
        nothing = [None, MPI.Info.Create(), MPI.Info.Create([("mpi_hw_resource_type", "hwthread")])]
        nulls = [comm.Split_type(split_type, 0, info or MPI.INFO_NULL) for info in nothing]
        info = MPI.Info.Create([("mpi_hw_resource_type", "mpi_shared_memory")])
        some = comm.Split_type(split_type if comm.rank == 1 else MPI.UNDEFINED, 0, info)
        return [bool(null) for null in nulls], world_ranks(comm.Split_type(split_type, 0, info)), bool(some)

    nodes = run(main, 4, cost=fakempi.TwoLevel(2))
    assert [node for _, node, _ in nodes] == [[0, 1], [0, 1], [2, 3], [2, 3]]
    assert [some for _, _, some in nodes] == [False, True, False, False]
    assert [nulls for nulls, _, _ in nodes] == [[False] * 3] * 4


def test_an_unguided_split_goes_one_level_down_and_names_it() -> None:
    """To the nodes, if there are several; below them is no level."""

    def main(comm: Any) -> Any:
        info = MPI.Info.Create()
        node = comm.Split_type(MPI.COMM_TYPE_HW_UNGUIDED, comm.rank, info)
        below = node.Split_type(MPI.COMM_TYPE_HW_UNGUIDED) if node else node
        return world_ranks(node) if node else None, bool(below), info.Get("mpi_hw_resource_type")

    found = [([0, 1], False, "mpi_shared_memory")] * 2 + [([2, 3], False, "mpi_shared_memory")] * 2
    assert run(main, 4, cost=fakempi.TwoLevel(2)) == found
    assert run(main, 3) == [(None, False, None)] * 3


# -- from groups ---------------------------------------------------------------------------------------------------


def test_create_makes_a_communicator_of_a_group(backend: Any) -> None:
    """In the group's order; other ranks get null."""

    def main(comm: Any) -> Any:
        made = comm.Create(comm.Get_group().Incl([2, 0]))
        return type(made) is MPI.Intracomm, world_ranks(made) if made else None

    assert run(main, 3, backend) == [(True, [2, 0]), (True, None), (True, [2, 0])]


def test_create_with_several_groups_at_once() -> None:
    """Each rank passes the one that it is in."""

    def main(comm: Any) -> Any:
        halves = [[0, 2], [3, 1]]
        made = comm.Create(comm.Get_group().Incl(halves[comm.rank % 2]))
        return world_ranks(made), made.rank

    assert run(main, 4) == [([0, 2], 0), ([3, 1], 1), ([0, 2], 1), ([3, 1], 0)]


def test_create_of_an_empty_group() -> None:
    """All ranks get COMM_NULL."""

    def main(comm: Any) -> Any:
        return bool(comm.Create(MPI.GROUP_EMPTY)), bool(comm.Create_group(MPI.GROUP_EMPTY))

    assert run(main, 2) == [(False, False)] * 2


def test_create_group_is_called_by_its_members_only() -> None:
    """Other ranks need not call; if they do, they get null at once."""

    def main(comm: Any) -> Any:
        group = comm.Get_group().Incl([2, 0])
        if comm.rank == 1:
            return bool(comm.Create_group(group))
        part = comm.Create_group(group, 9)
        return world_ranks(part), part.rank

    assert run(main, 3) == [([2, 0], 1), False, ([2, 0], 0)]


def test_create_group_with_another_tag_is_another_call() -> None:
    """Calls with different tags do not match."""

    def main(comm: Any) -> None:
        comm.Create_group(comm.Get_group(), comm.rank)

    with pytest.raises(fakempi.DeadlockError, match=r"Create_group\(waits for rank"):
        run(main, 2)


@pytest.mark.parametrize("call", ["Create", "Create_group"])
def test_invalid_groups_are_rejected(call: str) -> None:
    """Null, not a group, or not part of the communicator."""

    def main(comm: Any) -> None:
        rank, alone = comm.rank, comm.Split(comm.rank)
        with fails(f"{call} on rank {rank}: the group is null: GROUP_NULL, or freed.", MPI.ERR_GROUP):
            getattr(alone, call)(MPI.GROUP_NULL)
        with fails(f"{call} on rank {rank}: expecting a Group, not NoneType.", MPI.ERR_GROUP, TypeError):
            getattr(alone, call)(None)
        words = f"{call} on rank {rank}: the group has world rank {1 - rank}, which is not in the communicator."
        with fails(words, MPI.ERR_GROUP):
            getattr(alone, call)(comm.Get_group().Incl([1 - rank]))

    run(main, 2)


# -- creation of intercommunicators --------------------------------------------------------------------------------


def test_two_halves_are_joined(backend: Any) -> None:
    """The leaders use the peer communicator; the others need not have it."""

    def main(comm: Any) -> Any:
        side = comm.rank % 2
        half = comm.Split(side)
        peer = comm if half.rank == 0 else MPI.COMM_NULL
        inter = half.Create_intercomm(0, peer, 1 - side, tag=4)
        kinds = type(inter) is MPI.Intercomm, inter.is_inter, inter.is_intra
        return kinds, inter.rank, inter.size, inter.remote_size, world_ranks(inter), inter.remote_group.Translate_ranks()

    evens, odds, kinds = [0, 2, 4], [1, 3], (True, True, False)
    expected = [
        (kinds, mine.index(rank), len(mine), len(theirs), mine, theirs)
        for rank in range(5)
        for mine, theirs in ((odds, evens) if rank % 2 else (evens, odds),)
    ]
    assert run(main, 5, backend) == expected


def test_any_rank_may_be_the_leader() -> None:
    """Named by its rank in its own half; the remote leader by its rank in the peer communicator."""

    def main(comm: Any) -> Any:
        side = int(comm.rank >= 2)
        half = comm.Split(side, -comm.rank)
        inter = half.Create_intercomm(1, comm, [3, 0][side])
        return inter.rank, inter.remote_group.Translate_ranks()

    assert run(main, 5) == [(1, [4, 3, 2]), (0, [4, 3, 2]), (2, [1, 0]), (1, [1, 0]), (0, [1, 0])]


def test_the_peer_communicator_may_be_an_intercommunicator() -> None:
    """mpi4py's signature has Intracomm, MPI allows both."""

    def main(comm: Any) -> Any:
        side = comm.rank % 2
        half = comm.Split(side)
        inter = half.Create_intercomm(0, comm, 1 - side)
        quarter = half.Split(half.rank)
        pair = quarter.Create_intercomm(0, inter, half.rank)
        other = pair.sendrecv(comm.rank, 0, source=0)
        return pair.remote_size, other

    assert run(main, 4) == [(1, 1), (1, 0), (1, 3), (1, 2)]


def test_tags_distinguish_pairs_of_leaders() -> None:
    """Two joins between the same leaders, in different orders on each side, do not mix."""

    def main(comm: Any) -> Any:
        side = comm.rank
        first = MPI.COMM_SELF.Create_intercomm(0, comm, 1 - side, tag=1)
        second = MPI.COMM_SELF.Create_intercomm(0, comm, 1 - side, tag=2)
        requests = [first.isend(1, 0), second.isend(2, 0)]
        received = second.recv(), first.recv()
        MPI.Request.Waitall(requests)
        return received

    assert run(main, 2) == [(2, 1)] * 2


def test_invalid_joins_are_rejected() -> None:
    """Missing leaders, no peer, the same rank, and groups that overlap; all ranks of a side get the error."""

    def main(comm: Any) -> None:
        rank = comm.rank
        half = comm.Split(rank % 2)
        with fails(f"Create_intercomm on rank {rank}: local leader 5 is not in 0..0.", MPI.ERR_RANK):
            half.Create_intercomm(5, comm, 0)
        with fails(f"Create_intercomm on rank {rank}: the leader's peer communicator is null.", MPI.ERR_COMM):
            half.Create_intercomm(0, MPI.COMM_NULL, 0)
        words = "remote leader 7 is not in 0..1: the communicator has 2 ranks."
        with fails(f"Create_intercomm on rank {rank}: {words}", MPI.ERR_RANK):
            half.Create_intercomm(0, comm, 7)
        words = f"remote leader {rank} of the peer communicator is this rank itself."
        with fails(f"Create_intercomm on rank {rank}: {words}", MPI.ERR_RANK):
            half.Create_intercomm(0, comm, rank)

    run(main, 2)


def test_groups_that_overlap_are_never_joined(backend: Any) -> None:
    """A rank in both groups would have to make two calls at once, so the leaders compare the groups first."""

    def main(comm: Any) -> None:
        groups = [comm.Create(comm.Get_group().Incl(ranks)) for ranks in ([0, 1], [1, 2])]
        if comm.rank < 2:
            groups[0].Create_intercomm(0, comm, 2)
        else:
            groups[1].Create_intercomm(1, comm, 0)

    with pytest.raises(fakempi.RankError, match="Create_intercomm on rank 0: the two groups overlap: world rank 1 is in"):
        run(main, 3, backend)


def test_leaders_must_agree_on_the_tag(backend: Any) -> None:
    """Both groups get the error and can join afterwards."""

    def main(comm: Any) -> Any:
        side = comm.rank // 2
        half = comm.Split(side)
        with fails("Create_intercomm: leader 0 passes tag 5, leader 2 passes tag 6.", MPI.ERR_NOT_SAME):
            half.Create_intercomm(0, comm, 2 - 2 * side, tag=5 + side)
        return half.Create_intercomm(0, comm, 2 - 2 * side, tag=5).remote_size

    assert run(main, 4, backend) == [2] * 4


def test_a_missing_leader_is_reported() -> None:
    """It is in the other group, which has another leader: the report names both ranks."""

    def main(comm: Any) -> None:
        side = comm.rank // 2
        comm.Split(side).Create_intercomm(0, comm, 0 if side else 3)

    with pytest.raises(fakempi.DeadlockError, match=r"Create_intercomm\(waits for rank 3\)"):
        run(main, 4)


def test_ranks_of_a_side_must_pass_the_same_leader() -> None:
    """The error has both arguments."""

    def main(comm: Any) -> None:
        words = "Create_intercomm: local leader and tag are (0, 0) on rank 0, but (1, 0) on rank 1."
        with fails(words, MPI.ERR_NOT_SAME):
            comm.Create_intercomm(comm.rank, comm, 0)

    run(main, 2)


def test_an_intercommunicator_is_no_intracommunicator() -> None:
    """The error is raised when the handle is created."""

    def main(comm: Any) -> None:
        inter = MPI.COMM_SELF.Create_intercomm(0, comm, 1 - comm.rank)
        words = f"Intracomm on rank {comm.rank}: expecting an intracommunicator, not an intercommunicator."
        with fails(words, MPI.ERR_COMM, TypeError):
            MPI.Intracomm(inter)

    run(main, 2)


def test_invalid_tags_are_rejected_when_communicators_are_created() -> None:
    """Valid tags are 0 to TAG_UB, in every call that takes one."""

    def main(comm: Any) -> None:
        highest = comm.Get_attr(MPI.TAG_UB)
        mine = comm.Split(comm.rank)
        for tag in (-2, -1, highest + 1, 2**40):
            calls: list[Callable[[], object]] = [
                partial(comm.Create_group, comm.group, tag),
                partial(mine.Create_intercomm, 0, comm, 1 - comm.rank, tag),
                partial(comm.Send, b"", 1 - comm.rank, tag),
            ]
            for call in calls:
                with pytest.raises(MPI.Exception, match=rf"tag {tag} is not in 0\.\.{highest}") as caught:
                    call()
                assert caught.value.Get_error_class() == MPI.ERR_TAG
        for tag in (0, highest):
            comm.Create_group(comm.group, tag).Free()
            mine.Create_intercomm(0, comm, 1 - comm.rank, tag).Free()
        with pytest.raises(TypeError):
            comm.Create_group(comm.group, "tag")
        mine.Free()

    fakempi.run(main, 2)
