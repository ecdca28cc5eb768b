"""COMM_WORLD and COMM_SELF: one name for all ranks that refers to the running rank's communicators."""

from __future__ import annotations

import pickle
from typing import Any

import fakempi
from fakempi import MPI
from tests.helpers.runs import run

WORLD, SELF = MPI.COMM_WORLD, MPI.COMM_SELF
"""Bound when this module was imported, as in programs."""


class Mine(MPI.Intracomm):
    """A user-defined communicator class."""


def test_in_a_rank_the_world_is_the_argument_of_main(backend: Any) -> None:
    """The same object; COMM_SELF has one rank."""

    def main(comm: Any) -> Any:
        own = MPI.COMM_SELF
        return MPI.COMM_WORLD is comm, own is MPI.COMM_SELF, own.rank, own.size, own.group.Translate_ranks()

    assert run(main, 3, backend) == [(True, True, 0, 1, [rank]) for rank in range(3)]


def test_names_bound_before_the_run_refer_to_the_running_rank(backend: Any) -> None:
    """For every method of a communicator."""

    def main(comm: Any) -> Any:
        facts = WORLD.rank, WORLD.Get_size(), comm == WORLD, comm == WORLD, bool(WORLD), WORLD.name, SELF.size
        around = WORLD.sendrecv(WORLD.rank, (WORLD.rank + 1) % WORLD.size, source=(WORLD.rank - 1) % WORLD.size)
        return facts, around, WORLD.Compare(comm) == MPI.IDENT, SELF == MPI.COMM_SELF, WORLD == SELF

    expected = [((rank, 3, True, True, True, "MPI_COMM_WORLD", 1), (rank - 1) % 3, True, True, False) for rank in range(3)]
    assert run(main, 3, backend) == expected


def test_predefined_communicators_can_be_duplicated_split_and_joined() -> None:
    """The result is an ordinary communicator of the running rank."""

    def main(comm: Any) -> Any:
        made = [WORLD.Dup(), WORLD.Split(0), WORLD.Create(WORLD.group), SELF.Dup(), WORLD.Idup()[0], MPI.Intracomm(WORLD)]
        kinds = {type(each) for each in made}
        inter = SELF.Create_intercomm(0, WORLD, 1 - WORLD.rank)
        other = inter.sendrecv(WORLD.rank, 0)
        return kinds == {MPI.Intracomm}, [each.size for each in made], other, type(Mine(WORLD)) is Mine

    assert run(main, 2) == [(True, [2, 2, 2, 1, 2, 2], 1 - rank, True) for rank in range(2)]


def test_requests_probes_and_persistent_requests_work_on_predefined_communicators() -> None:
    """As on any handle."""

    def main(comm: Any) -> Any:
        received = bytearray(1)
        requests = [SELF.Recv_init(received, 0), SELF.Send_init(b"x", 0)]
        MPI.Prequest.Startall(requests)
        MPI.Request.Waitall(requests)
        WORLD.isend("y", WORLD.rank, 5)
        return bytes(received), WORLD.mprobe(tag=5).recv()

    assert run(main, 2) == [(b"x", "y")] * 2


def test_properties_of_predefined_communicators_belong_to_each_rank() -> None:
    """Names, attributes, error handlers; they end with the run."""
    key = MPI.Comm.Create_keyval()

    def main(comm: Any) -> Any:
        before = WORLD.name, WORLD.Get_attr(key), WORLD.Get_errhandler() == MPI.ERRORS_RETURN
        WORLD.name = f"world of {WORLD.rank}"
        WORLD.Set_attr(key, comm.rank)
        WORLD.Set_errhandler(MPI.ERRORS_ARE_FATAL)
        return before, comm.name, MPI.COMM_WORLD.Get_attr(key), comm.Get_errhandler() == MPI.ERRORS_ARE_FATAL

    for _ in range(2):
        fresh = ("MPI_COMM_WORLD", None, True)
        assert run(main, 2) == [(fresh, f"world of {rank}", rank, True) for rank in range(2)]


def test_predefined_communicators_can_be_pickled() -> None:
    """Unpickled, they refer to the running rank."""
    packed = pickle.dumps((WORLD, SELF))

    def main(comm: Any) -> Any:
        world, own = pickle.loads(packed)
        again = pickle.loads(pickle.dumps(WORLD))
        return world.rank, own.size, again == comm, world == comm

    assert run(main, 2) == [(rank, 1, True, True) for rank in range(2)]


def test_outside_a_run_they_refer_to_the_singleton() -> None:
    """In each later run they refer to the running rank."""
    assert MPI.COMM_WORLD is WORLD
    assert isinstance(WORLD, MPI.Intracomm)
    assert [repr(WORLD), repr(SELF)] == ["<COMM_WORLD of the running rank>", "<COMM_SELF of the running rank>"]
    assert (WORLD.size, run(lambda comm: WORLD.size, 2), WORLD.size) == (1, [2, 2], 1)


def test_world_and_self_of_a_singleton_are_different() -> None:
    """Two communicators of the same rank."""

    def main(comm: Any) -> Any:
        return comm == MPI.COMM_SELF, comm.Compare(MPI.COMM_SELF) == MPI.CONGRUENT

    assert run(main, 1) == [(False, True)]


def test_each_run_has_a_separate_world() -> None:
    """A nested run, too."""

    def inner(comm: Any) -> Any:
        return WORLD.size, comm.sendrecv(comm.rank, 1 - comm.rank, source=1 - comm.rank)

    def outer(comm: Any) -> Any:
        within = fakempi.run(inner, 2).returns
        return within, WORLD.size, MPI.COMM_WORLD is comm

    assert run(outer, 3) == [([(2, 1), (2, 0)], 3, True)] * 3
