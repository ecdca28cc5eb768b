"""Requests: wait and test, for one, any, all and some; null and inactive requests; statuses; cancel and free."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import fakempi
from fakempi import MPI
from tests.helpers.loops import for_each
from tests.helpers.runs import fails, run

NULL = MPI.REQUEST_NULL
R = MPI.Request


def used_status() -> MPI.Status:
    """A status whose fields all differ from the defaults."""
    status = MPI.Status()
    status.source, status.tag, status.error, status.count, status.cancelled = 5, 6, 7, 8, True
    return status


def is_empty(status: MPI.Status) -> bool:
    """An empty status in MPI's sense."""
    return status == MPI.Status()


def letters(comm: Any, count: int = 3) -> tuple[list[MPI.Request], Callable[[int], None]]:
    """Receives for n tags, and a function that sends the message for one of them."""
    requests = [comm.irecv(source=0, tag=tag) for tag in range(count)]

    def send(tag: int) -> None:
        comm.send("abc"[tag], 0, tag)

    return requests, send


# -- one -----------------------------------------------------------------------------------------------------------


def test_wait_returns_true_and_makes_the_request_null(backend: Any) -> None:
    """The status describes the message."""

    def main(comm: Any) -> Any:
        if comm.rank == 0:
            return comm.Isend(b"xy", 1, 4).Wait()
        received, status = bytearray(3), MPI.Status()
        request = comm.Irecv(received)
        before, answer = bool(request), request.Wait(status)
        return before, answer, bool(request), request == NULL, bytes(received), status.source, status.tag, status.count

    assert run(main, 2, backend) == [True, (True, True, False, True, b"xy\0", 0, 4, 2)]


def test_wait_in_lower_case_returns_the_object() -> None:
    """None after a send."""

    def main(comm: Any) -> Any:
        sent = comm.isend([1], 0)
        return comm.irecv().wait(), sent.wait(), sent.wait()

    assert run(main, 1) == [([1], None, None)]


def test_test_returns_whether_the_request_is_complete() -> None:
    """Until then, the request stays."""

    def main(comm: Any) -> Any:
        request = comm.irecv(source=0)
        early = request.Test(), request.test(), request.Get_status(), bool(request)
        comm.send("x", 0)
        seen = request.Get_status(), request.get_status(), bool(request)
        return early, seen, request.test(), bool(request), request.test()

    early = (False, (False, None), False, True)
    assert run(main, 1) == [(early, (True, True, True), (True, "x"), False, (True, None))]


def test_get_status_keeps_the_request() -> None:
    """The status is filled each time, and Wait follows."""

    def main(comm: Any) -> Any:
        request = comm.irecv(source=0)
        comm.send("x", 0, 3)
        statuses = [MPI.Status() for _ in range(2)]
        for status in statuses:
            request.Get_status(status)
        return [status.tag for status in statuses], request.wait()

    assert run(main, 1) == [([3, 3], "x")]


@pytest.mark.parametrize("call", ["Wait", "Test", "Get_status", "wait", "test", "get_status"])
def test_a_null_request_is_complete(call: str) -> None:
    """Its status is empty, whatever it contained."""

    def main(comm: Any) -> Any:
        status = used_status()
        return getattr(NULL, call)(status), is_empty(status), getattr(R(), call)()

    answer = {"wait": None, "test": (True, None)}.get(call, True)
    assert run(main, 1) == [(answer, True, answer)]


@pytest.mark.parametrize("call", ["Wait", "Test", "Get_status"])
def test_an_inactive_request_is_complete(call: str) -> None:
    """A persistent one that was not started."""

    def main(comm: Any) -> Any:
        status, request = used_status(), comm.Recv_init(bytearray(1))
        return getattr(request, call)(status), is_empty(status), bool(request)

    assert run(main, 1) == [(True, True, True)]


# -- polling -------------------------------------------------------------------------------------------------------


def polling_one(request: MPI.Request) -> None:
    while not request.Test():
        pass


def polling_any(request: MPI.Request) -> None:
    while not R.Testany([NULL, request])[1]:
        pass


def polling_all(request: MPI.Request) -> None:
    while not R.Testall([NULL, request]):
        pass


def polling_some(request: MPI.Request) -> None:
    while not R.Testsome([NULL, request]):
        pass


def polling_status(request: MPI.Request) -> None:
    while not request.Get_status():
        pass


POLLS = [polling_one, polling_any, polling_all, polling_some, polling_status]


