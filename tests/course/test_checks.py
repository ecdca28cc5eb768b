"""The message of a failed check: one sentence with the location and the values."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fakempi.apps.course import BUFFERED, WAITING, Trial, Wrong
from fakempi.apps.course.in_process import InProcessRunner

HEAD = "from mpi4py import MPI\n"
RING = "def f(comm):\n    return comm.sendrecv(0, (comm.rank + 1) % comm.size, source=(comm.rank - 1) % comm.size)\n"
LEFT = "before its function returned."


def trial(directory: Path, text: str) -> Trial:
    """Return a trial of a file with this text."""
    file = directory / "30_test.py"
    file.write_text(text, encoding="utf-8")
    return Trial(text, InProcessRunner(file))


def error_of(directory: Path, text: str, ranks: tuple[int, ...] = (2,)) -> Wrong:
    """Return the error of a program whose ranks should return 0."""
    with pytest.raises(Wrong) as caught:
        trial(directory, text).everywhere("f", gives=lambda rank, size: 0, ranks=ranks)
    return caught.value


@pytest.mark.parametrize(
    ("text", "kind", "sentence"),
    [
        ("def f(comm):\n    return\n)", "syntax", "Line 3 is not valid Python: unmatched ')'."),
        (HEAD, "missing", "The file does not define the function f."),
        (
            "def f(comm):\n    return comm.rank",
            "result",
            "f returns 1 on rank 1 instead of 0.",
        ),
        (
            "def f(comm):\n    return comm.recv()",
            "deadlock",
            "Deadlock: ranks are blocked, ranks 0-1 in recv at 30_test.py:2.",
        ),
        (
            "def f(comm):\n    return 1 // comm.rank",
            "raised",
            "Rank 0: ZeroDivisionError: integer division or modulo by zero (30_test.py:2).",
        ),
        (
            "def f(comm):\n    raise MemoryError",
            "raised",
            "Rank 0: MemoryError: the program exceeded its memory limit (30_test.py:2).",
        ),
        (
            "def f(comm):\n    raise ValueError",
            "raised",
            "Rank 0: ValueError (30_test.py:2).",
        ),
        (
            "def f(comm):\n    comm.isend(1, (comm.rank + 1) % 2)\n    return 0",
            "message-lost",
            "message-lost: ranks 0-1: isend at 30_test.py:2: ",
        ),
        (
            "import sys\ndef f(comm):\n    sys.exit(0)",
            "left",
            f"Rank 0 called sys.exit {LEFT}",
        ),
        (
            "def f(comm):\n    raise SystemExit",
            "left",
            f"Rank 0 called sys.exit {LEFT}",
        ),
        (
            "import os\nos._exit(0)\ndef f(comm):\n    return 0",
            "left",
            f"Rank 0 called os._exit {LEFT}",
        ),
        (
            "class Always:\n    def __eq__(self, other):\n        return True\n    def __repr__(self):\n        return '0'\n"
            "def f(comm):\n    return Always()",
            "result",
            "f returns Always 0 on rank 0 instead of 0.",
        ),
    ],
    ids=lambda value: value if isinstance(value, str) and value.isidentifier() else "",
)
def test_an_error_is_reported_in_one_sentence(tmp_path: Path, text: str, kind: str, sentence: str) -> None:
    """The error also has its kind."""
    wrong = error_of(tmp_path, text)
    assert wrong.kind == kind
    assert wrong.sentence.startswith(sentence)
    assert "\n" not in wrong.sentence


def test_a_deadlock_has_the_report_and_the_output(tmp_path: Path) -> None:
    """The output is that of the call that failed."""
    wrong = error_of(tmp_path, "def f(comm):\n    print('here', comm.rank)\n    return comm.recv()")
    assert wrong.report.startswith("deadlock at t = 0 s: 2 of 2 ranks are blocked")
    assert wrong.printed == "here 0\nhere 1\n"


def test_a_wrong_time_has_a_timeline(tmp_path: Path) -> None:
    """The sentence has both times, the formula, and the reason."""
    with pytest.raises(Wrong) as caught:
        trial(tmp_path, RING).takes("f", 3, "hockney:t_s=8,t_w=0,eager_limit=0", 16, formula="2 t_s", why="so.")
    assert caught.value.sentence == "On 3 ranks f takes 8 s instead of 16 s = 2 t_s: so."
    assert "communicating" in caught.value.picture


def test_each_rank_has_its_own_module_and_the_script_part_is_skipped(tmp_path: Path) -> None:
    """Ranks do not share global variables, and the script part does not run."""
    text = HEAD + "seen = []\ndef f(comm):\n    seen.append(1)\n    comm.Barrier()\n    return len(seen) - 1\n"
    text += "if __name__ == '__main__':\n    1 / 0\n"
    assert list(trial(tmp_path, text).run("f", 3).returns) == [0, 0, 0]


def test_a_race_is_found_in_all_schedules(tmp_path: Path) -> None:
    """One run gives the right result."""
    text = HEAD + "def f(comm):\n    if comm.rank:\n        comm.send(comm.rank, 0)\n    else:\n"
    text += "        return [comm.recv(source=MPI.ANY_SOURCE) for _ in range(comm.size - 1)]\n"
    tried = trial(tmp_path, text)
    tried.compare("f", tried.run("f", 3), lambda rank, size: None if rank else list(range(1, size)))
    for size in (2, 1, 7):
        trial(tmp_path, text).everywhere("f", ranks=(size,))
    words = "^On 3 ranks, in one of the schedules that MPI allows: the result depends on the order of messages"
    with pytest.raises(Wrong, match=words):
        tried.everywhere("f", ranks=(3,))


def test_each_run_has_new_arguments(tmp_path: Path) -> None:
    """A program that changes its array does not change the array of the next run."""
    text = "def f(comm, array):\n    array += 1\n    return array"
    tried = trial(tmp_path, text)
    tried.everywhere("f", lambda rank, size: [np.zeros(2)], lambda rank, size: np.ones(2), (2,))
    tried.schedules("f", 2, lambda rank, size: [np.zeros(2)])


def test_forbidden_calls_are_reported_with_their_line(tmp_path: Path) -> None:
    """They are found in the source, without running it."""
    with pytest.raises(Wrong, match="^Line 2 calls bcast: by hand.$"):
        trial(tmp_path, "def f(comm):\n    return comm.bcast(1)").without("bcast", why="by hand.")


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("return 1 // (comm.size - 3) * 0", "On 3 ranks: rank 0: ZeroDivisionError"),
        ("return 1 // (comm.size - 1) * 0", "On 1 rank: rank 0: ZeroDivisionError"),
        (
            "comm.ssend(0, comm.size - 1 - comm.rank) if comm.size % 2 == 0 else 0\n    return 0",
            "On 2 ranks: deadlock: ranks are blocked, ranks 0-1 in ssend at ",
        ),
        ("return 0 if comm.size > 1 else 1", "On 1 rank: f returns 1 instead of 0."),
        ("return comm.rank // 9", "On 64 ranks: f returns 1 on rank 9 instead of 0."),
        ("return comm.rank", "f returns 1 on rank 1 instead of 0."),
    ],
)
def test_ranks_are_named_only_if_other_numbers_pass(tmp_path: Path, text: str, sentence: str) -> None:
    """The numbers of ranks are compared with each other; one rank comes after the main case."""
    assert error_of(tmp_path, f"def f(comm):\n    {text}\n", (1, 2, 3, 7, 64)).sentence.startswith(sentence)


class OneCost:
    """Answers as a program does that returns 1 instead of 0 with one kind of sends."""

    def __init__(self, cost: str) -> None:
        self.cost = cost

    def answer(self, request: dict[str, Any]) -> dict[str, Any]:
        """Return the values of all ranks."""
        value = int(request["cost"] == self.cost)
        return {"returns": [value] * request["ranks"], "time": 0, "sent": [], "printed": ""}


@pytest.mark.parametrize(("cost", "sends"), [(WAITING, "With unbuffered sends"), (BUFFERED, "With buffered sends")])
def test_the_buffering_is_named_only_if_the_other_passes(cost: str, sends: str) -> None:
    """The number of ranks is not named, since all of them fail."""
    with pytest.raises(Wrong, match=f"^{sends}: f returns 1 on rank 0 instead of 0.$"):
        Trial("", OneCost(cost)).everywhere("f", gives=lambda rank, size: 0, ranks=(2, 3))


def test_all_tests_of_a_check_are_run_for_partial_credit(tmp_path: Path) -> None:
    """A failed test does not end the check; each has a name."""
    file = tmp_path / "30_test.py"
    file.write_text("def f(comm):\n    return 0 if comm.size != 1 else 1\n", encoding="utf-8")
    tried = Trial(file.read_text(encoding="utf-8"), InProcessRunner(file), go_on=True)
    tried.everywhere("f", gives=lambda rank, size: 0, ranks=(1, 2, 3))
    with tried.test("another condition"):
        tried.require(False, "It is not met.")
    assert [(test.name, test.passed) for test in tried.tests] == [
        ("f, with buffered sends", True),
        ("f, with unbuffered sends", True),
        ("f, on 1 rank", False),
        ("f, all schedules", True),
        ("another condition", False),
    ]
