"""What a check says of a program: one sentence, with the place and the numbers that clash."""

from __future__ import annotations

from math import inf
from pathlib import Path

import numpy as np
import pytest

from fakempi.learn import Trial, Wrong
from fakempi.learn.inside import Inside
from fakempi.learn.limits import Limits

HEAD = "from mpi4py import MPI\n"
RING = "def f(comm):\n    return comm.sendrecv(0, (comm.rank + 1) % comm.size, source=(comm.rank - 1) % comm.size)\n"
WAITING = "On 2 ranks, with sends that wait for their receives: "
LEFT = "and did not return from its function."


def trial(folder: Path, text: str) -> Trial:
    """Of a file that a student might have written."""
    file = folder / "30_test.py"
    file.write_text(text, encoding="utf-8")
    return Trial(text, Inside(file), Limits(inf))


def said(folder: Path, text: str, ranks: tuple[int, ...] = (2,)) -> Wrong:
    """What is wrong with it, if ranks should return 0."""
    with pytest.raises(Wrong) as caught:
        trial(folder, text).everywhere("f", gives=lambda rank, size: 0, ranks=ranks)
    return caught.value


@pytest.mark.parametrize(
    ("text", "kind", "sentence"),
    [
        ("def f(comm):\n    return\n)", "syntax", "Line 3 is not Python: unmatched ')'."),
        (HEAD, "missing", "There is no function f(...) in the file."),
        (
            "def f(comm):\n    return comm.rank",
            "result",
            "On 2 ranks, rank 1: f returns 1, and should return 0.",
        ),
        (
            "def f(comm):\n    return comm.recv()",
            "deadlock",
            f"{WAITING}deadlock: they wait for ever, "
            "ranks 0-1 in recv at 30_test.py:2.",
        ),
        (
            "def f(comm):\n    return 1 // comm.rank",
            "raised",
            f"{WAITING}rank 0: ZeroDivisionError: integer division or modulo by "
            "zero (30_test.py:2).",
        ),
        (
            "def f(comm):\n    raise MemoryError",
            "raised",
            f"{WAITING}rank 0: MemoryError: it takes more memory than it may (30_test.py:2).",
        ),
        (
            "def f(comm):\n    raise ValueError",
            "raised",
            f"{WAITING}rank 0: ValueError (30_test.py:2).",
        ),
        (
            "def f(comm):\n    comm.isend(1, (comm.rank + 1) % 2)\n    return 0",
            "message-lost",
            f"{WAITING}message-lost: ranks 0-1: isend at 30_test.py:2: ",
        ),
        (
            "import sys\ndef f(comm):\n    sys.exit(0)",
            "left",
            f"{WAITING}rank 0 left by sys.exit, {LEFT}",
        ),
        (
            "def f(comm):\n    raise SystemExit",
            "left",
            f"{WAITING}rank 0 left by sys.exit, {LEFT}",
        ),
        (
            "import os\nos._exit(0)\ndef f(comm):\n    return 0",
            "left",
            f"{WAITING}rank 0 left by os._exit, {LEFT}",
        ),
        (
            "class Always:\n    def __eq__(self, other):\n        return True\n    def __repr__(self):\n        return '0'\n"
            "def f(comm):\n    return Always()",
            "result",
            "On 2 ranks, rank 0: f returns Always 0, and should return 0.",
        ),
    ],
    ids=lambda value: value if isinstance(value, str) and value.isidentifier() else "",
)
def test_what_is_wrong_is_said_in_a_sentence(tmp_path: Path, text: str, kind: str, sentence: str) -> None:
    """With its kind."""
    wrong = said(tmp_path, text)
    assert wrong.kind == kind
    assert wrong.sentence.startswith(sentence)
    assert "\n" not in wrong.sentence


def test_a_deadlock_comes_with_the_report_and_prints_are_kept(tmp_path: Path) -> None:
    """All that a program printed in the call that failed."""
    wrong = said(tmp_path, "def f(comm):\n    print('here', comm.rank)\n    return comm.recv()")
    assert wrong.report.startswith("deadlock at t = 0 s: 2 of 2 ranks wait")
    assert wrong.printed == "here 0\nhere 1\n"


def test_a_time_that_is_wrong_comes_with_a_timeline(tmp_path: Path) -> None:
    """And the sentence has both times, the formula, and why."""
    with pytest.raises(Wrong) as caught:
        trial(tmp_path, RING).takes("f", 3, "hockney:t_s=8,t_w=0,eager_limit=0", 16, formula="2 t_s", why="so.")
    assert caught.value.sentence == "On 3 ranks f takes 8 s, and should take 16 s = 2 t_s: so."
    assert "communicating" in caught.value.picture


def test_ranks_have_modules_of_their_own_and_main_is_not_run(tmp_path: Path) -> None:
    """A global variable is no way to tell each other something; nor does what a script does disturb."""
    text = HEAD + "seen = []\ndef f(comm):\n    seen.append(1)\n    comm.Barrier()\n    return len(seen) - 1\n"
    text += "if __name__ == '__main__':\n    1 / 0\n"
    trial(tmp_path, text).everywhere("f", gives=lambda rank, size: 0, ranks=(3,))


def test_a_race_is_found_in_all_schedules(tmp_path: Path) -> None:
    """Where one run is right."""
    text = HEAD + "def f(comm):\n    if comm.rank:\n        comm.send(comm.rank, 0)\n    else:\n"
    text += "        return [comm.recv(source=MPI.ANY_SOURCE) for _ in range(comm.size - 1)]\n"
    tried = trial(tmp_path, text)
    tried.compare("f", tried.run("f", 3), lambda rank, size: None if rank else list(range(1, size)))
    for size in (2, 1, 7):
        tried.everywhere("f", ranks=(size,))
    with pytest.raises(Wrong, match="^On 3 ranks, in one of the schedules that MPI allows: what comes out hangs on"):
        tried.everywhere("f", ranks=(3,))


def test_arguments_are_anew_in_each_run(tmp_path: Path) -> None:
    """A program that writes to its array does not change the next run's."""
    text = "def f(comm, array):\n    array += 1\n    return array"
    tried = trial(tmp_path, text)
    tried.everywhere("f", lambda rank, size: [np.zeros(2)], lambda rank, size: np.ones(2), (2,))
    tried.schedules("f", 2, lambda rank, size: [np.zeros(2)])


def test_what_may_not_be_called_is_found_by_line(tmp_path: Path) -> None:
    """In the text, without running it."""
    with pytest.raises(Wrong, match="^Line 2 calls bcast: by hand.$"):
        trial(tmp_path, "def f(comm):\n    return comm.bcast(1)").without("bcast", why="by hand.")
