"""Memory in use by pending operations: a program that writes to it too early is reported with the lines; others are not.

Each wrong program marks the line that starts its operation (`# start`) and the line that waits for it (`# wait`). Its
correct version does the same in the right order.
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
from tests.helpers.loops import for_each

Program = Callable[[Any, bool], Any]
EARLY, LATE = True, False


def place(program: Callable[..., Any], mark: str) -> str:
    """The file and line of a comment."""
    lines, first = inspect.getsourcelines(program)
    (line,) = [first + i for i, text in enumerate(lines) if text.rstrip().endswith(f"# {mark}")]
    return f"test_in_use.py:{line}"


def findings_of(main: Callable[..., Any], ranks: int, *args: Any, **options: Any) -> list[fakempi.Finding]:
    """The findings of a run about memory in use; other findings of a strict run are ignored here."""
    try:
        findings = fakempi.run(main, ranks, *args, **options).findings
    except fakempi.FindingsError as error:
        findings = list(error.findings)
    return [finding for finding in findings if finding.kind.startswith("buffer-")]


def send(comm: Any, early: bool) -> None:
    """The most frequent mistake: the send buffer is changed before Wait."""
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
    """A program writes to the buffer of a pending receive."""
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
    """The message has arrived before the receive is posted: it is written to the buffer at once."""
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
    """A halo exchange: the inner rows may be written at any time, the row that is sent may not."""
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
    """A derived datatype with holes: the holes may be written."""
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
    """The same for a receive."""
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
    """Between Start and Wait; before and after, the buffer may be written."""
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
    """The same for a persistent receive."""
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
    """A matched message is received like any other."""
    b = np.zeros(3)
    if comm.rank == 1:
        comm.Send(b, 0)
        return
    r = comm.Mprobe(1).Irecv(b)  # start
    if early:
        b[0] = 1  # write
    r.Wait()  # wait


def reduction(comm: Any, early: bool) -> None:
    """The send buffer of a collective call."""
    a, b = np.ones(3), np.zeros(3)
    r = comm.Iallreduce(a, b)  # start
    if early and comm.rank == 0:
        a[0] = 5  # write
    r.Wait()  # wait
    assert early or b.tolist() == [2, 2, 2]


def result_of_a_reduction(comm: Any, early: bool) -> None:
    """The receive buffer of a collective call."""
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
    """Displacements leave a hole, which may be written."""
    a, b = np.ones(2), np.zeros(6)
    r = comm.Iallgatherv(a, [b, [2, 2], [0, 4], MPI.DOUBLE])  # start
    b[2:4] = 8
    if early and comm.rank == 0:
        b[5] = 8  # write
    r.Wait()  # wait
    assert b.tolist() == [1, 1, 8, 8, 1, 1]


def all_to_all(comm: Any, early: bool) -> None:
    """The form in which each block has a separate datatype."""
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


def neighbors(comm: Any, early: bool) -> None:
    """In a row of two, each rank has one neighbor, and a block without a neighbor."""
    row = comm.Create_cart([2])
    a, b = np.ones(2), np.zeros(2)
    r = row.Ineighbor_alltoall(a, b)  # start
    a[comm.rank] = 4  # without a neighbor
    if early and comm.rank == 0:
        a[1] = 4  # write
    r.Wait()  # wait
    row.Free()


def status_tested_before(comm: Any, early: bool) -> None:
    """After a successful Test a program may write, although it has not called Wait."""
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
    result_of_a_reduction, reduction_in_place, broadcast, blocks_apart, all_to_all, persistent_collective, neighbors,
    status_tested_before,
]  # fmt: skip

PARTS = [send_of_a_bytearray, row_of_a_matrix, column_of_a_matrix, column_received, blocks_apart, all_to_all, neighbors]
"""These operations use a part of an array, or memory that is not numpy's."""


@for_each("program", PROGRAMS)
def test_writing_too_early_is_reported_with_both_places(program: Program, backend: Any) -> None:
    """No other program is reported."""
    where = send_of if program is send_of_a_bytearray else program
    (finding,) = findings_of(program, 2, EARLY, backend=backend, check_buffers=True)
    assert (finding.kind, finding.ranks, finding.place) == ("buffer-in-use", (0,), place(where, "start"))
    assert finding.sentence.startswith("its buffer was written to before ")
    assert finding.sentence.endswith(f" at {place(where, 'wait')} completed the operation")


