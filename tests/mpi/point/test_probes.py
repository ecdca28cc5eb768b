"""Probes: finding a message before it is received, and matched probes."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest

import fakempi
from fakempi import MPI
from tests.helpers.runs import fails, run

NO_BUFFER: Any = None  # accepted where nothing is transferred, as by mpi4py, whose stubs do not mention it

@pytest.mark.parametrize("limit", [0, 1 << 16])
def test_probe_waits_for_a_message_and_keeps_it(backend: Any, limit: int) -> None:
    """Its size is known before a buffer exists, whether it is eager or not."""

    def main(comm: Any) -> Any:
        if comm.rank == 0:
            fakempi.compute(1)
            comm.Send(np.arange(5.0), 1, 3)
            return None
        status = MPI.Status()
        answer = comm.Probe(MPI.ANY_SOURCE, MPI.ANY_TAG, status)
        received = np.zeros(status.Get_count(MPI.DOUBLE))
        comm.Recv(received, status.source, status.tag)
        return answer, status.source, status.tag, received.tolist()

    cost = fakempi.Hockney(eager_limit=limit)
    assert run(main, 2, backend, cost=cost)[1] == (True, 0, 3, [0.0, 1.0, 2.0, 3.0, 4.0])


def test_probe_finds_the_message_that_recv_would_match() -> None:
    """The first match, by tag and source; probing changes nothing."""

    def main(comm: Any) -> Any:
        if comm.rank:
            fakempi.compute(comm.rank)
            for tag in (5, 6):
                comm.send(comm.rank * 10 + tag, 0, tag)
            return None
        fakempi.compute(10)
        status, seen = MPI.Status(), []
        for source, tag in ((MPI.ANY_SOURCE, MPI.ANY_TAG), (2, MPI.ANY_TAG), (MPI.ANY_SOURCE, 6), (2, 6)):
            for _ in range(2):
                comm.probe(source, tag, status)
                seen.append((status.source, status.tag))
        received = [comm.recv(source=2, tag=6), comm.recv(tag=6), comm.recv(), comm.recv()]
        return seen[::2] == seen[1::2], seen[::2], received

    assert run(main, 3)[0] == (True, [(1, 5), (2, 5), (1, 6), (2, 6)], [26, 16, 15, 25])


def test_iprobe_does_not_wait() -> None:
    """It returns False and leaves the status unchanged if there is no message."""

    def main(comm: Any) -> Any:
        status = MPI.Status()
        status.tag = 77
        early = comm.Iprobe(0, 3, status), status.tag
        comm.send("x", 0, 3)
        return early, comm.iprobe(0, 4, status), comm.Iprobe(0, 3, status), status.tag, comm.recv(), comm.Iprobe()

    assert run(main, 1) == [((False, 77), False, True, 3, "x", False)]


@pytest.mark.parametrize("look", ["Iprobe", "Improbe"])
def test_polling_with_probes_ends_when_the_message_arrives(backend: Any, look: str) -> None:
    """Although no other rank acts: time advances until the message has arrived."""

    def main(comm: Any) -> float:
        if comm.rank == 0:
            comm.Isend(b"12", 1).Free()
        else:
            while not getattr(comm, look)():
                pass
        return MPI.Wtime()

    assert run(main, 2, backend, cost=fakempi.Hockney(t_s=1.0, t_w=0.5)) == [0.0, 2.0]


def test_endless_probing_is_a_livelock() -> None:
    """An endless wait is a deadlock."""

    def polls(comm: Any) -> None:
        while not comm.Iprobe():
            pass

    with pytest.raises(fakempi.LivelockError, match="^livelock at t = 0 s: the only rank "):
        run(polls, 1)
    with pytest.raises(fakempi.DeadlockError, match="^deadlock at t = 0 s: the only rank "):
        run(lambda comm: comm.Probe(), 1)


# -- matched probes ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("limit", [0, 1 << 16])
@pytest.mark.parametrize("receive", ["Recv", "Irecv"])
def test_a_matched_message_is_received_by_its_handle(backend: Any, receive: str, limit: int) -> None:
    """And only by it: a matching receive takes the next one."""

    def main(comm: Any) -> Any:
        if comm.rank == 0:
            requests = [comm.Isend(bytes([number]), 1, 4) for number in (1, 2)]
            MPI.Request.Waitall(requests)
            return None
        probed, status = MPI.Status(), MPI.Status()
        message = comm.Mprobe(0, 4, probed)
        other, mine = bytearray(1), bytearray(1)
        comm.Recv(other, 0, 4)
        if receive == "Recv":
            message.Recv(mine, status)
        else:
            message.Irecv(mine).Wait(status)
        return other[0], mine[0], probed.tag, status.source, status.tag, status.count, bool(message)

    cost = fakempi.Hockney(eager_limit=limit)
    assert run(main, 2, backend, cost=cost)[1] == (2, 1, 4, 0, 4, 1, False)


@pytest.mark.parametrize("receive", ["recv", "irecv"])
def test_matched_probes_work_for_objects_too(receive: str) -> None:
    """In lower case, with a status."""

    def main(comm: Any) -> Any:
        comm.isend({"a": 1}, 0, 9)
        message, status = comm.mprobe(), MPI.Status()
        received = message.recv(status) if receive == "recv" else message.irecv().wait(status)
        return received, status.tag, message == MPI.MESSAGE_NULL

    assert run(main, 1) == [({"a": 1}, 9, True)]


def test_improbe_returns_a_message_if_there_is_one() -> None:
    """None otherwise; a matched message is not found by other probes."""

    def main(comm: Any) -> Any:
        nothing = comm.Improbe()
        comm.send("x", 0)
        message = comm.improbe()
        return nothing, comm.Iprobe(), message.recv()

    assert run(main, 1) == [(None, False, "x")]


def test_probes_of_the_message_class() -> None:
    """They are the same, with the communicator as an argument."""

    def main(comm: Any) -> Any:
        for thing in "abcd":
            comm.isend(thing, 0)
        fakempi.compute(1)
        kinds = ["Probe", "probe", "Iprobe", "iprobe"]
        messages: list[Any] = [getattr(MPI.Message, probe)(comm, 0, MPI.ANY_TAG) for probe in kinds]
        return [message.recv() for message in reversed(messages)], MPI.Message.Iprobe(comm)

    assert run(main, 1) == [(["d", "c", "b", "a"], None)]


def test_probes_of_proc_null_always_find_a_message() -> None:
    """MESSAGE_NO_PROC, at once; the predefined handle stays valid."""

    def main(comm: Any) -> Any:
        status, received = MPI.Status(), []
        found = comm.Probe(MPI.PROC_NULL), comm.Iprobe(MPI.PROC_NULL, status=status)
        messages = [comm.Mprobe(MPI.PROC_NULL), comm.Improbe(MPI.PROC_NULL)]
        equal = [message == MPI.MESSAGE_NO_PROC for message in messages]
        messages[0].Recv(None)
        received.append(messages[1].recv())
        for _ in range(2):
            received.append(MPI.MESSAGE_NO_PROC.recv(status))
            MPI.MESSAGE_NO_PROC.Irecv(NO_BUFFER).Wait()
        over = [message == MPI.MESSAGE_NULL for message in messages]
        return found, equal, received, over, status.source == MPI.PROC_NULL, status.tag, status.count

    facts = ((True, True), [True, True], [None] * 3, [True, True], True, MPI.ANY_TAG, 0)
    assert run(main, 1) == [facts]


# -- handles -------------------------------------------------------------------------------------------------------


def test_copies_of_a_message_are_one_message() -> None:
    """After one receive both are null."""

    def main(comm: Any) -> Any:
        comm.isend("x", 0)
        comm.isend("y", 0)
        message, other = comm.mprobe(), comm.mprobe()
        same = MPI.Message(message), MPI.Message.fromhandle(message.handle)
        equal = [each == message for each in (*same, other)]
        received = same[0].recv()
        message.free()
        return equal, received, bool(message), bool(same[1]), other.recv()

    assert run(main, 1) == [([True, True, False], "x", False, False, "y")]


def test_predefined_messages_are_ordinary_handles() -> None:
    """They can be converted to integers, pickled and copied; other objects are rejected."""
    for message in (MPI.MESSAGE_NULL, MPI.MESSAGE_NO_PROC):
        assert MPI.Message(message) == message
        assert MPI.Message.fromint(message.toint()) == message
        assert pickle.loads(pickle.dumps(message)) is message
        assert copy.deepcopy(message) is message
        assert pickle.loads(pickle.dumps(MPI.Message(message))) == message
    assert not MPI.MESSAGE_NULL
    assert MPI.MESSAGE_NO_PROC
    with fails("Message: cannot create a Message from 'x'.", MPI.ERR_REQUEST, TypeError):
        MPI.Message("x")  # type: ignore[arg-type]


# -- errors --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("call", ["Recv", "Irecv", "recv", "irecv"])
def test_a_message_can_be_received_once(call: str) -> None:
    """Afterwards it is null."""

    def main(comm: Any) -> None:
        comm.isend("x", 0)
        message = comm.Mprobe()
        message.recv()
        arguments = (bytearray(1),) if call in ("Recv", "Irecv") else ()
        for null in (message, MPI.MESSAGE_NULL):
            words = f"{call} on rank 0: the message is null: it has already been received."
            with fails(words, MPI.ERR_REQUEST):
                getattr(null, call)(*arguments)

    run(main, 1)


def test_a_message_that_does_not_fit_raises() -> None:
    """Like any other."""

    def main(comm: Any) -> None:
        comm.Isend(b"12", 0, 3)
        words = (
            "Recv on rank 0: message truncated, 2 bytes arrived from rank 0 (tag 3) but the buffer holds 1. Rank 0 sent "
            f"2 bytes by Isend at test_probes.py:{main.__code__.co_firstlineno + 1}; this receive takes 1 byte."
        )
        with fails(words, MPI.ERR_TRUNCATE):
            comm.Mprobe().Recv(bytearray(1))

    run(main, 1)


def test_a_message_cannot_be_pickled() -> None:
    """It is meaningless in another process."""

    def main(comm: Any) -> None:
        comm.isend("x", 0)
        words = "Message on rank 0: a Message cannot be pickled: it is only valid in this process."
        with fails(words, MPI.ERR_REQUEST, ValueError):
            pickle.dumps(comm.Mprobe())

    run(main, 1)


def test_a_synchronous_send_whose_message_was_only_matched_waits() -> None:
    """Until it is received, which never happens here."""

    def main(comm: Any) -> None:
        if comm.rank == 0:
            comm.Ssend(b"x", 1)
        else:
            comm.Mprobe(0)

    with pytest.raises(fakempi.DeadlockError, match=r"rank 0: Ssend\(dest=1"):
        run(main, 2)
