"""Ctrl-C and time-outs are reported as such, even if ranks catch them."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import fakempi.apps.cli.running
import fakempi.tuning  # not while a rank is being stopped  # noqa: F401
from fakempi.apps.cli import main
from fakempi.apps.cli.interrupts import Interrupts
from fakempi.extensions.threads.unmanaged import has_unmanaged_threads
from fakempi.isolation import Program
from fakempi.trace.record import load

BEGINNING = "import os, signal, sys\nfrom mpi4py import MPI\ncomm = MPI.COMM_WORLD\n"
PRESS = "import ctypes; ctypes.CDLL(None).kill(os.getpid(), signal.SIGINT)\n"  # a signal of os.kill is for the rank alone
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
    """Stop ranks at once, repeatedly, so that these tests need no real Ctrl-C."""
    monkeypatch.setattr("fakempi.extensions.monitoring.interruption.GRACE", 0.02)
    # the process is killed after that: too long to matter on a busy machine
    monkeypatch.setattr("fakempi.apps.cli.interrupts.GRACE_PERIOD", 500)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.quick(1)
@pytest.mark.parametrize("what", STUBBORN.values(), ids=STUBBORN)
def test_ctrl_c_is_not_swallowed(what: str, tmp_path: Path, backend: Any, capsys: Capture) -> None:
    """A rank that catches every exception and continues does not hide it."""
    script = f"{BEGINNING}if comm.rank == 0: {PRESS}while True:\n    try: {what}\n    except BaseException: pass\n"
    (tmp_path / "work.py").write_text(script)
    assert main(["run", "-n", "2", "--backend", backend, "--quiet", str(tmp_path / "work.py")]) == 130
    assert capsys.readouterr().err.startswith("fakempi: interrupted at t = ")


ENDS = {
    "leaves": "sys.exit(0)",
    "leaves with a code": "sys.exit(7)",
    "returns": "pass",
    "raises": "raise ValueError('something else')",
    "aborts": "comm.Abort(3)",
}


@pytest.mark.quick(3)
@pytest.mark.parametrize("end", ENDS.values(), ids=ENDS)
def test_ctrl_c_is_the_reported_reason_of_the_end(end: str, tmp_path: Path, backend: Any, capsys: Capture) -> None:
    """However the ranks that caught it end."""
    script = f"{BEGINNING}try:\n    if comm.rank == 0: {PRESS}    while True: comm.Barrier()\nexcept BaseException: {end}\n"
    (tmp_path / "work.py").write_text(script)
    assert main(["run", "-n", "3", "--backend", backend, str(tmp_path / "work.py")]) == 130
    assert capsys.readouterr().err.startswith("fakempi: interrupted at t = ")


def test_a_rank_receives_ctrl_c_at_its_current_line(
    tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As in a separate process: the rank may save its data, and has time to do so."""
    monkeypatch.setattr("fakempi.extensions.monitoring.interruption.GRACE", 100)
    monkeypatch.setattr("fakempi.extensions.monitoring.monitor.REACTION_TIME", 0)
    caught = "except KeyboardInterrupt:\n    for _ in range(1_000_000): pass\n    print('saved')"
    script = f"{BEGINNING}try:\n    {PRESS}    while True: pass\n{caught}\n"
    (tmp_path / "work.py").write_text(script)
    assert main(["run", "-n", "1", "--backend", "greenlets", str(tmp_path / "work.py")]) == 130
    assert capsys.readouterr().out == "saved\n"


@pytest.mark.parametrize("what", ["comm.Barrier()", "sum(range(1000))"], ids=["calling", "computing"])
def test_a_time_out_is_not_swallowed(what: str, tmp_path: Path, backend: Any, capsys: Capture) -> None:
    """It is not converted into another error either."""
    script = f"{BEGINNING}while True:\n    try: {what}\n    except BaseException: pass\n"
    (tmp_path / "work.py").write_text(script)
    assert main(["run", "-n", "2", "--backend", backend, "--timeout", "0.05", str(tmp_path / "work.py")]) == 124
    assert capsys.readouterr().err.startswith("fakempi: not done after 0.05 s, at t = ")