@pytest.mark.parametrize("poll", POLLS)
def test_polling_ends_when_the_message_arrives(backend: Any, poll: Callable[[MPI.Request], None]) -> None:
    """Although no other rank acts: the message is in transit, and time advances until it has arrived."""
    cost = fakempi.Hockney(t_s=1.0, t_w=0.5)

    def main(comm: Any) -> float:
        if comm.rank == 0:
            comm.Isend(b"12", 1).Free()
        else:
            poll(comm.Irecv(bytearray(2)))
        return MPI.Wtime()

    assert run(main, 2, backend, cost=cost) == [0.0, 2.0]


@pytest.mark.parametrize("poll", POLLS)
def test_polling_a_send_to_the_same_rank_ends(poll: Callable[[MPI.Request], None]) -> None:
    """Sends take time as well."""

    def main(comm: Any) -> float:
        request = comm.Isend(b"12", 0)
        poll(request)
        return MPI.Wtime()

    assert run(main, 1, cost=fakempi.Hockney(t_s=1.0, t_w=0.5)) == [2.0]


def test_endless_polling_is_a_livelock(backend: Any) -> None:
    """It is reported."""

    def main(comm: Any) -> None:
        request = comm.Irecv(bytearray(1), 1 - comm.rank)
        while not request.Test():
            pass

    with pytest.raises(fakempi.LivelockError, match="^livelock at t = 0 s: 2 of 2 ranks"):
        run(main, 2, backend)


# -- any -----------------------------------------------------------------------------------------------------------


def test_waitany_returns_the_first_to_complete(backend: Any) -> None:
    """Not the first in the list."""

    def main(comm: Any) -> Any:
        if comm.rank:
            fakempi.compute(3 - comm.rank)
            comm.send(comm.rank * 11, 0)
            return None
        requests = [comm.irecv(source=1), comm.irecv(source=2)]
        status, seen = MPI.Status(), []
        for _ in range(2):
            seen.append((*R.waitany(requests, status), status.source))
        return seen, [bool(request) for request in requests]

    assert run(main, 3, backend)[0] == ([(1, 22, 2), (0, 11, 1)], [False, False])


def test_of_several_complete_requests_the_earliest_is_returned() -> None:
    """For equal times, the first in the list."""

    def main(comm: Any) -> Any:
        requests, send = letters(comm)
        for tag in (2, 0, 1):
            send(tag)
        taken = [R.Waitany(requests), R.Testany(requests), R.testany(requests)]
        return taken, R.waitany(requests)

    assert run(main, 1) == [([2, (0, True), (1, True, "b")], (MPI.UNDEFINED, None))]


def test_testany_without_a_complete_request() -> None:
    """UNDEFINED and False, and the status is unchanged."""

    def main(comm: Any) -> Any:
        requests, _ = letters(comm)
        status = used_status()
        answers = [R.Testany(requests, status), R.testany(requests, status), R.Get_status_any(requests, status)]
        for request in requests:
            request.Cancel()
        return answers, status == used_status()

    u = MPI.UNDEFINED
    assert run(main, 1) == [([(u, False), (u, False, None), (u, False)], True)]


@pytest.mark.parametrize("requests", [[], [NULL], [NULL, R()]], ids=["none", "one", "two"])
def test_any_of_an_empty_list(requests: list[MPI.Request]) -> None:
    """UNDEFINED, at once, with an empty status."""

    def main(comm: Any) -> Any:
        found, empty = [], []
        for name in ("Waitany", "waitany", "Testany", "testany", "Get_status_any", "get_status_any"):
            status = used_status()
            found.append(getattr(R, name)([*requests, comm.Recv_init(bytearray(1))], status))
            empty.append(is_empty(status))
        return found, empty

    u = MPI.UNDEFINED
    assert run(main, 1) == [([u, (u, None), (u, True), (u, True, None), (u, True), (u, True)], [True] * 6)]


# -- all -----------------------------------------------------------------------------------------------------------


def test_waitall_waits_for_all(backend: Any) -> None:
    """Null and inactive ones included; the objects are in the order of the list."""

    def main(comm: Any) -> Any:
        if comm.rank:
            fakempi.compute(3 - comm.rank)
            comm.send(comm.rank * 11, 0, comm.rank)
            return None
        requests = [NULL, comm.irecv(source=1), comm.Recv_init(bytearray(1)), comm.irecv(source=2)]
        statuses: list[MPI.Status] = []
        return R.waitall(requests, statuses), [status.tag for status in statuses], [bool(r) for r in requests]

    assert run(main, 3, backend)[0] == ([None, 11, None, 22], [-1, 1, -1, 2], [False, False, True, False])


