"""The watcher without MPI: processes with the variables of a launcher, their report, and their end."""

from __future__ import annotations

import json
import os
import socket
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from xml.etree import ElementTree

import pytest

from fakempi.apps.watch import junit
from fakempi.apps.watch.connections import Listener
from fakempi.apps.watch.emulator_command import emulator_command
from fakempi.apps.watch.positions import from_faulthandler
from fakempi.apps.watch.processes import file_lock_waits
from tests.helpers.loops import for_each

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="it reads /proc")
LIMIT = 120


@pytest.fixture(autouse=True)
def sockets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A directory for sockets, whose path is short; nothing is left in it. That of pytest is another one."""
    assert tmp_path.exists()
    with TemporaryDirectory(prefix="watch-", dir="/tmp") as directory:
        monkeypatch.setattr("tempfile.tempdir", directory)
        monkeypatch.setenv("TMPDIR", directory)
        yield Path(directory)
        assert os.listdir(directory) == []


def watched(*command: str, options: tuple[str, ...] = (), path: str = "", cwd: Path) -> subprocess.CompletedProcess[str]:
    """The result of a command under watch."""
    return subprocess.run(
        [sys.executable, "-m", "fakempi", "watch", *options, *command], capture_output=True, text=True, timeout=LIMIT,
        check=False, stdin=subprocess.DEVNULL, cwd=cwd, env={**os.environ, "PYTHONPATH": path},
    )  # fmt: skip


def test_a_command_that_ends_is_unchanged(tmp_path: Path) -> None:
    """Its output, its exit code, and the user's own sitecustomize."""
    (tmp_path / "sitecustomize.py").write_text("import os; 'FAKEMPI_WATCH' in os.environ and print('own sitecustomize')\n")
    program = "import sys, sitecustomize; print('program', sitecustomize.__file__, sys.path[1:2]); sys.exit(3)"
    done = watched(sys.executable, "-c", program, path=str(tmp_path), cwd=tmp_path)
    assert (done.returncode, done.stderr) == (3, "")
    assert done.stdout == f"own sitecustomize\nprogram {tmp_path / 'sitecustomize.py'} [{str(tmp_path)!r}]\n"


@pytest.mark.slow
@pytest.mark.parametrize("options", [(), ("--hosts",)])
def test_processes_of_another_launcher_are_watched(options: tuple[str, ...], tmp_path: Path) -> None:
    """A shell that sets the variables of a launcher; a subprocess and a forked process of a rank are not ranks."""
    (tmp_path / "work.py").write_text(
        "import os, subprocess, sys, time\n"
        "print('line', flush=True)\n"
        "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(1000)'])\n"
        "if os.fork() == 0:\n"
        "    time.sleep(1000)\n"
        "time.sleep(1000)\n"
    )
    run = "PMI_RANK={0} PMI_SIZE=2 " + sys.executable + " work.py & "
    script = run.format(0) + run.format(1) + "wait"
    done = watched("sh", "-c", script, options=("--after", "2", *options), cwd=tmp_path)
    assert done.returncode == 124, done.stderr
    assert "ranks 0-1: time.sleep(1000) at work.py:6, since t" in done.stderr
    assert "last output of ranks 0-1: line" in done.stderr
    left = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, timeout=LIMIT, check=True).stdout
    assert str(tmp_path) not in left


def test_only_a_process_with_the_token_is_accepted(sockets: Path) -> None:
    """The directory is the user's own, and it is removed."""
    listener = Listener()
    try:
        assert stat.S_IMODE(listener.directory.stat().st_mode) == 0o700
        address = listener.address.partition(":")[2]
        for hello in (b'{"hello": "wrong", "pid": 1}\n', b"no json\n", b"[]\n", b"x" * 20_000):
            with socket.socket(socket.AF_UNIX) as stranger:
                stranger.connect(address)
                stranger.sendall(hello)
                listener.receive(0.1)
                stranger.settimeout(10)
                assert stranger.recv(1) == b"", hello
        assert listener.processes == []
        with socket.socket(socket.AF_UNIX) as rank:
            rank.connect(address)
            rank.sendall(json.dumps({"hello": listener.token, "pid": 7, "rank": 1, "size": 2}).encode() + b"\n")
            listener.receive(0.1)
            assert [(each.pid, each.rank, each.size) for each in listener.ranks()] == [(7, 1, 2)]
    finally:
        listener.close()


