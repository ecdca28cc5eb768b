"""Programs that try to pass without a solution, or that exceed the limits, each in a separate process."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from fakempi.apps.course.course import Course
from fakempi.apps.course.judge import judge
from fakempi.apps.course.limits import CheckLimits
from fakempi.apps.course.sandbox import landlock
from fakempi.apps.course.worker_start import ForkServer, NewProcesses, Starter, can_fork

HELLO = Course().exercises[1]
RIGHT = "def hello(comm):\n    return f'rank {comm.rank} of {comm.size}'\n"
FORGED = """
import json, os, signal, sys
line = json.dumps({"returns": ["rank 0 of 1"], "time": 0, "sent": [[0, 0]], "number": "0"}) + "\\n"
print(line)
for number in range(1, 20):
    try:
        os.write(number, line.encode())
    except OSError:
        pass
def hello(comm):
    os.kill(os.getpid(), signal.SIGKILL)
"""
REPLACED = (
    RIGHT.replace("comm.size", "0")
    + """
import fakempi.apps.course.running as running
running.answer = lambda file, request: {"returns": ["rank 0 of 1"], "time": 0, "sent": [[0, 0]]}
"""
)
ENDLESS = "def hello(comm):\n    while True:\n        pass\n"
HUNGRY = "def hello(comm):\n    import numpy\n    return len(numpy.ones(10**10))\n"


FORKS = """
import os
def hello(comm):
    while True:
        os.fork()
"""
DELETES = """
import os, pathlib, shutil
def hello(comm):
    for place in PLACES:
        shutil.rmtree(place, ignore_errors=True)
        for path in pathlib.Path(place).rglob("*"):
            try:
                path.write_text("overwritten")
            except OSError:
                pass
""" + RIGHT.removeprefix("def hello(comm):\n")
PRINTS = "def hello(comm):\n    while True:\n        print('x' * 1000)\n"
READS_SOLUTION = """
import importlib.util
def hello(comm):
    path = {path!r}
    found = importlib.util.spec_from_file_location("solution", path)
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    return module.hello(comm)
"""
STARTS_COMMAND = """
import subprocess, sys
def hello(comm):
    command = [sys.executable, "-m", "fakempi", "learn", "--solution", "1"]
    out = subprocess.run(command, capture_output=True, text=True).stdout
    names = {}
    exec(out, names)
    return names["hello"](comm)
"""
KILLS = "import os, signal\ndef hello(comm):\n    os.kill({process}, signal.SIGTERM)\n"
LOOKS_FOR_REQUEST = """
import gc
def hello(comm):
    return [each for each in gc.get_objects() if isinstance(each, dict) and "number" in each]