def test_testall_completes_all_or_none() -> None:
    """Complete requests stay if others are pending."""

    def main(comm: Any) -> Any:
        requests, send = letters(comm)
        send(0)
        send(2)
        early = R.Testall(requests), R.testall(requests), R.Get_status_all(requests), [bool(r) for r in requests]
        send(1)
        return early, R.Get_status_all(requests), R.testall(requests), R.Testall(requests)

    early = (False, (False, None), False, [True] * 3)
    assert run(main, 1) == [(early, True, (True, ["a", "b", "c"]), True)]


def test_all_of_an_empty_list() -> None:
    """At once."""

    def main(comm: Any) -> Any:
        return [
            (R.Waitall(given), R.waitall(given), R.Testall(given), R.testall(given), R.Get_status_all(given))
            for given in ([], [NULL])
        ]

    assert run(main, 1) == [[(True, [], True, (True, []), True), (True, [None], True, (True, [None]), True)]]


@for_each("room", [0, 1, 3, 5])
@for_each("call", ["Waitall", "Testall", "Get_status_all", "Waitsome", "Testsome", "Get_status_some"])
def test_a_list_of_statuses_is_extended(call: str, room: int) -> None:
    """It is never shortened."""

    def main(comm: Any) -> Any:
        requests, send = letters(comm)
        for tag in range(3):
            send(tag)
        statuses = [MPI.Status() for _ in range(room)]
        getattr(R, call)(requests, statuses)
        R.Waitall(requests)
        return [status.tag for status in statuses[:3]], len(statuses)

    assert run(main, 1) == [([0, 1, 2], max(room, 3))]


def test_a_tuple_of_statuses_is_filled_as_far_as_possible() -> None:
    """As in mpi4py."""

    def main(comm: Any) -> Any:
        requests, send = letters(comm)
        for tag in range(3):
            send(tag)
        statuses = (MPI.Status(), MPI.Status())
        R.Waitall(requests, statuses)  # type: ignore[arg-type]
        R.Waitall(requests, ())  # type: ignore[arg-type]
        return [status.tag for status in statuses]

    assert run(main, 1) == [[0, 1]]


# -- some ----------------------------------------------------------------------------------------------------------


def test_waitsome_returns_all_complete_requests() -> None:
    """At least one; the statuses correspond to the indices."""

    def main(comm: Any) -> Any:
        requests, send = letters(comm)
        send(2)
        send(0)
        statuses: list[MPI.Status] = []
        first = R.waitsome(requests, statuses), [status.tag for status in statuses]
        send(1)
        return first, R.Waitsome(requests), R.Waitsome(requests), R.waitsome(requests)

    assert run(main, 1) == [((([0, 2], ["a", "c"]), [0, 2]), [1], None, (None, None))]


def test_testsome_may_return_none() -> None:
    """An empty list while requests are pending, None if there is no active request."""

    def main(comm: Any) -> Any:
        requests, send = letters(comm)
        early = R.Testsome(requests), R.testsome(requests), R.Get_status_some(requests)
        send(1)
        seen = R.Get_status_some(requests), R.get_status_some(requests), R.testsome(requests)
        for request in requests:
            if request:
                request.Cancel()
        R.Waitall(requests)
        return early, seen, R.Testsome(requests), R.testsome([]), R.Get_status_some([NULL])

    assert run(main, 1) == [(([], ([], []), []), ([1], [1], ([1], ["b"])), None, (None, None), None)]


# -- cancel and free -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("start", ["irecv", "Irecv", "issend", "Issend"])
@pytest.mark.parametrize("wait", ["Wait", "Test", "Waitany", "Waitall"])
def test_an_unmatched_receive_can_be_cancelled(start: str, wait: str) -> None:
    """It completes, and the status has the cancellation."""

    def main(comm: Any) -> Any:
        arguments = {"irecv": (), "Irecv": (bytearray(1),), "issend": ("x", 0), "Issend": (b"x", 0)}[start]
        request, status = getattr(comm, start)(*arguments), MPI.Status()
        request.Cancel()
        active = bool(request)
        if wait in ("Wait", "Test"):
            getattr(request, wait)(status)
        else:
            getattr(R, wait)([request], [status] if wait == "Waitall" else status)
        return active, status.Is_cancelled(), status.count, bool(request), comm.Iprobe()

    assert run(main, 1) == [(True, True, 0, False, False)]


def test_a_cancelled_receive_takes_no_message(backend: Any) -> None:
    """The next one does; and an object that was not received is None."""

    def main(comm: Any) -> Any:
        first, second = comm.irecv(source=0, tag=1), comm.irecv(source=0, tag=1)
        first.cancel()
        comm.send("x", 0, 1)
        return first.wait(), second.wait()

    assert run(main, 1, backend) == [(None, "x")]


