"""Traces of `run(..., trace=True, cpu_scale=...)` contain the calls of ranks: a replay takes the time of the run.

A factor of 1e-30 measures computing times that are below the rounding error of clocks, so times are exactly equal.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fakempi
from fakempi import MPI
from fakempi.apps.replay.engine import ReplayOutcome, replay
from fakempi.recordings.reading import read
from fakempi.recordings.recording import Recording
from fakempi.trace.record import Trace

T_S, T_W = 2.0**-20, 2.0**-30
COST = fakempi.Hockney(t_s=T_S, t_w=T_W, eager_limit=1024)
NO_CPU_TIME = 1e-30
P = 4


def traced(program: Callable[[Any], Any], p: int = P, **options: Any) -> Any:
    """Run a program with its calls in the trace."""
    return fakempi.run(program, p, **{"cost": COST, "trace": True, "cpu_scale": NO_CPU_TIME, **options})


def saved(trace: Trace, path: Path) -> Recording:
    """The recording in a file with a trace."""
    trace.save(path)
    return read(path)


def compare(run: Any, path: Path, *, left_out: set[str] = frozenset()) -> ReplayOutcome:  # type: ignore[assignment]
    """Replay the trace of a run, and compare clocks, messages and bytes with those of the run."""
    recording = saved(run.trace, path)
    assert set(recording.left_out) == left_out
    outcome = replay(recording, COST)
    assert list(outcome.clocks) == pytest.approx([float(clock) for clock in run.clocks], rel=1e-15, abs=1e-30)
    assert (outcome.messages, outcome.nbytes) == (run.messages, run.bytes)
    return outcome


# -- programs --------------------------------------------------------------------------------------------------------------


def array(count: int) -> Any:
    """An array of doubles."""
    return np.zeros(count)


def messages(comm: Any) -> None:
    """Blocking messages in all modes, and matched probes."""
    rank, right, left = comm.rank, (comm.rank + 1) % comm.size, (comm.rank - 1) % comm.size
    comm.Sendrecv(array(1000), right, 3, array(1000), left, 3)
    comm.Sendrecv_replace(array(10), right, 3, left, 3)
    MPI.Attach_buffer(bytearray(10000))
    comm.Bsend(array(500), right, 4)
    fakempi.compute(rank * 2.0**-18)
    comm.Recv(array(500), left, 4)
    MPI.Detach_buffer()
    if rank % 2:
        comm.Ssend(array(3), left, 5)
        comm.send({"rank": rank}, left, 6)
        comm.Send(array(1000), left, 7)
        comm.Send(array(7), MPI.PROC_NULL, 7)
    else:
        comm.Recv(array(3), right, 5)
        assert comm.recv(source=right, tag=6) == {"rank": rank + 1}
        message = comm.Mprobe(MPI.ANY_SOURCE, 7)
        message.Irecv(array(1000)).Wait()
        comm.Recv(array(7), MPI.PROC_NULL)
    assert comm.sendrecv("x" * rank, right, source=left) == "x" * left


def nonblocking(comm: Any) -> None:
    """Requests of all kinds, completed by all calls."""
    rank, right, left = comm.rank, (comm.rank + 1) % comm.size, (comm.rank - 1) % comm.size
    for wait in (waitany, waitsome, by_testall, polling):
        requests = [comm.Irecv(array(200), MPI.ANY_SOURCE, MPI.ANY_TAG), comm.Isend(array(200), right, rank)]
        fakempi.compute(rank * 2.0**-19)
        wait(requests)
        comm.Barrier()
    request = comm.Isendrecv(array(300), right, 1, array(300), left, 1)
    request.Wait()
    assert MPI.Request.waitall([comm.isend(rank, right), comm.irecv(source=left)])[1] == left
    persistent = [comm.Send_init(array(300), right, 8), comm.Recv_init(array(300), left, 8)]
    reduction = comm.Allreduce_init(array(30), array(30))
    for _ in range(3):
        MPI.Prequest.Startall(persistent)
        reduction.Start()
        fakempi.compute(2.0**-20)
        MPI.Request.Waitall([*persistent, reduction])
    for each in (*persistent, reduction):
        each.Free()


def waitany(requests: list[Any]) -> None:
    """Wait for one after the other."""
    while MPI.Request.Waitany(requests) != MPI.UNDEFINED:
        pass


def waitsome(requests: list[Any]) -> None:
    """Wait for some at a time."""
    while MPI.Request.Waitsome(requests) is not None:
        pass


def by_testall(requests: list[Any]) -> None:
    """Test all until they are complete."""
    while not MPI.Request.Testall(requests):
        pass


def polling(requests: list[Any]) -> None:
    """Test each until it is complete."""
    for request in requests:
        while not request.Test():
            pass


def partitioned(comm: Any) -> None:
    """Partitions that are sent out of order; on odd ranks the receive is started before its send is made."""
    rank, right, left = comm.rank, (comm.rank + 1) % comm.size, (comm.rank - 1) % comm.size
    receive = comm.Precv_init(array(64), 4, left, 2)
    if rank % 2:
        receive.Start()
        comm.Barrier()
    else:
        comm.Barrier()
        receive.Start()
    send = comm.Psend_init(array(64), 4, right, 2)
    for step in range(2):
        send.Start()
        if step:
            receive.Start()
        send.Pready(3)
        fakempi.compute(2.0**-18)
        send.Pready_range(0, 1)
        send.Pready_list([2])
        receive.Parrived(0)
        MPI.Request.Waitall([send, receive])
    send.Free()
    receive.Free()


COUNTS = [3, 0, 200, 2]


def collectives(comm: Any) -> None:
    """All operations with buffers, with unequal counts and start times, blocking and not."""
    p, rank, root = comm.size, comm.rank, 2
    block, whole, mine = array(8), array(8 * p), array(COUNTS[rank])
    vector = [array(sum(COUNTS)), COUNTS]
    reverse = MPI.Op.Create(lambda left, right, datatype: None, commute=False)
    calls: list[tuple[str, Any]] = [
        ("Barrier", ()), ("Bcast", (whole, root)), ("Gather", (block, whole if rank == root else None, root)),
        ("Gatherv", (mine, vector if rank == root else None, root)),
        ("Scatter", (whole if rank == root else None, block, root)),
        ("Scatterv", (vector if rank == root else None, mine, root)), ("Allgather", (block, whole)),
        ("Allgatherv", (mine, vector)), ("Alltoall", (whole, array(8 * p))),
        ("Alltoallv", ([array(p * COUNTS[rank]), [COUNTS[rank]] * p], vector)),
        ("Alltoallw", ([array(8 * p), [8] * p, [64 * k for k in range(p)], [MPI.DOUBLE] * p],
                       [array(8 * p), [8] * p, [64 * k for k in range(p)], [MPI.DOUBLE] * p])),
        ("Reduce", (block, array(8) if rank == root else None, MPI.SUM, root)),
        ("Allreduce", (MPI.IN_PLACE, block, MPI.MAX)), ("Allreduce", (block, array(8), reverse)),
        ("Reduce_scatter_block", (whole, block, MPI.SUM)),
        ("Reduce_scatter", (vector[0], mine, COUNTS, MPI.SUM)), ("Scan", (block, array(8), MPI.SUM)),
        ("Exscan", (block, array(8), MPI.SUM)),
    ]  # fmt: skip
    for name, arguments in calls:
        fakempi.compute(rank * 2.0**-19)
        getattr(comm, name)(*arguments)
        request = getattr(comm, f"I{name.lower()}")(*arguments)
        fakempi.compute((p - rank) * 2.0**-19)
        request.Wait()
    reverse.Free()


def objects(comm: Any) -> None:
    """Calls with objects exchange sizes first."""
    rank, p = comm.rank, comm.size
    assert comm.bcast("x" * 100 if rank == 1 else None, 1) == "x" * 100
    assert comm.allgather("x" * rank) == ["x" * each for each in range(p)]
    assert (comm.gather((rank, 1.5), 2) is None) == (rank != 2)
    assert comm.scatter([array(each) for each in range(p)] if rank == 0 else None).size == rank
    assert comm.alltoall([rank * each for each in range(p)]) == [rank * each for each in range(p)]
    comm.barrier()


def communicators(comm: Any) -> None:
    """Communicators of all kinds, used and freed in unequal orders."""
    rank, p = comm.rank, comm.size
    half, copy, turned = comm.Split(rank % 2, -rank), comm.Dup(), comm.Split(0, -rank)
    for each in (turned, half, copy):
        fakempi.compute(rank * 2.0**-19)
        each.Sendrecv(array(50), (each.rank + 1) % each.size, 1, array(50), (each.rank - 1) % each.size, 1)
    half.Bcast(array(1000), each.size // 4)
    half.Free()
    part = comm.Split(MPI.UNDEFINED if rank == 0 else 7)
    group = comm.group.Incl([3, 1])
    some, chosen = comm.Create(group), comm.Create_group(group) if rank in (1, 3) else MPI.COMM_NULL
    for each in (part, some, chosen):
        if each != MPI.COMM_NULL:
            each.Allreduce(array(9), array(9))
            each.Free()
    grid = comm.Create_cart([2, p // 2], [True, False])
    row = grid.Sub([False, True])
    row.Allgather(array(9), array(9 * row.size))
    source, dest = grid.Shift(1, 1)
    grid.Sendrecv(array(4), dest, 0, array(4), source, 0)
    MPI.COMM_SELF.Allreduce(array(5), array(5))
    later, request = comm.Idup()
    request.Wait()
    later.Barrier()
    for each in (later, row, grid, copy, turned):
        each.Free()


def intercommunicators(comm: Any) -> None:
    """Messages between groups; merging waits for all ranks."""
    side = comm.Split(comm.rank % 2, comm.rank)
    inter = side.Create_intercomm(0, comm, 1 - comm.rank % 2, 5)
    inter.Sendrecv(array(2000), inter.rank, 3, array(2000), inter.rank, 3)
    fakempi.compute(comm.rank * 2.0**-18)
    merged = inter.Merge(comm.rank % 2 == 1)
    merged.Allreduce(array(100), array(100))
    for each in (merged, inter, side):
        each.Free()


PROGRAMS = [messages, nonblocking, partitioned, collectives, objects, communicators, intercommunicators]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_a_replay_takes_the_time_of_the_traced_run(program: Callable[[Any], None], tmp_path: Path) -> None:
    """Clocks, messages and bytes are equal, with both backends and in both formats of traces."""
    greenlets, threads = traced(program, backend="greenlets"), traced(program, backend="threads")
    compare(greenlets, tmp_path / "t.json")
    compare(threads, tmp_path / "t.npz")


def test_a_program_of_known_time(tmp_path: Path) -> None:
    """A ring of p - 1 steps, and computing that is measured by the modeled clock."""
    message = T_S + 4096 * T_W

    def ring(comm: Any) -> None:
        for _ in range(comm.size - 1):
            comm.Sendrecv(array(512), (comm.rank + 1) % comm.size, 0, array(512), (comm.rank - 1) % comm.size, 0)
        fakempi.compute(1.0)

    recording = saved(traced(ring, 5).trace, tmp_path / "t.json")
    assert replay(recording, COST).seconds == 4 * message + 1.0
    assert replay(recording, COST, scale=2).seconds == 4 * message + 0.5
    assert recording.seconds == 4 * message + 1.0
    [site] = {site.partition(":")[0] for site in recording.sites if site}
    assert site.endswith("test_traces.py")
