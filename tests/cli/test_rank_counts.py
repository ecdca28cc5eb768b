"""`-n 1..16` of `fakempi check` and `fakempi run`: the smallest number of ranks that fails is found."""

from __future__ import annotations

import io
import re
import shlex
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from fakempi.apps.cli import main, workers
from fakempi.apps.cli.rank_counts.budget import Budget
from fakempi.core.rank_numbers import numbers, spelled
from fakempi.errors import MPIValueError
from tests.numbered.catalogue import PROGRAMS
from tests.numbered.program import START

FAILING = ("the last block is empty", "pairs of ranks", "one rank", "the ring has four ranks")
IN_SOME_SCHEDULES = ("the order of two messages", "sends that rely on buffering")
Capture = pytest.CaptureFixture[str]
REFUSES = "if size < 3:\n    if rank == 0: print('needs 3 ranks', file=sys.stderr)\n    sys.exit(2)\ncomm.Barrier()\n"
ABORTS = "if size < 3:\n    if rank == 0:\n        print('needs 3')\n        comm.Abort(5)\ncomm.Barrier()\n"
RACE = "if rank:\n    comm.send(rank, dest=0)\nelse:\n    [comm.recv() for _ in range(size - 1)]\n"


def call(command: str, directory: Path, body: str, *words: str) -> int:
    """Call `fakempi check` or `fakempi run` with a script."""
    script = directory / "work.py"
    script.write_text(START + body, encoding="utf-8")
    return main([command, *words, str(script)])


def kinds(text: str) -> dict[int, str]:
    """Return number of ranks -> the first word of its line."""
    return {int(number): word.strip(":") for number, word in re.findall(r"^ *(\d+) ranks?  +(\S+)", text, re.MULTILINE)}


@pytest.mark.quick(4)
@pytest.mark.parametrize("name", [*FAILING, *IN_SOME_SCHEDULES])
def test_check_finds_the_smallest_number_that_fails(name: str, tmp_path: Path, capsys: Capture) -> None:
    """It is the last line; the failure is shown, and its command repeats it. tests/numbered has more programs."""
    smallest, body = PROGRAMS[name].smallest, PROGRAMS[name].wrong
    assert call("check", tmp_path, body, "-n", "1..9", "--runs", "400") == 1
    out = capsys.readouterr().out
    found = kinds(out)
    assert [number for number, kind in found.items() if kind == "fails"] == [smallest] == [max(found)]
    noun = "rank" if smallest == 1 else "ranks"
    assert f"\non {smallest} {noun}:\nfailure 1, in schedule " in out
    assert f"\nfails on {smallest} {noun}" in out
    replay = shlex.split(next(line for line in out.splitlines() if line.startswith("replay: ")))[2:]
    assert replay[:3] == ["run", "-n", str(smallest)]
    assert main(replay) in (1, 3)


@pytest.mark.quick(4)
@pytest.mark.parametrize("name", FAILING)
def test_run_finds_the_smallest_number_that_fails(name: str, tmp_path: Path, capsys: Capture) -> None:
    """The exit code is that of this number, and the last line is the command that repeats it."""
    smallest, body = PROGRAMS[name].smallest, PROGRAMS[name].wrong
    assert call("run", tmp_path, body, "-n", "1..9", "--quiet") == 1
    err = capsys.readouterr().err
    found = kinds(err)
    assert [number for number, kind in found.items() if kind == "fails"] == [smallest] == [max(found)]
    assert err.splitlines()[-1] == f"  replay: fakempi run -n {smallest} --quiet {tmp_path / 'work.py'}"


def test_all_runs_the_numbers_after_a_failure(tmp_path: Path, capsys: Capture) -> None:
    """The report is that of the smallest number."""
    body = PROGRAMS["the remainder is lost"].wrong
    assert call("check", tmp_path, body, "-n", "4..7", "--all") == 1
    out = capsys.readouterr().out
    assert kinds(out) == {4: "clean", 5: "fails", 6: "clean", 7: "fails"}
    assert out.count("failure 1, ") == 1
    assert "\non 5 ranks:\n" in out
    assert out.endswith("\nfails on 5,7 ranks; clean on 4,6 ranks\n")
    assert call("run", tmp_path, body, "-n", "4..7", "--all") == 1
    assert kinds(capsys.readouterr().err) == {4: "passes", 5: "fails", 6: "passes", 7: "fails"}


