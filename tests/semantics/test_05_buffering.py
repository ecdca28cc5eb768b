"""Rule 5: buffering. Up to the eager limit a message does not wait for its receive; a larger one does."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import fakempi
from fakempi import MPI, Hockney, LogGP, TwoLevel, compute, phantom
from tests.helpers.loops import for_each


def late_receiver(comm: Any, nbytes: int) -> float:
    """Rank 0 sends at 0, rank 1 receives at 100."""
    if comm.rank == 0:
        comm.Send(phantom(nbytes), 1)
    else:
        compute(100)
        comm.Recv(phantom(nbytes), 0)
    return MPI.Wtime()


def head_to_head(comm: Any, nbytes: int) -> None:
    """Both send before they receive: unsafe in MPI."""
    comm.Send(phantom(nbytes), 1 - comm.rank)
    comm.Recv(phantom(nbytes), 1 - comm.rank)


@pytest.mark.parametrize(("nbytes", "clocks"), [(9, [9, 100]), (10, [10, 100]), (11, [111, 111])])
def test_the_limit_is_the_largest_eager_message(backend: Any, nbytes: int, clocks: list[int]) -> None:
    """At most this number of bytes."""
    cost = Hockney(t_s=0, t_w=1, eager_limit=10)
    assert fakempi.run(late_receiver, 2, nbytes, cost=cost, backend=backend).returns == clocks


def test_the_default_limit_is_64_kib(backend: Any) -> None:
    """Typical of real libraries."""
    fakempi.run(head_to_head, 2, 65536, backend=backend)
    with pytest.raises(fakempi.DeadlockError):
        fakempi.run(head_to_head, 2, 65537, backend=backend)


@for_each("nbytes", [0, 1, 100])
@for_each("cost", [Hockney(eager_limit=0), LogGP(eager_limit=0), TwoLevel(eager_limit=0)])
def test_with_a_limit_of_zero_every_unsafe_send_deadlocks(backend: Any, cost: fakempi.CostModel, nbytes: int) -> None:
    """Even an empty message."""
    with pytest.raises(fakempi.DeadlockError) as caught:
        fakempi.run(head_to_head, 2, nbytes, cost=cost, backend=backend)
    assert [one.call for one in caught.value.blocked] == ["Send", "Send"]


def test_objects_have_the_size_of_their_pickle(backend: Any) -> None:
    """Small objects are eager, large ones are not."""

    def main(comm: Any, text: str) -> Any:
        comm.send(text, 1 - comm.rank)
        return comm.recv(source=1 - comm.rank)

    assert fakempi.run(main, 2, "x" * 60_000, backend=backend).returns == ["x" * 60_000] * 2
    with pytest.raises(fakempi.DeadlockError):
        fakempi.run(main, 2, "x" * 70_000, backend=backend)


def test_an_eager_message_holds_its_receivers_port_although_no_receive_is_posted(backend: Any) -> None:
    """Only the waiting differs."""

    def main(comm: Any) -> float:
        if comm.rank == 0:
            compute(1000)
            for _ in range(2):
                comm.Recv(phantom(10))
        else:
            comm.Send(phantom(10), 0)
        return MPI.Wtime()

    cost = Hockney(t_s=0, t_w=1)
    assert fakempi.run(main, 3, cost=cost, backend=backend).returns == [1000, 10, 20]


def test_an_eager_message_is_stored_at_the_receiver(backend: Any) -> None:
    """A probe finds it when the whole message has arrived, not before."""

    def main(comm: Any) -> Any:
        if comm.rank == 0:
            comm.Send(phantom(10), 1)
            return None
        early = comm.Iprobe(0)
        compute(9)
        almost = comm.Iprobe(0)
        compute(1)
        return early, almost, comm.Iprobe(0)

    assert fakempi.run(main, 2, cost=Hockney(0, 1), backend=backend).returns[1] == (False, False, True)


@pytest.mark.parametrize(("when", "found"), [(0, 10), (4, 10), (10, 10), (12, 12)])
def test_a_probe_waits_until_the_whole_message_has_arrived(backend: Any, when: int, found: int) -> None:
    """Whether it has not been sent, is in transit, or has arrived."""

    def main(comm: Any) -> float:
        if comm.rank == 0:
            comm.Send(phantom(10), 1)
        else:
            compute(when)
            comm.Probe(0)
        return MPI.Wtime()

    assert fakempi.run(main, 2, cost=Hockney(0, 1), backend=backend).returns[1] == found


def test_a_synchronous_send_waits_for_any_size_and_a_buffered_one_never_does(backend: Any) -> None:
    """Ssend of one byte; Bsend of a megabyte."""

    def main(comm: Any) -> float:
        if comm.rank == 0:
            comm.Ssend(phantom(1), 1)
            MPI.Attach_buffer(bytearray(10_000))
            comm.Bsend(bytearray(1000), 1)
            return MPI.Wtime()
        compute(100)
        comm.Recv(phantom(1), 0)
        compute(100)
        comm.Recv(bytearray(1000), 0)
        return MPI.Wtime()

    assert fakempi.run(main, 2, cost=Hockney(0, 1, eager_limit=10), backend=backend).returns == [101, 1101]


@pytest.mark.parametrize("eager_limit", [0, 1000], ids=["synchronous", "eager"])
def test_later_changes_of_the_send_buffer_are_not_received(backend: Any, eager_limit: int) -> None:
    """After a send has completed, its buffer can be reused, even if the message has not been received."""

    def main(comm: Any) -> Any:
        buffer = np.arange(4.0)
        if comm.rank == 0:
            comm.Send(buffer, 1)
            buffer[:] = -1
            request = comm.Isend(buffer, 1)
            request.Wait()
            buffer[:] = -2
            request = comm.Isend(buffer, 1)
            while not request.Test():
                compute(1)
            buffer[:] = -3
            return None
        compute(1)
        found = []
        for _ in range(3):
            comm.Recv(buffer, 0)
            compute(1)
            found.append(buffer.tolist())
        return found

    expected = [[0, 1, 2, 3], [-1] * 4, [-2] * 4]
    assert fakempi.run(main, 2, cost=Hockney(eager_limit=eager_limit), backend=backend).returns[1] == expected


def test_an_object_is_received_as_it_was_when_it_was_sent(backend: Any) -> None:
    """Later changes on one side are not visible on the other."""

    def main(comm: Any) -> Any:
        thing = {"numbers": [1, 2]}
        if comm.rank == 0:
            request = comm.isend(thing, 1)
            thing["numbers"].append(3)
            request.wait()
            comm.recv(source=1)
        else:
            compute(1)
            thing = comm.recv(source=0)
            thing["numbers"].append(4)
            comm.send(None, 0)
        return thing["numbers"]

    assert fakempi.run(main, 2, backend=backend).returns == [[1, 2, 3], [1, 2, 4]]
