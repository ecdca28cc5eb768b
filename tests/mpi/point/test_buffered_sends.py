"""Buffered sends: attached memory, how it fills and empties, per rank and per communicator."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import fakempi
from fakempi import MPI
from tests.helpers.runs import fails, run

ROOM = 100 + MPI.BSEND_OVERHEAD
SLOW = fakempi.Hockney(t_s=1.0, t_w=0.0, eager_limit=0)


def test_detach_returns_the_attached_buffer(backend: Any) -> None:
    """The same object; each rank has its own."""

    def main(comm: Any) -> Any:
        memory = bytearray(ROOM + comm.rank)
        MPI.Attach_buffer(memory)
        return MPI.Detach_buffer() is memory

    assert run(main, 3, backend) == [True] * 3


@pytest.mark.parametrize("memory", [MPI.BUFFER_AUTOMATIC, None])
def test_automatic_memory_is_unlimited(memory: Any) -> None:
    """Detach returns BUFFER_AUTOMATIC."""

    def main(comm: Any) -> Any:
        MPI.Attach_buffer(memory)
        for number in range(3):
            comm.Bsend(np.full(10_000, number), 0)
        received = np.zeros(10_000, int)
        seen = []
        for _ in range(3):
            comm.Recv(received)
            seen.append(int(received[-1]))
        return seen, MPI.Detach_buffer() is MPI.BUFFER_AUTOMATIC

    assert run(main, 1) == [([0, 1, 2], True)]


def test_the_default_buffer_has_no_bytes() -> None:
    """It can be flushed and detached, but no message fits."""

    def main(comm: Any) -> Any:
        MPI.Flush_buffer()
        MPI.Iflush_buffer().Wait()
        comm.Flush_buffer()
        with fails("Bsend on rank 0: no buffer is attached; call MPI.Attach_buffer first.", MPI.ERR_BUFFER):
            comm.Bsend(b"x", 0)
        of_rank: Any = MPI.Detach_buffer()
        of_comm: Any = comm.Detach_buffer()
        return len(of_rank), len(of_comm)

    assert run(main, 1) == [(0, 0)]


def test_a_buffer_fills_up_and_empties() -> None:
    """Messages take their size and the overhead, until they have been sent."""

    def main(comm: Any) -> Any:
        MPI.Attach_buffer(bytearray(2 * ROOM))
        comm.Bsend(bytes(100), 0)
        comm.Bsend(bytes(100), 0)
        overhead = MPI.BSEND_OVERHEAD
        words = (
            f"Bsend on rank 0: the attached buffer of {2 * ROOM} bytes is too small: {2 * ROOM} bytes are in use and "
            f"the message needs 0 + {overhead} (BSEND_OVERHEAD)."
        )
        with fails(words, MPI.ERR_BUFFER):
            comm.Bsend(b"", 0)
        MPI.Flush_buffer()
        comm.Bsend(bytes(100), 0)
        return MPI.Wtime()

    assert run(main, 1, cost=SLOW) == [2.0]


def test_detach_waits_until_all_messages_have_been_sent() -> None:
    """One message after the other through the port."""

    def main(comm: Any) -> Any:
        MPI.Attach_buffer(MPI.BUFFER_AUTOMATIC)
        for _ in range(3):
            comm.Bsend(b"x", 0)
        before = MPI.Wtime()
        MPI.Detach_buffer()
        return before, MPI.Wtime()

    assert run(main, 1, cost=SLOW) == [(0.0, 3.0)]


def test_iflush_completes_when_the_buffer_is_empty() -> None:
    """An ordinary request, for a rank and for a communicator."""

    def main(comm: Any) -> Any:
        MPI.Attach_buffer(MPI.BUFFER_AUTOMATIC)
        comm.bsend("x", 0)
        request = MPI.Iflush_buffer()
        early = request.Test()
        request.Wait()
        mine = comm.Dup()
        mine.Attach_buffer(MPI.BUFFER_AUTOMATIC)
        mine.bsend("x", 0)
        mine.Iflush_buffer().Wait()
        return early, MPI.Wtime()

    assert run(main, 1, cost=SLOW) == [(False, 2.0)]


def test_several_calls_may_wait_for_the_same_buffer() -> None:
    """Two flushes, and then a detach."""

    def main(comm: Any) -> Any:
        MPI.Attach_buffer(MPI.BUFFER_AUTOMATIC)
        for _ in range(3):
            comm.Bsend(b"x", 0)
        requests = [MPI.Iflush_buffer(), MPI.Iflush_buffer()]
        MPI.Detach_buffer()
        MPI.Request.Waitall(requests)
        return MPI.Wtime()

    assert run(main, 1, cost=SLOW) == [3.0]


def test_the_buffer_of_a_communicator_takes_precedence() -> None:
    """The rank's buffer serves other communicators."""

    def main(comm: Any) -> Any:
        mine, small = comm.Dup(), bytearray(MPI.BSEND_OVERHEAD)
        mine.Attach_buffer(small)
        MPI.Attach_buffer(bytearray(ROOM))
        comm.Bsend(bytes(100), 0)
        with pytest.raises(MPI.Exception, match=r"^Bsend on rank 0: the attached buffer of \d+ bytes is too small"):
            mine.Bsend(bytes(100), 0)
        mine.Bsend(b"", 0)
        return mine.Detach_buffer() is small

    assert run(main, 1) == [True]


def test_objects_take_the_size_of_their_pickle() -> None:
    """MPI.pickle determines it."""

    def main(comm: Any) -> Any:
        size = len(MPI.pickle.dumps("text"))
        MPI.Attach_buffer(bytearray(size + MPI.BSEND_OVERHEAD))
        comm.bsend("text", 0)
        with pytest.raises(MPI.Exception, match="^ibsend on rank 0: the attached buffer"):
            comm.ibsend("text.", 0)
        return comm.recv()

    assert run(main, 1) == ["text"]


def test_one_buffer_at_a_time_can_be_attached() -> None:
    """It must be writable memory."""

    def main(comm: Any) -> None:
        with pytest.raises(BufferError, match=r"^Attach_buffer on rank 0: the buffer is a read-only bytes"):
            MPI.Attach_buffer(b"read-only")
        MPI.Attach_buffer(bytearray(ROOM))
        words = "Attach_buffer on rank 0: a buffer is attached already; detach it first."
        with fails(words, MPI.ERR_BUFFER):
            MPI.Attach_buffer(bytearray(ROOM))
        MPI.Detach_buffer()
        MPI.Attach_buffer(bytearray(ROOM))

    run(main, 1)


def test_an_error_handler_is_called_if_the_buffer_is_too_small() -> None:
    """As for any error of a communicator."""

    def main(comm: Any) -> Any:
        mine, codes = comm.Dup(), []
        mine.Set_errhandler(MPI.Comm.Create_errhandler(lambda _, code: codes.append(code)))
        for attached in (False, True):
            if attached:
                MPI.Attach_buffer(bytearray(1))
            with pytest.raises(MPI.Exception, match="attached"):
                mine.Bsend(b"x", 0)
        return codes

    assert run(main, 1) == [[MPI.ERR_BUFFER] * 2]
