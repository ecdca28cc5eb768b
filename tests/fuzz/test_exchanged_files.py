"""Attacks by files that people exchange, one kind after the other."""

from __future__ import annotations

import json
import os
import re
import zipfile
from itertools import product
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

import fakempi
from collectives import find
from collectives.schedules import InvalidScheduleError, load, record
from collectives.schedules.matching import execute
from collectives.schedules.ordering import causality
from collectives.schedules.ordering.causality import StepOrder
from collectives.trials.cases import make_case
from fakempi.apps.cli import main
from fakempi.apps.cli.machines.calibrating import broadcasts
from fakempi.apps.course.student_directory import NOTES, StudentDirectory
from fakempi.apps.tui.hit_test import _source_line
from fakempi.core.options import algorithm_names
from fakempi.errors import MPIValueError, TraceError
from fakempi.errors.files import read_bytes
from fakempi.trace.columns import Columns
from fakempi.view.critical import critical_path
from tests.cli.test_running import Capture
from tests.collectives.schedules.mutants import mutant
from tests.collectives.schedules.samples import small

EVIL = "open('pwned', 'w').close()\n"
ROW = "operation,algorithm,ranks,bytes,seconds\nbcast,{},4,8,1e-6\n"


@pytest.fixture(autouse=True)
def _directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("evil.py").write_text(EVIL)


@pytest.mark.parametrize(
    "name", ["./evil.py", "evil.py", '"chain(segment_bytes=./evil.py)"', '"chain(segment_bytes=[./evil.py])"']
)
def test_measurements_cannot_choose_a_file_that_is_executed(name: str, capsys: Capture) -> None:
    """An algorithm or a parameter is not a path; the sentence says how to choose the file."""
    Path("m.csv").write_text(ROW.format(name))
    assert main(["compare", "bcast", "-n", "4", "--bytes", "8", "--beside", "m.csv"]) == 2
    assert re.search(r"m\.csv names a file with an algorithm, .* --algorithms ", capsys.readouterr().err)
    with pytest.raises(MPIValueError, match=r"m\.csv names a file"):
        broadcasts("m.csv", False)
    assert not os.path.exists("pwned")


def test_a_name_in_measurements_is_one_name(capsys: Capture) -> None:
    """A comma does not add another algorithm."""
    Path("m.csv").write_text(ROW.format('"binomial,./evil.py"'))
    assert main(["compare", "bcast", "-n", "4", "--bytes", "8", "--beside", "m.csv"]) == 2
    assert "m.csv: 'binomial,./evil.py' is not the name of an algorithm." in capsys.readouterr().err


def test_a_progress_file_cannot_choose_programs_inside_its_directory() -> None:
    """Checks are programs: directories of exercises come from --from, and are remembered only outside."""
    for more in (["more"], [str(Path("course/more").resolve())], [3, None], "more", {"a": 1}, ["\0"]):
        Path("course/more/90_evil").mkdir(parents=True, exist_ok=True)
        Path("course", NOTES).write_text(json.dumps({"more": more, "passed": [1], "hints": {"01_hello": "x"}}))
        directory = StudentDirectory(Path("course"))
        assert directory.course.more == []
        assert directory.hint(next(iter(directory.course)))[0] == 1


def test_a_schedule_cannot_choose_a_contract_that_is_read() -> None:
    """Its operation may end in .json; only the user's word names a file."""
    schedule = {"format": "fakempi schedule", "version": 1, "ranks": 1, "steps": [[]], "buffers": [{}]}
    Path("s.json").write_text(json.dumps({**schedule, "operation": "/etc/secret.json"}))
    with pytest.raises(InvalidScheduleError, match="name the contract yourself"):
        load("s.json").verify()


