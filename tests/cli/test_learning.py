"""`fakempi learn`: output, exit codes, and the screen."""

from __future__ import annotations

import json
import shutil
from functools import partial
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from fakempi.apps.cli import learning, main
from fakempi.apps.cli.learn import actions
from fakempi.apps.cli.learn.loop import Watcher
from fakempi.apps.cli.learn.screen import bar, details, page, screen
from fakempi.apps.course.course import OURS, Course
from fakempi.apps.course.grading import rows
from fakempi.apps.course.judge import CheckResult, judge
from fakempi.apps.course.limits import CheckLimits
from fakempi.apps.course.student_directory import StudentDirectory
from tests.cli.test_running import Capture

inside = partial(judge, apart=False)
NEXT = "mpi_course; check the first with fakempi learn mpi_course --check 1\n"


@pytest.fixture(autouse=True)
def course(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Change to a new directory; checks run in this process."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setattr(learning, "judge", inside)
    monkeypatch.setattr(rows, "judge", inside)
    return tmp_path / "mpi_course"


def solve(course: Path, name: str) -> None:
    shutil.copy(OURS / name / "solution.py", course / f"{name}.py")


def test_without_a_terminal_it_creates_the_directory_and_ends(course: Path, capsys: Capture) -> None:
    """The second call changes nothing."""
    assert main(["learn"]) == 0
    assert capsys.readouterr().out == f"copied 25 exercises to {NEXT}"
    assert len(list(course.glob("[0-9][0-9]_*.py"))) == 25
    assert main(["learn", "mpi_course"]) == 0
    assert capsys.readouterr().out == f"no new exercises for {NEXT}"


def test_a_check_reports_the_mistake_and_later_success(course: Path, capsys: Capture) -> None:
    """The exit code is 1, then 0, and the list shows the state."""
    main(["learn"])
    capsys.readouterr()
    assert main(["learn", "--check", "3"]) == 1
    assert capsys.readouterr().out.splitlines()[:4] == [
        "03 Deadlock by two sends",
        "✗ unsafe-send: ranks 0-1: send at 03_two_sends.py:27: would deadlock without",
        "  buffering: ranks 0-1 all send before any of them receives.",
        "→ Both partners send first and receive afterwards. That works only while the",
    ]
    solve(course, "03_two_sends")
    assert main(["learn", "--check", "03_two_sends"]) == 0
    assert capsys.readouterr().out == "✓ 03 Deadlock by two sends  9 runs\n"
    assert main(["learn", "--list"]) == 0
    out = capsys.readouterr().out
    assert "  ✓ 03 Deadlock by two sends\n" in out
    assert out.splitlines()[-1].endswith(" 1 of 25 done")


def test_graders_get_json(course: Path, capsys: Capture) -> None:
    """For a check and for the list; the exit codes are the same."""
    main(["learn"])
    capsys.readouterr()
    assert main(["learn", "--check", "1", "--json"]) == 1
    verdict = json.loads(capsys.readouterr().out)
    assert (verdict["name"], verdict["passed"], verdict["kind"]) == ("01_hello", False, "result")
    assert verdict["sentence"] == "hello returns 'rank 0 of 1' on rank 0 instead of 'rank 0 of 2'."
    assert main(["learn", "--list", "--json"]) == 0
    listed = json.loads(capsys.readouterr().out)
    assert [one["number"] for one in listed] == list(range(1, 26))
    assert listed[0]["state"] == "untouched"
    assert Path(listed[0]["file"]) == Path("mpi_course/01_hello.py")


def test_hint_reset_solution_and_the_teachers_note(course: Path, capsys: Capture) -> None:
    """Each command prints what its name states."""
    main(["learn"])
    (course / "01_hello.py").write_text("mine", encoding="utf-8")
    capsys.readouterr()
    assert main(["learn", "--hint", "2"]) == main(["learn", "--hint", "2"]) == 0
    out = capsys.readouterr().out
    assert "02 Send and receive: a word goes from rank to rank: hint 1 of 2\n" in out
    assert "hint 2 of 2\n" in out
    assert main(["learn", "--reset", "1"]) == 0
    assert "01_hello.py is restored; your version was saved as mpi_course" in capsys.readouterr().out
    assert (course / "01_hello.py.old").read_text(encoding="utf-8") == "mine"
    assert main(["learn", "--solution", "1"]) == 0
    assert capsys.readouterr().out == Course().exercises[1].solution
    assert main(["learn", "--teacher", "1"]) == 0
    assert capsys.readouterr().out.startswith("Two points to make: the program")


@pytest.mark.slow
def test_a_class_can_have_its_own_exercises(course: Path, tmp_path: Path, capsys: Capture) -> None:
    """They are in the directory, the list and the table."""
    shutil.copytree(OURS / "01_hello", tmp_path / "ours" / "30_again")
    assert main(["learn", "--from", "ours"]) == 0
    assert capsys.readouterr().out.startswith("copied 26 exercises to mpi_course; ")
    assert main(["learn", "--check", "30"]) == 1
    capsys.readouterr()
    shutil.copy(OURS / "01_hello" / "solution.py", course / "30_again.py")
    assert main(["learn", "--from", "ours", "--jobs", "1", "--grade", "mpi_course"]) == 0
    names, row = capsys.readouterr().out.splitlines()
    assert names.endswith(",25_split_that_scales,30_again,reasons")
    assert row == f"mpi_course,1,26,1,26,{'untouched,' * 25}pass,"


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--check", "1"], "mpi_course/01_hello.py does not exist. To create it, run: fakempi learn mpi_course"),
        (["--hint", "77"], "there is no exercise 77: use 1 to 25; fakempi learn --list lists them."),
        (["--grade", "nowhere"], "the directory nowhere does not exist."),
        (["--from", "nowhere", "--list"], "nowhere does not exist."),
    ],
)
def test_usage_errors_are_reported_with_exit_code_2(words: list[str], sentence: str, capsys: Capture) -> None:
    """The message is on standard error."""
    assert main(["learn", *words]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.replace("\\", "/").endswith(f"{sentence}\n")


@pytest.mark.parametrize("words", [["--check"], ["--check", "1", "--list"], ["--memory", "1"], ["--seconds", "0"]])
def test_unknown_words_have_exit_code_2(words: list[str], capsys: Capture) -> None:
    """As for all commands."""
    assert main(["learn", *words]) == 2


def terminal(width: int = 80, height: int = 24) -> Console:
    """A console that reports to be a terminal."""
    return Console(file=StringIO(), width=width, height=height, force_terminal=True, color_system=None, legacy_windows=False)


def shown(out: Console) -> str:
    """The output since the last call."""
    file = out.file
    assert isinstance(file, StringIO)
    text = file.getvalue()
    file.seek(0)
    file.truncate()
    return text


@pytest.fixture
def watcher(course: Path) -> Watcher:
    """A watcher of a new directory; checks run in this process."""
    directory = StudentDirectory(course)
    directory.set_up()
    return Watcher(terminal(), directory, CheckLimits(), inside)


@pytest.mark.slow
def test_the_watcher_checks_saved_files(course: Path, watcher: Watcher) -> None:
    """The task stays visible after a failure; after a pass, n continues with the next exercise."""
    out = watcher.out
    assert watcher.at.number == 1
    (course / "01_hello.py").write_text(Course().exercises[1].start + "#\n", encoding="utf-8")
    assert watcher.tick()
    text = shown(out)
    assert "✗ hello returns 'rank 0 of 1' on rank 0" in text
    assert "→ hello still returns the same text on every rank." in text
    assert "Your task: let hello return" in text
    assert watcher.tick("h")
    text = shown(out)
    assert "Hint 1 of 1" in text
    assert "Your task: let hello return" in text
    solve(course, "01_hello")
    assert watcher.tick()
    text = shown(out)
    assert "✓ 01 passed, in 8 runs." in text
    assert "1 of 25 done" in text
    assert watcher.tick("n")
    assert "02 Send and receive" in shown(out)
    assert watcher.tick("l")
    assert "✓ 01 Hello, ranks" in shown(out)
    assert watcher.tick("n")
    assert "03 Deadlock by two sends" in shown(out)
    assert watcher.tick()
    assert shown(out) == ""
    assert not watcher.tick("q")


def test_a_solution_is_shown_after_three_tries_or_a_pass(course: Path, watcher: Watcher) -> None:
    """A check of the unedited start file is no try."""
    watcher.check = lambda one, *args, **options: CheckResult(one, False, "It is wrong.")
    watcher.tick("c")
    (course / "01_hello.py").write_text("mine", encoding="utf-8")
    watcher.seen[1] = watcher._stamp(watcher.at)
    for left in ("3 more failed checks", "2 more failed checks", "1 more failed check "):
        shown(watcher.out)
        watcher.tick("s")
        assert f"after {left}" in " ".join(shown(watcher.out).split())
        watcher.tick("c")
    shown(watcher.out)
    watcher.tick("s")
    assert "comm.Get_rank()} of {comm.Get_size()}" in shown(watcher.out)
    watcher.check = lambda one, *args, **options: CheckResult(one, True, cases=1)
    watcher.tick("n")
    watcher.tick("c")
    shown(watcher.out)
    watcher.tick("s")
    assert "comm.recv(source=rank - 1)" in shown(watcher.out)


def test_keys_run_the_program_and_show_its_timeline(watcher: Watcher, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the number of ranks of the exercise's text; the task stays visible."""
    commands: list[list[str]] = []

    def fakempi(words: list[str], directory: Path, width: int) -> str:
        commands.append(words)
        if "--trace" in words:
            Path(words[words.index("--trace") + 1]).write_text("", encoding="utf-8")
        return f"it printed {words[0]}"

    monkeypatch.setattr(actions, "_fakempi", fakempi)
    for key, name in (("r", "run"), ("t", "view")):
        watcher.tick(key)
        text = shown(watcher.out)
        assert f"it printed {name}" in text
        assert "Your task: let hello return" in text
    assert [command[:3] for command in commands[:2]] == [["run", "-n", "4"]] * 2


@pytest.mark.slow
def test_the_program_of_an_exercise_runs_as_in_its_text(watcher: Watcher) -> None:
    """In a process, with the output in order."""
    lines = actions.run_output(watcher.at, watcher.directory.file(watcher.at), 80)
    assert [line.plain.strip() for line in lines] == ["fakempi run -n 4 mpi_course/01_hello.py", *["rank 0 of 1"] * 4]
    second = watcher.directory.course.find("2")
    lines = actions.timeline_of(second, watcher.directory.file(second), 80)
    assert "deadlock at t = " in lines[-1].plain


def test_the_course_ends_after_the_last_solved_exercise(course: Path) -> None:
    """With a closing message."""
    directory, out = StudentDirectory(course), terminal()
    directory.set_up()
    for one in directory.course:
        directory.note(one, one.number != 25)
    watcher = Watcher(out, directory, CheckLimits(), lambda one, *args, **options: CheckResult(one, True, cases=1))
    assert watcher.tick("c")
    text = shown(out)
    assert "✓ 25 passed. All exercises are done." in text
    assert "25 of 25 done" in text


@pytest.mark.parametrize(("width", "height"), [(80, 24), (40, 12), (120, 50)])
def test_every_screen_fits(width: int, height: int) -> None:
    """No line is too long, and there are not too many lines."""
    for one in Course():
        lines = screen(bar(3, 25, width), one, f"mpi_course/{one.file}", [page(one, width)] * 2, width, height, "✓ said")
        assert len(lines) < height
        assert max(line.cell_len for line in lines) <= width


def test_the_last_lines_of_a_programs_output_are_shown() -> None:
    """Lines of the screen are counted, for program lines of any length."""
    verdict = CheckResult(next(iter(Course())), False, "It is wrong.", printed="y" * 4000)
    [shown] = details(verdict, 80)
    assert len(shown) == 9
    assert shown[0].plain == "Its output:"
