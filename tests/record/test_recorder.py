"""`python -m fakempi.record` on a real MPI: what the file of a rank contains."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.real_mpi.processes import LIMIT, ROOT, WAITING, mpi_is_installed, mpiexec, on_one_core

PROGRAM = Path(__file__).parent / "program.py"

PICKLED = r"\d+"
EXPECTED = rf"""
sendrecv 1 0 2 3 80 0 3 80
recv 2 0 * * 80 0
send 2 S 0 2 5 32 1
wait 3 0:0:5 1
skip 4
send 5 S 0 2 6 {PICKLED} -
recv 6 0 0 6 {PICKLED} -
send 7 S 0 2 0 {PICKLED} 2
recv 7 0 0 * 32768 3
wait 7 2 3:0:0
skip 8
send 9 S 0 2 8 80 4
recv 9 0 0 8 80 5
wait 10 4 5
send 9 S 0 2 8 80 6
recv 9 0 0 8 80 7
wait 10 6 7
skip 11
coll 12 allreduce 0 0 80 8 c - -
coll 13 allgather 0 0 8 8 c - -
coll 13 allgatherv 0 0 {PICKLED} 1 c {PICKLED},{PICKLED},{PICKLED} -
comm 2 0 0 1,0
coll 14 create 0 0 0 1 c - -
coll 15 bcast 2 1 80 8 c - -
skip 16
coll 17 allgatherv 0 0 16 8 c 8,16,24 -
coll 18 gatherv 0 2 16 8 c - -
coll 19 reduce 0 0 80 8 n - -
coll 20 allreduce 0 0 80 8 c - 8
skip 21
wait 21 8
send 22 SS 0 0 9 {PICKLED} -
other 23 Win.Allocate
other 24 Win.Fence
other 25 Win.Free
coll 26 barrier 0 0 0 1 c - -
end exit 3
"""


def record(directory: Path, *program: str, ranks: int = 3) -> subprocess.CompletedProcess[str]:
    """Record a program on a real MPI; skip the test without one."""
    if not mpi_is_installed():
        pytest.skip('there is no MPI: python -m pip install "fakempi[mpi]"')
    command = [mpiexec(), "-n", str(ranks), sys.executable, "-m", "fakempi.record", "-o", str(directory), *program]
    environment = {**os.environ, **WAITING, "PYTHONPATH": str(ROOT)}
    return subprocess.run(
        command, env=environment, preexec_fn=on_one_core, capture_output=True, text=True, timeout=LIMIT, check=False
    )


def without_times(lines: list[str]) -> list[str]:
    """Events without their times; sites are numbered as they occur, and repeated tests are one line."""
    found = []
    for line in lines:
        kind, *words = line.split()
        if kind == "comm":
            found.append(line)
        elif kind == "end":
            found.append(" ".join([kind, *words[1:]]))
        elif kind != "site":
            found.append(" ".join([kind, *words[2:]]))
    return [line for index, line in enumerate(found) if not index or line != found[index - 1] or "skip" not in line]


def test_the_file_of_a_rank_has_its_calls_with_sizes_peers_and_matches(tmp_path: Path) -> None:
    """One program with most kinds of calls; rank 1 ends with exit code 3."""
    done = record(tmp_path / "out", str(PROGRAM))
    assert done.returncode == 3, done.stderr
    assert sorted(each.name for each in (tmp_path / "out").iterdir()) == ["rank-0.txt", "rank-1.txt", "rank-2.txt"]
    first, header, *lines = (tmp_path / "out" / "rank-1.txt").read_text().splitlines()
    assert first == "fakempi recording 1"
    assert {"rank": 1, "ranks": 3, "clock": "ns"}.items() <= json.loads(header).items()
    found = without_times(lines)
    optional = [line for line in found if line != "skip 21"]  # the first test may succeed
    expected = [line for line in EXPECTED.strip().splitlines() if line != "skip 21"]
    for line, pattern in zip(optional, expected, strict=True):
        assert re.fullmatch(re.sub(r"([*])", r"\\\1", pattern), line), (line, pattern)
    _, other, *lines = (tmp_path / "out" / "rank-2.txt").read_text().splitlines()
    assert json.loads(other)["run"] == json.loads(header)["run"]
    assert [line for line in lines if line.startswith("comm")] == ["comm 2 - 0 0,2"], "Split returned COMM_NULL here"
    assert lines[-1].endswith("completed")
    zero = without_times((tmp_path / "out" / "rank-0.txt").read_text().splitlines()[2:])
    assert [line for line in zero if re.match(r"recv \d+ 0 (1 9 \d+|-1 \* 0) -", line)], (
        "of the probed message, from nowhere"
    )


def test_a_rank_that_is_killed_leaves_its_calls_up_to_half_a_second_before(tmp_path: Path) -> None:
    """Lines are written at the end of the first call after half a second."""
    script = tmp_path / "killed.py"
    text = "import os, time\nfrom mpi4py import MPI\nMPI.COMM_WORLD.Barrier()\ntime.sleep(0.7)\nMPI.COMM_SELF.Barrier()\n"
    script.write_text(f"{text}MPI.COMM_SELF.Barrier()\nos.kill(os.getpid(), {signal.SIGKILL:d})\n")
    done = record(tmp_path / "out", str(script), ranks=1)
    assert done.returncode != 0
    _, _, *lines = (tmp_path / "out" / "rank-0.txt").read_text().splitlines()
    assert without_times(lines) == ["coll 1 barrier 0 0 0 1 c - -", "coll 2 barrier 1 0 0 1 c - -"]
    computing = int(lines[3].split()[1])
    assert computing >= 0.7e9


def test_wrong_arguments_and_directories_are_reported_before_the_program_runs(tmp_path: Path) -> None:
    """A file in place of the directory; no program."""
    (tmp_path / "file").write_text("")
    done = record(tmp_path / "file", "-c", ranks=1)
    assert done.returncode == 2
    done = record(tmp_path / "file", str(PROGRAM), ranks=2)
    assert done.returncode != 0
    assert "python -m fakempi.record: cannot write to" in done.stderr
    assert "Traceback" not in done.stderr
