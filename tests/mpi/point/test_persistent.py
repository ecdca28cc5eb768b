"""Persistent requests: created once, started repeatedly."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from fakempi import MPI
from tests.helpers.runs import fails, run

SENDS = ["Send_init", "Ssend_init", "Bsend_init", "Rsend_init"]


@pytest.mark.parametrize("call", SENDS)
def test_a_send_and_a_receive_that_are_started_repeatedly(backend: Any, call: str) -> None:
    """Each start sends the current contents of the buffer."""

    def main(comm: Any) -> Any:
        buffer = np.zeros(2)
        if comm.rank == 0:
            MPI.Attach_buffer(MPI.BUFFER_AUTOMATIC)
            request = getattr(comm, call)(buffer, 1, 5)
            for number in range(3):
                buffer[:] = number
                request.Start()
                request.Wait()
            return type(request) is MPI.Prequest, bool(request)
        request, seen, status = comm.Recv_init(buffer, 0, 5), [], MPI.Status()
        for _ in range(3):
            request.Start()
            request.Wait(status)
            seen.append((buffer.tolist(), status.source, status.tag))
        return seen

    assert run(main, 2, backend) == [(True, True), [([float(number)] * 2, 0, 5) for number in range(3)]]


def test_startall_starts_in_order() -> None:
    """Waitall leaves them inactive, not null."""

    def main(comm: Any) -> Any:
        received = [bytearray(1) for _ in range(3)]
        requests = [comm.Recv_init(each, 0) for each in received]
        sends = [comm.Send_init(bytes([number]), 0) for number in range(3)]
        for _ in range(2):
            MPI.Prequest.Startall(requests + sends)
            MPI.Request.Waitall(requests + sends)
        MPI.Prequest.Startall([])
        return [each[0] for each in received], all(requests), MPI.Request.Testall(requests)

    assert run(main, 1) == [([0, 1, 2], True, True)]


def test_persistent_requests_mix_with_others() -> None:
    """Waitany returns each once, and UNDEFINED afterwards."""

    def main(comm: Any) -> Any:
        received = bytearray(1)
        requests = [comm.Recv_init(received, 0, 1), comm.irecv(source=0, tag=2)]
        requests[0].Start()
        comm.send("x", 0, 2)
        comm.Send(b"y", 0, 1)
        taken = [MPI.Request.waitany(requests) for _ in range(3)]
        return taken, bytes(received), [bool(request) for request in requests]

    assert run(main, 1) == [([(1, "x"), (0, None), (MPI.UNDEFINED, None)], b"y", [True, False])]


def test_a_started_receive_can_be_cancelled_and_started_again() -> None:
    """The status of the second round is independent of the first."""

    def main(comm: Any) -> Any:
        received, status = bytearray(1), MPI.Status()
        request = comm.Recv_init(received, 0)
        request.Start()
        request.Cancel()
        request.Wait(status)
        first = status.Is_cancelled()
        request.Start()
        comm.Send(b"x", 0)
        request.Wait(status)
        return first, status.Is_cancelled(), bytes(received)

    assert run(main, 1) == [(True, False, b"x")]


@pytest.mark.parametrize("call", SENDS)
def test_persistent_requests_with_proc_null(call: str) -> None:
    """No buffer is needed."""

    def main(comm: Any) -> Any:
        status = MPI.Status()
        send, receive = getattr(comm, call)(None, MPI.PROC_NULL), comm.Recv_init(None, MPI.PROC_NULL)
        for _ in range(2):
            MPI.Prequest.Startall([send, receive])
            send.Wait()
            receive.Wait(status)
        return status.source == MPI.PROC_NULL, status.tag, status.count, MPI.Wtime()

    assert run(main, 1) == [(True, MPI.ANY_TAG, 0, 0.0)]


def test_requests_outlive_their_communicator(backend: Any) -> None:
    """They can be started after it was freed."""

    def main(comm: Any) -> Any:
        mine, received, other = comm.Dup(), bytearray(1), 1 - comm.rank
        requests = [mine.Recv_init(received, other, 1), mine.Send_init(b"z", other, 1)]
        mine.Free()
        for _ in range(2):
            MPI.Prequest.Startall(requests)
            MPI.Request.Waitall(requests)
        return bytes(received)

    assert run(main, 2, backend) == [b"z"] * 2


def test_a_copy_refers_to_the_same_request() -> None:
    """Active or not; other kinds of requests are rejected."""

    def main(comm: Any) -> Any:
        request, plain = comm.Recv_init(bytearray(1), 0), comm.irecv(source=0)
        same = MPI.Prequest(request) == request == MPI.Prequest.fromhandle(request.handle) == MPI.Request(request)
        with pytest.raises(TypeError, match="^Prequest on rank 0: expecting a persistent request, not "):
            MPI.Prequest(plain)
        plain.Cancel()
        return same, MPI.Prequest(MPI.REQUEST_NULL) == MPI.REQUEST_NULL

    assert run(main, 1) == [(True, True)]


# -- errors --------------------------------------------------------------------------------------------------------


def test_invalid_starts_are_rejected() -> None:
    """Active, freed, and other kinds of requests."""

    def main(comm: Any) -> None:
        request = comm.Recv_init(bytearray(1), 0)
        with fails("Cancel on rank 0: the request is inactive: there is nothing to cancel.", MPI.ERR_REQUEST):
            request.Cancel()
        request.Start()
        words = "Start on rank 0: the request is active: wait for it before it is started again."
        with fails(words, MPI.ERR_REQUEST):
            request.Start()
        request.Cancel()
        request.Wait()
        request.Free()
        words = "Start on rank 0: the request is null: it was freed, or has been waited for."
        with fails(words, MPI.ERR_REQUEST):
            request.Start()
        with pytest.raises(MPI.Exception, match="^Startall on rank 0: the request at index 0 is not persistent: "):
            MPI.Prequest.Startall([MPI.REQUEST_NULL])  # type: ignore[list-item]

    run(main, 1)


@pytest.mark.parametrize("call", SENDS)
def test_invalid_arguments_are_rejected_when_the_request_is_created(call: str) -> None:
    """Not when it is started, possibly elsewhere in the program."""

    def main(comm: Any) -> None:
        for arguments, words, code in (
            ((b"x", 9), "dest 9 is not in 0..0: the communicator has 1 rank.", MPI.ERR_RANK),
            ((b"x", 0, -2), "tag -2 is not in 0..2147483647.", MPI.ERR_TAG),
            ((5, 0), "expecting a buffer or a list like [buffer, count, datatype], not 'int'.", MPI.ERR_BUFFER),
        ):
            with fails(f"{call} on rank 0: {words}", code):
                getattr(comm, call)(*arguments)

    run(main, 1)


def test_invalid_arguments_of_a_receive_are_rejected_as_well() -> None:
    """Source, tag and buffer."""

    def main(comm: Any) -> None:
        words = "source 9 is not in 0..0: the communicator has 1 rank."
        with fails(f"Recv_init on rank 0: {words}", MPI.ERR_RANK):
            comm.Recv_init(bytearray(1), 9)
        words = "the buffer is a read-only bytes: nothing can be received into it."
        with fails(f"Recv_init on rank 0: {words}", MPI.ERR_BUFFER, BufferError):
            comm.Recv_init(b"x")

    run(main, 1)


@pytest.mark.parametrize("call", ["Pready", "Pready_list", "Parrived"])
def test_a_request_without_partitions_is_rejected(call: str) -> None:
    """By calls for partitions."""

    def main(comm: Any) -> None:
        request = comm.Recv_init(bytearray(1))
        with fails(f"{call} on rank 0: the request is not partitioned.", MPI.ERR_REQUEST):
            getattr(request, call)([0] if call == "Pready_list" else 0)

    run(main, 1)
