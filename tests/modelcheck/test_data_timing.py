"""Data move as early or as late as MPI allows: a program that uses the buffer of a pending operation is not clean."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import fakempi
from fakempi import MPI
from fakempi.mpi.point.request import Request

Main = Callable[[Any], object]

BYTES_A5 = float(np.frombuffer(b"\xa5" * 8)[0])
"""The pattern in a buffer that a call treats as bytes."""


def failing(main: Main, ranks: int = 2, **options: Any) -> list[str]:
    """The schedules that fail, one for each error and place; findings are not failures."""
    return [failure.schedule for failure in fakempi.explore(main, ranks, strict=False, **options).failures]


def exchanged(use: Callable[[Any, Any], None]) -> Main:
    """A program in which rank 0 calls `use(buffer, request)` while it receives 7 from rank 1."""

    def main(comm: Any) -> int:
        buffer = np.array([7 if comm.rank else 1])
        if comm.rank:
            comm.Send(buffer, 0)
        else:
            request = comm.Irecv(buffer, 1)
            comm.Barrier()  # not an end of the receive
            use(buffer, request)
            return int(buffer[0])
        comm.Barrier()
        return 0

    return main


def is_old(buffer: Any, request: Any) -> None:
    """Assert that the message has not arrived."""
    seen = buffer.tolist()
    request.Wait()
    assert seen == [1]


def is_new(buffer: Any, request: Any) -> None:
    """Assert that the message has arrived."""
    seen = buffer.tolist()
    request.Wait()
    assert seen == [7]


def test_a_receive_buffer_that_is_read_before_wait_is_not_proved() -> None:
    """The old and the new contents are both possible: a program that asserts one of them fails."""
    assert failing(exchanged(is_old), buffering="infinite")
    assert failing(exchanged(is_new), buffering="infinite") == ["id:0"]


def test_strict_runs_show_a_pattern_in_a_pending_receive_buffer() -> None:
    """NaN in floats; elements of a datatype with holes only, not the bytes between them."""

    def main(comm: Any) -> Any:
        if comm.rank:
            comm.Send(np.ones(2), 0)
            comm.Send(np.ones(2, np.int16), 0)
            return None
        floats, holes = np.zeros(2), np.zeros(4, np.int16)
        every_other = MPI.INT16_T.Create_vector(2, 1, 2).Commit()
        requests = [comm.Irecv(floats, 1), comm.Irecv([holes, 1, every_other], 1)]
        seen = floats.tolist(), holes.tobytes().hex()
        Request.Waitall(requests)
        every_other.Free()
        assert floats.tolist() == [1, 1]
        assert holes.tolist() == [1, 0, 1, 0]
        return repr(seen)

    for schedule in ("zd:0", "id:0"):
        assert fakempi.run(main, 2, schedule=schedule, strict=True).returns[0] == "([nan, nan], 'a5a50000a5a50000')"
        assert fakempi.run(main, 2, schedule=schedule).returns[0] == "([nan, nan], 'a5a50000a5a50000')"
    assert fakempi.run(main, 2, strict=True).returns[0] == "([nan, nan], 'a5a50000a5a50000')"
    assert fakempi.run(main, 2, schedule="z:0", strict=True).returns[0] == "([1.0, 1.0], '0100000001000000')"
    assert fakempi.explore(main, 2, compare="returns").failures


def waiting(request: Any) -> None:
    """Wait for one request."""
    request.Wait()


def reading(start: Callable[[Any, Any, Any], Any], finish: Callable[[Any], object] = waiting) -> Callable[[Any], Any]:
    """A program that returns the result buffer before `finish` ends the operation, and after it."""

    def main(comm: Any) -> Any:
        given, result = np.array([comm.rank + 1.0]), np.full(comm.size, -1.0)
        request = start(comm, given, result)
        comm.Barrier()
        comm.Barrier()
        before = result.tolist()
        finish(request)
        return before, result.tolist()

    return main


def persistent(comm: Any, given: Any, result: Any) -> Any:
    """A persistent collective call, started."""
    request = comm.Allgather_init(given, result)
    request.Start()
    return request


def received(comm: Any, given: Any, result: Any) -> Any:
    """Exchange with the other rank, by persistent requests."""
    requests = [comm.Recv_init(result[1:], 1 - comm.rank), comm.Send_init(given, 1 - comm.rank)]
    MPI.Prequest.Startall(requests)
    return requests


def partitioned(comm: Any, given: Any, result: Any) -> Any:
    """Exchange by partitioned requests."""
    requests = [comm.Psend_init(given, 1, 1 - comm.rank, 0), comm.Precv_init(result[1:], 1, 1 - comm.rank, 0)]
    MPI.Prequest.Startall(requests)
    requests[0].Pready(0)
    return requests


def all_of(requests: Any) -> None:
    """Wait for all requests, and free the persistent ones."""
    Request.Waitall(requests)
    for request in requests:
        request.Free()


def freed(request: Any) -> None:
    """Wait for a persistent request, and free it."""
    request.Wait()
    request.Free()


def getting(name: str) -> Callable[[Any, Any, Any], Any]:
    """A read of the other rank's window, by the method of that name."""

    def start(comm: Any, given: Any, result: Any) -> Any:
        window = MPI.Win.Create(given, comm=comm)
        window.Lock_all()
        other, request = 1 - comm.rank, None
        if name == "Get":
            window.Get(result[1:], other)
        elif name == "Rget":
            request = window.Rget(result[1:], other)
        elif name == "Get_accumulate":
            window.Get_accumulate(given, result[1:], other, op=MPI.NO_OP)
        else:
            window.Fetch_and_op(given, result[1:], other, 0, MPI.NO_OP)
        return window, request

    return start


