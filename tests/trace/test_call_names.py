"""Calls in a trace have the names that the program has written, also those that fakempi replaces or wraps."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import fakempi
from fakempi.apps.cli import main
from fakempi.trace.record import Trace
from tests.helpers.loops import for_each

SCRIPT = """\
import asyncio, threading, time
from functools import partial
from time import sleep as nap
import numpy as np
import mpi4py.util.sync as sync
from mpi4py import MPI
from mpi4py.util import pkl5
comm = MPI.COMM_WORLD
rank, other, ones = comm.rank, 1 - comm.rank, np.ones(2)
class Sleeper:
    rest = time.sleep
time.sleep(1e-6)
nap(1e-6)  # sleep
Sleeper().rest(1e-6)  # sleep
partial(time.sleep, 1e-6)()
list(map(nap, [1e-6]))  # sleep
threading.Thread(target=lambda: time.sleep(1e-6)).start()
timer = threading.Timer(1e-6, lambda: time.sleep(1e-6)); timer.start(); timer.join()
async def coroutine():
    await asyncio.sleep(1e-6)
    time.sleep(1e-6)
    comm.Barrier()
asyncio.run(coroutine())
if rank: comm.send(1, 0); comm.Send(ones, 0); comm.isend(1, 0).wait(); comm.Issend(ones, 0).Wait()
else: comm.recv(); comm.Recv(ones); comm.irecv().wait(); MPI.Request.Waitall([comm.Irecv(ones)])
if rank: comm.send(1, 0); comm.send(1, 0); comm.send(1, 0); comm.send(1, 0)
else: comm.probe(); comm.recv(); comm.Probe(); comm.recv(); comm.mprobe().recv(); comm.Mprobe().recv()
if rank:
    time.sleep(1e-6); comm.send(1, 0); time.sleep(1e-6); comm.send(1, 0)
else:
    while not comm.iprobe(): pass
    comm.recv()
    while not comm.Iprobe(): pass
    comm.recv()
comm.sendrecv(1, other); comm.Sendrecv(ones, other, 0, np.ones(2), other)
MPI.Comm.Barrier(comm); barrier = comm.barrier; barrier()
comm.allreduce(1); comm.Allreduce(MPI.IN_PLACE, ones); comm.Ibarrier().Wait()
link = comm.Send_init(ones, 1) if rank == 0 else comm.Recv_init(ones, 0); link.Start(); link.Wait(); link.Free()
win = MPI.Win.Allocate(8, comm=comm); win.Fence(); win.Put(np.ones(1), other); win.Fence(); win.Free()
cart = comm.Create_cart([2]); cart.neighbor_allgather(1)
wrapped = pkl5.Intracomm(comm)
wrapped.sendrecv(1, other); wrapped.bcast(2)
with sync.Sequential(comm): pass
with sync.Mutex(comm=comm): pass
counter = sync.Counter(comm=comm)
next(counter)  # Counter
counter.free()
"""
"""Each call in the trace of a line is a word of that line."""


def trace_of(*options: str) -> Trace:
    """The trace of the script."""
    Path("work.py").write_text(SCRIPT)
    assert main(["run", "-n", "2", "-q", *options, "--trace", "t.npz", "work.py"]) == 0
    return fakempi.load("t.npz")


def check_names(trace: Trace) -> set[tuple[str, int]]:
    """Compare the names with the text of the lines; returns names and lines."""
    lines = SCRIPT.splitlines()
    found = {(call.name, call.line) for call in trace.calls if call.file.endswith("work.py")}
    assert [(name, line) for name, line in found if name not in lines[line - 1].replace("(", " ").replace(".", " ")] == []
    return found


MODES: dict[str, list[str]] = {
    "scripts": [], "emulated": ["--fused", "never"], "measured": ["--cpu-scale", "1"], "processes": ["--processes"],
}  # fmt: skip


@pytest.mark.quick(2)
@pytest.mark.parametrize("mode", list(MODES))
def test_calls_have_the_names_that_the_program_has_written(mode: str, tmp_path: Path, monkeypatch: Any, capsys: Any) -> None:
    """With fused and emulated calls, with measured CPU time, which wraps all public calls, and with processes."""
    monkeypatch.chdir(tmp_path)
    found = check_names(trace_of(*MODES[mode]))
    names = {name for name, _ in found}
    assert {
        "sleep", "send", "Send", "isend", "Issend", "recv", "Recv", "irecv", "Irecv", "sendrecv", "Sendrecv", "Barrier",
        "barrier", "allreduce", "Allreduce", "Ibarrier", "Start", "Fence", "Put", "Free", "neighbor_allgather", "bcast",
        "Sequential", "Mutex", "Counter",
    } <= names  # fmt: skip
    others = ("asyncio", "threading.") if mode == "processes" else ("asyncio",)  # a thread of a process sleeps in real time
    sleeping = {
        number for number, line in enumerate(SCRIPT.splitlines(), 1)
        if "1e-6" in line and not any(other in line for other in others)
    }  # fmt: skip
    assert {line for name, line in found if name == "sleep"} == sleeping


@for_each("name", ["recv", "Recv", "probe", "Probe", "mprobe", "Mprobe", "barrier", "Barrier"])
def test_a_deadlock_report_names_the_call(name: str) -> None:
    """Also while CPU time is measured."""

    def main(comm: Any) -> None:
        if comm.rank == 0:
            getattr(comm, name)(*([bytearray(1)] if name == "Recv" else []))

    for cpu_scale in (0.0, 1e-9):
        with pytest.raises(fakempi.DeadlockError) as caught:
            fakempi.run(main, 2, cpu_scale=cpu_scale)
        assert [record.call for record in caught.value.blocked] == [name]


@for_each("name", ["iprobe", "Iprobe", "improbe", "Improbe"])
def test_a_livelock_report_names_the_call(name: str) -> None:
    """Calls in lower case are reported as they are written."""

    def main(comm: Any) -> None:
        while not getattr(comm, name)():
            pass

    with pytest.raises(fakempi.LivelockError, match=rf"{name}\(source=ANY, tag=ANY\)"):
        fakempi.run(main, 2)
