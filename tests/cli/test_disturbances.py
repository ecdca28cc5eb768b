"""`fakempi check --skew` and `--kill-each`: ranks that are late, or die."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

import fakempi
from fakempi import MPI
from fakempi.apps.cli import main
from fakempi.apps.cli.disturbances.cases import DisturbedCase, deaths
from fakempi.extensions.disturbance import LATE, Disturbance, disturbed
from tests.numbered.program import START

Capture = pytest.CaptureFixture[str]

RACE = "if rank:\n    comm.send(rank, 0)\nelse:\n    got = [comm.recv() for _ in range(size - 1)]\n"
SWALLOWS = (
    "total = 0\nfor source in range(1, size if rank == 0 else 0):\n"
    "    try:\n        total += comm.recv(source=source)\n    except MPI.Exception:\n        pass\n"
    "if rank: comm.send(rank, 0)\n"
)
TOLERATES = (
    "comm.Set_errhandler(MPI.ERRORS_RETURN)\ndone = False\nwhile not done:\n"
    "    try:\n        comm.allreduce(1)\n        good = True\n    except MPI.Exception:\n        good = False\n"
    "    comm.Ack_failed()\n"
    "    try:\n        done = comm.Agree(int(good)) != 0\n    except MPI.Exception:\n        done = False\n"
    "    if not done:\n        comm = comm.Shrink()\n"
)
SURVIVES_ONE_CALL = "try:\n    comm.allreduce(1)\nexcept MPI.Exception:\n    comm = comm.Shrink()\ncomm.Barrier()\n"
WAITS = (
    "try:\n    if rank == 1: comm.recv(source=0)\n    if rank == 0: comm.send(1, 1)\n"
    "except MPI.Exception:\n    comm.recv(source=2)\nif rank == 2: comm.recv(source=1, tag=5)\n"
    "if rank == 1: comm.send(0, 2, tag=5)\n"
)


def call(directory: Path, body: str, *words: str) -> int:
    """Call `fakempi check` with a script on three ranks."""
    script = directory / "work.py"
    script.write_text(START + body, encoding="utf-8")
    return main(["check", "-n", "3", *words, str(script)])


@pytest.mark.parametrize(
    ("body", "words", "expected"),
    [
        (RACE + "    assert got == sorted(got), got\n", "--skew", "rank 1 is late at every call: fails: rank 0 failed with"),
        (RACE + "    import fakempi\n    fakempi.result('got', got)\n", "--skew",
         "rank 1 is late at every call: fails: result got[0] is 2 instead of 1"),
        (SWALLOWS + "if rank == 0: print(total)\n", "--kill-each",
         "rank 1 dies at its call 1: fails: the other ranks do not report it, and go on: the output of rank 0 differs"),
        (WAITS, "--kill-each", "rank 0 dies at its call 1: fails: the other ranks do not end: deadlock"),
        (SURVIVES_ONE_CALL, "--kill-each", "rank 0 dies at its call 2: fails: the other ranks do not survive: rank 1"),
    ],
)  # fmt: skip
def test_a_program_that_fails_with_a_late_or_dead_rank_is_found(
    body: str, words: str, expected: str, tmp_path: Path, capsys: Capture
) -> None:
    """The last line is a command that repeats the failing run."""
    assert call(tmp_path, body, words) == 1
    out = capsys.readouterr().out
    assert expected in out
    replay = shlex.split(re.findall(r"^replay: fakempi (.*)$", out, re.MULTILINE)[-1])
    changed = "instead of" in expected or "and go on" in expected  # these runs end without an error
    assert (main(replay) == 0) == changed


@pytest.mark.parametrize(
    ("body", "line"),
    [
        (TOLERATES, "rank 2 dies at 4 of its 4 calls: the other ranks survive"),
        ("comm.Barrier()\ncomm.allreduce(1)\n", "rank 2 dies at 2 of its 2 calls: the other ranks report it, or do not"),
        ("if rank < 2: comm.sendrecv(rank, 1 - rank)\ncomm.Get_rank()\n", "rank 2 dies at 1 of its 1 call: the other"),
    ],
)
def test_a_program_that_survives_or_reports_is_clean(body: str, line: str, tmp_path: Path, capsys: Capture) -> None:
    """Each rank has a line."""
    assert call(tmp_path, body, "--skew", "--kill-each") == 0
    out = capsys.readouterr().out
    assert line in out
    assert out.count("is late at every call: clean\n") == 3
    assert out.splitlines()[-1].startswith("clean: ")


def test_a_budget_that_is_too_small_is_reported(tmp_path: Path, capsys: Capture) -> None:
    """With the number of cases that did not run; several numbers of ranks share it."""
    assert call(tmp_path, "for i in range(10): comm.Barrier()\n", "--kill-each", "--runs", "13") == 4
    out = capsys.readouterr().out
    assert "rank 0 dies at 4 of its 10 calls" in out
    assert "clean so far: 18 cases did not run; use more --runs or --seconds\n" in out


def test_a_program_that_fails_without_a_disturbance_is_reported_as_such(tmp_path: Path, capsys: Capture) -> None:
    assert call(tmp_path, "assert rank != 1\n", "--skew") == 1
    assert "fails without a disturbance:\nTraceback" in capsys.readouterr().out


def test_several_numbers_of_ranks_end_at_the_first_failure(tmp_path: Path, capsys: Capture) -> None:
    (tmp_path / "work.py").write_text(START + RACE + "    assert got == sorted(got)\n", encoding="utf-8")
    assert main(["check", "-n", "1..4", "--skew", str(tmp_path / "work.py")]) == 1
    assert re.findall(r"^on (\d)", capsys.readouterr().out, re.MULTILINE) == ["1", "2", "3"]


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ("check -n 3 --skew --jobs 2", "--jobs is for a search of schedules, and --skew makes single runs"),
        ("check -n 3 --kill-each --html why.html", "--html is for a search of schedules, and --kill-each makes single runs"),
        ("run -n 3 --skew 3", "--skew names rank 3, but ranks are 0 to 2"),
        ("run -n 3 --kill-call 3@1", "--kill-call names rank 3, but ranks are 0 to 2"),
        ("run -n 3 --kill-call 1@0", "1@0 is not a rank and the number of its call, like 3@2"),
        ("run -n 3 --skew 1 --processes", "need ranks in one process: remove --processes"),
    ],
)
def test_options_that_cannot_work_are_rejected(words: str, sentence: str, tmp_path: Path, capsys: Capture) -> None:
    (tmp_path / "work.py").write_text("", encoding="utf-8")
    assert main([*words.split(), str(tmp_path / "work.py")]) == 2
    assert sentence in capsys.readouterr().err


def test_deaths_are_spread_evenly_within_the_budget() -> None:
    """Ranks with few calls leave more for the others; the first and the last call are included."""
    every = {0: [DisturbedCase(0, call) for call in (1, 2, 3)], 1: [DisturbedCase(1, call) for call in (1, 2)]}
    assert deaths({0: 3, 1: 2}, 9) == every
    assert [[case.call for case in cases] for cases in deaths({0: 100, 1: 1}, 5).values()] == [[1, 34, 67, 100], [1]]
    assert deaths({0: 5, 1: 5}, 1) == {0: [], 1: [DisturbedCase(1, 1)]}


def test_calls_inside_calls_and_of_other_runs_do_not_count() -> None:
    """A rank is late once per call of the program, and not in a run that it starts."""

    def program(comm: MPI.Intracomm) -> float:
        requests = [comm.isend(i, comm.rank) for i in range(2)]
        comm.recv(), comm.recv()
        MPI.Request.waitall(requests)
        fakempi.run(lambda inner: inner.Barrier(), 2)
        return MPI.Wtime()

    with disturbed(Disturbance({1: LATE})) as disturbance:
        clocks = fakempi.run(program, 2, cost="zero_cost").returns
    assert disturbance.counts == {0: 5, 1: 5}
    assert clocks == [0.0, pytest.approx(5 * LATE)]
    assert fakempi.run(program, 2, cost="zero_cost").returns == [0.0, 0.0]
