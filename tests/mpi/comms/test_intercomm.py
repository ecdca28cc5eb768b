"""Intercommunicators: messages between two groups, split, duplicate, create and merge."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import fakempi
from fakempi import MPI
from tests.helpers.runs import fails, run


def joined(comm: Any, first: int = 2) -> tuple[Any, int]:
    """The first n ranks and the rest, as an intercommunicator; and the side of this rank, 0 or 1."""
    side = int(comm.rank >= first)
    return comm.Split(side).Create_intercomm(0, comm, 0 if side else first), side


def world_ranks(group: Any) -> list[int]:
    """Return the members of a group as ranks in COMM_WORLD."""
    ranks: list[int] = group.Translate_ranks()
    return ranks


# -- messages ------------------------------------------------------------------------------------------------------


def test_ranks_are_those_of_the_remote_group(backend: Any) -> None:
    """In sends, receives, statuses and probes."""

    def main(comm: Any) -> Any:
        inter, side = joined(comm)
        if side == 0:
            for dest in range(inter.remote_size):
                inter.send((comm.rank, dest), dest, tag=comm.rank)
            return None
        status, seen = MPI.Status(), []
        for source in (1, 0):
            inter.probe(source, status=status)
            seen.append((inter.recv(source=source), status.source, status.tag))
        return seen

    assert run(main, 5, backend)[2:] == [[((1, dest), 1, 1), ((0, dest), 0, 0)] for dest in range(3)]


def test_buffers_are_sent_too() -> None:
    """In both directions at once, by every kind of call."""

    def main(comm: Any) -> Any:
        inter, _ = joined(comm, 1)
        received = [np.array([-1]) for _ in range(3)]
        mine = np.array([comm.rank])
        inter.Sendrecv(mine, 0, 1, received[0], 0, 1)
        requests = [inter.Irecv(received[1], 0, 2), inter.Isend(mine, 0, 2)]
        MPI.Request.Waitall(requests)
        persistent = [inter.Recv_init(received[2], MPI.ANY_SOURCE, 3), inter.Ssend_init(mine, 0, 3)]
        MPI.Prequest.Startall(persistent)
        MPI.Request.Waitall(persistent)
        return [int(each[0]) for each in received]

    assert run(main, 2) == [[1, 1, 1], [0, 0, 0]]


def test_proc_null_is_accepted() -> None:
    """As a destination and a source."""

    def main(comm: Any) -> Any:
        inter, _ = joined(comm, 1)
        inter.send(1, MPI.PROC_NULL)
        return inter.recv(source=MPI.PROC_NULL)

    assert run(main, 2) == [None, None]


def test_a_rank_outside_the_remote_group_is_rejected() -> None:
    """The error names the remote group."""

    def main(comm: Any) -> None:
        inter, side = joined(comm, 1)
        if side:
            words = f"Send on rank {comm.rank}: dest 1 is not in 0..0: the remote group has 1 rank."
            with fails(words, MPI.ERR_RANK):
                inter.Send(b"x", 1)
        else:
            inter.isend("fine", 1).Free()

    run(main, 3)


# -- queries -------------------------------------------------------------------------------------------------------


def test_groups_sizes_and_kinds() -> None:
    """Local and remote."""

    def main(comm: Any) -> Any:
        inter, _ = joined(comm)
        sizes = inter.rank, inter.Get_size(), inter.Get_remote_size(), inter.remote_size
        groups = world_ranks(inter.Get_group()), world_ranks(inter.Get_remote_group()), world_ranks(inter.remote_group)
        return sizes, groups, inter.Is_inter(), inter.is_intra, comm.Is_inter()

    facts = (True, False, False)
    assert run(main, 3) == [
        ((0, 2, 1, 1), ([0, 1], [2], [2]), *facts),
        ((1, 2, 1, 1), ([0, 1], [2], [2]), *facts),
        ((0, 1, 2, 2), ([2], [0, 1], [0, 1]), *facts),
    ]


def test_compare() -> None:
    """Both groups count, and an intercommunicator never equals an intracommunicator."""

    def main(comm: Any) -> Any:
        inter, side = joined(comm, 2)
        backwards = inter.Split(0, -comm.rank if side == 0 else 0)
        part = inter.Split(0 if comm.rank else MPI.UNDEFINED)
        others = [inter, MPI.Intercomm(inter), inter.Dup(), backwards, comm, *([part] if part else [])]
        return [inter.Compare(other) for other in others]

    same = [MPI.IDENT, MPI.IDENT, MPI.CONGRUENT, MPI.SIMILAR, MPI.UNEQUAL]
    assert run(main, 3) == [same, [*same, MPI.UNEQUAL], [*same, MPI.UNEQUAL]]


# -- new communicators ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("call", ["Dup", "Clone", "Idup"])
def test_a_duplicate_has_separate_messages(call: str) -> None:
    """With the same groups."""

    def main(comm: Any) -> Any:
        inter, _ = joined(comm, 1)
        other = getattr(inter, call)()
        if call == "Idup":
            other, request = other
            request.Wait()
        requests = [inter.isend("original", 0), other.isend("duplicate", 0)]
        received = other.recv(), inter.recv()
        MPI.Request.Waitall(requests)
        return received, type(other) is MPI.Intercomm, world_ranks(other.remote_group)

    both = ("duplicate", "original"), True
    assert run(main, 2) == [(*both, [1]), (*both, [0])]


def test_split_joins_the_ranks_of_a_color_on_both_sides(backend: Any) -> None:
    """In the order of keys; a color on one side only gives null."""

    def main(comm: Any) -> Any:
        inter, side = joined(comm, 3)
        color = [0, 1, 0, 0, 0, 2][comm.rank]
        part = inter.Split(color, -comm.rank)
        if not part:
            return type(part) is MPI.Intercomm
        other = part.sendrecv(comm.rank, part.rank, source=part.rank) if part.rank < part.remote_size else None
        return world_ranks(part.Get_group()), world_ranks(part.remote_group), side, other

    left, right = [2, 0], [4, 3]
    expected = [(left, right, 0, 3), True, (left, right, 0, 4), (right, left, 1, 0), (right, left, 1, 2), True]
    assert run(main, 6, backend) == expected


def test_split_omits_ranks_with_undefined_color() -> None:
    """Split_type uses the nodes of the placement."""

    def main(comm: Any) -> Any:
        inter, _ = joined(comm, 2)
        part = inter.Split(MPI.UNDEFINED if comm.rank == 3 else 0)
        node = inter.Split_type(MPI.COMM_TYPE_SHARED)
        return bool(part), part.remote_size if part else 0, world_ranks(node.remote_group)

    outcome = run(main, 4, cost=fakempi.TwoLevel(placement=["a", "b", "b", "a"]))
    assert outcome == [(True, 1, [3]), (True, 1, [2]), (True, 2, [1]), (False, 0, [0])]


def test_create_reduces_each_side_to_a_group() -> None:
    """The group has ranks of its own side; others get null, and all do if one side is empty."""

    def main(comm: Any) -> Any:
        inter, side = joined(comm, 2)
        part = inter.Create(inter.Get_group().Incl([1] if side == 0 else [2, 0]))
        none = inter.Create(inter.Get_group() if side else MPI.GROUP_EMPTY)
        groups = (world_ranks(part.Get_group()), world_ranks(part.remote_group)) if part else None
        return type(part) is MPI.Intercomm, groups, bool(none)

    left, right = [1], [4, 2]
    groups = [None, (left, right), (right, left), None, (right, left)]
    assert run(main, 5) == [(True, group, False) for group in groups]


def test_create_rejects_a_group_of_the_other_side() -> None:
    """All ranks of a side must pass the same group."""

    def main(comm: Any) -> None:
        inter, side = joined(comm, 2)
        if side == 0:
            words = f"Create on rank {comm.rank}: the group has world rank 2, which is not in the communicator."
            with fails(words, MPI.ERR_GROUP):
                inter.Create(inter.Get_remote_group())
        words = "Create: the ranks of one side of an intercommunicator pass different groups."
        with fails(words, MPI.ERR_NOT_SAME):
            inter.Create(inter.Get_group().Incl([inter.rank]))

    run(main, 3)


# -- merging -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("high", "order"), [(0, [2, 3, 4, 0, 1]), (1, [0, 1, 2, 3, 4])])
def test_merge_puts_the_high_side_last(backend: Any, high: int, order: list[int]) -> None:
    """In the old order on each side."""

    def main(comm: Any) -> Any:
        inter, side = joined(comm, 2)
        merged = inter.Merge(high=side == high)
        dest, source = (merged.rank + 1) % merged.size, (merged.rank - 1) % merged.size
        around = merged.sendrecv(comm.rank, dest, source=source)
        return type(merged) is MPI.Intracomm, world_ranks(merged.Get_group()), merged.rank, around

    expected = [(True, order, order.index(rank), order[order.index(rank) - 1]) for rank in range(5)]
    assert run(main, 5, backend) == expected


@pytest.mark.parametrize("high", [False, True])
def test_merge_with_equal_flags_keeps_the_sides_together(high: bool) -> None:
    """Either may be first, but all ranks agree."""

    def main(comm: Any) -> Any:
        inter, _ = joined(comm, 2)
        return world_ranks(inter.Merge(high).Get_group())

    outcome = run(main, 3)
    assert outcome[0] in ([0, 1, 2], [2, 0, 1])
    assert outcome == [outcome[0]] * 3


def test_merge_rejects_different_flags_on_one_side() -> None:
    """The ranks of a side must agree on `high`."""

    def main(comm: Any) -> None:
        inter, _ = joined(comm, 2)
        with fails("Merge: the ranks of one side disagree on `high`.", MPI.ERR_NOT_SAME):
            inter.Merge(comm.rank == 1)

    run(main, 3)


def test_merged_and_split_again() -> None:
    """The parts are the old sides."""

    def main(comm: Any) -> Any:
        inter, side = joined(comm, 2)
        merged = inter.Merge(bool(side))
        again = merged.Split(side)
        return again.Get_group().Compare(inter.Get_group()) == MPI.IDENT

    assert run(main, 4) == [True] * 4


# -- handles and attributes ----------------------------------------------------------------------------------------


def test_errors_are_exceptions_on_derived_communicators() -> None:
    """As in mpi4py: no communicator inherits an error handler."""

    def main(comm: Any) -> Any:
        inter, side = joined(comm, 1)
        inter.Set_errhandler(MPI.ERRORS_ARE_FATAL)
        made = [inter.Dup(), inter.Split(0), inter.Create(inter.Get_group()), inter.Merge(bool(side))]
        return [each.Get_errhandler() == MPI.ERRORS_RETURN for each in made]

    assert run(main, 2) == [[True] * 4] * 2


def test_attributes_and_names() -> None:
    """As on any communicator."""

    def main(comm: Any) -> Any:
        inter, _ = joined(comm, 1)
        key = MPI.Comm.Create_keyval(lambda what, keyval, value: value + 1)
        inter.Set_attr(key, comm.rank)
        MPI.Intercomm(inter).name = "bridge"
        return inter.name, inter.Dup().Get_attr(key)

    assert run(main, 2) == [("bridge", 1), ("bridge", 2)]


def test_handles_of_an_intercommunicator() -> None:
    """A plain handle has its methods; an intracommunicator is rejected."""

    def main(comm: Any) -> Any:
        inter, _ = joined(comm, 1)
        plain = MPI.Comm(inter)
        words = f"Intercomm on rank {comm.rank}: expecting an intercommunicator, not an intracommunicator."
        with fails(words, MPI.ERR_COMM, TypeError):
            MPI.Intercomm(comm)
        part = plain.Split(0)
        same = MPI.Intercomm(plain) == inter == MPI.Intercomm.fromhandle(inter.handle)
        return same, type(part) is MPI.Comm, part.Is_inter(), plain.sendrecv(comm.rank, 0, source=0)

    assert run(main, 2) == [(True, True, True, 1), (True, True, True, 0)]


def test_a_freed_intercommunicator_is_null() -> None:
    """Its calls raise."""

    def main(comm: Any) -> Any:
        inter, _ = joined(comm, 1)
        inter.Free()
        words = f"Get_remote_size on rank {comm.rank}: the communicator is null: it was freed, or this rank is not in it."
        with fails(words, MPI.ERR_COMM):
            inter.Get_remote_size()
        return inter == MPI.COMM_NULL

    assert run(main, 2) == [True, True]
