"""Ctrl-C and time-outs are reported as such, whatever ranks make of them."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

import fakempi.cli.running
import fakempi.tuning  # not while a rank is told to end  # noqa: F401
from fakempi.cli import main
from fakempi.cli.watching import Interrupts
from fakempi.script import Program
from fakempi.threads.foreign import strangers

BEGINNING = "import os, signal, sys\nfrom mpi4py import MPI\ncomm = MPI.COMM_WORLD\n"
PRESS = "os.kill(os.getpid(), signal.SIGINT)\n"
Capture = pytest.CaptureFixture[str]

STUBBORN = {
    "in a call": "comm.Barrier()",
    "at the end of a call": "comm.send(1, comm.rank); comm.recv(source=comm.rank)",
    "polling": "comm.Iprobe(); MPI.Wtime()",
    "computing": "sum(range(1000))",
    "asleep": "import select; select.select([], [], [], 5)",
}


@pytest.fixture(autouse=True)
def no_grace(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Ranks are told to end at once, again and again; and whoever runs these tests need not take Ctrl-C."""
    monkeypatch.setattr("fakempi.watch.ending.GRACE", 0.02)
    monkeypatch.setattr("fakempi.cli.watching.PATIENCE", 500)  # the whole process ends then: not on a busy machine
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.parametrize("what", STUBBORN.values(), ids=STUBBORN)
def test_ctrl_c_is_not_swallowed(what: str, tmp_path: Path, carrier: str, capsys: Capture) -> None:
    """By a rank that catches everything and goes on."""
    script = f"{BEGINNING}if comm.rank == 0: {PRESS}while True:\n    try: {what}\n    except BaseException: pass\n"
    (tmp_path / "work.py").write_text(script)
    assert main(["run", "-n", "2", "--carrier", carrier, "--quiet", str(tmp_path / "work.py")]) == 130
    assert capsys.readouterr().err.startswith("fakempi: interrupted at t = ")


ENDS = {
    "leaves": "sys.exit(0)",
    "leaves with a code": "sys.exit(7)",
    "returns": "pass",
    "raises": "raise ValueError('something else')",
    "aborts": "comm.Abort(3)",
}


@pytest.mark.parametrize("end", ENDS.values(), ids=ENDS)
def test_ctrl_c_is_why_a_run_has_ended(end: str, tmp_path: Path, carrier: str, capsys: Capture) -> None:
    """However ranks end that have caught it."""
    script = f"{BEGINNING}try:\n    if comm.rank == 0: {PRESS}    while True: comm.Barrier()\nexcept BaseException: {end}\n"
    (tmp_path / "work.py").write_text(script)
    assert main(["run", "-n", "3", "--carrier", carrier, str(tmp_path / "work.py")]) == 130
    assert capsys.readouterr().err.startswith("fakempi: interrupted at t = ")


def test_a_rank_hears_of_ctrl_c_where_it_is(
    tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As in a process of its own: it may save what it has, and has time for that."""
    monkeypatch.setattr("fakempi.watch.ending.GRACE", 100)
    monkeypatch.setattr("fakempi.watch.watching.MOMENT", 0)
    caught = "except KeyboardInterrupt:\n    for _ in range(1_000_000): pass\n    print('saved')"
    script = f"{BEGINNING}try:\n    {PRESS}    while True: pass\n{caught}\n"
    (tmp_path / "work.py").write_text(script)
    assert main(["run", "-n", "1", "--carrier", "greenlets", str(tmp_path / "work.py")]) == 130
    assert capsys.readouterr().out == "saved\n"


@pytest.mark.parametrize("what", ["comm.Barrier()", "sum(range(1000))"], ids=["calling", "computing"])
def test_a_time_out_is_not_swallowed(what: str, tmp_path: Path, carrier: str, capsys: Capture) -> None:
    """Nor turned into something else."""
    script = f"{BEGINNING}while True:\n    try: {what}\n    except BaseException: pass\n"
    (tmp_path / "work.py").write_text(script)
    assert main(["run", "-n", "2", "--carrier", carrier, "--timeout", "0.05", str(tmp_path / "work.py")]) == 124
    assert capsys.readouterr().err.startswith("fakempi: not done after 0.05 s, at t = ")


def test_nothing_is_left_of_an_interrupted_run(tmp_path: Path, carrier: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """No thread, but for one that is on its last steps; no handler."""
    monkeypatch.undo()
    before, handlers = threading.enumerate(), [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGURG)]
    (tmp_path / "work.py").write_text(f"{BEGINNING}{PRESS}comm.Barrier()\n")
    assert main(["run", "-n", "2", "--carrier", carrier, str(tmp_path / "work.py")]) == 130
    new = set(threading.enumerate()) - set(before)
    for thread in new:
        thread.join(60)
    assert not new & set(threading.enumerate())
    assert [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGURG)] == handlers


def test_the_timer_of_a_time_limit_is_no_stranger() -> None:
    """Where there are threads that might call MPI, every message takes a look at who does; this one never will."""
    with Interrupts(Program(["-c", "pass"]), 1, 3600.0) as interrupts:
        assert interrupts.killer is not None
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(threading, "_active", {1: interrupts.killer})
            assert not strangers()
            patch.setattr(threading, "_active", {1: threading.Thread()})
            assert strangers()
