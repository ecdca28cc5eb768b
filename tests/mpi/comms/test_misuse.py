"""What belongs to somebody else, or to nobody any more, is refused with a sentence and a place."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import fakempi
from fakempi import MPI


def failure(main: Callable[[Any], Any], nprocs: int = 2, **options: Any) -> fakempi.RankError:
    """How a run fails."""
    with pytest.raises(fakempi.RankError) as caught:
        fakempi.run(main, nprocs, **options)
    return caught.value


# -- where ---------------------------------------------------------------------------------------------------------


def test_a_wrong_argument_is_told_with_its_place(carrier: str) -> None:
    """The failure of the run says file and line, as all findings do; the error itself knows it."""

    def main(comm: Any) -> None:
        if comm.Get_rank() == 1:
            comm.Send(np.zeros(1), 0, tag=-5)

    place = f"test_misuse.py:{main.__code__.co_firstlineno + 2}"
    error = failure(main, carrier=carrier)
    assert str(error) == f"rank 1 failed with MPIError: Send on rank 1: tag -5 is not in 0..2147483647. ({place})"
    assert isinstance(error.exception, MPI.Exception)
    assert error.exception.place == place


def test_a_place_that_is_in_the_sentence_is_not_told_twice() -> None:
    """As where ranks call different things."""

    def main(comm: Any) -> None:
        comm.Barrier() if comm.Get_rank() else comm.Bcast(np.zeros(1))

    place = f"test_misuse.py:{main.__code__.co_firstlineno + 1}"
    assert str(failure(main)).count(f"this rank calls Barrier at {place}") == 1
    assert not str(failure(main)).endswith(f"({place})")


def test_other_errors_are_told_as_they_are() -> None:
    """Their traceback has the place."""

    def main(comm: Any) -> None:
        raise ValueError("no")

    assert str(failure(main, 1)) == "rank 0 failed with ValueError: no"
    assert MPI.Exception(MPI.ERR_TAG).place is None


# -- communicators -------------------------------------------------------------------------------------------------


def test_a_communicator_that_was_freed_through_another_handle_is_null() -> None:
    """All handles of a rank are, and those of other ranks are not."""

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


def test_what_was_begun_on_a_freed_communicator_goes_on() -> None:
    """Whichever handle it was begun and freed through."""

    def main(comm: Any) -> Any:
        first = comm.Dup()
        second = MPI.Comm(first)
        peer, data = 1 - comm.Get_rank(), np.zeros(1)
        requests = [second.Irecv(data, peer), second.Isend(np.array([peer + 1.0]), peer)]
        first.Free()
        MPI.Request.Waitall(requests)
        return float(data[0])

    assert fakempi.run(main, 2).returns == [1.0, 2.0]


def test_ranks_that_create_with_different_groups_are_told(carrier: str) -> None:
    """All members of a group must give it."""

    def main(comm: Any) -> None:
        group = comm.Get_group()
        comm.Create(group.Incl([0, 1]) if comm.Get_rank() != 1 else group.Incl([1, 0]))

    words = "Create: rank 0 gives a group of 2 ranks, among them rank 1, which gives another one (2 ranks): all ranks of"
    assert words in str(failure(main, 3, carrier=carrier))


def test_ranks_may_create_groups_that_do_not_meet() -> None:
    """Each its own; who is in none gives the empty one, or any other."""

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
def test_the_request_of_another_rank_is_refused(way: str) -> None:
    """Ranks share globals here, which they do not on a real MPI."""
    kept: dict[int, Any] = {}

    def main(comm: Any) -> None:
        kept[comm.Get_rank()] = comm.irecv(source=1)
        comm.Barrier()
        if comm.Get_rank() == 1:
            WAYS[way](kept[0])

    words = "on rank 1: the request belongs to rank 0: was it kept in a global, which all ranks share?"
    assert words in str(failure(main))