def test_an_interrupted_run_leaves_nothing_behind(tmp_path: Path, backend: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """No thread, except one that is about to end, and no signal handler."""
    monkeypatch.undo()
    monkeypatch.setattr("fakempi.apps.cli.interrupts.GRACE_PERIOD", 500)
    before, handlers = threading.enumerate(), [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGURG)]
    (tmp_path / "work.py").write_text(f"{BEGINNING}{PRESS}comm.Barrier()\n")
    assert main(["run", "-n", "2", "--backend", backend, str(tmp_path / "work.py")]) == 130
    new = set(threading.enumerate()) - set(before)
    for thread in new:
        thread.join(60)
    assert not new & set(threading.enumerate())
    assert [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGURG)] == handlers


def test_the_timer_thread_of_a_time_limit_is_known_to_be_no_caller_of_mpi() -> None:
    """If other threads might call MPI, every message checks the calling thread; the timer thread never calls it."""
    with Interrupts(Program(["-c", "pass"]), 1, 3600.0) as interrupts:
        assert interrupts.killer is not None
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(threading, "_active", {1: interrupts.killer})
            assert not has_unmanaged_threads()
            patch.setattr(threading, "_active", {1: threading.Thread()})
            assert has_unmanaged_threads()


def test_ctrl_c_while_modules_are_imported_prints_no_traceback() -> None:
    """The entry point of the command imports the others within its `try`."""
    finder = "class Finder:\n    def find_spec(name, *others):\n        if name == 'rich': raise KeyboardInterrupt\n"
    text = f"import sys\n{finder}sys.meta_path.insert(0, Finder)\nfrom fakempi.__main__ import start\nsys.exit(start())"
    done = subprocess.run([sys.executable, "-c", text, "list"], capture_output=True, text=True, timeout=270)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "")
    assert 'fakempi = "fakempi.__main__:start"' in (Path(__file__).parents[2] / "pyproject.toml").read_text()


TERMINATE = PRESS.replace("SIGINT", "SIGTERM")


def test_a_terminated_run_is_reported_and_loses_no_output(tmp_path: Path, backend: Any, capsys: Capture) -> None:
    """As an interrupted one, with 143: incomplete lines are written, and the trace is saved."""
    script = f"{BEGINNING}print('part', end='')\ncomm.Barrier()\nif comm.rank == 0: {TERMINATE}while True: comm.Barrier()\n"
    (tmp_path / "work.py").write_text(script)
    options = ["--backend", backend, "--trace", str(tmp_path / "t.json")]
    assert main(["run", "-n", "2", *options, str(tmp_path / "work.py")]) == 143
    out, err = capsys.readouterr()
    assert out == "partpart"
    assert err.startswith("fakempi: terminated at t = ")
    assert "work.py:" in err
    assert load(tmp_path / "t.json").about["ended"]["headline"].startswith("terminated at t = ")
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL


def test_programs_see_the_default_action_of_sigterm(tmp_path: Path, capsys: Capture) -> None:
    """And may set a handler; a process that a rank has forked is ended by the signal."""
    script = f"""{BEGINNING}
print(signal.getsignal(signal.SIGTERM) is signal.SIG_DFL)
pid = os.fork()
if pid == 0:
    while True: pass
os.kill(pid, signal.SIGTERM)
print(os.waitpid(pid, 0)[1])
print(signal.signal(signal.SIGTERM, lambda number, frame: print('mine')) is signal.SIG_DFL)
{TERMINATE}"""
    (tmp_path / "work.py").write_text(script)
    assert main(["run", "-n", "1", str(tmp_path / "work.py")]) == 0
    assert capsys.readouterr().out == "True\n15\nTrue\nmine\n"


def test_a_terminated_search_reports_its_results(tmp_path: Path, capsys: Capture) -> None:
    """With the number of schedules that were run."""
    (tmp_path / "work.py").write_text(f"{BEGINNING}{TERMINATE}while True: pass\n")
    assert main(["check", "-q", "-n", "1", str(tmp_path / "work.py")]) == 143
    assert capsys.readouterr().out == "terminated after 0 schedules\n"