def test_a_trace_cannot_make_the_viewer_read_a_device() -> None:
    """A call may name any path; the line of a program is shown."""
    assert _source_line("/dev/zero", 1) == _source_line(".", 1) == _source_line("nothing.py", 1) == ""
    assert _source_line(os.path.abspath("evil.py"), 1) == EVIL.strip()


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no pipes with names")
@pytest.mark.parametrize("make", [os.mkdir, getattr(os, "mkfifo", None), lambda name: os.symlink("/dev/zero", name)])
def test_directories_pipes_and_devices_are_not_read(make: Any, capsys: Capture) -> None:
    """They are named, and nothing waits for a writer or for the end of a device."""
    names = ["t.json", "t.npz", "s.xml", "m.toml", "f.csv", "c.txt"]
    for name in names:
        make(name)
    compare = ["compare", "allgatherv", "-n", "2", "--algorithms", "ring"]
    for words in (
        ["schedule", "show", "s.xml"], [*compare, "--cost", "m.toml"], [*compare, "--beside", "f.csv"],
        [*compare[:2], "--counts", "c.txt"], ["calibrate", "--from", "f.csv"], ["calibrate", "--from", "node:f.csv"],
        ["schedule", "verify", "allreduce/ring", "--operation", "t.json"], ["view", "t.json"],
    ):  # fmt: skip
        assert main(words) == 2
        message = capsys.readouterr().err
        assert any(name in message for name in names), message
    for name in names[:2]:
        with pytest.raises((OSError, TraceError), match="irectory|regular"):
            fakempi.load(name)


def test_large_files_are_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """The sizes of files and streams are limited before anything is parsed."""
    Path("x").write_bytes(b"abc")
    assert read_bytes("x", 3) == b"abc"
    with pytest.raises(OSError, match="Larger than 0 MiB"):
        read_bytes("x", 2)


def test_a_member_of_an_archive_that_is_not_an_array_is_an_error() -> None:
    """`numpy.load` would return its bytes."""
    fakempi.run(lambda comm: comm.barrier(), 2, trace=True).trace.save("t.npz")  # type: ignore[union-attr]  # traced
    with zipfile.ZipFile("t.npz") as file, zipfile.ZipFile("bad.npz", "w") as bad:
        for name in file.namelist():
            bad.writestr(name, b"x" if name == "regions.npy" else file.read(name))
    with pytest.raises(TraceError, match="not a trace"):
        fakempi.load("bad.npz")


@pytest.mark.parametrize(("text", "part"), [
    (ROW.format("x" * 200_000), "m.csv line 2: not CSV: field larger than"),
    (ROW.replace("ranks", "seconds").format("ring"), "m.csv has two columns 'seconds'"),
    (ROW.replace("4,8", f"{'9' * 18},8").format("ring"), "m.csv line 2: ranks is 999999999999999999, and the maximum is"),
    (ROW.replace(",8,", f",{'9' * 400},").format("ring"), "m.csv line 2: bytes is 999"),
])  # fmt: skip
def test_measurements_that_are_too_large(text: str, part: str, capsys: Capture) -> None:
    """The sentence has the line."""
    Path("m.csv").write_text(text)
    assert main(["compare", "bcast", "-n", "4", "--bytes", "8", "--beside", "m.csv"]) == 2
    assert part in capsys.readouterr().err


def test_texts_of_algorithms_have_limits() -> None:
    """The length of a text with brackets and their depth are bounded."""
    for text in ("a(b=x(),c=" * 60 + "c" + ")" * 60, "a(b=" * 60 + "c" + ")" * 60, "[" * 100_000, "a(b=c)" * 10_000):
        with pytest.raises(MPIValueError) as raised:
            algorithm_names(text)
        assert len(str(raised.value)) < 5000


def test_the_work_of_a_verification_is_limited() -> None:
    """A file of 200 bytes may describe huge buffers, and one of 1 MB many ranks."""
    head = {"format": "fakempi schedule", "version": 1, "operation": "allreduce"}
    huge = {**head, "ranks": 2, "steps": [[], []], "buffers": [{"input": 2**40 + 1, "output": 2**40 + 1}] * 2}
    copy = {"copy": None, "source": ["a", 0, 1], "target": ["a", 1, 1]}
    chunks = {**huge, "steps": [[{"copy": None, "source": ["input", 0, 1], "target": ["output", 0, 1]}], []]}
    ranks = {**head, "ranks": 40_000, "steps": [[]] * 40_000, "buffers": [{"input": 8, "output": 8}] * 40_000}
    races = {**head, "ranks": 1, "steps": [[copy] * 2000], "buffers": [{"a": 2, "input": 1, "output": 1}]}
    order = [{**copy, "after": [index - 1] if index else []} for index in range(2000)]
    pairs = {**races, "steps": [order]}
    for content, kind in (chunks, "missing"), (pairs, "undefined"):
        Path("quick.json").write_text(json.dumps(content))
        assert kind in {fault.kind for fault in load("quick.json").verify()}
    Path("ranks.json").write_text(json.dumps(ranks))
    with pytest.raises(InvalidScheduleError, match="comparisons for allreduce on 40,000 ranks"):
        load("ranks.json").verify()


