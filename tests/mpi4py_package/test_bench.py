"""`-m mpi4py.bench`: its commands, in modeled time."""

from __future__ import annotations

from typing import Any

import pytest

import fakempi
from fakempi.isolation import Program
from fakempi.isolation.mpi4py import bench
from fakempi.isolation.mpi4py.util import pkl5

Capture = pytest.CaptureFixture[str]
UNIT = fakempi.Hockney(t_s=1, t_w=1)


def run_command(*command: str, nprocs: int = 3) -> fakempi.Run[int]:
    """Run the command as a script."""
    return fakempi.run(Program(["-m", "mpi4py.bench", *command]), nprocs, cost=UNIT)


def test_hello_in_order(capsys: Capture) -> None:
    """One line per rank."""
    assert run_command("helloworld").returns == [0, 0, 0]
    assert capsys.readouterr().out.splitlines() == [f"Hello, World! I am process {i} of 3 on node0." for i in range(3)]


def test_a_message_around_the_ring(capsys: Capture) -> None:
    """Three messages of start-up 1 and 4 bytes, twice; a warm-up round does not count."""
    run_command("ringtest", "-n", "4", "-l", "2", "--skip", "1")
    run_command("ringtest", nprocs=1)
    assert capsys.readouterr().out.splitlines() == [
        "time for 2 loops = 30 seconds (3 processes, 4 bytes)", "time for 1 loops = 2 seconds (1 processes, 1 bytes)",
    ]  # fmt: skip


def test_ping_pong(capsys: Capture) -> None:
    """Half a round trip is one message."""
    run_command("pingpong", "-m", "2", "-n", "7", "-l", "3", "-s", "1")
    assert capsys.readouterr().out.splitlines() == [
        "# MPI PingPong Test",
        "# Size [B]  Bandwidth [MB/s] | Time Mean [s] ± StdDev [s]  Samples",
        "         2              0.00 | 3.0000000e+00 ± 0.0000e+00        3",
        "         4              0.00 | 5.0000000e+00 ± 0.0000e+00        3",
    ]


@pytest.mark.parametrize("form", [["-p"], ["-o", "--threshold", "1"], ["-a", "none"], ["-p", "--protocol", "2"]])
@pytest.mark.parametrize("nprocs", [1, 2])
def test_ping_pong_of_objects_and_bytes(form: list[str], nprocs: int) -> None:
    """With --quiet: the numbers are returned."""

    def main(comm: Any) -> Any:
        return bench.pingpong(comm, ["-n", "2", "-l", "2", "-s", "0", "--no-header", "--no-stats", *form], verbose=False)

    try:
        returns = fakempi.run(main, nprocs, cost=UNIT).returns
    finally:
        pkl5.pickle.THRESHOLD = None
    assert [size for size, _, _ in returns[0]] == [1, 2]
    assert all(seconds >= 1 and deviation == 0 for _, seconds, deviation in returns[0])


@pytest.mark.parametrize("form", [["-w", "2"], ["-e", "thread", "-a", "bytes"], ["-o", "-c", "3", "-q"]])
def test_tasks_for_workers(form: list[str], capsys: Capture) -> None:
    """Of one and two bytes, with the number per second; or with --quiet."""
    assert run_command("futures", "-n", "2", "-t", "2", "-l", "2", *form, nprocs=1).returns[0] == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == ([] if "-q" in form else ["#", "#", "1", "2"])
    assert "-w" not in form or lines[0] == "# MPIPoolExecutor - 2 workers, 2 tasks/worker"


def test_an_unknown_command_is_rejected(capsys: Capture) -> None:
    """With the valid ones."""
    assert run_command("nothing").returns == [2, 2, 2]
    assert "unknown command 'nothing'; choose one of helloworld, ringtest, pingpong, futures." in capsys.readouterr().err


def test_thread_levels_can_be_requested() -> None:
    """Before the command starts."""
    assert run_command("--no-threads", "helloworld", "-q", nprocs=1).returns == [0]
    assert run_command("--thread-level", "single", "helloworld", "-q", nprocs=1).returns == [0]
