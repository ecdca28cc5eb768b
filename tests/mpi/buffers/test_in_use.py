"""Memory that operations under way use: whoever writes to it too early is told, with the lines; who does not, never is.

Each wrong program says in comments where its operation is started (`# start`) and where it is waited for (`# wait`). Its
correct twin does the same in the right order.
"""

from __future__ import annotations

import contextlib
import inspect
from array import array
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import fakempi
from fakempi import MPI

Program = Callable[[Any, bool], Any]
EARLY, LATE = True, False


def place(program: Callable[..., Any], mark: str) -> str:
    """The file and line of a comment."""
    lines, first = inspect.getsourcelines(program)
    (line,) = [first + i for i, text in enumerate(lines) if text.rstrip().endswith(f"# {mark}")]
    return f"test_in_use.py:{line}"


def found(main: Callable[..., Any], ranks: int, *args: Any, **options: Any) -> list[fakempi.Finding]:
    """What a run finds about memory in use; what else a strict run finds is not the matter here."""
    try:
        findings = fakempi.run(main, ranks, *args, **options).findings
    except fakempi.FindingsError as error:
        findings = list(error.findings)
    return [one for one in findings if one.kind.startswith("buffer-")]


def send(comm: Any, early: bool) -> None:
    """The oldest mistake: what is sent is changed before Wait."""
    b = np.arange(4.0)
    if comm.rank == 1:
        comm.Recv(b, 0)
    else:
        r = comm.Isend(b, 1)  # start
        if early:
            b[0] = 99  # write
        r.Wait()  # wait
        b[0] = 98


def send_of_a_bytearray(comm: Any, early: bool) -> None:
    """Memory that is not numpy's."""
    send_of(comm, early, bytearray(b"abcd"))


def send_of(comm: Any, early: bool, b: Any) -> None:
    """One rank sends, the other receives."""
    if comm.rank == 1:
        comm.Recv(bytearray(64), 0)
        return
    r = comm.Issend(b, 1)  # start
    if early:
        b[1] = 5  # write
    while not r.Test():  # wait
        pass
    b[1] = 6


def receive(comm: Any, early: bool) -> None:
    """A buffer is written to that a message is to come into."""
    b = np.arange(4)
    if comm.rank == 1:
        comm.Send(b, 0)
        return
    r = comm.Irecv(b, 1)  # start
    if early:
        b[3] = 7  # write
    MPI.Request.Waitall([r])  # wait
    b[3] = 7


def receive_of_what_is_there(comm: Any, early: bool) -> None:
    """The message has come before the receive is posted: it is written to the buffer at once."""
    b = np.arange(4)
    if comm.rank == 1:
        comm.Send(b, 0)
        return
    comm.Probe(1)
    r = comm.Irecv(b, 1)  # start
    if early:
        b[3] = 7  # write
    assert MPI.Request.Waitany([r]) == 0  # wait


def row_of_a_matrix(comm: Any, early: bool) -> None:
    """A halo exchange: the inner rows are the program's all the time, the one that is sent is not."""
    a = np.zeros((4, 3))
    if comm.rank == 1:
        comm.Recv(a[0], 0)
        return
    r = comm.Isend(a[0], 1)  # start
    a[1:] = 1
    if early:
        a[0, 1] = 1  # write
    r.wait()  # wait


def column_of_a_matrix(comm: Any, early: bool) -> None:
    """A derived datatype with holes: what is in the holes is the program's."""
    a = np.zeros((4, 3))
    column = MPI.DOUBLE.Create_vector(4, 1, 3).Commit()
    if comm.rank == 1:
        comm.Recv(np.zeros(4), 0)
        return
    r = comm.Isend([a, 1, column], 1)  # start
    a[:, 1:] = 1
    if early:
        a[2, 0] = 1  # write
    r.Wait()  # wait


def column_received(comm: Any, early: bool) -> None:
    """The same of a receive."""
    a = np.zeros((4, 3))
    column = MPI.DOUBLE.Create_vector(4, 1, 3).Commit()
    if comm.rank == 1:
        comm.Send(np.ones(4), 0)
        return
    r = comm.Irecv([a, 1, column], 1)  # start
    a[:, 1:] = 2
    if early:
        a[2, 0] = 2  # write
    r.Wait()  # wait
    assert early or a.tolist() == [[1, 2, 2]] * 4


