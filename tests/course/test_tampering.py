"""Programs that try to pass without a solution, or that exceed the limits, each in a separate process."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from fakempi.apps.course.course import Course
from fakempi.apps.course.judge import judge
from fakempi.apps.course.limits import CheckLimits

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
    RIGHT
    + """
import fakempi.apps.course.running as running
running.answer = lambda file, request: {"returns": ["x"]}
"""
)
THREAD = """
import ctypes, threading
threading.Thread(target=ctypes.CDLL(None)._exit, args=(0,)).start()
def hello(comm):
    while True:
        pass
"""
ENDLESS = "def hello(comm):\n    while True:\n        pass\n"
HUNGRY = "def hello(comm):\n    import numpy\n    return len(numpy.ones(10**10))\n"


def verdict(directory: Path, text: str, seconds: float = 100.0) -> tuple[bool, str, str]:
    file = directory / HELLO.file
    file.write_text(text, encoding="utf-8")
    found = judge(HELLO, file, CheckLimits(seconds))
    return found.passed, found.kind, found.sentence


@pytest.mark.skipif(os.name == "nt", reason="signals of Unix")
def test_forged_answers_are_rejected(tmp_path: Path) -> None:
    """The program writes them to all open file descriptors."""
    passed, kind, sentence = verdict(tmp_path, FORGED)
    assert (passed, kind) == (False, "gone")
    assert sentence == "The program wrote an invalid answer to the worker's output stream."


@pytest.mark.slow
def test_a_replaced_function_of_fakempi_is_reported(tmp_path: Path) -> None:
    """The message has its name."""
    passed, kind, sentence = verdict(tmp_path, REPLACED)
    assert (passed, kind) == (False, "changed")
    assert sentence == "The program changes fakempi.apps.course.running.answer, which is not part of the exercise."


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="the C library of Unix")
def test_a_program_that_ends_its_process_fails(tmp_path: Path) -> None:
    """Exit code 0 does not pass."""
    passed, kind, sentence = verdict(tmp_path, THREAD)
    assert (passed, kind) == (False, "gone")
    assert sentence.startswith("The program ended its process (with exit code 0): ")


@pytest.mark.slow
def test_an_endless_program_is_stopped(tmp_path: Path) -> None:
    """The limit is CPU time: a busy machine changes nothing."""
    passed, kind, sentence = verdict(tmp_path, ENDLESS, seconds=1.0)
    assert not passed
    assert kind in ("time-out", "gone")
    assert "CPU time" in sentence


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="no limits there")
def test_memory_is_limited(tmp_path: Path) -> None:
    """An array of 80 GB raises MemoryError in the program."""
    passed, kind, sentence = verdict(tmp_path, HUNGRY)
    assert (passed, kind) == (False, "raised")
    assert "MemoryError" in sentence
