"""`fakempi schedule`: show, verify, run and export; exit codes; schedule files as algorithms of scripts."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from fakempi.apps.cli import main
from tests.cli.test_running import Capture

BARRIER = "num_ranks 2\nrank 0 {\nl1: send 1b to 1 tag 0\nl2: recv 1b from 1 tag 0\nl3: calc 2000\nl3 requires l2\n}\n" + (
    "rank 1 {\nl1: send 1b to 0 tag 0\nl2: recv 1b from 0 tag 0\n}\n"
)


@pytest.fixture
def ring(tmp_path: Path, capsys: Capture) -> Path:
    """An allreduce on four ranks in the XML of MSCCL."""
    path = tmp_path / "ring.xml"
    assert main(["schedule", "export", "allreduce/ring", "-n", "4", "--bytes", "64", "-o", str(path)]) == 0
    assert "4 ranks" in capsys.readouterr().out
    return path


def test_a_clean_schedule(ring: Path, capsys: Capture) -> None:
    assert main(["schedule", "verify", str(ring)]) == 0
    assert "no faults: the schedule implements allreduce" in capsys.readouterr().out
    assert main(["schedule", "verify", str(ring), "--ordered"]) == 1
    assert "not in rank order" in capsys.readouterr().out


def test_a_fault_is_shown_in_the_timeline(ring: Path, capsys: Capture) -> None:
    """A copy instead of a reduction: the step is marked below the row of its rank."""
    ring.write_text(ring.read_text().replace('type="re"', 'type="cpy"', 1))
    assert main(["schedule", "verify", str(ring)]) == 1
    text = capsys.readouterr().out
    assert "missing: rank 0: output[32:48] lacks the contribution input[32:48] of rank 3" in text
    lines = text.splitlines()
    marked = next(number for number, line in enumerate(lines) if "^" in line)
    assert "missing: thread block" in lines[marked]
    assert lines[marked - 1].split()[0] == "0"
    assert "4 faults: the schedule does not implement allreduce" in lines[-1]
    assert main(["schedule", "show", str(ring)]) == 0
    shown = capsys.readouterr().out.splitlines()
    assert lines[marked] in shown
    assert shown[-1].startswith("missing: rank 0: output[32:48] lacks")


def test_a_deadlock_is_drawn(tmp_path: Path, capsys: Capture) -> None:
    path = tmp_path / "late.goal"
    path.write_text(BARRIER.replace("rank 1 {\n", "rank 1 {\nl1 requires l2\n").replace("l3: ", "l1 requires l2\nl3: "))
    assert main(["schedule", "verify", str(path), "--operation", "barrier"]) == 1
    text = capsys.readouterr().out
    assert "deadlock: rank 0, l2: receive 1 byte from rank 1, tag 0" in text
    assert "^ deadlock: l2" in text
    assert main(["schedule", "run", str(path)]) == 1
    assert main(["schedule", "show", str(path)]) == 0
    assert "The schedule deadlocks" in capsys.readouterr().out


def test_show_and_run(ring: Path, tmp_path: Path, capsys: Capture) -> None:
    assert main(["schedule", "show", "bcast/binomial", "-n", "4", "--bytes", "8"]) == 0
    text = capsys.readouterr().out
    assert "rank 2, step 1: send output[0:8] to rank 3, tag 0 (after step 0)" in text
    assert "communicating" in text
    trace = tmp_path / "t.json"
    assert main(["schedule", "run", str(ring), "--trace", str(trace)]) == 0
    assert "24 messages" in capsys.readouterr().out
    assert main(["view", str(trace), "--what", "timeline"]) == 0


@pytest.mark.parametrize("suffix", ["json", "goal"])
def test_a_schedule_between_two_groups(suffix: str, tmp_path: Path, capsys: Capture) -> None:
    path = str(tmp_path / f"between.{suffix}")
    assert main(["schedule", "export", "inter:allgather/full_duplex", "-n", "3+2", "--bytes", "64", "-o", path]) == 0
    assert "allgather full_duplex: 3+2 ranks, 28 steps" in capsys.readouterr().out
    assert main(["schedule", "verify", path]) == 0
    assert "no faults: the schedule implements allgather" in capsys.readouterr().out
    assert main(["schedule", "verify", path, "--operation", "allreduce"]) == 1
    assert main(["schedule", "show", path]) == 0
    capsys.readouterr()
    out = tmp_path / "out.json"
    parts = "full_duplex(allgather=ring, allgatherv=ring)"
    options = ["-n", "3+2,2+3", "--bytes", "64", "--algorithms", f"{parts},{path}", "--json", str(out), "--no-plot"]
    assert main(["compare", "inter:allgather", *options]) == 0
    rows = [row for row in json.loads(out.read_text()) if row["algorithm"] == f"between.{suffix}"]
    assert len(rows) == 2
    assert all(row["how"] == "claimed" and row["seconds"] for row in rows)


@pytest.mark.parametrize("suffix", ["json", "goal", "xml"])
def test_a_script_runs_with_schedule_files(suffix: str, tmp_path: Path, capsys: Capture) -> None:
    for operation in ("bcast/binomial", "allreduce/ring"):
        path = tmp_path / f"{operation.partition('/')[0]}.{suffix}"
        assert main(["schedule", "export", operation, "-n", "4", "--bytes", "64", "-o", str(path)]) == 0
    script = tmp_path / "script.py"
    script.write_text(
        "from mpi4py import MPI\nimport numpy as np\ncomm = MPI.COMM_WORLD\n"
        "data = np.arange(16.0) if comm.rank == 0 else np.zeros(16)\ncomm.Bcast(data)\ntotal = np.zeros(16)\n"
        "comm.Allreduce(data, total)\nprint(comm.rank, data.sum(), total.sum())\n"
    )
    capsys.readouterr()
    files = f"bcast={tmp_path}/bcast.{suffix},allreduce={tmp_path}/allreduce.{suffix}"
    assert main(["run", "-n", "4", "--algorithms", files, str(script)]) == 0
    assert sorted(capsys.readouterr().out.splitlines()) == [f"{rank} 120.0 480.0" for rank in range(4)]


def test_calc_advances_modeled_time(tmp_path: Path, capsys: Capture) -> None:
    """2,000 ns after an exchange of one byte that takes 1 us + 1 ns."""
    path = tmp_path / "barrier.goal"
    path.write_text(BARRIER)
    assert main(["schedule", "run", str(path), "--cost", "hockney:t_s=1e-6,t_w=1e-9"]) == 0
    assert "rank  0: 3 µs" in capsys.readouterr().out
    script = tmp_path / "script.py"
    script.write_text("from mpi4py import MPI\nMPI.COMM_WORLD.Barrier()\nprint(round(1e9 * MPI.Wtime()))\n")
    options = ["--cost", "hockney:t_s=1e-6,t_w=1e-9", "--algorithms", f"barrier={path}", "--quiet"]
    assert main(["run", "-n", "2", *options, str(script)]) == 0
    assert sorted(capsys.readouterr().out.split()) == ["1001", "3001"]


def test_a_schedule_file_is_compared_with_the_catalogue(ring: Path, tmp_path: Path, capsys: Capture) -> None:
    path = tmp_path / "ring.json"
    assert main(["schedule", "export", "allreduce/ring", "-n", "4", "--bytes", "64", "-o", str(path)]) == 0
    capsys.readouterr()
    out = tmp_path / "out.json"
    options = ["-n", "4", "--bytes", "64", "--algorithms", f"ring,{path}", "--measure", "--json", str(out), "--no-plot"]
    assert main(["compare", "allreduce", *options]) == 0
    rows = json.loads(out.read_text())
    times = {row["seconds"] for row in rows if row.get("seconds") is not None}
    assert {row["algorithm"] for row in rows} >= {"ring", "ring.json"}
    assert len(times) == 1
    assert np.isfinite(times.pop())


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        (["verify", "none.goal"], "none.goal: No such file"),
        (["verify", "bad.goal"], "bad.goal: line 1, column 1: expected"),
        (["verify", "barrier.goal"], "the schedule does not name its operation"),
        (["verify", "barrier.goal", "--operation", "shuffle"], "unknown operation 'shuffle'"),
        (["verify", "barrier.goal", "--operation", "none.json"], "none.json: No such file"),
        (["show", "barrier.goal", "-n", "4"], "a schedule file has its own sizes"),
        (["show", "bcast/nothing"], "algorithm of bcast 'nothing' is unknown"),
        (["show", "split/bitonic"], "cannot be recorded: its messages depend on the colors and keys"),
        (["show", "allgather/ring", "-n", "16k"], "cannot be recorded: it has at least 268,419,072 messages, more than"),
        (["show", "allgather/ring", "-n", "3+2"], "allgather ring is within one group: use -n 5"),
        (["show", "inter:allgather/full_duplex", "-n", "3"], "is between two groups: use -n 3+3"),
        (["show", "inter:reduce_scatter/wmpi", "-n", "3+2"], "such as block sizes) cannot be recorded"),
        (["show", "inter:reduce_scatter_block/wmpi", "-n", "3+2", "--bytes", "1"], "cannot be divided into 2 equal blocks"),
        (["show", "inter:bcast/joined", "-n", "2+2", "--root", "3"], "root 3 is not one of the 2 ranks"),
        (["show", "bcast/binomial", "-n", "2,4"], "a schedule has one number of ranks"),
        (["export", "inter:allgather/full_duplex", "-n", "3+2", "-o", "x.xml"], "MSCCL has one group of ranks"),
        (["show", "barrier.goal", "--cost", "none"], "cost model 'none'"),
        (["export", "barrier.goal"], "-o FILE"),
        (["export", "barrier.goal", "-o", "x.txt"], "unknown suffix"),
        (["export", "barrier.goal", "-o", "x.xml"], "MSCCL has no step that computes"),
        (["export", "barrier.goal", "-o", "no/directory.json"], "no such file"),
    ],
)
def test_invalid_input_is_one_sentence(
    arguments: list[str], part: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "barrier.goal").write_text(BARRIER)
    (tmp_path / "bad.goal").write_text("hello\n")
    assert main(["schedule", *arguments]) == 2
    text = capsys.readouterr().err
    assert part in text
    assert text.count("\n") == 1


def test_a_file_without_ranges_is_refused_where_data_must_move(tmp_path: Path, capsys: Capture) -> None:
    path = tmp_path / "barrier.goal"
    path.write_text(BARRIER)
    script = tmp_path / "script.py"
    script.write_text("from mpi4py import MPI\nimport numpy\nMPI.COMM_WORLD.Bcast(numpy.zeros(1))\n")
    assert main(["run", "-n", "2", "--algorithms", f"bcast={path}", str(script)]) == 2
    assert "is for barrier, not for bcast" in capsys.readouterr().err