def persistent_send(comm: Any, early: bool) -> None:
    """Between Start and Wait; before the one and after the other the buffer is the program's."""
    b = np.zeros(3)
    if comm.rank == 1:
        for _ in range(3):
            comm.Recv(b, 0)
        return
    r = comm.Send_init(b, 1)
    for i in range(3):
        b[:] = i
        r.Start()  # start
        if early and i == 2:
            b[:] = 9  # write
        r.Wait()  # wait
    r.Free()


def persistent_receive(comm: Any, early: bool) -> None:
    """Likewise."""
    b = np.zeros(3)
    if comm.rank == 1:
        for _ in range(3):
            comm.Send(b, 0)
        return
    r = comm.Recv_init(b, 1)
    for i in range(3):
        b[:] = i
        MPI.Prequest.Startall([r])  # start
        if early and i == 2:
            b[:] = 9  # write
        r.Wait()  # wait
    r.Free()


def both_at_once(comm: Any, early: bool) -> None:
    """Isendrecv has two buffers."""
    a, b = np.zeros(3), np.ones(3)
    r = comm.Isendrecv(a, 1 - comm.rank, 0, b, 1 - comm.rank, 0)  # start
    if early and comm.rank == 0:
        a[0] = 1  # write
    r.Wait()  # wait


def both_in_one(comm: Any, early: bool) -> None:
    """Isendrecv_replace has one, which it copies before it receives."""
    b = np.full(3, float(comm.rank))
    r = comm.Isendrecv_replace(b, 1 - comm.rank, 0, 1 - comm.rank, 0)  # start
    if early and comm.rank == 0:
        b[0] = 5  # write
    r.Wait()  # wait
    assert early or b.tolist() == [1 - comm.rank] * 3


def buffered_send(comm: Any, early: bool) -> None:
    """A copy is sent, but the rule is the same."""
    b = np.zeros(3)
    if comm.rank == 1:
        comm.Recv(b, 0)
        return
    MPI.Attach_buffer(MPI.memory.allocate(1024))
    r = comm.Ibsend(b, 1)  # start
    if early:
        b[0] = 1  # write
    r.Wait()  # wait
    MPI.Detach_buffer()


def matched_probe(comm: Any, early: bool) -> None:
    """A message that was probed for is received as any other."""
    b = np.zeros(3)
    if comm.rank == 1:
        comm.Send(b, 0)
        return
    r = comm.Mprobe(1).Irecv(b)  # start
    if early:
        b[0] = 1  # write
    r.Wait()  # wait


def reduction(comm: Any, early: bool) -> None:
    """What a collective call reads."""
    a, b = np.ones(3), np.zeros(3)
    r = comm.Iallreduce(a, b)  # start
    if early and comm.rank == 0:
        a[0] = 5  # write
    r.Wait()  # wait
    assert early or b.tolist() == [2, 2, 2]


def result_of_a_reduction(comm: Any, early: bool) -> None:
    """What it writes."""
    a, b = np.ones(3), np.zeros(3)
    r = comm.Iallreduce(a, b)  # start
    if early and comm.rank == 0:
        b[0] = 5  # write
    r.Wait()  # wait
    assert b.tolist() == [2, 2, 2]


def reduction_in_place(comm: Any, early: bool) -> None:
    """One buffer for both."""
    b = np.ones(3)
    r = comm.Iallreduce(MPI.IN_PLACE, b)  # start
    if early and comm.rank == 0:
        b[0] = 5  # write
    r.Wait()  # wait


def broadcast(comm: Any, early: bool) -> None:
    """The root's buffer is read, the others' are written."""
    b = np.ones(3)
    r = comm.Ibcast(b, root=1)  # start
    if early and comm.rank == 0:
        b[0] = 5  # write
    r.Wait()  # wait