"""
FILLS_DISK = (
    "def hello(comm):\n    with open('big', 'wb') as out:\n        while True:\n            out.write(bytes(2**20))\n"
)
CONNECTS = "import socket\ndef hello(comm):\n    socket.create_connection(('127.0.0.1', 9), timeout=1)\n"


@pytest.fixture(scope="module")
def starter() -> Iterator[Starter]:
    """The starter of the workers of these tests: on Unix, one process for all."""
    if not can_fork():
        yield NewProcesses()
        return
    with ForkServer() as server:
        yield server


class Verdicts:
    """Checks programs as the first exercise."""

    def __init__(self, directory: Path, starter: Starter) -> None:
        self.directory, self.starter = directory, starter

    def __call__(self, text: str, seconds: float = 100.0, hidden: tuple[Path, ...] = ()) -> tuple[bool, str, str]:
        """Return whether a program passes, the kind of failure, and the sentence."""
        file = self.directory / HELLO.file
        file.write_text(text, encoding="utf-8")
        found = judge(HELLO, file, CheckLimits(seconds), starter=self.starter, hidden=hidden)
        return found.passed, found.kind, found.sentence


@pytest.fixture
def verdict(tmp_path: Path, starter: Starter) -> Verdicts:
    """Check a program."""
    return Verdicts(tmp_path, starter)


unix = pytest.mark.skipif(os.name == "nt", reason="signals and limits of Unix")


@unix
def test_forged_answers_are_rejected(verdict: Verdicts) -> None:
    """The program writes them to all open file descriptors."""
    passed, kind, sentence = verdict(FORGED)
    assert (passed, kind) == (False, "gone")
    assert sentence == "The program wrote an invalid answer to the worker's output stream."


def test_a_correct_program_passes(verdict: Verdicts) -> None:
    """After hostile ones, with the same process that starts the workers."""
    assert verdict(RIGHT) == (True, "", "")


def test_a_replaced_function_of_fakempi_changes_no_verdict(verdict: Verdicts) -> None:
    """It is undone at the end of the rank, or reported."""
    passed, kind, _ = verdict(REPLACED)
    assert not passed
    assert kind in ("result", "changed")


def test_a_right_result_does_not_hide_a_replaced_function(verdict: Verdicts) -> None:
    """The functions are compared after the last run."""
    text = f"{RIGHT}\nimport fakempi.apps.course.values as values\nvars(values)['same'] = lambda value, other: True\n"
    passed, kind, sentence = verdict(text)
    assert (passed, kind) == (False, "changed")
    assert sentence == "The program changes fakempi.apps.course.values.same, which is not part of the exercise."


@pytest.mark.slow
def test_an_endless_program_is_stopped(verdict: Verdicts) -> None:
    """The limit is CPU time: a busy machine changes nothing."""
    for text in (ENDLESS, PRINTS):
        passed, kind, sentence = verdict(text, seconds=0.5)
        assert not passed
        assert kind in ("time-out", "gone")
        assert "CPU time" in sentence


@unix
def test_memory_is_limited(verdict: Verdicts) -> None:
    """An array of 80 GB raises MemoryError in the program."""
    passed, kind, sentence = verdict(HUNGRY)
    assert (passed, kind) == (False, "raised")
    assert "MemoryError" in sentence


@pytest.mark.parametrize(
    ("text", "event"),
    [
        (FORKS, "os.fork"),
        (STARTS_COMMAND, "subprocess.Popen"),
        (LOOKS_FOR_REQUEST, "gc.get_objects"),
        (KILLS.format(process=os.getpid()), "os.kill"),
        (READS_SOLUTION.format(path=str(HELLO.directory / "solution.py")), "solution.py"),
    ],
    ids=["forks", "starts a command", "looks for the request", "kills", "reads the solution"],
)
@unix
def test_a_call_that_is_not_permitted_raises_an_exception(verdict: Verdicts, text: str, event: str) -> None:
    """The sentence names it."""
    passed, kind, sentence = verdict(text)
    assert (passed, kind) == (False, "raised")
    assert "PermissionError" in sentence
    assert event in sentence


@unix
@pytest.mark.parametrize("text", [FILLS_DISK, CONNECTS], ids=["fills the disk", "connects"])
def test_files_and_the_network_are_limited(verdict: Verdicts, text: str) -> None:
    """A file has at most 16 MiB; there is no network."""
    passed, kind, _ = verdict(text)
    assert not passed
    assert kind in ("raised", "gone")


@unix
def test_files_elsewhere_do_not_change(verdict: Verdicts, tmp_path: Path) -> None:
    """Files of the student and of other students are as before; the program itself may pass."""
    submissions = tmp_path / "submissions"
    for name in ("ann", "bob"):
        (submissions / name).mkdir(parents=True)
        (submissions / name / "01_hello.py").write_text(name, encoding="utf-8")
    places = [str(tmp_path), str(submissions), "."]
    verdict(DELETES.replace("PLACES", repr(places)), hidden=(submissions,))
    for name in ("ann", "bob"):
        assert (submissions / name / "01_hello.py").read_text(encoding="utf-8") == name


@unix
def test_submissions_of_others_are_hidden(verdict: Verdicts, tmp_path: Path) -> None:
    """As are the solutions."""
    other = tmp_path / "submissions" / "ann.py"
    other.parent.mkdir()
    other.write_text(RIGHT, encoding="utf-8")
    text = READS_SOLUTION.format(path=str(other))
    assert verdict(text)[0]
    assert verdict(text, hidden=(other.parent,))[:2] == (False, "raised")


@pytest.mark.skipif(sys.platform != "linux", reason="limits of the Linux kernel")
def test_the_kernel_confines_code_that_is_not_python(tmp_path: Path) -> None:
    """The audit hook is not installed here: the system calls themselves fail."""
    if landlock.version() < 1:
        pytest.skip("this kernel has no Landlock")
    (tmp_path / "own").mkdir()
    (tmp_path / "hidden").mkdir()
    (tmp_path / "hidden" / "file").write_text("secret", encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-c", KERNEL, str(tmp_path)],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        cwd=Path.cwd(),
    )
    assert done.stdout.split() == ["own:written", "fork", "exec", "kill", "read", "write", "remove"], done.stderr


KERNEL = """
import os, sys
from pathlib import Path
from fakempi.apps.course.sandbox import landlock, syscalls
at, parent = Path(sys.argv[1]), os.getppid()
landlock.confine(at / "own", [at / "hidden"])
assert syscalls.confine()
(at / "own" / "file").write_text("mine")
print("own:" + "written")
attempts = {
    "fork": os.fork,
    "exec": lambda: os.execv("/bin/true", ["true"]),
    "kill": lambda: os.kill(parent, 0),
    "read": lambda: (at / "hidden" / "file").read_text(),
    "write": lambda: (at / "new").write_text("x"),
    "remove": lambda: (at / "hidden" / "file").unlink(),
}
for name, attempt in attempts.items():
    try:
        attempt()
    except PermissionError:
        print(name)
"""