def ungetting(opened: Any) -> None:
    """The end of the epoch."""
    window, request = opened
    if request is not None:
        request.Wait()
    window.Flush_all()
    window.Unlock_all()
    window.Free()


OPERATIONS: dict[str, Callable[[Any], Any]] = {
    "Irecv": reading(lambda comm, given, result: [comm.Isend(given, 1 - comm.rank), comm.Irecv(result[1:], 1 - comm.rank)],
                     Request.Waitall),
    "Isendrecv": reading(lambda comm, given, result: comm.Isendrecv(given, 1 - comm.rank, recvbuf=result[1:])),
    "persistent": reading(received, all_of),
    "partitioned": reading(partitioned, all_of),
    "Ibcast": reading(lambda comm, given, result: comm.Ibcast(result if comm.rank else np.ones(comm.size))),
    "Iallgather": reading(lambda comm, given, result: comm.Iallgather(given, result)),
    "Iallgatherv": reading(lambda comm, given, result: comm.Iallgatherv(given, [result, [1, 1]])),
    "Ialltoallw": reading(lambda comm, given, result: comm.Ialltoallw(
        [np.ones(comm.size), ([1, 1], [0, 8]), [MPI.DOUBLE] * 2], [result, ([1, 1], [0, 8]), [MPI.DOUBLE] * 2])),
    "Iallreduce": reading(lambda comm, given, result: comm.Iallreduce(np.ones(comm.size), result)),
    "IN_PLACE": reading(lambda comm, given, result: comm.Iallreduce(MPI.IN_PLACE, result)),
    "Ireduce_scatter_block": reading(
        lambda comm, given, result: comm.Ireduce_scatter_block(MPI.IN_PLACE, result)),
    "Iscan": reading(lambda comm, given, result: comm.Iscan(np.ones(comm.size), result)),
    "Ineighbor_allgather": reading(
        lambda comm, given, result: comm.Create_cart([2], [False]).Ineighbor_allgather(given, result)),
    "Allgather_init": reading(persistent, freed),
    "Get": reading(getting("Get"), ungetting),
    "Rget": reading(getting("Rget"), ungetting),
    "Get_accumulate": reading(getting("Get_accumulate"), ungetting),
    "Fetch_and_op": reading(getting("Fetch_and_op"), ungetting),
}  # fmt: skip