def blocks_apart(comm: Any, early: bool) -> None:
    """Displacements leave a hole, which is the program's."""
    a, b = np.ones(2), np.zeros(6)
    r = comm.Iallgatherv(a, [b, [2, 2], [0, 4], MPI.DOUBLE])  # start
    b[2:4] = 8
    if early and comm.rank == 0:
        b[5] = 8  # write
    r.Wait()  # wait
    assert b.tolist() == [1, 1, 8, 8, 1, 1]


def all_to_all(comm: Any, early: bool) -> None:
    """The form in which each block has its own datatype."""
    a, b = np.ones(4), np.zeros(4)
    out, into = ([x, [1, 1], [0, 16], [MPI.DOUBLE] * 2] for x in (a, b))
    r = comm.Ialltoallw(out, into)  # start
    a[1] = a[3] = 5
    if early and comm.rank == 0:
        a[2] = 5  # write
    r.Wait()  # wait


def persistent_collective(comm: Any, early: bool) -> None:
    """Between Start and Wait."""
    a, b = np.ones(3), np.zeros(3)
    r = comm.Allreduce_init(a, b)
    for i in range(3):
        a[:] = b[:] = i
        r.Start()  # start
        if early and comm.rank == 0 and i == 2:
            a[0] = 5  # write
        r.Wait()  # wait
    r.Free()


def neighbours(comm: Any, early: bool) -> None:
    """In a row of two, each has one neighbour, and a block for nobody."""
    row = comm.Create_cart([2])
    a, b = np.ones(2), np.zeros(2)
    r = row.Ineighbor_alltoall(a, b)  # start
    a[comm.rank] = 4  # for nobody
    if early and comm.rank == 0:
        a[1] = 4  # write
    r.Wait()  # wait
    row.Free()


def asked_before(comm: Any, early: bool) -> None:
    """Who has been told that it is over may write, though nobody has waited."""
    b = np.zeros(3)
    if comm.rank == 1:
        comm.Recv(b, 0)
        return
    r = comm.Isend(b, 1)  # start
    if early:
        b[0] = 1  # write
    while not r.Get_status():  # wait
        pass
    b[0] = 2
    r.Wait()


PROGRAMS = [
    send, send_of_a_bytearray, receive, receive_of_what_is_there, row_of_a_matrix, column_of_a_matrix, column_received,
    persistent_send, persistent_receive, both_at_once, both_in_one, buffered_send, matched_probe, reduction,
    result_of_a_reduction, reduction_in_place, broadcast, blocks_apart, all_to_all, persistent_collective, neighbours,
    asked_before,
]  # fmt: skip

PARTS = [send_of_a_bytearray, row_of_a_matrix, column_of_a_matrix, column_received, blocks_apart, all_to_all, neighbours]
"""Of these operations use a part of an array, or what is not numpy's."""


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_who_writes_too_early_is_told_where_it_began_and_where_it_was_over(program: Program, carrier: str) -> None:
    """And nobody else is."""
    where = send_of if program is send_of_a_bytearray else program
    (one,) = found(program, 2, EARLY, carrier=carrier, buffers=True)
    assert (one.kind, one.ranks, one.place) == ("buffer-in-use", (0,), place(where, "start"))
    assert one.sentence.startswith("its buffer was written to before ")
    assert one.sentence.endswith(f" at {place(where, 'wait')} said that it is over")


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_who_does_the_same_in_the_right_order_is_told_nothing(program: Program, carrier: str) -> None:
    """Not in a strict run either, nor where each message waits for its receive."""
    assert not found(program, 2, LATE, carrier=carrier, buffers=True)
    assert not found(program, 2, LATE, carrier=carrier, strict=True)
    assert not found(program, 2, LATE, carrier=carrier, strict=True, cost=fakempi.Hockney(eager_limit=0))


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_a_strict_run_stops_at_the_line_that_writes_too_early(program: Program, carrier: str) -> None:
    """Where the array that was handed over is the program's own, and all of it; else it is found in the end, as above."""
    with pytest.raises(fakempi.FindingsError) as caught:
        fakempi.run(program, 2, EARLY, carrier=carrier, strict=True)
    where = send_of if program is send_of_a_bytearray else program
    one = caught.value.findings[0]
    assert (one.kind, one.ranks) == ("buffer-in-use", (0,))
    if program in PARTS:
        assert one.place == place(where, "start")
    else:
        assert one.place == place(where, "write")
        assert one.sentence.startswith("it writes to the buffer of ")
        assert one.sentence.endswith(f" at {place(where, 'start')}, which is not over")
        assert isinstance(caught.value.__cause__, ValueError)


