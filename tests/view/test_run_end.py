"""Every view of a trace file states how the run ended: with the blocked calls, for every end and every format."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rich.console import Console

import fakempi
from fakempi import MPI
from fakempi.apps.cli import main
from fakempi.trace.blocked import blocked_shares, blocked_since, shown_end
from fakempi.trace.record import Trace
from fakempi.trace.waits import totals
from fakempi.view.drawing import timeline_drawing
from fakempi.view.page.assemble import page
from tests.helpers.loops import for_each
from tests.helpers.packages import needs
from tests.view.test_page import data_of


def cross(comm: Any) -> None:
    """Both wait for each other, after some work."""
    fakempi.compute(1e-6 * comm.rank)
    comm.recv(source=1 - comm.rank, tag=3)


def at_zero(comm: Any) -> None:
    """A deadlock before anything has happened."""
    comm.recv(source=1 - comm.rank, tag=3)


def poll(comm: Any) -> None:
    """A livelock."""
    while not comm.iprobe(source=1 - comm.rank):
        pass


def fail(comm: Any) -> None:
    """An exception on rank 1, in a function that it calls, while rank 0 waits."""
    if comm.rank:
        fakempi.compute(2e-6)
        raise ValueError("no such\x1b[31m value")
    comm.recv(source=1, tag=3)


def abort(comm: Any) -> None:
    """Abort on rank 1."""
    if comm.rank:
        comm.Abort(7)
    comm.recv(source=1, tag=3)


def endless(comm: Any) -> None:
    """A rank that computes without an end."""
    while comm.rank:
        pass
    comm.recv(source=1, tag=3)


def die(comm: Any) -> None:
    """A rank dies, and no other rank notices."""
    if comm.rank:
        fakempi.die()


def lose(comm: Any) -> None:
    """A message that is never received: a failure if the run is strict."""
    if comm.rank:
        comm.send(None, 0)


def interrupted(comm: Any) -> None:
    """Ctrl-C on rank 1."""
    if comm.rank:
        raise KeyboardInterrupt
    comm.recv(source=1, tag=3)


WAITS = "recv(source=1 - comm.rank (1), tag=3) at test_run_end.py:"
LITERAL = "recv(source=1, tag=3) at test_run_end.py:"
ENDS: dict[Callable[[Any], None], tuple[dict[str, Any], list[str], list[int]]] = {
    cross: ({}, ["deadlock at t = 1e-06 s", "rank 0: " + WAITS, "cycle: 0 → 1 → 0"], [0, 1]),
    at_zero: ({}, ["deadlock at t = 0 s", "rank 0: " + WAITS, "rank 1: recv(source=1 - comm.rank (0), tag=3) at "], [0, 1]),
    poll: ({}, ["livelock at t = 0 s", "iprobe(source=1 - comm.rank (1), tag=ANY) at test_run_end.py:"], [0, 1]),
    fail: (
        {}, ["rank 1 failed with ValueError", r"no such\x1b[31m value", "rank 1: ValueError raised at test_run_end.py:",
             "rank 0: " + LITERAL], [0],
    ),
    abort: ({}, ["rank 1 failed with Aborted", "Abort(7) was called", "rank 0: " + LITERAL], [0]),
    endless: ({"timeout": 0.05}, ["not done after 0.05 s", "rank 1: runs at test_run_end.py:", "rank 0: " + LITERAL], [0]),
    die: ({}, ["rank 1 failed with Died", "died: rank 1 at 0 s"], []),
    lose: ({"strict": True}, ["1 finding in a strict run", "message-lost: rank 1: send at test_run_end.py:"], []),
}  # fmt: skip
"""Program -> options of the run, texts of its end, and the blocked ranks."""


def trace_of(program: Callable[[Any], None], **options: Any) -> Trace:
    """The trace of a failing run."""
    with pytest.raises(fakempi.RunError) as caught:
        fakempi.run(program, 2, trace=True, **options)
    assert isinstance(caught.value.trace, Trace)
    return caught.value.trace


def shown(*words: str) -> str:
    """The output of `fakempi view` for a file, without line breaks."""
    out = io.StringIO()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sys.stdout", out)
        assert main(["view", *words]) == 0
    return re.sub(r"\s+", " ", out.getvalue())


@for_each("program", list(ENDS))
def test_every_view_of_a_file_states_the_end(program: Any, backend: Any, tmp_path: Path) -> None:
    """The default views, `--what findings`, the timeline, the page with and without scripts, and `Trace.show`."""
    options, texts, blocked = ENDS[program]
    trace = trace_of(program, backend=backend, **options)
    for name in ("t.npz", "t.json"):
        file = str(tmp_path / name)
        trace.save(file)
        loaded = fakempi.load(file)
        assert loaded.about == json.loads(json.dumps(trace.about))
        for found in (shown(file), shown(file, "--what", "findings"), shown(file, file)):
            assert texts[0] in found
        for found in (shown(file), shown(file, "--what", "findings")):
            assert all(text in found for text in texts)
        assert texts[0] in shown(file, "--what", "timeline")
        assert texts[0] in shown(file, "--what", "timeline", "--by", "call")
        if "idle" not in texts[0] and not loaded.time:
            assert f"No rank was idle before the end of the run: {texts[0]}" in shown(file, "--what", "waits")
        out = io.StringIO()
        loaded.show(console=Console(file=out, width=200))
        assert all(text in out.getvalue() for text in texts)
        drawn = page(loaded)
        ((head, _),) = data_of(drawn)
        assert head["ended"]["headline"].startswith(texts[0])
        static = re.sub(r"&#x27;", "'", drawn[: drawn.index("<script")])
        assert all(text in static for text in texts)
        assert [one["rank"] for one in head["ended"]["stuck"]] == blocked
        assert np.flatnonzero(np.isfinite(blocked_since(loaded))).tolist() == blocked
        assert ("×" in shown(file, "--what", "timeline")) == bool(blocked)


@pytest.mark.slow
@for_each("program", list(ENDS))
def test_a_figure_of_a_failed_run_has_its_end(program: Any, tmp_path: Path) -> None:
    """With the blocked calls, the blocked time, and an axis that is not longer than the run needs."""
    needs("matplotlib")
    options, texts, blocked = ENDS[program]
    trace_of(program, **options).save(tmp_path / "t.npz")
    drawn = str(tmp_path / "t.svg")
    assert shown(str(tmp_path / "t.npz"), "--figure", drawn) == ""
    found = re.findall(r"<text[^>]*>([^<]*)</text>", Path(drawn).read_text(encoding="utf-8"))
    assert ("blocked" in found) == bool(blocked)
    calls = [text for text in texts if not text.startswith(("died: ", "message-lost: "))]
    assert all(text in re.sub(r"\s+", " ", " ".join(found)) for text in calls)
    assert not any(each.startswith("1e") for each in found)
    assert all(float(each) < 100 for each in found if each.isdigit())


def test_a_run_without_time_has_an_axis_without_numbers(tmp_path: Path) -> None:
    """Also if it did not fail."""
    needs("matplotlib")
    trace = fakempi.run(lambda comm: comm.Barrier(), 2, trace=True, cost="zero_cost").trace
    assert trace is not None
    trace.save(tmp_path / "t.npz")
    shown(str(tmp_path / "t.npz"), "--figure", str(tmp_path / "t.svg"))
    found = re.findall(r"<text[^>]*>([^<]*)</text>", (tmp_path / "t.svg").read_text(encoding="utf-8"))
    assert "modeled time: all events are at time 0" in found
    assert {each for each in found if each.isdigit()} == {"0", "1"}  # the ranks, and the time 0


def test_blocked_time_is_not_the_time_after_the_end() -> None:
    """A rank that is blocked at the end of the run has not ended: oracle for one rank that waits from 0 to 1 s."""

    def main(comm: Any) -> None:
        if comm.rank == 0:
            comm.recv(source=1)
        elif comm.rank == 1:
            fakempi.compute(1)
            comm.recv(source=0)

    with pytest.raises(fakempi.DeadlockError) as caught:
        fakempi.run(main, 3, trace=True)
    trace = caught.value.trace
    assert isinstance(trace, Trace)
    assert {state: spent for state, (spent, _) in totals(trace).items() if spent} == {"blocked": 1.0, "ended early": 1.0}
    assert shown_end(trace) == 1.2
    bins = np.linspace(0, 1.2, 7)
    expected = [[1.0] * 6, [0.0] * 5 + [1.0], [0.0] * 6]
    assert np.allclose(blocked_shares(trace, bins, [[0], [1], [2]]), expected)
    assert np.allclose(blocked_shares(trace, bins, [[0, 1, 2]]), np.mean(expected, axis=0))
    drawing = timeline_drawing(trace)
    assert "blocked" in drawing.shapes
    assert "deadlock at t = 1 s" in drawing.shapes


def test_interrupts_and_exit_codes_of_a_script_are_in_its_trace(tmp_path: Path, monkeypatch: Any, capsys: Any) -> None:
    """With the ranks that wait; an exit code is often the reason of a deadlock."""
    monkeypatch.chdir(tmp_path)
    start = "from mpi4py import MPI\ncomm = MPI.COMM_WORLD\n"
    ends = {
        "if comm.rank: raise KeyboardInterrupt\ncomm.recv(source=1)\n": (130, ["interrupted at t = 0 s", "rank 0: recv("]),
        "if comm.rank: raise SystemExit(5)\ncomm.recv(source=1)\n": (
            1, ["deadlock at t = 0 s", "rank 1 ended with exit code 5"],
        ),
        "raise SystemExit(5)\n": (5, ["ranks 0-1 ended with exit code 5"]),
    }  # fmt: skip
    for text, (code, texts) in ends.items():
        Path("work.py").write_text(start + text)
        for name in ("t.json", "t.npz"):
            with suppress(FileNotFoundError):
                Path(name).unlink()
            assert main(["run", "-n", "2", "-q", "--trace", name, "work.py"]) == code
            capsys.readouterr()
            assert all(each in shown(name) for each in texts)
            assert all(each in shown(name, "--what", "findings") for each in texts)


def test_a_completed_run_and_an_old_file_say_so(tmp_path: Path) -> None:
    """A file of an earlier version has no record of its end, which differs from a run that completed."""
    trace = fakempi.run(lambda comm: comm.Barrier(), 2, trace=True).trace
    assert trace is not None
    trace.save(tmp_path / "t.json")
    assert shown(str(tmp_path / "t.json"), "--what", "findings") == "Findings The run completed, and has no findings. "
    assert "Findings" not in shown(str(tmp_path / "t.json"))
    content = json.loads((tmp_path / "t.json").read_text())
    head = content["otherData"]["fakempi"]
    for keeps_metadata in (True, False):
        head["about"] = {}
        if not keeps_metadata:
            del head["about"]
        (tmp_path / "old.json").write_text(json.dumps(content))
        sentence = "This file does not contain findings or the end of the run: an earlier version of fakempi wrote it."
        assert sentence in shown(str(tmp_path / "old.json"), "--what", "findings")
        assert "Wait states" in shown(str(tmp_path / "old.json"))
    # Earlier versions recorded the failure of a rank without blocked ranks and without a time.
    head["about"] = {"findings": [], "ended": {"kind": "RankError", "text": "rank 1 failed", "headline": "rank 1 failed"}}
    (tmp_path / "old.json").write_text(json.dumps(content))
    assert "How the run ended rank 1 failed" in shown(str(tmp_path / "old.json"))


def test_deaths_that_the_program_handles_are_in_the_trace() -> None:
    """The run completes; its summary names the rank and the time."""

    def main(comm: Any) -> None:
        with suppress(MPI.Exception):
            comm.recv(source=1) if comm.rank == 0 else comm.recv(source=0)

    trace = fakempi.run(main, 2, trace=True, kill={1: 2e-6}).trace
    assert trace is not None
    assert trace.about["died"] == [{"rank": 1, "time": 2e-6}]
    out = io.StringIO()
    trace.show("summary", console=Console(file=out, width=80))
    assert re.search(r"died +rank 1 at 2 µs", out.getvalue())


def test_every_trace_has_views_of_its_end(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Of runs that completed, with and without findings, and of runs that failed: each view has a sentence."""

    def lost(comm: Any) -> None:
        if comm.rank == 0:
            comm.send(1, dest=1)

    def clean(comm: Any) -> None:
        fakempi.compute(1)

    expected: dict[Callable[[Any], None], tuple[str, ...]] = {
        lost: ("All ranks ended, the last one at", "It has 1 finding: --what findings"),
        cross: ("deadlock at t = 1e-06 s", "rank 0: recv(source=1 - comm.rank (1)"),
        fail: ("rank 1 failed with ValueError",),
        clean: ("All ranks ended, the last one at 1 s.",),
    }
    path = str(tmp_path / "t.npz")
    for program, parts in expected.items():
        trace: Any = None
        try:
            trace = fakempi.run(program, 2, trace=True).trace
        except fakempi.RunError as error:
            trace = error.trace
        assert trace is not None
        trace.save(path)
        for view in ("end", "findings", "waits", "summary"):
            assert main(["view", path, "--what", view]) == 0, (program, view)
            shown = capsys.readouterr().out
            assert len(shown.split("\n")) > 2, (program, view)
            if view == "end":
                assert all(part in shown for part in ("How the run ended", *parts)), (program, shown)


def test_a_wide_picture_is_not_cut(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """--width also applies to output that is not a terminal; two runs have times below both of them."""
    path = str(tmp_path / "t.npz")
    trace = fakempi.run(lambda comm: fakempi.compute(9e-6), 2, trace=True).trace
    assert trace is not None
    trace.save(path)
    for width in (80, 160):
        assert main(["view", path, path, "--width", str(width)]) == 0
        axis = next(line for line in capsys.readouterr().out.splitlines() if line.strip().startswith("0 s"))
        left, right = axis[: width // 2], axis[width // 2 :]
        assert min(left.count("µs"), right.count("µs")) >= 2, (width, axis)