@pytest.mark.quick(1)
@pytest.mark.parametrize("body", [REFUSES, ABORTS], ids=["exit", "Abort"])
def test_a_program_may_refuse_a_number(body: str, tmp_path: Path, capsys: Capture) -> None:
    """That is no failure, but if it refuses all numbers, nothing was checked."""
    assert call("check", tmp_path, body, "-n", "1..4") == 0
    out = capsys.readouterr().out
    assert kinds(out) == {1: "refused", 2: "refused", 3: "clean", 4: "clean"}
    assert "2 ranks  refused by the program: needs " in out
    assert call("check", tmp_path, body, "-n", "1,2") == 4
    assert call("run", tmp_path, body, "-n", "1..4") == 0
    assert kinds(capsys.readouterr().err) == {1: "refused", 2: "refused", 3: "passes", 4: "passes"}
    assert call("run", tmp_path, body, "-n", "1,2") in (2, 5)


@pytest.mark.parametrize(
    "body",
    ["comm.Barrier()\n" + REFUSES, "sys.exit(2)\n", "if rank == size - 1: sys.exit('no')\n", "assert size > 2, 'no'\n"],
    ids=["after a barrier", "without a message", "one of the ranks", "an exception"],
)
@pytest.mark.parametrize("command", ["check", "run"])
def test_other_exits_are_failures(command: str, body: str, tmp_path: Path, capsys: Capture) -> None:
    """Only what every rank does before it communicates, and with a message, is a refusal."""
    assert call(command, tmp_path, body, "-n", "2,3") != 0
    captured = capsys.readouterr()
    assert kinds(captured.out + captured.err)[2] == "fails"


def test_min_ranks_skips_numbers(tmp_path: Path, capsys: Capture) -> None:
    """They have no line."""
    assert call("check", tmp_path, "assert size > 2\n", "-n", "1..4", "--min-ranks", "3") == 0
    assert list(kinds(capsys.readouterr().out)) == [3, 4]


def test_the_budget_is_shared(tmp_path: Path, capsys: Capture) -> None:
    """The lines of searches that it has ended say so, and the exit code is 4."""
    assert call("check", tmp_path, RACE, "-n", "1..6", "--runs", "40") == 4
    out = capsys.readouterr().out
    runs = [int(number.replace(",", "")) for number in re.findall(r"(\d+) schedules", out)]
    assert sum(runs) <= 40
    assert re.search(r"6 ranks  clean so far: (\d+) schedules, .*; its part of --runs was \1 ", out)
    assert "its part" not in next(line for line in out.splitlines() if line.startswith("2 ranks"))


def test_a_search_passes_on_what_it_does_not_use() -> None:
    """Each may use an equal part of the rest."""
    budget = Budget(100, None, 4)
    assert budget.share() == (25, None)
    budget.spend(1)
    assert budget.share() == (33, None)


def test_a_number_without_time_is_not_run(tmp_path: Path, capsys: Capture) -> None:
    """Its line says so; the exit code is that of an incomplete search."""
    assert call("check", tmp_path, "comm.Barrier()\n", "-n", "1..3", "--seconds", "1e-9") == 4
    assert kinds(capsys.readouterr().out)[3] == "not"


