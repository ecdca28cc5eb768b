"""Programs that try to pass without doing the exercise, or that take too much: each in a process of its own."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from fakempi.learn.course import Course
from fakempi.learn.judge import judge
from fakempi.learn.limits import Limits

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
REPLACED = RIGHT + """
import fakempi.learn.running as running
running.answer = lambda file, request: {"returns": ["x"]}
"""
THREAD = """
import ctypes, threading
threading.Thread(target=ctypes.CDLL(None)._exit, args=(0,)).start()
def hello(comm):
    while True:
        pass
"""
ENDLESS = "def hello(comm):\n    while True:\n        pass\n"
HUNGRY = "def hello(comm):\n    import numpy\n    return len(numpy.ones(10**10))\n"


def verdict(folder: Path, text: str, seconds: float = 100.0) -> tuple[bool, str, str]:
    file = folder / HELLO.file
    file.write_text(text, encoding="utf-8")
    found = judge(HELLO, file, Limits(seconds))
    return found.passed, found.kind, found.sentence


@pytest.mark.skipif(os.name == "nt", reason="signals of Unix")
def test_written_answers_are_none(tmp_path: Path) -> None:
    """Wherever they are written to."""
    passed, kind, sentence = verdict(tmp_path, FORGED)
    assert (passed, kind) == (False, "gone")
    assert sentence == "Something that is no answer came from the program."


@pytest.mark.slow
def test_a_function_of_ours_that_is_replaced_is_noticed(tmp_path: Path) -> None:
    """And named."""
    passed, kind, sentence = verdict(tmp_path, REPLACED)
    assert (passed, kind) == (False, "changed")
    assert sentence == "The program changes fakempi.learn.running.answer, which is not its own."


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="the C library of Unix")
def test_a_process_that_ends_itself_has_not_passed(tmp_path: Path) -> None:
    """Though with exit code 0."""
    passed, kind, sentence = verdict(tmp_path, THREAD)
    assert (passed, kind) == (False, "gone")
    assert sentence.startswith("The program ended the process that it runs in (with exit code 0): ")


@pytest.mark.slow
def test_what_does_not_end_is_ended(tmp_path: Path) -> None:
    """By the run itself, or, on a machine that is too busy for that, by the one who judges."""
    passed, kind, sentence = verdict(tmp_path, ENDLESS, seconds=1.0)
    assert not passed
    assert kind in ("time-out", "gone")
    assert "t was not done after" in sentence


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="no limits there")
def test_memory_is_limited(tmp_path: Path) -> None:
    """80 GB are refused, and the rest goes on."""
    passed, kind, sentence = verdict(tmp_path, HUNGRY)
    assert (passed, kind) == (False, "raised")
    assert "MemoryError" in sentence


def test_where_others_work_there_is_more_time() -> None:
    """As much as a start took longer than it needed, and no more than ten times."""
    limits = Limits(10.0)
    assert [limits.on_this_machine(wall, 0.5).seconds for wall in (0.4, 1.0, 100.0)] == [10.0, 20.0, 100.0]
    assert limits.on_this_machine(1.0, 0.0) == limits