@for_each("program", PROGRAMS)
def test_the_correct_version_is_not_reported(program: Program, backend: Any) -> None:
    """Also in a strict run, and if each message waits for its receive."""
    assert not findings_of(program, 2, LATE, backend=backend, check_buffers=True)
    assert not findings_of(program, 2, LATE, backend=backend, strict=True)
    assert not findings_of(program, 2, LATE, backend=backend, strict=True, cost=fakempi.Hockney(eager_limit=0))


@for_each("program", PROGRAMS)
def test_a_strict_run_stops_at_the_line_that_writes_too_early(program: Program, backend: Any) -> None:
    """If the array that was passed is the program's own and is used completely; otherwise the run reports it at the end, as
    above.
    """
    with pytest.raises(fakempi.FindingsError) as caught:
        fakempi.run(program, 2, EARLY, backend=backend, strict=True)
    where = send_of if program is send_of_a_bytearray else program
    finding = caught.value.findings[0]
    assert (finding.kind, finding.ranks) == ("buffer-in-use", (0,))
    if program in PARTS:
        assert finding.place == place(where, "start")
    else:
        assert finding.place == place(where, "write")
        assert finding.sentence.startswith("it writes to the buffer of ")
        assert finding.sentence.endswith(f" at {place(where, 'start')}, which is not complete")
        assert isinstance(caught.value.__cause__, ValueError)


def test_the_text_of_the_finding() -> None:
    """The call, its place, and its end; or the line, and the pending operation."""
    (finding,) = findings_of(send, 2, EARLY, check_buffers=True)
    start, wait = place(send, "start"), place(send, "wait")
    sentence = f"its buffer was written to before Wait at {wait} completed the operation"
    assert str(finding) == f"buffer-in-use: rank 0: Isend at {start}: {sentence}"
    (finding,) = findings_of(send, 2, EARLY, strict=True)
    line = place(send, "write")
    assert str(finding).startswith(f"buffer-in-use: rank 0: b[0] = 99  # write at {line}: it writes to the buffer of ")
    assert str(finding).endswith(f" of Isend at {start}, which is not complete")


def test_buffers_are_checked_only_on_request_or_in_a_strict_run() -> None:
    """The check takes time."""
    assert not findings_of(send, 2, EARLY)
    assert not findings_of(send, 2, EARLY, strict=True, check_buffers=False)
    assert findings_of(send, 2, EARLY, strict=True)


@pytest.mark.parametrize("buffer", [bytearray(8), array("i", [1, 2]), memoryview(bytearray(8)), np.zeros(8, "u1")])
def test_all_kinds_of_memory_are_checked(buffer: Any) -> None:
    """Including memory that is not numpy's."""
    assert [finding.kind for finding in findings_of(send_of, 2, EARLY, buffer, check_buffers=True)] == ["buffer-in-use"]
    assert not findings_of(send_of, 2, LATE, buffer, check_buffers=True)


def test_phantoms_and_empty_buffers_are_not_checked() -> None:
    """Messages to PROC_NULL are not checked either."""

    def main(comm: Any) -> None:
        peer = 1 - comm.rank
        for buffer in (fakempi.phantom(1000), np.zeros(0), bytearray(), [None, 0, MPI.INT]):
            MPI.Request.Waitall([comm.Irecv(buffer, peer), comm.Isend(buffer, peer)])
        MPI.Request.Waitall([comm.Isend(None, MPI.PROC_NULL), comm.Irecv(None, MPI.PROC_NULL)])
        comm.Iallreduce(fakempi.phantom(1000), fakempi.phantom(1000)).Wait()

    assert not findings_of(main, 2, strict=True)


# -- two operations on one memory -----------------------------------------------------------------------------------


