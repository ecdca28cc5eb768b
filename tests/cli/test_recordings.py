"""`fakempi replay`: times, tables, files and errors, with a format that the tests define."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import fakempi
from fakempi.apps.cli import main
from fakempi.errors.recordings import RecordingError
from fakempi.recordings import reading
from fakempi.recordings.recording import Recording, RecordingBuilder

Capture = pytest.CaptureFixture[str]
COST = "hockney:t_s=1e-3,t_w=0,eager_limit=0"


def recording_of(path: Path, progress: reading.Progress) -> Recording:
    """A recording of four ranks: 1 ms of computing, a broadcast, a reduction, and a message to the right."""
    if path.read_text() == "cut off":
        raise RecordingError("the file ends within a call.", path, offset=1234)
    progress(0.5)
    builder = RecordingBuilder(4, str(path))
    for rank in range(4):
        writer = builder.rank(rank)
        writer.compute(1e-3)
        writer.collective("bcast", 0, 800, itemsize=8, site="src/work.py:7")
        writer.collective("allreduce", 0, 2048, itemsize=8, site="src/work.py:8")
        writer.sendrecv((rank + 1) % 4, 0, 8, (rank - 1) % 4, 0, 8, site="src/work.py:9")
    builder.leave_out("Put", 3)
    return builder.finish(0.25)


@pytest.fixture
def recording(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A file in a format of this module."""
    known = reading.Format("of the tests", lambda path: path.suffix == ".recording", recording_of)
    monkeypatch.setattr(reading, "FORMATS", [known])
    path = tmp_path / "work.recording"
    path.write_text("four ranks")
    return str(path)


def test_the_time_and_the_call_sites_are_printed(recording: str, capsys: Capture) -> None:
    """With the share of the time that each call site takes."""
    assert main(["replay", recording, "--cost", COST, "--algorithms", "bcast=linear,allreduce=recursive_doubling"]) == 0
    printed = capsys.readouterr().out
    assert printed.splitlines()[:4] == [
        "work.recording: 4 ranks, 16 events",
        "modeled time 7 ms; the recorded run took 250 ms",
        "  computing 14.3%, collective calls 71.4%, messages 14.3%, ended earlier 0.0%",
        "  not replayed: Put (3)",
    ]
    rows = [line.split() for line in printed.splitlines()[6:]]
    # rank 0 sends for 3 ms, rank 3 waits for 3 ms; all wait for the last one before the 2 ms of the reduction
    assert [row[:2] for row in rows] == [["work.py:8", "allreduce"], ["work.py:7", "bcast"]]
    assert rows[1][2:6] == ["4", "800", "B", "1"]


def test_options_change_the_time(recording: str, capsys: Capture) -> None:
    """Algorithms, machine, and computing."""
    for options, time in (
        (["--algorithms", "bcast=binomial,allreduce=recursive_doubling"], "6 ms"),
        (["--algorithms", "bcast=binomial,allreduce=recursive_doubling", "--scale", "2"], "5.5 ms"),
        (["--algorithms", "bcast=binomial,allreduce=ring"], "10 ms"),
    ):
        assert main(["replay", recording, "--cost", COST, *options]) == 0
        assert f"modeled time {time};" in capsys.readouterr().out


def test_ranks_per_node_change_the_machine(recording: str, capsys: Capture) -> None:
    """Messages within a node cost less."""
    times = []
    for ranks in ("1", "4"):
        two_level = "two_level:intra.t_s=1e-6,inter.t_s=1e-3"
        assert main(["replay", recording, "--cost", two_level, "--ranks-per-node", ranks, "--json", "-"]) == 0
        times.append(json.loads(capsys.readouterr().out)["seconds"])
    assert times[1] < times[0] / 2