@pytest.mark.parametrize("pattern", [(0, 1), (MPI.ANY_SOURCE, 1), (0, MPI.ANY_TAG)])
def test_one_of_several_receives_can_be_cancelled(pattern: tuple[int, int]) -> None:
    """With and without wildcards, first, in the middle and last."""

    def main(comm: Any) -> Any:
        requests = [comm.irecv(None, *pattern) for _ in range(4)]
        for index in (1, 3, 0):
            requests[index].Cancel()
        comm.send("x", 0, 1)
        return R.waitall(requests)

    assert run(main, 1) == [[None, None, "x", None]]


def test_a_matched_receive_cannot_be_cancelled() -> None:
    """The message arrives, and the status has no cancellation."""

    def main(comm: Any) -> Any:
        comm.isend("x", 0)
        request, status = comm.irecv(), MPI.Status()
        request.Cancel()
        return request.wait(status), status.Is_cancelled()

    assert run(main, 1) == [("x", False)]


def test_an_eager_send_cannot_be_cancelled() -> None:
    """Its message has been sent."""

    def main(comm: Any) -> Any:
        if comm.rank == 0:
            request, status = comm.isend("x", 1), MPI.Status()
            request.Cancel()
            request.Wait(status)
            return status.Is_cancelled()
        return comm.recv()

    assert run(main, 2) == [False, "x"]


def test_a_freed_receive_continues() -> None:
    """The request is null at once, the buffer is filled when the message arrives."""

    def main(comm: Any) -> Any:
        received = bytearray(1)
        request = comm.Irecv(received, 0, 1)
        request.Free()
        comm.Send(b"q", 0, 1)
        fakempi.compute(1)
        return bool(request), bytes(received)

    assert run(main, 1) == [(False, b"q")]


def test_free_in_lower_case_accepts_a_null_request() -> None:
    """Free does not."""

    def main(comm: Any) -> Any:
        request = comm.irecv(source=0)
        request.free()
        request.free()
        NULL.free()
        for call in (NULL.Free, NULL.Cancel, NULL.cancel):
            name = call.__name__
            words = f"{name} on rank 0: the request is null: it was freed, or has been waited for."
            with fails(words, MPI.ERR_REQUEST):
                call()
        return bool(request)

    assert run(main, 1) == [False]


def test_pending_operations_continue_when_their_communicator_is_freed(backend: Any) -> None:
    """Receives, sends, objects and matched messages."""

    def main(comm: Any) -> Any:
        mine, other = comm.Dup(), 1 - comm.rank
        received = bytearray(1)
        requests = [mine.Irecv(received, other, 1), mine.Issend(b"x", other, 1), mine.irecv(source=other, tag=2)]
        mine.send("y", other, 2)
        mine.send("z", other, 3)
        message = mine.Mprobe(other, 3)
        mine.Free()
        return R.waitall(requests)[2], bytes(received), message.recv(), bool(mine)

    assert run(main, 2, backend) == [("y", b"x", "z", False)] * 2


# -- errors --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("call", ["Wait", "Test", "Waitany", "Testany"])
def test_a_truncated_message_is_reported_by_the_wait(call: str) -> None:
    """With the sizes; the request is complete."""

    def main(comm: Any) -> Any:
        if comm.rank == 0:
            comm.Send(bytes(4), 1, 7)
            return None
        request = comm.Irecv(bytearray(3))
        fakempi.compute(1)
        words = (
            f"{call} on rank 1: message truncated, 4 bytes arrived from rank 0 (tag 7) but the buffer holds 3. Rank 0 sent "
            f"4 bytes by Send at test_requests.py:{main.__code__.co_firstlineno + 2}; this receive takes 3 bytes."
        )
        with fails(words, MPI.ERR_TRUNCATE):
            getattr(R, call)([request]) if "any" in call else getattr(request, call)()
        return bool(request)

    assert run(main, 2)[1] is False