def test_two_overlapping_operations_are_reported_at_the_second_call(backend: Any) -> None:
    """With both places, once."""

    def main(comm: Any) -> None:
        b = np.zeros(8)
        if comm.rank == 1:
            comm.Send(b[:5], 0)
            comm.Recv(b, 0)
            return
        one = comm.Irecv(b[:5], 1)  # first
        two = comm.Isend(b[4:], 1)  # second
        MPI.Request.Waitall([one, two])

    (finding,) = findings_of(main, 2, backend=backend, check_buffers=True)
    words = f"its buffer overlaps with that of Irecv at {place(main, 'first')}, which is not complete"
    assert (finding.kind, finding.call) == ("buffer-overlap", "Isend")
    assert (finding.place, finding.sentence) == (place(main, "second"), words)
    with pytest.raises(fakempi.FindingsError, match="buffer-overlap"):
        fakempi.run(main, 2, backend=backend, strict=True)


def test_several_operations_may_read_the_same_memory() -> None:
    """Also of several ranks that share a global array."""
    shared = np.arange(8.0)

    def main(comm: Any) -> None:
        comm.Barrier()
        requests = [comm.Isend(shared[i:], (comm.rank + 1) % 3, i) for i in range(4)] + [comm.Isend(shared, comm.rank, 4)]
        requests += [comm.Irecv(np.zeros(8), tag=tag) for tag in range(5)]
        requests.append(comm.Iallreduce(shared, np.zeros(8)))
        MPI.Request.Waitall(requests)

    assert not findings_of(main, 3, strict=True)
    assert shared.flags.writeable


def test_columns_of_one_matrix_overlap_only_if_they_share_an_element() -> None:
    """Although each extends from the first row to the last."""

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
        assert not findings_of(main, 2, other, check_buffers=True)
    assert [finding.kind for finding in findings_of(main, 2, 0, check_buffers=True)] == ["buffer-overlap"]


def test_many_blocks_of_one_array_are_checked_quickly() -> None:
    """A block for each rank, as in an exchange with all; the one that overlaps is found among them."""

    def main(comm: Any, wrong: bool) -> None:
        p = comm.size
        a, b = np.zeros((p, 2)), np.zeros((p, 2))
        requests = [comm.Irecv(b[i], i) for i in range(p)] + [comm.Isend(a[i], i) for i in range(p)]
        if wrong and comm.rank == 3:
            requests.append(comm.Irecv(b[17], 3, 5))
            comm.Send(a[17], 3, 5)
        MPI.Request.Waitall(requests)

    assert not findings_of(main, 20, False, check_buffers=True)
    (finding,) = findings_of(main, 20, True, check_buffers=True)
    assert (finding.kind, finding.ranks) == ("buffer-overlap", (3,))


# -- requests without a wait ---------------------------------------------------------------------------------------


def test_a_freed_request_may_be_known_to_be_complete() -> None:
    """For example by an answer."""

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

    assert not findings_of(main, 2, strict=True)


def test_a_cancelled_receive_leaves_the_buffer_unchanged(backend: Any) -> None:
    """Including the values that a strict run stores there."""

    def main(comm: Any) -> list[float]:
        b = np.arange(3.0)
        r = comm.Irecv(b, comm.rank)
        r.Cancel()
        r.Wait()
        return b.tolist()

    assert fakempi.run(main, 1, backend=backend, strict=True).returns == [[0, 1, 2]]


def test_a_strict_run_stores_nan_in_a_receive_buffer_and_restores_the_tail(backend: Any) -> None:
    """A program that reads too early reads NaN; after Wait the buffer has the message, followed by the old values."""

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

    assert fakempi.run(main, 2, backend=backend, strict=True).returns[0] == (True, [7, 7, 2, 3], [7, 7, 2, 3])


def test_buffers_are_restored_after_a_run(backend: Any) -> None:
    """Whether the run fails or not, and with or without a wait."""
    b = np.arange(3.0)

    def main(comm: Any, fails: bool) -> None:
        comm.Irecv(b[:1], comm.rank).Free()
        request = comm.Irecv(b[1:], comm.rank)
        if fails:
            raise KeyError(request)

    for fails in (False, True):
        with contextlib.suppress(fakempi.RunError):
            fakempi.run(main, 1, fails, backend=backend, strict=True)
        assert b.tolist() == [0, 1, 2]
        assert b.flags.writeable