@for_each(
    ("words", "expected"),
    [
        ("mpiexec -n 4 python work.py 10", "fakempi check -n 4 work.py 10"),
        ("timeout 60 mpirun --oversubscribe -np 2 python3 -u -X dev work.py", "fakempi check -n 2 work.py"),
        ("mpiexec -n 4 python -m mpi4py work.py", "fakempi check -n 4 work.py"),
        ("srun -n 8 python -m pytest tests", "fakempi run -n 8 -m pytest tests"),
        ("mpiexec -n 2 ./a.out", ""),
        ("mpiexec -n 1 python a.py : -n 1 python b.py", ""),
        ("python work.py", ""),
        ("mpiexec python work.py", ""),
    ],
)
def test_the_command_of_the_emulator_is_shown(words: str, expected: str) -> None:
    """For programs in Python with a number of ranks."""
    assert " ".join(emulator_command(words.split())) == expected


def test_a_stack_of_faulthandler_is_read() -> None:
    """The main thread is the last one that is not the agent's."""
    text = (
        "Thread 0x1 (most recent call first):\n"
        '  File "/x/fakempi/apps/watch/rank/agent.py", line 1 in _serve\n\n'
        "Current thread 0x2 (most recent call first):\n"
        '  File "/x/lib/python3.11/threading.py", line 5 in wait\n'
        '  File "/home/work.py", line 7 in step\n'
    )
    (thread,) = from_faulthandler(text)
    assert [(each["line"], each["own"]) for each in thread["frames"]] == [(5, False), (7, True)]
    assert from_faulthandler("") == []


def test_a_wait_for_the_lock_of_a_file_is_found(tmp_path: Path) -> None:
    """With the process that holds it."""
    program = (
        "import fcntl, sys; file = open(sys.argv[1], 'w'); fcntl.flock(file, fcntl.LOCK_EX); "
        "print('has it', flush=True); input()"
    )
    command = [sys.executable, "-c", program, str(tmp_path / "lock")]
    holder = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    waiter = None
    try:
        assert holder.stdout is not None
        holder.stdout.readline()
        waiter = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        for _ in range(LIMIT * 10):
            if waiter.pid in file_lock_waits():
                break
            time.sleep(0.1)
        assert file_lock_waits().get(waiter.pid) == holder.pid
    finally:
        for process in (waiter, holder):
            if process is not None:
                process.kill()
                process.communicate(timeout=LIMIT)


def test_the_test_that_hung_is_an_error_in_the_results(tmp_path: Path) -> None:
    """pytest lists a test that has begun, with no result; the other results are unchanged."""
    file = tmp_path / "results.xml"
    file.write_text(
        '<testsuites><testsuite name="pytest" errors="0" tests="2"><testcase classname="tests.test_a" name="test_one"/>'
        '<testcase time="0.0"/></testsuite></testsuites>'
    )
    junit.add_entry(file, ["tests/test_a.py::TestSum::test_two[3]"], "the report\nline \x1b[0m 2")
    suite = next(ElementTree.parse(file).getroot().iter("testsuite"))
    cases = [(each.get("classname"), each.get("name")) for each in suite]
    assert cases == [("tests.test_a", "test_one"), ("tests.test_a.TestSum", "test_two[3]")]
    error = suite[1].find("error")
    assert error is not None
    assert (error.get("message"), error.text, suite.get("errors")) == ("the report", "the report\nline [0m 2", "1")
