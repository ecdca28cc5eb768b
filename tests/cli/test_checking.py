"""`fakempi check`: one verdict, its exit code, and the command that shows a failure again."""

from __future__ import annotations

import io
import re
import shlex
import sys
from pathlib import Path

import pytest

import fakempi
from fakempi.apps.cli import main

RACE = """
from mpi4py import MPI
comm = MPI.COMM_WORLD
if comm.rank == 0:
    got = [comm.recv(source=MPI.ANY_SOURCE) for _ in range(comm.size - 1)]
    print("a line that is not printed")
    assert got[0] == 1, got
else:
    comm.send(comm.rank, dest=0)
"""


def check(directory: Path, text: str, *words: str, ranks: int = 3) -> int:
    script = directory / "race.py"
    script.write_text(text, encoding="utf-8")
    return main(["check", "-n", str(ranks), *words, str(script)])


def test_a_failure_is_shown_with_its_reason_and_the_command_that_repeats_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The exit code is 1, and the printed command fails in the same way."""
    assert check(tmp_path, RACE, "--traces", str(tmp_path / "t")) == 1
    out = capsys.readouterr().out
    assert out.startswith("failure 1, in schedule z:1\nTraceback (most recent call last):\n")
    assert "AssertionError: [2, 1]\nfakempi: rank 0 of 3 failed, which ended the run\n" in out
    assert "why: rank 0's recv at race.py:5 took rank 2's message; with rank 1's message the run succeeds\n" in out
    assert out.endswith("2 of 4 schedules fail\n")
    assert "that is not printed" not in out
    again = next(line for line in out.splitlines() if line.startswith("replay: fakempi "))
    assert main(shlex.split(again)[2:]) == 1
    assert "AssertionError: [2, 1]" in capsys.readouterr().err
    assert main(["view", *(str(tmp_path / f"t.{which}.json") for which in ("fails", "passes"))]) == 0


@pytest.mark.slow
def test_messages_take_time_in_traces_of_failures(tmp_path: Path) -> None:
    """As in those of `explore`, unless the user specifies a cost model."""
    for words, cost in (((), "Hockney(eager_limit=0)"), (("--cost", "zero_cost"), "ZeroCost(eager_limit=0)")):
        assert check(tmp_path, RACE, *words, "--traces", str(tmp_path / "t")) == 1
        for which in ("fails", "passes"):
            trace = fakempi.load(str(tmp_path / f"t.{which}.json"))
            assert (trace.about["cost"], trace.time > 0) == (cost, not words)


def test_a_clean_script_is_reported_as_clean(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """All schedules were run: exit code 0."""
    assert check(tmp_path, RACE.replace("assert", "repr,")) == 0
    assert capsys.readouterr().out == "clean: all 4 schedules with no, unlimited and size-limited buffering\n"


def test_bytes_that_are_not_text_are_compared(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """As lone surrogates; the stream has a file descriptor."""
    script = tmp_path / "bytes.py"
    script.write_text(
        "import sys\nfrom mpi4py import MPI\ncomm, status = MPI.COMM_WORLD, MPI.Status()\n"
        "if comm.rank:\n    comm.send(0, dest=0)\nelse:\n"
        "    comm.recv(status=status)\n    comm.recv()\n    sys.stdout.fileno()\n"
        "    sys.stdout.buffer.write(bytes([0xF0 + status.source]))\n"
    )
    assert main(["check", "-n", "3", str(script)]) == 1
    assert sorted(re.findall(r"'(.udcf\d)'", capsys.readouterr().out)) == [r"\udcf1", r"\udcf2"]


def test_an_incomplete_search_is_reported(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Exit code 4: clean so far."""
    assert check(tmp_path, RACE.replace("assert", "repr,"), "--runs", "1") == 4
    assert capsys.readouterr().out == "clean so far: 1 schedule, about 25 % of the search tree\n"