@pytest.mark.parametrize("call", ["Waitall", "Testall", "Waitsome", "Testsome"])
def test_the_statuses_of_many_requests_show_which_failed(call: str) -> None:
    """The error has their number, and the reason of the first; all of them are complete."""

    def main(comm: Any) -> Any:
        requests = [comm.Irecv(bytearray(room), 0, tag) for tag, room in enumerate([4, 1, 4, 2])]
        for tag in range(4):
            comm.Send(bytes(3), 0, tag)
        statuses: list[MPI.Status] = []
        words = (
            f"{call} on rank 0: 2 of 4 requests failed, the first of them at index 1: message truncated, 3 bytes "
            "arrived from rank 0 (tag 1) but the buffer holds 1. Rank 0 sent 3 bytes by Send at "
            f"test_requests.py:{main.__code__.co_firstlineno + 3}; this receive takes 1 byte."
        )
        with fails(words, MPI.ERR_IN_STATUS):
            getattr(R, call)(requests, statuses)
        return [status.error for status in statuses], [bool(request) for request in requests]

    long = MPI.ERR_TRUNCATE
    assert run(main, 1) == [([MPI.SUCCESS, long, MPI.SUCCESS, long], [False] * 4)]


def test_an_error_handler_is_called_once_for_many_requests() -> None:
    """With the class ERR_IN_STATUS."""

    def main(comm: Any) -> Any:
        mine, codes = comm.Dup(), []
        mine.Set_errhandler(MPI.Comm.Create_errhandler(lambda _, code: codes.append(code)))
        requests = [mine.Irecv(bytearray(1), 0, tag) for tag in range(2)]
        for tag in range(2):
            mine.Send(bytes(2), 0, tag)
        with pytest.raises(MPI.Exception, match="2 of 2 requests failed"):
            R.Waitall(requests)
        return codes

    assert run(main, 1) == [[MPI.ERR_IN_STATUS]]


@pytest.mark.parametrize("things", [[None], [1, 2], 5], ids=str)
def test_other_objects_are_rejected_as_requests(things: Any) -> None:
    """With a TypeError, as in mpi4py."""

    def main(comm: Any) -> None:
        for call in ("Waitall", "Waitany", "Waitsome", "Testall", "Testany", "Testsome"):
            with fails(f"{call} on rank 0: expecting a sequence of requests, not {things!r}.", MPI.ERR_REQUEST, TypeError):
                getattr(R, call)(things)

    run(main, 1)


# -- handles -------------------------------------------------------------------------------------------------------


def test_a_copy_of_a_request_is_equal_to_it() -> None:
    """And to no other; requests are not hashable."""

    def main(comm: Any) -> Any:
        one, other = comm.irecv(source=0, tag=1), comm.irecv(source=0, tag=2)
        same = R(one)
        facts = same == one, one == other, one == NULL, one != "request", bool(same)
        comm.send("x", 0, 1)
        waited = same.wait()
        with pytest.raises(TypeError):
            hash(one)
        other.Cancel()
        return facts, waited

    assert run(main, 1) == [((True, False, False, True, True), "x")]


def test_null_requests_are_equal() -> None:
    """However they were created."""
    assert NULL == R() == R(NULL) == MPI.Prequest() == MPI.Grequest()
    assert (NULL.handle, NULL.toint(), NULL.py2f()) == (0, 0, 0)
    assert R.fromhandle(0) == R.f2py(0) == NULL


def test_a_request_converts_to_an_integer() -> None:
    """For code without Python objects."""

    def main(comm: Any) -> Any:
        request = comm.irecv(source=0)
        same = R.fromhandle(request.handle)
        comm.send("x", 0)
        return same == request, R.fromint(request.toint()) == request, same.wait()

    assert run(main, 1) == [(True, True, "x")]


def test_only_the_null_request_can_be_pickled() -> None:
    """Others are meaningless in another process."""

    def main(comm: Any) -> None:
        request = comm.irecv(source=0)
        words = "Request on rank 0: a Request cannot be pickled: it is only valid in this process."
        with fails(words, MPI.ERR_REQUEST, ValueError):
            pickle.dumps(request)
        request.Cancel()

    run(main, 1)
    assert pickle.loads(pickle.dumps(NULL)) is NULL
    assert copy.copy(NULL) is NULL
    assert pickle.loads(pickle.dumps(R())) == NULL


def test_other_objects_cannot_be_converted_to_requests() -> None:
    """A TypeError."""
    for kind in (R, MPI.Prequest, MPI.Grequest):
        with fails(f"{kind.__name__}: cannot create a {kind.__name__} from 5.", MPI.ERR_REQUEST, TypeError):
            kind(5)  # type: ignore[arg-type]


def test_the_buffer_of_a_request_lives_as_long_as_needed() -> None:
    """Although the program has dropped it."""

    def main(comm: Any) -> Any:
        if comm.rank == 0:
            request = comm.Isend(np.arange(10_000), 1)
            return request.Wait()
        received = np.zeros(10_000, int)
        comm.Recv(received)
        return int(received.sum())

    assert run(main, 2)[1] == sum(range(10_000))