def test_results_of_every_nonblocking_operation_arrive_early_and_late() -> None:
    """The contents differ before the end of the operation, and are the same at the end."""
    for name, main in OPERATIONS.items():
        early, late = (fakempi.run(main, 2, schedule=f"i{letter}:0").returns for letter in ("", "d"))
        changed = [rank for rank in range(2) if repr(early[rank][0]) != repr(late[rank][0])]
        assert changed, name
        assert [after for _, after in early] == [after for _, after in late], name
        for rank in changed:
            assert "nan" in repr(late[rank][0]) or repr(BYTES_A5) in repr(late[rank][0]), (name, late)
        found = fakempi.explore(main, 2, strict=False, compare="returns")
        assert found.failures, name
        assert "d" in found.failures[0].schedule.partition(":")[0], name


def test_nonblocking_reads_of_a_file_arrive_early_and_late(tmp_path: Path) -> None:
    """The same for files, whose reads depend on one rank only."""
    path = tmp_path / "data"
    path.write_bytes(bytes([5] * 8))

    def main(comm: Any) -> Any:
        file, buffers = MPI.File.Open(comm, path), [np.zeros(8, np.uint8) for _ in range(3)]
        requests = [file.Iread_at(0, buffers[0]), file.Iread(buffers[1]), file.Iread_at_all(0, buffers[2])]
        before = [buffer.tolist() for buffer in buffers]
        Request.Waitall(requests)
        file.Close()
        return before, [buffer.tolist() for buffer in buffers]

    early, late = (fakempi.run(main, 2, schedule=f"z{letter}:0").returns[0] for letter in ("", "d"))
    assert early == ([[5] * 8] * 3, [[5] * 8] * 3)
    assert late == ([[0xA5] * 8] * 3, [[5] * 8] * 3)


def sending(start: Callable[[Any, Any], Any], finish: Callable[[Any], object] = Request.Waitall) -> Main:
    """A program in which rank 0 changes its buffer before the call that ends the send; rank 1 returns what it received."""

    def main(comm: Any) -> float | None:
        data, got = np.array([1.0]), np.zeros(1)
        if comm.rank:
            request = comm.Irecv(got, 0)
            comm.Barrier()
            request.Wait()
            return float(got[0])
        opened = start(comm, data)
        data[0] = 2
        comm.Barrier()
        data[0] = 3
        finish(opened)
        return None

    return main


def prepared(comm: Any, data: Any) -> Any:
    """A persistent send."""
    request = comm.Send_init(data, 1)
    request.Start()
    return [request]


def test_send_buffers_are_read_early_and_late() -> None:
    """At the call, or as late as the sender or the receiver completes the message."""
    programs = {
        "Isend": sending(lambda comm, data: [comm.Isend(data, 1)]),
        "Issend": sending(lambda comm, data: [comm.Issend(data, 1)]),
        "Send_init": sending(prepared, all_of),
    }
    for name, main in programs.items():
        got = {schedule: fakempi.run(main, 2, schedule=schedule).returns[1] for schedule in ("z:0", "zd:0")}
        assert got["z:0"] == 1, name
        assert got["zd:0"] in (2, 3), name
        assert failing(main, compare="returns"), name
        assert fakempi.explore(main, 2).failures, name  # a strict run


def test_collective_calls_and_windows_read_their_buffers_early_and_late() -> None:
    """At the call, or when the rank next waits."""

    def reduced(comm: Any) -> float:
        data, total = np.array([1.0]), np.zeros(1)
        request = comm.Iallreduce(data, total)
        data[0] = 10
        request.Wait()
        return float(total[0])

    def put(comm: Any) -> float:
        data, memory = np.array([1.0]), np.zeros(1)
        window = MPI.Win.Create(memory, comm=comm)
        window.Fence()
        window.Put(data, 1 - comm.rank)
        data[0] = 10
        window.Fence()
        window.Free()
        return float(memory[0])

    for main, ends in ((reduced, {2.0, 20.0}), (put, {1.0, 10.0})):
        assert {fakempi.run(main, 2, schedule=f"z{letter}:0").returns[0] for letter in ("", "d")} == ends
        assert failing(main, compare="returns")