def test_a_nonzero_exit_code_of_a_rank_is_a_failure(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A shell sees it as a failure, too."""
    assert check(tmp_path, RACE.replace("assert got[0] == 1, got", "raise SystemExit(3 * (got[0] == 2))")) == 1
    head, said, *_ = capsys.readouterr().out.splitlines()
    assert (head, said) == ("failure 1, in schedule z:1", "rank 0 ended with exit code 3")


def test_all_schedules_have_the_same_standard_input(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first run read everything, so that the others, with an empty input, did not fail."""
    reads = "    word, rest = input(), sys.stdin.read()\n    assert (word, rest) != ('x', 'y\\nz') or"
    text = RACE.replace("    assert", reads)
    stdin = io.TextIOWrapper(io.BytesIO(b"x\ny\nz"))
    monkeypatch.setattr(sys, "stdin", stdin)
    assert check(tmp_path, f"import sys\n{text}") == 1
    assert "AssertionError: [2, 1]" in capsys.readouterr().out
    assert sys.stdin is stdin


def test_any_positive_number_of_runs_is_accepted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Limits for processes do not apply; 0 is rejected."""
    assert check(tmp_path, RACE.replace("assert", "repr,"), "--runs", "20000") == 0
    assert check(tmp_path, RACE, "--runs", "0") == 2
    assert "fakempi check: --runs: 0 is not an integer from 1 to 1,000,000," in capsys.readouterr().err


def test_the_distance_between_deviations_can_be_bounded(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The verdict names the limit, because schedules beyond it were not run."""
    script = tmp_path / "race.py"
    script.write_text(RACE.replace("assert", "repr,"), encoding="utf-8")
    assert main(["check", "-n", "4", "--mixing", "0", "--buffering", "infinite", str(script)]) == 4
    assert capsys.readouterr().out == "clean so far: 4 schedules, but no two deviations are more than 0 choices apart\n"
    assert main(["check", "-n", "4", "--mixing", "1", "--buffering", "infinite", str(script)]) == 0
    assert capsys.readouterr().out == "clean: all 6 schedules with unlimited buffering\n"


def test_a_schedule_that_does_not_fit_is_a_usage_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The message names the place."""
    script = tmp_path / "race.py"
    script.write_text(RACE, encoding="utf-8")
    assert main(["run", "-n", "3", "--schedule", "z:5", str(script)]) == 2
    assert "schedule 'z:5' does not fit the program: decision 1 is 5" in capsys.readouterr().err


def test_an_incomplete_search_lists_its_methods(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The lines follow the verdict."""
    script = tmp_path / "race.py"
    script.write_text(RACE.replace("assert", "repr,"), encoding="utf-8")
    assert main(["check", "-n", "6", "--runs", "12", "--buffering", "infinite", str(script)]) == 4
    verdict, method = capsys.readouterr().out.splitlines()
    assert verdict.startswith("clean so far: 12 schedules, about ")
    assert method.startswith("fewest deviations first, 3 by bounded mixing (up to ")
    assert method.endswith(" apart), 3 at random")


def test_an_interrupt_reports_progress_and_failures(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The report has the failing schedules, and the exit code is 130."""
    text = RACE.replace("assert got[0] == 1, got", "assert got != [1, 2]\n    if got[0] == 2: raise KeyboardInterrupt")
    assert check(tmp_path, text) == 130
    assert capsys.readouterr().out == "interrupted after 2 schedules, 1 failing: z:0\n"


PRINTS = """
from mpi4py import MPI
comm = MPI.COMM_WORLD
if comm.rank == 0:
    for _ in range(comm.size - 1):
        print("got", comm.recv(source=MPI.ANY_SOURCE), "after", MPI.Wtime(), "s")
else:
    comm.send(comm.rank, dest=0)
    print(f"rank {comm.rank} is {object()}", end="")
"""


def test_output_that_depends_on_the_schedule_is_a_failure(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Both lines, both schedules, and the choice between them; exit code 1."""
    assert check(tmp_path, PRINTS, "--buffering", "infinite") == 1
    out = capsys.readouterr().out
    assert out.startswith(
        "failure 1, in schedule i:1\nthe output of rank 0 depends on the schedule (stdout, line 1):\n"
        "  i:1  'got 2 after 0.0 s'\n  i:0  'got 1 after 0.0 s'\n"
        "why: rank 0's recv at race.py:6 took rank 2's message; with rank 1's message the outcome is the other one\n"
    )
    assert out.endswith("1 of 2 schedules fails\n")


@pytest.mark.parametrize("how", ["lines", "none"])
def test_the_order_of_lines_or_all_output_can_be_ignored(
    how: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The same script is clean then."""
    assert check(tmp_path, PRINTS, "--compare", how) == 0
    assert capsys.readouterr().out == "clean: all 4 schedules with no, unlimited and size-limited buffering\n"


GIVES_UP = """
from mpi4py import MPI
comm = MPI.COMM_WORLD
if comm.rank == 0:
    request = comm.irecv(source=1)
    if not any(request.test()[0] for _ in range(17)):
        raise SystemExit("gave up")
else:
    comm.send(None, dest=0)
"""


@pytest.mark.slow
def test_a_loop_that_gives_up_late_needs_a_larger_bound(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """By default tests report "not yet" up to 16 times in a row, and the verdict says so."""
    assert check(tmp_path, GIVES_UP, ranks=2) == 4
    assert 'no test reports "not yet" more than 16 times in a row' in capsys.readouterr().out
    assert check(tmp_path, GIVES_UP, "--polls", "17", ranks=2) == 1
    assert capsys.readouterr().out.endswith("2 of 36 schedules fail\n")


@pytest.mark.slow
def test_worker_processes_print_the_same_text(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """For failures and for a comparison of outputs."""
    for text, code in ((RACE, 1), (RACE.replace("assert", "print(").replace("== 1, got", ")"), 1)):
        assert check(tmp_path, text) == code
        alone = capsys.readouterr().out
        assert check(tmp_path, text, "--jobs", "2") == code
        assert capsys.readouterr().out == alone


@pytest.mark.slow
def test_a_dead_worker_is_a_usage_error(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """The exit code is 2, and the message says what to do."""
    crash = "import ctypes, multiprocessing\nif multiprocessing.parent_process():\n    ctypes.string_at(0)\n"
    assert check(tmp_path, RACE + crash, "--jobs", "2") == 2
    assert "a worker process ended early; use --jobs 1 to run without worker processes." in capfd.readouterr().err
