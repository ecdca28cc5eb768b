"""Sessions: process sets by name, their groups, and communicators created from groups."""

from __future__ import annotations

import pickle
from typing import Any

import pytest

import fakempi
from fakempi import MPI


def test_a_program_without_comm_world(backend: Any) -> None:
    """Process sets, a group, a communicator."""

    def main(comm: Any) -> Any:
        session = MPI.Session.Init()
        names = [session.Get_nth_pset(number) for number in range(session.Get_num_psets())]
        sizes = [session.Get_pset_info(name).Get("mpi_size") for name in names]
        group = session.Create_group("mpi://WORLD")
        world = MPI.Intracomm.Create_from_group(group, "here")
        session.Finalize()
        total = world.allreduce(world.rank)
        assert world.Compare(comm) == MPI.CONGRUENT
        assert session == MPI.SESSION_NULL
        return names, sizes, total, type(world) is MPI.Intracomm

    names = ["mpi://WORLD", "mpi://SELF", "fakempi://NODE"]
    assert fakempi.run(main, 4, backend=backend).returns == [(names, ["4", "1", "4"], 6, True)] * 4


def test_a_process_set_has_the_ranks_of_a_node() -> None:
    """According to the placement of the cost model."""

    def main(comm: Any) -> Any:
        group = MPI.Group.Create_from_session_pset(MPI.Session.Init(), "fakempi://NODE")
        node = MPI.Intracomm.Create_from_group(group)
        return node.allgather(comm.rank)

    assert fakempi.run(main, 5, cost=fakempi.TwoLevel(2)).returns == [[0, 1], [0, 1], [2, 3], [2, 3], [4]]


def test_two_groups_create_an_intercommunicator() -> None:
    """With a tag; other pairs at the same time."""

    def main(comm: Any) -> Any:
        group, half = comm.Get_group(), comm.size // 2
        low, high = group.Incl(range(half)), group.Incl(range(half, comm.size))
        mine, other = (low, high) if comm.rank < half else (high, low)
        inter = MPI.Intercomm.Create_from_groups(mine, 0, other, 0, "halves")
        return inter.rank, inter.remote_size, inter.allgather(comm.rank)

    assert fakempi.run(main, 5).returns == [
        (0, 3, [2, 3, 4]), (1, 3, [2, 3, 4]), (0, 2, [0, 1]), (1, 2, [0, 1]), (2, 2, [0, 1]),
    ]  # fmt: skip


def test_tags_distinguish_calls() -> None:
    """Calls with different tags do not match, and the report names the missing ranks."""

    def main(comm: Any) -> None:
        MPI.Intracomm.Create_from_group(comm.Get_group(), f"{comm.rank // 2}")

    with pytest.raises(fakempi.DeadlockError, match=r"ranks 0-1: Create_from_group\(waits for ranks 2-3\)"):
        fakempi.run(main, 4)


def test_error_handler_and_info_can_be_given_at_creation() -> None:
    """For the session, and for the communicator."""

    def main(comm: Any) -> Any:
        seen: list[Any] = []
        handler = MPI.Session.Create_errhandler(lambda session, code: seen.append((bool(session), code)))
        session = MPI.Session.Init(MPI.Info.Create({"a": "b"}), handler)
        words = r"^Create_group on rank 0: there is no process set 'x'; there are mpi://WORLD, "
        with pytest.raises(MPI.Exception, match=words):
            session.Create_group("x")
        made = MPI.Intracomm.Create_from_group(
            session.Create_group("mpi://SELF"), info=MPI.Info.Create({"k": "v"}), errhandler=MPI.ERRORS_ARE_FATAL
        )
        assert made.Get_errhandler() == MPI.ERRORS_ARE_FATAL
        assert MPI.Session(session) == session
        return seen, session.Get_info().Get("a"), made.Get_info().Get("k")

    assert fakempi.run(main, 1).returns == [([(True, MPI.ERR_ARG)], "b", "v")]


def test_invalid_arguments_are_rejected() -> None:
    """A null session, a rank outside its group, groups that overlap, a leader that does not exist."""

    def main(comm: Any) -> None:
        if comm.rank:
            return
        with pytest.raises(MPI.Exception, match=r"^Get_num_psets on rank 0: the session is null: not initialized, "):
            MPI.SESSION_NULL.Get_num_psets()
        with pytest.raises(ValueError, match="a Session cannot be pickled"):
            pickle.dumps(MPI.Session.Init())
        group = comm.Get_group()
        with pytest.raises(MPI.Exception, match=r"^Create_from_group on rank 0: this rank is not in the group\.$"):
            MPI.Intracomm.Create_from_group(group.Incl([1]))
        words = r"^Create_from_groups on rank 0: the two groups overlap: rank 1 is in both\.$"
        with pytest.raises(MPI.Exception, match=words):
            MPI.Intercomm.Create_from_groups(group, 0, group.Incl([1]), 0)
        with pytest.raises(MPI.Exception, match=r"^Create_from_groups on rank 0: remote leader 1 is not in 0\.\.0\.$"):
            MPI.Intercomm.Create_from_groups(group.Incl([0]), 0, group.Incl([1]), 1)

    fakempi.run(main, 2)


def test_a_session_that_is_never_finalized_is_found() -> None:
    """Like MPI after an explicit Init."""
    (one,) = fakempi.run(lambda comm: MPI.Session.Init(), 2).findings
    assert (one.kind, one.ranks, one.sentence) == ("missing-finalize", (0, 1), "the session was never finalized")
    assert not fakempi.run(lambda comm: MPI.Session.Init().Finalize(), 2).findings
