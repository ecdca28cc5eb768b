"""Handles of other ranks and freed handles are rejected with a message and a line."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import fakempi
from fakempi import MPI


def failure(main: Callable[[Any], Any], nprocs: int = 2, **options: Any) -> fakempi.RankError:
    """The failure of a run."""
    with pytest.raises(fakempi.RankError) as caught:
        fakempi.run(main, nprocs, **options)
    return caught.value


# -- places --------------------------------------------------------------------------------------------------------


def test_a_wrong_argument_is_reported_with_its_line(backend: Any) -> None:
    """The failure has file and line, like all findings; the error has them, too."""

    def main(comm: Any) -> None:
        if comm.Get_rank() == 1:
            comm.Send(np.zeros(1), 0, tag=-5)

    place = f"test_misuse.py:{main.__code__.co_firstlineno + 2}"
    error = failure(main, backend=backend)
    assert str(error) == f"rank 1 failed with MPIError: Send on rank 1: tag -5 is not in 0..2147483647. ({place})"
    assert isinstance(error.exception, MPI.Exception)
    assert error.exception.place == place


def test_a_line_in_the_message_is_not_repeated() -> None:
    """For example if ranks make different calls."""

    def main(comm: Any) -> None:
        comm.Barrier() if comm.Get_rank() else comm.Bcast(np.zeros(1))

    place = f"test_misuse.py:{main.__code__.co_firstlineno + 1}"
    assert str(failure(main)).count(f"this rank calls Barrier at {place}") == 1
    assert not str(failure(main)).endswith(f"({place})")


def test_other_errors_are_unchanged() -> None:
    """Their traceback has the place."""

    def main(comm: Any) -> None:
        raise ValueError("no")

    assert str(failure(main, 1)) == "rank 0 failed with ValueError: no"
    assert MPI.Exception(MPI.ERR_TAG).place is None


# -- communicators -------------------------------------------------------------------------------------------------


def test_a_communicator_that_was_freed_through_another_handle_is_null() -> None:
    """So are all handles of this rank; handles of other ranks are not."""

    def main(comm: Any) -> Any:
        first = comm.Dup()
        second, third = MPI.Comm(first), MPI.Intracomm(first)
        comm.Barrier()
        if comm.Get_rank() == 0:
            third.Free()
        alive = [bool(each) for each in (first, second, third)]
        if comm.Get_rank() == 0:
            for handle, call in ((first, "Send"), (second, "send"), (third, "Send")):
                with pytest.raises(MPI.Exception, match="the communicator is null: it was freed, or"):
                    getattr(handle, call)(np.zeros(1), 1)
        else:
            first.Free()
        return alive

    assert fakempi.run(main, 2).returns == [[False] * 3, [True] * 3]


def test_pending_operations_on_a_freed_communicator_continue() -> None:
    """Through any handle."""

    def main(comm: Any) -> Any:
        first = comm.Dup()
        second = MPI.Comm(first)
        peer, data = 1 - comm.Get_rank(), np.zeros(1)
        requests = [second.Irecv(data, peer), second.Isend(np.array([peer + 1.0]), peer)]
        first.Free()
        MPI.Request.Waitall(requests)
        return float(data[0])

    assert fakempi.run(main, 2).returns == [1.0, 2.0]


def test_an_unknown_split_type_is_an_error_of_mpi() -> None:
    """Also between groups; it goes to the communicator's error handler."""

    def main(comm: Any) -> list[Any]:
        local = comm.Split(comm.rank, 0)
        inter = local.Create_intercomm(0, comm, 1 - comm.rank)
        codes: list[int] = []
        handler = MPI.Comm.Create_errhandler(lambda of, code: codes.append(code))
        inter.Set_errhandler(handler)
        handler.Free()
        for each in (comm, inter, MPI.Comm(comm)):
            with pytest.raises(MPI.Exception, match="split type -5 is not valid: use COMM_TYPE_SHARED") as error:
                each.Split_type(-5)
            assert error.value.Get_error_class() == MPI.ERR_ARG
        inter.Free()
        local.Free()
        return codes

    assert fakempi.run(main, 2).returns == [[MPI.ERR_ARG]] * 2


def test_create_with_different_groups_is_reported(backend: Any) -> None:
    """All members of a group must pass it."""

    def main(comm: Any) -> None:
        group = comm.Get_group()
        comm.Create(group.Incl([0, 1]) if comm.Get_rank() != 1 else group.Incl([1, 0]))

    words = "Create: rank 0 passes a group of 2 ranks that contains rank 1, but rank 1 passes a different group, of 2 ranks:"
    assert f"{words} all members of a group must pass that group." in str(failure(main, 3, backend=backend))


def test_ranks_may_create_disjoint_groups() -> None:
    """Each rank passes its own; ranks in no group pass the empty one, or any other."""

    def main(comm: Any) -> Any:
        group, rank = comm.Get_group(), comm.Get_rank()
        made = comm.Create(group.Incl([0, 1] if rank < 2 else [3, 2] if rank < 4 else []))
        again = comm.Create(group.Incl([0, 2]))
        return made.Get_rank() if made else None, again.Get_size() if again else None

    assert fakempi.run(main, 5).returns == [(0, 2), (1, None), (1, 2), (0, None), (None, None)]


# -- requests ------------------------------------------------------------------------------------------------------

WAYS: dict[str, Callable[[Any], Any]] = {
    "Wait": lambda request: request.Wait(),
    "wait": lambda request: request.wait(),
    "Test": lambda request: request.Test(),
    "test": lambda request: request.test(),
    "Waitall": lambda request: MPI.Request.Waitall([MPI.REQUEST_NULL, request]),
    "Waitany": lambda request: MPI.Request.Waitany([request]),
    "Testsome": lambda request: MPI.Request.Testsome([request]),
}


@pytest.mark.parametrize("way", WAYS)
def test_the_request_of_another_rank_is_rejected(way: str) -> None:
    """Ranks share globals here, unlike on a real MPI."""
    kept: dict[int, Any] = {}

    def main(comm: Any) -> None:
        kept[comm.Get_rank()] = comm.irecv(source=1)
        comm.Barrier()
        if comm.Get_rank() == 1:
            WAYS[way](kept[0])

    words = "on rank 1: the request belongs to rank 0: store it in a local variable, not in a global one."
    assert words in str(failure(main))
