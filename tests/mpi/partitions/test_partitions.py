"""Partitioned communication: partitions of a message are sent when they are ready."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fakempi
from fakempi import MPI


def test_partitions_are_sent_in_the_order_in_which_they_are_ready(backend: Any) -> None:
    """Each takes the time of a message, and the receiver can test each; repeatedly."""

    def main(comm: Any) -> Any:
        data = np.zeros(6)
        seen: list[Any] = []
        if comm.rank == 0:
            request = comm.Psend_init(data, 3, 1, 7)
            for number in range(2):
                request.Start()
                for partition in (2, 0, 1):
                    fakempi.compute(10)
                    data[2 * partition : 2 * partition + 2] = 10 * number + partition
                    request.Pready(partition)
                request.Wait()
                seen.append(bool(request))
            request.Free()
            return seen, bool(request)
        request = comm.Precv_init(data, 3, 0, 7)
        for _ in range(2):
            request.Start()
            fakempi.compute(15)
            seen.append([request.Parrived(partition) for partition in range(3)])
            request.Wait()
            seen.append(data.tolist())
        return seen

    done = fakempi.run(main, 2, backend=backend, cost=fakempi.Hockney(1, 0))
    early = [False, False, True]
    assert done.returns[0] == ([True, True], False)
    assert done.returns[1] == [early, [0, 0, 1, 1, 2, 2], early, [10, 10, 11, 11, 12, 12]]
    assert done.time == 62


@given(parts=st.tuples(st.integers(1, 6), st.integers(1, 6)), each=st.integers(1, 4), late=st.booleans())
def test_both_sides_may_use_different_partitions(parts: tuple[int, int], each: int, late: bool) -> None:
    """Nothing is lost, in any order of calls."""
    size = parts[0] * parts[1] * each

    def main(comm: Any) -> Any:
        if comm.rank == 0:
            fakempi.compute(float(late))
            request = comm.Psend_init(np.arange(size), parts[0], 1)
            request.Start()
            request.Pready_range(0, parts[0] - 1)
            request.Wait()
            return None
        fakempi.compute(float(not late))
        data = np.zeros(size, int)
        request = comm.Precv_init(data, parts[1], 0, 0)
        request.Start()
        while not all(request.Parrived(number) for number in range(parts[1])):
            pass
        request.Wait()
        return data.tolist()

    assert fakempi.run(main, 2).returns[1] == list(range(size))


def test_derived_types_messages_to_self_and_proc_null() -> None:
    """Rows with holes to the same rank, and partitions to PROC_NULL."""

    def main(comm: Any) -> Any:
        pair = MPI.INT.Create_vector(2, 1, 2).Create_resized(0, 16).Commit()
        data, found = np.arange(8, dtype="i"), np.zeros(8, "i")
        requests = [comm.Psend_init([data, 1, pair], 2, 0), comm.Precv_init([found, 1, pair], 2, 0, 0)]
        requests += [comm.Psend_init(None, 4, MPI.PROC_NULL), comm.Precv_init(None, 4, MPI.PROC_NULL, 0)]
        MPI.Prequest.Startall(requests)
        requests[0].Pready_list([1, 0])
        requests[2].Pready(3)
        assert requests[3].Parrived(1)
        MPI.Request.Waitall(requests)
        return found.tolist()

    assert fakempi.run(main, 1).returns == [[0, 0, 2, 0, 4, 0, 6, 0]]


def test_a_send_buffer_may_change_after_completion() -> None:
    """Although it has not been received yet."""

    def main(comm: Any) -> Any:
        data = np.arange(4)
        if comm.rank == 0:
            request = comm.Psend_init(data, 2, 1)
            request.Start()
            request.Pready_range(0, 1)
            request.Wait()
            data[:] = -1
            comm.Barrier()
        else:
            comm.Barrier()
            request = comm.Precv_init(data, 2, 0, 0)
            request.Start()
            request.Wait()
        return data.tolist()

    assert fakempi.run(main, 2).returns[1] == [0, 1, 2, 3]


def test_a_partition_that_is_never_ready_is_a_reported_deadlock() -> None:
    """On both sides."""

    def main(comm: Any) -> None:
        if comm.rank == 0:
            request = comm.Psend_init(np.zeros(4), 4, 1)
            request.Start()
            request.Pready(2)
        else:
            request = comm.Precv_init(np.zeros(4), 4, 0, 0)
            request.Start()
        request.Wait()

    with pytest.raises(fakempi.DeadlockError) as caught:
        fakempi.run(main, 2)
    assert "rank 0: Wait(waits for Pready of partitions 0, 1, 3) at " in str(caught.value)
    assert "rank 1: Wait(waits for partitions 0, 1, 3 of rank 0) at " in str(caught.value)


def test_invalid_arguments_are_rejected() -> None:
    """With the numbers."""

    def main(comm: Any) -> Any:
        send, receive = comm.Psend_init(np.zeros(4), 2, 0), comm.Precv_init(np.zeros(4), 2, 0, 0)
        messages = []
        for call in (
            lambda: send.Pready(0),
            lambda: (send.Start(), send.Pready(0), send.Pready(0)),
            lambda: send.Pready(2),
            lambda: send.Parrived(0),
            lambda: receive.Pready(0),
            lambda: comm.Precv_init(np.zeros(1), 1),
            lambda: comm.Psend_init(np.zeros(1), 0, 0),
            lambda: comm.Psend_init(np.zeros(5), 2, 0),
        ):
            with pytest.raises(MPI.Exception) as caught:
                call()
            messages.append(str(caught.value).partition(" on rank 0: ")[2])
        return messages

    assert fakempi.run(main, 1).returns == [[
        "the request is inactive: call Start first.",
        "partition 0 is already ready: call Pready once for each partition.",
        "partition 2 is not in 0..1.",
        "the request is a send: only the receiver calls Parrived.",
        "the request is a receive: only the sender calls Pready.",
        "a partitioned receive needs a source and a tag: wildcards are not allowed.",
        "partitions 0 is not positive.",
        "cannot infer count, 5 entries are not a multiple of the required 2 blocks.",
    ]]  # fmt: skip


def test_the_class_of_the_error_names_the_argument_that_is_a_wildcard() -> None:
    """The source comes first if both are."""

    def main(comm: Any) -> list[int]:
        classes = []
        for source, tag in ((0, MPI.ANY_TAG), (MPI.ANY_SOURCE, 0), (MPI.ANY_SOURCE, MPI.ANY_TAG), (0, -7), (5, 0)):
            with pytest.raises(MPI.Exception) as caught:
                comm.Precv_init(np.zeros(4), 2, source, tag)
            classes.append(caught.value.Get_error_class())
        return classes

    assert fakempi.run(main, 1).returns == [[MPI.ERR_TAG, MPI.ERR_RANK, MPI.ERR_RANK, MPI.ERR_TAG, MPI.ERR_RANK]]


def test_polling_ends() -> None:
    """When the partition arrives, although nothing else happens until then."""

    def main(comm: Any) -> None:
        send, receive = comm.Psend_init(np.zeros(4), 2, 0), comm.Precv_init(np.zeros(4), 2, 0, 0)
        MPI.Prequest.Startall([send, receive])
        send.Pready(1)
        while not receive.Parrived(1):
            pass
        assert MPI.Wtime() == 1
        assert not receive.Parrived(0)
        send.Pready(0)
        MPI.Request.Waitall([send, receive])

    assert fakempi.run(main, 1, cost=fakempi.Hockney(1, 0)).time == 2


def test_a_status_describes_a_partitioned_receive() -> None:
    """Source, tag and the count of all partitions, by every call that fills a status, as for any other receive."""

    def finish(how: str, request: Any) -> MPI.Status:
        status = MPI.Status(MPI.Status())
        status.source, status.tag = 77, 88
        several = [status]
        if how == "Wait":
            request.Wait(status)
        elif how == "Test":
            while not request.Test(status):
                pass
        elif how == "Get_status":
            while not request.Get_status(status):
                pass
            request.Wait()
        elif how == "Testall":
            while not MPI.Request.Testall([request], several):
                pass
        elif how in ("Waitall", "Waitsome"):
            getattr(MPI.Request, how)([request], several)
        elif how == "Testsome":
            while MPI.Request.Testsome([request], several) == []:
                pass
        elif how == "Testany":
            while MPI.Request.Testany([request], status) == (MPI.UNDEFINED, False):
                pass
        else:
            MPI.Request.Waitany([request], status)
        return several[0]

    def main(comm: Any, how: str) -> list[tuple[int, int, int]]:
        other, found = 1 - comm.rank, []
        if comm.rank == 0:
            request = comm.Psend_init(np.arange(6.0), 3, other, 7)
        else:
            request = comm.Precv_init(np.zeros(12), 2, other, 7)
        for _ in range(2):
            request.Start()
            if comm.rank == 0:
                request.Pready_range(0, 2)
            status = finish(how, request)
            found.append((status.source, status.tag, status.Get_count(MPI.DOUBLE)))
        request.Wait(status)  # inactive
        found.append((status.source, status.tag, status.Get_count(MPI.DOUBLE)))
        request.Free()
        return found

    empty = (MPI.ANY_SOURCE, MPI.ANY_TAG, 0)
    for how in ("Wait", "Test", "Get_status", "Testall", "Waitall", "Waitsome", "Testsome", "Testany", "Waitany"):
        sent, received = fakempi.run(main, 2, how).returns
        assert sent == [empty] * 3, how
        assert received == [(0, 7, 6), (0, 7, 6), empty], how


def test_partitions_of_an_inactive_receive_have_arrived() -> None:
    """MPI 4.1, 4.2.2: Parrived returns true for an inactive request: before the first Start, and after Wait."""

    def main(comm: Any) -> list[bool]:
        send, receive = comm.Psend_init(np.zeros(4), 2, 0), comm.Precv_init(np.zeros(4), 2, 0, 0)
        seen = [receive.Parrived(0)]
        MPI.Prequest.Startall([send, receive])
        seen.append(receive.Parrived(1))
        send.Pready_range(0, 1)
        send.Wait()
        receive.Wait()
        seen += [receive.Parrived(0), receive.Parrived(1)]
        send.Free()
        receive.Free()
        return seen

    assert fakempi.run(main, 1).returns == [[True, False, True, True]]


def test_partitions_that_are_never_received_are_lost_messages() -> None:
    """Of the first round or of a later one; they were not reported."""

    def main(comm: Any, sent: int, received: int) -> None:
        if comm.rank == 0:
            request = comm.Psend_init(np.zeros(6), 3, 1)
        else:
            request = comm.Precv_init(np.zeros(6), 2, 0, 0) if received else MPI.REQUEST_NULL
        for _ in range(received if comm.rank else sent):
            request.Start()
            if comm.rank == 0:
                request.Pready_range(0, 2)
            request.Wait()
        if request:
            request.Free()

    for sent, received in ((1, 0), (2, 1), (2, 2)):
        found = [(one.kind, one.call, one.sentence) for one in fakempi.run(main, 2, sent, received).findings]
        lost = ("message-lost", "Start", "rank 1 never received it: partitions 0-2, 16 bytes")
        assert found == [lost] * (sent > received)