def test_results_are_written(recording: str, tmp_path: Path, capsys: Capture) -> None:
    """As JSON, and as a trace."""
    trace, file = tmp_path / "t.npz", tmp_path / "r.json"
    assert main(["replay", recording, "--cost", COST, "--trace", str(trace), "--json", str(file)]) == 0
    assert "modeled time" in capsys.readouterr().out
    record = json.loads(file.read_text())
    assert (record["ranks"], record["events"], record["measured"], record["left_out"]) == (4, 16, 0.25, {"Put": 3})
    assert sorted(site["site"] for site in record["sites"]) == ["src/work.py:7", "src/work.py:8"]
    assert fakempi.load(trace).time == record["seconds"]


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--scale", "0"], "--scale 0: it must be greater than 0."),
        (["--scale", "-1"], "-1 is not a factor"),
        (["--algorithms", "bcast=nosuch"], "there is no algorithm"),
        (["--algorithms", "allreduce=bcast_ring"], "there is no algorithm"),
        (["--cost", "nosuch"], "cost model 'nosuch' is unknown"),
        (["--ranks-per-node", "4"], "--ranks-per-node 4: "),
        (["--json", "/nowhere/r.json"], "there is no directory"),
        (["--cost", "hockney:eager_limit=0", "--algorithms", "bcast=cluster_chain(nodes=[0,1])"], "bcast"),
    ],
)
def test_wrong_options_are_reported(recording: str, options: list[str], sentence: str, capsys: Capture) -> None:
    """In one sentence, with exit code 2."""
    assert main(["replay", recording, *options]) == 2
    error = capsys.readouterr().err
    assert sentence in error
    assert "Traceback" not in error


def test_a_file_that_is_cut_off_is_reported(recording: str, capsys: Capture) -> None:
    """With the file and the offset."""
    Path(recording).write_text("cut off")
    assert main(["replay", recording]) == 2
    expected = "fakempi replay: work.recording (offset 1,234): the file ends within a call.\n"
    assert capsys.readouterr().err == expected


def test_no_recording_is_reported(recording: str, tmp_path: Path, capsys: Capture) -> None:
    """With the formats."""
    assert main(["replay", str(tmp_path)]) == 2
    assert "The formats are: of the tests." in capsys.readouterr().err


def test_algorithms_and_machines_are_compared(recording: str, tmp_path: Path, capsys: Capture) -> None:
    """Times by table and machine, the best algorithm of each call site, a figure, and JSON."""
    figure, file = tmp_path / "f.svg", tmp_path / "c.json"
    slow, arguments = "hockney:t_s=2e-3,t_w=0,eager_limit=0", ["--algorithms", "bcast=linear,allreduce=ring", "--compare"]
    files = ["--figure", str(figure), "--json", str(file)]
    assert main(["replay", recording, "--cost", COST, "--cost", slow, *arguments, *files]) == 0
    printed = capsys.readouterr().out
    rows = {line.split("  ")[0]: line.split()[-4:] for line in printed.splitlines() if line}
    assert rows["in use"] == ["11", "ms", "21", "ms"]
    assert rows["best at each call site"] == ["6", "ms", "11", "ms"]
    record = json.loads(file.read_text())
    for machine, start in zip(record["machines"], (1e-3, 2e-3), strict=True):
        gains = {site["operation"]: (site["in_use"], site["gain"]) for site in machine["sites"]}
        assert gains["allreduce"] == ("ring", pytest.approx(4 * start))
        assert machine["best"] == pytest.approx(machine["seconds"] - 5 * start)
    text = figure.read_text()
    assert "best at each call site" in text
    assert slow in text


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--cost", "hockney", "--cost", "loggp"], "--cost is given several times: add --compare"),
        (["--figure", "f.svg"], "--figure draws a comparison: add --compare."),
        (["--compare", "--trace", "t.npz"], "--trace is of one replay"),
        (["--compare", "--figure", "f.txt"], "must end in .svg, .pdf or .png"),
    ],
)
def test_options_that_contradict_each_other_are_reported(
    recording: str, options: list[str], sentence: str, capsys: Capture
) -> None:
    """In one sentence, with exit code 2."""
    assert main(["replay", recording, *options]) == 2
    assert sentence in capsys.readouterr().err