def test_the_words() -> None:
    """Which call, where, and until when; or which line, and what was under way."""
    (one,) = found(send, 2, EARLY, buffers=True)
    start, wait = place(send, "start"), place(send, "wait")
    words = f"buffer-in-use: rank 0: Isend at {start}: its buffer was written to before Wait at {wait} said that it is over"
    assert str(one) == words
    (one,) = found(send, 2, EARLY, strict=True)
    line = place(send, "write")
    assert str(one).startswith(f"buffer-in-use: rank 0: b[0] = 99  # write at {line}: it writes to the buffer of ")
    assert str(one).endswith(f" of Isend at {start}, which is not over")


def test_nobody_looks_unless_asked_or_strict() -> None:
    """It takes time, and the default is to run as fast as can be."""
    assert not found(send, 2, EARLY)
    assert not found(send, 2, EARLY, strict=True, buffers=False)
    assert found(send, 2, EARLY, strict=True)


@pytest.mark.parametrize("buffer", [bytearray(8), array("i", [1, 2]), memoryview(bytearray(8)), np.zeros(8, "u1")])
def test_all_kinds_of_memory_are_looked_at(buffer: Any) -> None:
    """Also what is not numpy's."""
    assert [one.kind for one in found(send_of, 2, EARLY, buffer, buffers=True)] == ["buffer-in-use"]
    assert not found(send_of, 2, LATE, buffer, buffers=True)


def test_phantoms_and_empty_buffers_have_nothing_to_look_at() -> None:
    """And what goes to nobody is not looked at."""

    def main(comm: Any) -> None:
        peer = 1 - comm.rank
        for buffer in (fakempi.phantom(1000), np.zeros(0), bytearray(), [None, 0, MPI.INT]):
            MPI.Request.Waitall([comm.Irecv(buffer, peer), comm.Isend(buffer, peer)])
        MPI.Request.Waitall([comm.Isend(None, MPI.PROC_NULL), comm.Irecv(None, MPI.PROC_NULL)])
        comm.Iallreduce(fakempi.phantom(1000), fakempi.phantom(1000)).Wait()

    assert not found(main, 2, strict=True)


# -- two operations on one memory -----------------------------------------------------------------------------------


def test_two_operations_that_overlap_are_told_of_at_the_second_call(carrier: str) -> None:
    """With both places, and once."""

    def main(comm: Any) -> None:
        b = np.zeros(8)
        if comm.rank == 1:
            comm.Send(b[:5], 0)
            comm.Recv(b, 0)
            return
        one = comm.Irecv(b[:5], 1)  # first
        two = comm.Isend(b[4:], 1)  # second
        MPI.Request.Waitall([one, two])

    (one,) = found(main, 2, carrier=carrier, buffers=True)
    words = f"its buffer overlaps with that of Irecv at {place(main, 'first')}, which is not over"
    assert (one.kind, one.call, one.place, one.sentence) == ("buffer-overlap", "Isend", place(main, "second"), words)
    with pytest.raises(fakempi.FindingsError, match="buffer-overlap"):
        fakempi.run(main, 2, carrier=carrier, strict=True)


def test_what_is_only_read_may_be_read_by_many() -> None:
    """Also by several ranks that share an array, as all of them do that is global."""
    shared = np.arange(8.0)

    def main(comm: Any) -> None:
        comm.Barrier()
        requests = [comm.Isend(shared[i:], (comm.rank + 1) % 3, i) for i in range(4)] + [comm.Isend(shared, comm.rank, 4)]
        requests += [comm.Irecv(np.zeros(8), tag=tag) for tag in range(5)]
        requests.append(comm.Iallreduce(shared, np.zeros(8)))
        MPI.Request.Waitall(requests)

    assert not found(main, 3, strict=True)
    assert shared.flags.writeable