def test_a_failure_that_needs_late_data_names_the_calls() -> None:
    """And the schedule in which data move early passes."""
    (failure,) = fakempi.explore(exchanged(is_new), 2, buffering="infinite", strict=False).failures
    assert failure.schedule == "id:0"
    assert failure.passes == "i:0"
    assert "Irecv at test_data_timing.py:" in failure.why
    assert "before the call that completes it" in failure.why


def correct(comm: Any) -> list[float]:
    """Nonblocking calls of all kinds, without an error: wildcards, short messages, cancelled and tested requests."""
    given, parts, status = np.array([comm.rank + 1.0]), np.full(6, -1.0), MPI.Status()
    requests = [comm.Isend(given, 1 - comm.rank), comm.Irecv(parts[:2], MPI.ANY_SOURCE)]  # a longer buffer
    requests[1].Wait(status)
    Request.Waitall(requests)
    cancelled = comm.Irecv(parts[3:4], 1 - comm.rank, 5)
    cancelled.Cancel()
    cancelled.Wait()
    tested = comm.Iallreduce(MPI.IN_PLACE, parts[4:5])
    while not tested.Test():
        pass
    assert status.Get_count(MPI.DOUBLE) == 1
    return [float(value) for value in parts]


def test_correct_programs_stay_clean() -> None:
    """The rest of a buffer keeps its values. The number of schedules doubles at most."""
    found = fakempi.explore(correct, 2, compare="returns", polls=2)
    assert not found.failures, found
    early = fakempi.explore(correct, 2, compare="returns", polls=2, data="early")
    assert found.runs + found.ended_early <= 2 * (early.runs + early.ended_early)
    expected = [[2.0, -1.0, -1.0, -1.0, -2.0, -1.0], [1.0, -1.0, -1.0, -1.0, -2.0, -1.0]]
    for schedule in ("z:0", "zd:0", "i:0", "id:0", "zbd:0"):
        assert fakempi.run(correct, 2, schedule=schedule).returns == expected


def test_a_program_without_nonblocking_calls_has_no_more_runs() -> None:
    """The verdict does not mention data then."""

    def blocking(comm: Any) -> Any:
        return comm.recv() if comm.rank == 0 else comm.send(comm.rank, 0)

    def pending(comm: Any) -> None:
        buffer = np.zeros(1)
        Request.Wait(comm.Irecv(buffer, 1) if comm.rank == 0 else comm.Isend(buffer, 0))

    bufferings = "with no, unlimited and size-limited buffering"
    assert fakempi.explore(blocking, 2).verdict == f"clean: all 2 schedules {bufferings}"
    assert fakempi.explore(pending, 2).verdict == f"clean: all 4 schedules {bufferings}, and early and late data"


def test_requests_that_are_never_completed_get_their_data_at_the_end() -> None:
    """A freed request or one without a wait does not leave the pattern in memory that outlives the run."""
    buffers = [np.zeros(1), np.zeros(1), np.zeros(1)]

    def main(comm: Any) -> None:
        if comm.rank:
            for _ in range(2):
                comm.Send(np.ones(1), 0)
            comm.Barrier()
        else:
            for number, buffer in enumerate(buffers):
                request = comm.Irecv(buffer, 1)
                if number:
                    request.Free()
            comm.Barrier()

    for schedule in ("z:0", "zd:0"):
        for buffer in buffers:
            buffer[:] = 0
        fakempi.run(main, 2, schedule=schedule)
        assert [buffer[0] for buffer in buffers] == [1, 1, 0]
