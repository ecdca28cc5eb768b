"""Traces of `run(..., trace=True, cpu_scale=...)` contain the calls of ranks: a replay takes the time of the run.

A factor of 1e-30 measures computing times that are below the rounding error of clocks, so times are exactly equal.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fakempi
from fakempi import MPI
from fakempi.apps.cli import main
from fakempi.apps.replay.engine import ReplayOutcome, replay
from fakempi.errors import DeadlockError, TraceError
from fakempi.errors.recordings import RecordingError
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


def test_the_clock_measures_the_program_and_not_the_recorder(tmp_path: Path) -> None:
    """Computing between two calls is in the recording as the clock has charged it; calls in threads are counted."""

    def program(comm: Any) -> None:
        total = sum(range(20_000 * (comm.rank + 1)))
        comm.allgather(total)

    run = traced(program, 2, cpu_scale=1.0)
    recording = saved(run.trace, tmp_path / "t.json")
    computed = [float(rows["compute"].sum()) for rows in recording.events]
    assert min(computed) > 0
    outcome = replay(recording, COST)
    assert outcome.clocks == pytest.approx([float(clock) for clock in run.clocks], rel=1e-12)
    assert outcome.computing == pytest.approx(sum(computed))


def test_calls_that_a_replay_cannot_execute_are_counted_by_name(tmp_path: Path) -> None:
    """Windows, files, neighborhood collectives, intercommunicators, calls of threads, and unequal numbers of partitions."""

    def program(comm: Any) -> None:
        window = MPI.Win.Allocate(8, comm=comm)
        window.Fence()
        window.Free()
        grid = comm.Create_cart([comm.size], [True])
        grid.neighbor_allgather(1)
        side = comm.Split(comm.rank % 2)
        inter = side.Create_intercomm(0, comm, 1 - comm.rank % 2)
        inter.Barrier()
        with ThreadPoolExecutor(1) as pool:
            pool.submit(comm.Barrier).result()
        if comm.rank == 1:
            receive = comm.Precv_init(array(8), 2, 0, 1)
            receive.Start()
        comm.Barrier()
        if comm.rank == 0:
            send = comm.Psend_init(array(8), 4, 1, 1)
            send.Start()
            send.Pready_range(0, 3)
            send.Wait()
        if comm.rank == 1:
            receive.Wait()
        for each in (inter, side, grid):
            each.Free()

    recording = saved(traced(program, 2).trace, tmp_path / "t.json")
    assert recording.left_out == {
        "Win.Allocate": 2, "Win.Fence": 2, "Win.Free": 2, "Comm.neighbor_allgather": 2, "barrier on an intercommunicator": 2,
        "Barrier in another thread": 2, "Precv_init_with_more_or_fewer_partitions_than_Psend_init": 1,
    }  # fmt: skip


def test_traces_without_calls_are_refused_with_what_to_do(tmp_path: Path) -> None:
    """Of runs that measured nothing, that failed, or in which a rank died."""

    def deadlock(comm: Any) -> None:
        comm.recv(source=0)

    def dies(comm: Any) -> None:
        comm.Set_errhandler(MPI.ERRORS_RETURN)
        with pytest.raises(MPI.Exception) if comm.rank == 0 else nullcontext():
            comm.recv(source=1 - comm.rank)

    plain = fakempi.run(collectives, P, trace=True).trace
    assert plain is not None
    with pytest.raises(RecordingError, match=r"t.json: the trace has no calls to replay.* --cpu-scale 1 --trace FILE"):
        saved(plain, tmp_path / "t.json")
    with pytest.raises(DeadlockError) as failed:
        traced(deadlock, 2)
    assert isinstance(failed.value.trace, Trace)
    with pytest.raises(RecordingError, match=r"t.npz: the traced run failed, so its calls are incomplete: .*deadlock"):
        saved(failed.value.trace, tmp_path / "t.npz")
    with pytest.raises(RecordingError, match=r"t.npz: rank 1.*: it did not complete: it died"):
        saved(traced(dies, 2, kill={1: 1e-3}).trace, tmp_path / "t.npz")


def test_a_damaged_line_is_reported_with_its_rank(tmp_path: Path) -> None:
    """Also a table of lines that is no table."""
    trace = traced(lambda comm: comm.Barrier(), 2).trace
    trace.recording[1] = trace.recording[1].replace(b"barrier", b"borrier")
    with pytest.raises(RecordingError, match=r"t.json: rank 1, line 2 of its calls: not a line of the recorder: 'coll"):
        saved(trace, tmp_path / "t.json")
    text = (tmp_path / "t.json").read_text()
    (tmp_path / "t.json").write_text(text.replace('"recording":{"lengths":[', '"recording":{"lengths":[-1,'))
    with pytest.raises(TraceError, match=r"t.json: the trace is damaged: the recorded calls: lengths must be"):
        read(tmp_path / "t.json")


def test_traces_of_other_runs_have_no_calls(tmp_path: Path) -> None:
    """Recording takes time and memory: a run that is only traced, or only measured, does not do it."""
    run = fakempi.run(collectives, P, trace=True)
    assert run.trace is not None
    assert run.trace.recording == []
    run.trace.save(tmp_path / "t.json")
    assert '"recording"' not in (tmp_path / "t.json").read_text()
    assert fakempi.run(collectives, P, cpu_scale=1.0).trace is None


WORK = """
import numpy as np
from mpi4py import MPI

comm = MPI.COMM_WORLD
rank, size = comm.rank, comm.size
half = comm.Split(rank % 2, -rank)
for step in range(3):
    requests = [comm.Irecv(np.zeros(500), (rank - 1) % size, 7), comm.Isend(np.zeros(500), (rank + 1) % size, 7)]
    half.Allreduce(np.zeros(64), np.zeros(64))
    MPI.Request.Waitall(requests)
found = comm.gather({"rank": rank}, root=1)
assert rank != 1 or len(found) == size
half.Free()
"""


@pytest.mark.parametrize("processes", [(), ("--processes",)], ids=["in one process", "in processes"])
def test_a_script_is_traced_and_replayed(processes: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """With `fakempi run` and `fakempi replay`; call sites are lines of the script."""
    script, trace = tmp_path / "work.py", tmp_path / "t.npz"
    script.write_text(WORK)
    options = ["--trace", str(trace), "--cpu-scale", "1e-30", "--cost", "hockney:t_s=1e-6,t_w=1e-9"]
    assert main(["run", "-n", "4", *processes, *options, str(script)]) == 0
    capsys.readouterr()
    assert main(["replay", str(trace), "--cost", "hockney:t_s=1e-6,t_w=1e-9"]) == 0
    lines = capsys.readouterr().out.splitlines()
    modeled, recorded = lines[1].removeprefix("modeled time ").split("; the recorded run took ")
    assert lines[0].startswith("t.npz: 4 ranks, ")
    assert modeled == recorded
    assert {line.split()[0] for line in lines[5:]} == {"work.py:10", "work.py:12"}