def test_columns_of_one_matrix_overlap_only_where_they_share_an_element() -> None:
    """Though each reaches from the first row to the last."""

    def main(comm: Any, other: int) -> None:
        a = np.zeros((5, 4))
        column = MPI.DOUBLE.Create_vector(5, 1, 4).Commit()
        if comm.rank == 1:
            comm.Send(np.ones(5), 0)
            comm.Send(np.full(5, 2.0), 0)
            return
        flat = a.reshape(-1)
        one, two = comm.Irecv([flat, 1, column], 1), comm.Irecv([flat[other:], 1, column], 1)
        MPI.Request.Waitall([one, two])

    for other in (1, 2, 3):
        assert not found(main, 2, other, buffers=True)
    assert [one.kind for one in found(main, 2, 0, buffers=True)] == ["buffer-overlap"]


def test_many_blocks_of_one_array_are_looked_through_quickly() -> None:
    """A block for each rank, as in an exchange with all; and the one that overlaps is found among them."""

    def main(comm: Any, wrong: bool) -> None:
        p = comm.size
        a, b = np.zeros((p, 2)), np.zeros((p, 2))
        requests = [comm.Irecv(b[i], i) for i in range(p)] + [comm.Isend(a[i], i) for i in range(p)]
        if wrong and comm.rank == 3:
            requests.append(comm.Irecv(b[17], 3, 5))
            comm.Send(a[17], 3, 5)
        MPI.Request.Waitall(requests)

    assert not found(main, 20, False, buffers=True)
    assert [(one.kind, one.ranks) for one in found(main, 20, True, buffers=True)] == [("buffer-overlap", (3,))]


# -- requests that nobody waits for -----------------------------------------------------------------------------------


def test_who_frees_a_request_may_know_by_other_means_that_it_is_over() -> None:
    """By an answer, say."""

    def main(comm: Any) -> None:
        b = np.arange(3.0)
        if comm.rank == 1:
            comm.Recv(b, 0)
            comm.Send(b, 0)
            comm.send("that was all", 0)
            return
        comm.Isend(b, 1).Free()
        comm.Irecv(c := np.zeros(4), 1).Free()
        comm.recv(source=1)
        b[:] = 5
        assert c.tolist() == [0, 1, 2, 0]

    assert not found(main, 2, strict=True)


def test_a_receive_that_is_cancelled_leaves_all_as_it_was(carrier: str) -> None:
    """Also what a strict run puts there, so that nobody reads it."""

    def main(comm: Any) -> list[float]:
        b = np.arange(3.0)
        r = comm.Irecv(b, comm.rank)
        r.Cancel()
        r.Wait()
        return b.tolist()

    assert fakempi.run(main, 1, carrier=carrier, strict=True).returns == [[0, 1, 2]]


def test_a_strict_run_has_nan_where_a_message_is_awaited_and_what_was_there_where_it_is_shorter(carrier: str) -> None:
    """Who reads too early reads nonsense; who waits finds the message, and behind it what was there before."""

    def main(comm: Any) -> Any:
        b, n = np.arange(4.0), np.arange(4)
        if comm.rank == 1:
            comm.Send(np.full(2, 7.0), 0)
            comm.Send(np.full(2, 7), 0)
            return None
        r, s = comm.Irecv(b, 1), comm.Irecv(n, 1)
        early = np.isnan(b).all() and len(set(n.tolist())) == 1 and n[0] not in range(4)
        MPI.Request.Waitall([r, s])
        return early, b.tolist(), n.tolist()

    assert fakempi.run(main, 2, carrier=carrier, strict=True).returns[0] == (True, [7, 7, 2, 3], [7, 7, 2, 3])


def test_what_outlives_a_run_is_as_the_program_left_it(carrier: str) -> None:
    """Whether the run fails or not, and whether or not anybody waited."""
    b = np.arange(3.0)

    def main(comm: Any, fails: bool) -> None:
        comm.Irecv(b[:1], comm.rank).Free()
        request = comm.Irecv(b[1:], comm.rank)
        if fails:
            raise KeyError(request)

    for fails in (False, True):
        with contextlib.suppress(fakempi.RunError):
            fakempi.run(main, 1, fails, carrier=carrier, strict=True)
        assert b.tolist() == [0, 1, 2]
        assert b.flags.writeable