def test_the_order_of_steps_by_vector_clocks_is_that_of_a_search(monkeypatch: pytest.MonkeyPatch) -> None:
    """For each pair of steps of a rank, of schedules of the catalogue and of mutants with fewer dependencies."""
    random, count = Random(5), 0
    for schedule in random.sample(small(), 5):
        for changed in [schedule, *(mutant(schedule, random) for _ in range(2))]:
            if changed is None or (matching := execute(changed)).blocked or len(matching.ended) > 60:
                continue
            pairs = [(a, b) for a, b in product(matching.ended, repeat=2) if a[0] == b[0] and a != b]
            clocks = StepOrder(changed, matching)
            found = clocks.starts_in_order(pairs), clocks.ordered(pairs)
            with monkeypatch.context() as patch:
                patch.setattr(causality, "MAX_ENTRIES", 0)
                search = StepOrder(changed, matching)
                assert (search.starts_in_order(pairs), search.ordered(pairs)) == found
            count += len(pairs)
    assert count > 500


@pytest.mark.parametrize("p", [16, pytest.param(64, marks=pytest.mark.slow)])
def test_a_large_ring_is_verified(p: int) -> None:
    """In MSCCL's XML; a search of the graph for each pair of steps took more than ten minutes on 64 ranks."""
    record(find("allreduce", "ring"), make_case("allreduce", p, 0, p * p)).save("ring.xml")
    assert load("ring.xml").verify() == []


@pytest.mark.slow
def test_a_run_that_would_take_long_is_an_error(capsys: Capture) -> None:
    """Many idle ranks, or many messages that are pending at a time; faults are reported without a picture."""
    head = {"format": "fakempi schedule", "version": 1, "operation": "barrier"}
    count = 5000
    sends = [[{"send": 1} for _ in range(count)], [{"recv": 0, "tag": 1} for _ in range(count)]]
    idle = {**head, "ranks": 20_000, "steps": [[]] * 20_000, "buffers": [{}] * 20_000}
    busy = {**head, "ranks": 2, "steps": sends, "buffers": [{}] * 2}
    for content, part in ((busy, "would wait"), (idle, "too many ranks")):
        Path("s.json").write_text(json.dumps(content))
        for action in ("run", "show"):
            assert main(["schedule", action, "s.json"]) == 2
            assert part in capsys.readouterr().err
    Path("s.json").write_text(json.dumps(busy))
    assert main(["schedule", "verify", "s.json"]) == 1
    assert "has no partner" in capsys.readouterr().out


def test_a_step_that_never_ends_is_always_a_fault() -> None:
    """Also if other steps would never end with buffering."""
    for schedule in small()[::4]:
        for changed in (mutant(schedule, Random(seed)) for seed in range(3)):
            if changed is not None and execute(changed).blocked:
                assert changed.verify()


def test_a_text_in_an_archive_is_one_of_unicode() -> None:
    """numpy makes texts of any numbers, with which Python then fails elsewhere."""
    head = np.array("x" * 9)
    content = head.reshape(1).view(np.uint32).copy()
    content[3] = 0x7FFFFFFF
    np.savez("bad.npz", head=content.view("<U9").reshape(()))
    with pytest.raises(TraceError, match="head is not a text of Unicode"):
        fakempi.load("bad.npz")


def test_bars_of_a_view_do_not_exceed_their_width() -> None:
    """Times in a file may exceed the end of its run."""
    trace = fakempi.run(lambda comm: fakempi.compute(1.0), 1, trace=True).trace
    assert trace is not None
    trace.compute_rows["end"] = 1e90
    damaged = Columns([1e-300], trace.calls, trace.names, trace.transfer_rows, trace.compute_rows, trace.region_rows, {})
    assert max(map(len, critical_path(damaged, width=80).plain.splitlines())) <= 80