def test_each_run_reads_standard_input_from_its_beginning(
    tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In both commands."""
    monkeypatch.setattr("sys.stdin", io.StringIO("a line\n"))
    body = "assert rank or sys.stdin.read() == 'a line\\n'\n"
    assert call("run", tmp_path, body, "-n", "1..3") == 0
    monkeypatch.setattr("sys.stdin", io.StringIO("a line\n"))
    assert call("check", tmp_path, body, "-n", "1..3") == 0


@pytest.mark.parametrize("command", ["check", "run"])
def test_ctrl_c_reports_how_far_it_came(command: str, tmp_path: Path, capsys: Capture) -> None:
    """With the numbers that are done, and those that are not."""
    assert call(command, tmp_path, "if size == 3: raise KeyboardInterrupt\n", "-n", "1..5") == 130
    captured = capsys.readouterr()
    text = captured.out + captured.err
    assert "interrupted on 3 ranks" in text
    assert re.search(r"(clean|passes) on 1,2 ranks; not run on 3..5 ranks\n", text)


def test_with_processes(tmp_path: Path, capsys: Capture) -> None:
    """The same numbers, and the command keeps the option."""
    body = PROGRAMS["pairs of ranks"].wrong
    assert call("run", tmp_path, body, "-n", "2,3", "--processes") == 1
    err = capsys.readouterr().err
    assert kinds(err) == {2: "passes", 3: "fails"}
    assert "replay: fakempi run -n 3 --processes " in err


@pytest.mark.slow
def test_files_are_those_of_the_smallest_number_that_fails(tmp_path: Path) -> None:
    """A page and two traces."""
    page, traces = tmp_path / "page.html", tmp_path / "t"
    body = PROGRAMS["the order of two messages"].wrong
    assert call("check", tmp_path, body, "-n", "1..4", "--all", "--html", str(page), "--traces", str(traces)) == 1
    assert page.exists()
    assert (tmp_path / "t.passes.json").exists()


def test_numbers() -> None:
    """A range has every number, and each number occurs once."""
    assert numbers("1..4, 16,8,2") == [1, 2, 3, 4, 8, 16]
    assert numbers("5..5") == [5]
    assert spelled([1, 2, 4, 5, 6, 9]) == "1,2,4..6,9"


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["-n", "1-16"], "a range is written with two dots: -n 1..16."),
        (["-n", "8..2"], "'8..2' is an empty range: 8 is larger than 2."),
        (["-n", "1.."], "'1..' is not a number or a range of ranks"),
        (["-n", "1,,2"], "'' is not a number or a range of ranks"),
        (["-n", "0..2"], "there must be at least 1 rank."),
        (["-n", "1..x"], "'x' is not a number of ranks"),
        (["-n", "1..9g"], "ranks are too many"),
        (["-n", "1..3", "--min-ranks", "4"], "no number of ranks is at least 4"),
        (["-n", "2", "--min-ranks", "4"], "--min-ranks 4 requires more ranks."),
        (["-n", "2", "--all"], "--all has no effect with -n 2"),
    ],
)
@pytest.mark.parametrize("command", ["check", "run"])
def test_wrong_numbers_get_a_sentence(
    command: str, words: list[str], sentence: str, tmp_path: Path, capsys: Capture
) -> None:
    """The exit code is 2."""
    assert call(command, tmp_path, "", *words) == 2
    assert sentence in capsys.readouterr().err


def test_a_budget_below_one_run_each_is_rejected() -> None:
    """The sentence names the least budget."""
    with pytest.raises(MPIValueError, match="use at least --runs 16"):
        Budget(3, None, 16)


@pytest.mark.parametrize("words", [["--trace", "t.json"], ["--findings", "json"], ["--schedule", "z:0"], ["-i"]])
def test_options_for_one_run_are_rejected(words: list[str], tmp_path: Path, capsys: Capture) -> None:
    """With a sentence that names the option."""
    assert call("run", tmp_path, "", "-n", "1..3", *words) == 2
    assert "is for a single run" in capsys.readouterr().err


@pytest.mark.slow
def test_worker_processes_are_shared_by_all_numbers(
    tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They are started once, and the result is that without them."""
    started = []

    def recorded(count: int, **options: Any) -> ProcessPoolExecutor:
        started.append(count)
        return ProcessPoolExecutor(count, **options)

    monkeypatch.setattr(workers, "ProcessPoolExecutor", recorded)
    texts = []
    for jobs in ("1", "2"):
        assert call("check", tmp_path, PROGRAMS["the order of two messages"].wrong, "-n", "1..4", "--jobs", jobs) == 1
        texts.append(re.sub(r"\([\d.]+ s\)", "", capsys.readouterr().out))
    assert started == [2]
    assert texts[0] == texts[1]
