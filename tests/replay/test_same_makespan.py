"""A replay takes the time of the recorded run: for random programs, and for one that is recorded under `fakempi run`."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import pytest

import fakempi
from fakempi import MPI
from fakempi.apps.replay.engine import replay
from fakempi.recordings.reading import read
from fakempi.recordings.recording import RecordingBuilder
from fakempi.recordings.writing import EventWriter

T_S, T_W = 2.0**-20, 2.0**-30
ROOT = Path(__file__).parents[2]


class Step(NamedTuple):
    """A step of a random program, which all ranks execute."""

    kind: str
    nbytes: int
    root: int
    seconds: list[float]  # of computing, by rank
    shift: int


def random_steps(random: Random, p: int) -> list[Step]:
    """Steps whose times are sums of powers of two, so that their order does not matter."""
    kinds = [*CALLS]
    return [
        Step(
            random.choice(kinds), 8 * random.choice([0, 1, 3, 100, 4096, 20000]), random.randrange(p),
            [random.randrange(8) * T_S for _ in range(p)], random.randrange(p),
        )
        for _ in range(random.randint(1, 12))
    ]  # fmt: skip


def call_shift(comm: Any, step: Step) -> None:
    """Nonblocking messages, with computing before the ranks wait for them."""
    p, rank = comm.size, comm.rank
    requests = [
        comm.Irecv(fakempi.phantom(step.nbytes), (rank - step.shift) % p, 3),
        comm.Isend(fakempi.phantom(step.nbytes), (rank + step.shift) % p, 3),
    ]
    fakempi.compute(step.seconds[rank])
    MPI.Request.Waitall(requests)


def write_shift(writer: EventWriter, step: Step, rank: int, p: int) -> None:
    """The same as events."""
    writer.receive((rank - step.shift) % p, 3, step.nbytes, request="in")
    writer.send((rank + step.shift) % p, 3, step.nbytes, request="out")
    writer.compute(step.seconds[rank])
    writer.wait(["in", "out"])


def write_farm(writer: EventWriter, step: Step, rank: int, p: int) -> None:
    """The root receives from the other ranks in their order."""
    if rank != step.root:
        writer.send(step.root, 5, step.nbytes, mode="synchronous")
    for source in range(p if rank == step.root else 0):
        if source != step.root:
            writer.receive(source, 5, step.nbytes)


def farm(comm: Any, step: Step) -> None:
    """The root receives from the other ranks in their order."""
    if comm.rank != step.root:
        comm.Ssend(fakempi.phantom(step.nbytes), step.root, 5)
    for source in range(comm.size if comm.rank == step.root else 0):
        if source != step.root:
            comm.Recv(fakempi.phantom(step.nbytes), source, 5)


def call_collective(name: str) -> Callable[[Any, Step], None]:
    """A collective call with buffers of the sizes of the step."""

    def call(comm: Any, step: Step) -> None:
        one, whole = fakempi.phantom(step.nbytes, 8), fakempi.phantom(step.nbytes * comm.size, 8)
        arguments = {
            "Barrier": (), "Bcast": (one, step.root), "Allreduce": (one, one), "Allgather": (one, whole),
            "Alltoall": (whole, whole), "Reduce": (one, one if comm.rank == step.root else None, MPI.SUM, step.root),
        }  # fmt: skip
        getattr(comm, name)(*arguments[name])

    return call


def write_collective(name: str) -> Callable[[EventWriter, Step, int, int], None]:
    """The same as an event."""

    def write(writer: EventWriter, step: Step, rank: int, p: int) -> None:
        writer.collective(name.lower(), 0, 0 if name == "Barrier" else step.nbytes, root=step.root, itemsize=8)

    return write


COLLECTIVE = ("Barrier", "Bcast", "Allreduce", "Allgather", "Alltoall", "Reduce")
CALLS: dict[str, Callable[[Any, Step], None]] = {
    "shift": call_shift, "farm": farm, **{name: call_collective(name) for name in COLLECTIVE},
}  # fmt: skip
EVENTS: dict[str, Callable[[EventWriter, Step, int, int], None]] = {
    "shift": write_shift, "farm": write_farm, **{name: write_collective(name) for name in COLLECTIVE},
}  # fmt: skip


@pytest.mark.parametrize("eager_limit", [0, 4096])
@pytest.mark.parametrize("seed", range(12))
def test_a_replay_takes_the_time_of_the_program(seed: int, eager_limit: int) -> None:
    """Clocks, messages and bytes are exactly equal."""
    random = Random(seed)
    p = random.choice([1, 2, 3, 4, 7])
    steps = random_steps(random, p)

    def program(comm: Any) -> None:
        for step in steps:
            fakempi.compute(step.seconds[comm.rank])
            CALLS[step.kind](comm, step)

    builder = RecordingBuilder(p, "random")
    for rank in range(p):
        for step in steps:
            builder.rank(rank).compute(step.seconds[rank])
            EVENTS[step.kind](builder.rank(rank), step, rank, p)
    cost = fakempi.Hockney(T_S, T_W, eager_limit=eager_limit)
    expected, outcome = fakempi.run(program, p, cost=cost), replay(builder.finish(), cost)
    assert list(outcome.clocks) == [float(clock) for clock in expected.clocks]
    assert (outcome.messages, outcome.nbytes) == (expected.messages, expected.bytes)


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
if rank == 0:
    for _ in range(size - 1):
        comm.Recv(np.zeros(10), MPI.ANY_SOURCE, 5)
else:
    comm.Send(np.zeros(10), 0, 5)
comm.Gatherv(np.zeros(rank), (np.zeros(6), [0, 1, 2, 3]) if rank == 1 else None, root=1)
if rank == 0:
    print(MPI.Wtime())
"""


@pytest.mark.slow
def test_a_recording_under_fakempi_run_takes_the_time_of_the_run(tmp_path: Path) -> None:
    """With ranks as processes, the recorder records what the emulator executes. Without computing, times are equal."""
    (tmp_path / "work.py").write_text(WORK)
    command = [sys.executable, "-m", "fakempi", "run", "-n", "4"]
    options: Any = {"cwd": tmp_path, "env": {**os.environ, "PYTHONPATH": str(ROOT)}, "timeout": 120, "check": True}
    plain = subprocess.run([*command, "work.py"], capture_output=True, text=True, **options)
    recorder = ["--processes", "-m", "fakempi.record", "-o", "recording", "work.py"]
    subprocess.run([*command, *recorder], capture_output=True, **options)
    outcome = replay(read(tmp_path / "recording"), scale=1e15)
    assert outcome.clocks[0] == pytest.approx(float(plain.stdout), rel=1e-6)
    assert outcome.unmatched == 0
    assert {Path(site.site).name for site in outcome.sites} == {"work.py:10", "work.py:17"}
