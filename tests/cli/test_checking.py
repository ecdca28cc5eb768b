"""`fakempi check`: one verdict, its exit code, and the command that shows a failure again."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from fakempi.cli import main

RACE = """
from mpi4py import MPI
comm = MPI.COMM_WORLD
if comm.rank == 0:
    got = [comm.recv(source=MPI.ANY_SOURCE) for _ in range(comm.size - 1)]
    print("a line that nobody sees")
    assert got[0] == 1, got
else:
    comm.send(comm.rank, dest=0)
"""


def check(folder: Path, text: str, *words: str) -> int:
    script = folder / "race.py"
    script.write_text(text, encoding="utf-8")
    return main(["check", "-n", "3", *words, str(script)])


def test_a_failure_is_shown_with_its_reason_and_how_to_see_it_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The exit code is 1, and the command that is printed fails in the same way."""
    assert check(tmp_path, RACE, "--traces", str(tmp_path / "t")) == 1
    out = capsys.readouterr().out
    assert out.startswith("failure 1, in schedule z:1\nTraceback (most recent call last):\n")
    assert "AssertionError: [2, 1]\nfakempi: rank 0 of 3 failed, which ended the run\n" in out
    assert "why: rank 0's recv at race.py:5 took rank 2's message; with rank 1's all went well\n" in out
    assert out.endswith("2 of 4 schedules fail\n")
    assert "nobody sees" not in out
    again = next(line for line in out.splitlines() if line.startswith("again: fakempi "))
    assert main(shlex.split(again)[2:]) == 1
    assert "AssertionError: [2, 1]" in capsys.readouterr().err
    assert main(["view", *(str(tmp_path / f"t.{which}.json") for which in ("fails", "passes"))]) == 0


def test_a_clean_script_is_said_to_be_clean(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """All schedules were run: exit code 0."""
    assert check(tmp_path, RACE.replace("assert", "repr,")) == 0
    assert capsys.readouterr().out == "clean: all 4 schedules\n"


def test_what_was_not_seen_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Exit code 4: clean so far."""
    assert check(tmp_path, RACE.replace("assert", "repr,"), "--runs", "1") == 4
    assert capsys.readouterr().out == "clean so far: 1 schedule, about 25 % of the tree\n"


def test_an_exit_code_is_a_failure(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """As it is for a shell."""
    assert check(tmp_path, RACE.replace("assert got[0] == 1, got", "raise SystemExit(3 * (got[0] == 2))")) == 1
    head, said, *_ = capsys.readouterr().out.splitlines()
    assert (head, said) == ("failure 1, in schedule z:1", "rank 0 ended with exit code 3")


def test_as_many_runs_as_one_likes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """More than 1,024 were refused, as if they were processes; none still are."""
    assert check(tmp_path, RACE.replace("assert", "repr,"), "--runs", "20000") == 0
    assert check(tmp_path, RACE, "--runs", "0") == 2
    assert "error: argument --runs: 0 is not a whole number from 1 to 1,000,000," in capsys.readouterr().err


def test_a_bound_on_how_far_deviations_are_apart(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The limit is told, so that what it leaves out is not called clean."""
    script = tmp_path / "race.py"
    script.write_text(RACE.replace("assert", "repr,"), encoding="utf-8")
    assert main(["check", "-n", "4", "--mixing", "0", "--buffering", "infinite", str(script)]) == 4
    assert capsys.readouterr().out == "clean so far: 4 schedules, but no two deviations are more than 0 choices apart\n"
    assert main(["check", "-n", "4", "--mixing", "1", "--buffering", "infinite", str(script)]) == 0
    assert capsys.readouterr().out == "clean: all 6 schedules\n"


def test_a_schedule_that_does_not_fit_is_wrong_use(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """And it is said where."""
    script = tmp_path / "race.py"
    script.write_text(RACE, encoding="utf-8")
    assert main(["run", "-n", "3", "--decisions", "z:5", str(script)]) == 2
    assert "decisions 'z:5' do not fit the program: decision 1 is 5" in capsys.readouterr().err


def test_the_ways_that_were_used_are_said_if_not_all_was_seen(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Below the verdict."""
    script = tmp_path / "race.py"
    script.write_text(RACE.replace("assert", "repr,"), encoding="utf-8")
    assert main(["check", "-n", "6", "--runs", "12", "--buffering", "infinite", str(script)]) == 4
    verdict, method = capsys.readouterr().out.splitlines()
    assert verdict.startswith("clean so far: 12 schedules, about ")
    assert method.startswith("fewest deviations first, 3 by bounded mixing (up to ")
    assert method.endswith(" apart), 3 by chance")


def test_who_interrupts_is_told_how_far_it_was_and_what_failed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """With the schedules that fail, and exit code 130."""
    text = RACE.replace("assert got[0] == 1, got", "assert got != [1, 2]\n    if got[0] == 2: raise KeyboardInterrupt")
    assert check(tmp_path, text) == 130
    assert capsys.readouterr().out == "interrupted after 2 schedules, 1 failing: z:0\n"
