"""`.ci/full`: parts run alone, and benchmarks/full.out keeps the last run of each step."""

from __future__ import annotations

import os
import re
import signal
from pathlib import Path
from typing import Any

import pytest

from tests.isolation.test_package_settings import ROWS

ROOT = Path(__file__).parents[2]

pytestmark = pytest.mark.skipif(os.name == "nt", reason="the steps need bash")

PASSED, SKIPPED = ("passed", ""), ("skipped", "there is no Dask")


def step(ci: Any, title: str, tests: Any = (), last: str = "", **more: Any) -> Any:
    """A result of a step with all extras."""
    return ci.script.Result(title, "3.11", 1.6, dict(tests), last, **more)


def test_a_test_that_no_step_runs_fails_the_full_run_unless_it_is_listed(ci: Any) -> None:
    """Skipped in one step and passed in another is fine, for a test as for a file that is skipped as a whole."""
    kept = ci.full_table
    allowed = ("skipped", f"here {next(iter(kept.MAY_SKIP))} indeed")
    first = {"a.py::one": SKIPPED, "a.py::two": SKIPPED, "b.py": SKIPPED, "c.py": SKIPPED, "a.py::three": allowed}
    results = [step(ci, "without", first), step(ci, "with all", {"a.py::two": PASSED, "b.py::four": PASSED})]
    never = kept.never_run(results)
    assert never == {"a.py::one": SKIPPED[1], "a.py::three": allowed[1], "c.py": SKIPPED[1]}
    why = "there is no Dask (make it run, or add it to .ci/full_table.py)"
    assert list(kept.unlisted(never)) == [f"SKIPPED {name} - {why}" for name in ("a.py::one", "c.py")]


def test_the_file_is_read_as_it_was_written(ci: Any, tmp_path: Path) -> None:
    """Numbers of tests, or the last line that a step has printed; environments have no row."""
    table, path = ci.full_table.Table(), tmp_path / "full.out"
    tests = {"a.py::one": PASSED, "a.py::two": SKIPPED, "a.py::three": ("failed", "why")}
    results = [
        step(ci, "new environment: 3.11", makes=True),
        step(ci, "all tests: 3.11", tests, "== 1 passed, 1 failed in 3 s =="),
        step(ci, "sweep: some, 10 programs", last="10 programs, 0 differ"),
        step(ci, "sweep: that fails", last="Traceback: x", failed=True),
    ]
    table.add(results, results, "0123abcd")
    path.write_text(table.text("x86-64"))
    assert ci.full_table.Table.read(path) == table
    lines = path.read_text().splitlines()
    day = next(iter(table.rows.values())).day
    assert lines[3:8] == [
        f"{day} 0123abcd       2      1      1       1  all tests: 3.11",
        f"{day} 0123abcd       2                        sweep: some, 10 programs",
        "            10 programs, 0 differ",
        f"{day} 0123abcd       2             1          sweep: that fails",
        "            Traceback: x",
    ]
    assert lines[-1] == "  a.py::two: there is no Dask"
    assert ci.full_table.Table.read(tmp_path / "absent.out") == ci.full_table.Table()


def test_a_step_that_runs_again_replaces_its_row_only(ci: Any) -> None:
    """And what is known of skipped tests changes for those tests only that ran in an environment with all extras."""
    table = ci.full_table.Table()
    old = [step(ci, "one", {"a.py::one": SKIPPED, "a.py::two": SKIPPED}), step(ci, "two", last="10 programs, 0 differ")]
    table.add(old, old, "old")
    new = [step(ci, "one", {"a.py::one": PASSED}), step(ci, "three", {"b.py::x": SKIPPED})]
    table.add(new, new[:1], "new")
    assert {title: row.commit for title, row in table.rows.items()} == {"one": "new", "two": "old", "three": "new"}
    assert table.rows["one"].passed == "1"
    assert table.skipped == {"a.py::two": "there is no Dask"}


def test_parts_are_chosen_by_a_word_of_their_names(ci: Any, capsys: pytest.CaptureFixture[str]) -> None:
    """Without a word, all parts, each test once; a word in no name is an error that lists the names."""
    parts = ci.full_steps.all_parts(["3.11", "3.12"])

    def names(*words: str) -> list[str]:
        return [part.name for part in ci.full_steps.chosen(parts, words)]

    assert names("packages", "fused calls, ") == ["packages", "fused calls, 10,000 programs"]
    assert names("open_mpi 3.12") == ["open_mpi 3.12"]
    assert "tests 3.12" in names()
    assert "open_mpi 3.12" not in names()
    assert [part.python for part in ci.full_steps.chosen(parts, ["real_mpi", "lower_bounds"])] == ["", "3.11", "3.12"]
    with pytest.raises(SystemExit, match="2"):
        names("packages", "no_such")
    out = capsys.readouterr().out
    assert out.splitlines()[:2] == ["no part of .ci/full has 'no_such' in its name. The parts are:", "readme"]


def test_parts_run_in_environments_that_are_made_once(ci: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """After each part the file has its rows, next to those of earlier runs; without names, obsolete rows are removed."""
    full, made = ci.full_steps, list[str]()
    (tmp_path / "benchmarks").mkdir()
    (tmp_path / "scratch").mkdir()
    monkeypatch.chdir(tmp_path)

    def environment(script: Any, name: str = "open-mpi", *rest: str) -> None:
        made.append(name)
        script.step(f"environment {name}", name, {"true": 60}, makes=True)

    def of(title: str, command: str, python: str = "") -> Any:
        return full.Part(title, lambda script: script.step(title, python or "own", {command: 60}), python)

    parts = [
        of("one", "echo 5 programs, 0 differ"),
        of("two", "grep -c 5.programs benchmarks/full.out", "3.11"),
        of("three", "exit 3", "3.11"),
    ]
    monkeypatch.setattr(full, "installed", lambda: {"3.11": "python"})
    monkeypatch.setattr(full, "versions", lambda pythons: "Python 3.11.7")
    monkeypatch.setattr(full, "programs", lambda script: None)
    monkeypatch.setattr(full, "open_mpi", environment)
    monkeypatch.setattr(full, "extras", environment)
    monkeypatch.setattr(full, "all_parts", lambda versions: parts)

    def rows(*names: str) -> dict[str, str]:
        full.check_parts(ci.script.Script(tmp_path / "scratch"), names)
        return {
            title: row.last or row.failed
            for title, row in ci.full_table.Table.read(Path("benchmarks/full.out")).rows.items()
        }

    assert rows("one") == {"one": "5 programs, 0 differ"}
    assert made == []
    assert rows("two", "three") == {"one": "5 programs, 0 differ", "two": "1", "three": "1"}
    assert made == ["open-mpi", "3.11"]
    parts.pop()
    assert list(rows()) == ["one", "two"]


def test_an_error_in_one_part_does_not_stop_the_others(
    ci: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A step that fails, one that stops the script, and one with an exception; the last line counts them."""
    (tmp_path / "benchmarks").mkdir()
    monkeypatch.chdir(tmp_path)

    def of(title: str, steps: Any) -> Any:
        return ci.full_steps.Part(title, steps)

    def ends(script: Any) -> None:
        raise SystemExit("README.md has no command")

    parts = [
        of("one", lambda script: script.step("one", "own", {"exit 3": 60})),
        of("two", ends),
        of("three", lambda script: {"none": script}["key"]),
        of("four", lambda script: script.step("four", "own", {"echo 5 programs, 0 differ": 60})),
    ]
    monkeypatch.setattr(ci.full_steps, "installed", dict)
    monkeypatch.setattr(ci.full_steps, "all_parts", lambda versions: parts)
    script = ci.script.Script(tmp_path)
    ci.full_steps.check_parts(script, [])
    lines = script.report.text("").splitlines()
    assert [line.partition(" - ")[0] for line in lines[3:]] == [
        "STEP FAILED one", "STEP FAILED two", "STEP FAILED three", "0 passed, 3 failed"
    ]  # fmt: skip
    table = ci.full_table.Table.read(Path("benchmarks/full.out"))
    assert {title: row.last or row.failed for title, row in table.rows.items()} == {
        "one": "1", "four": "5 programs, 0 differ"
    }  # fmt: skip
    assert "KeyError: 'key'" in capsys.readouterr().out


def test_an_interrupted_part_leaves_the_rows_of_its_last_run(
    ci: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its steps were not carried out."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(ci.full_steps, "installed", dict)
    script = ci.script.Script(tmp_path, 0.0)
    ci.full_steps.check_parts(script, ["packages"])
    assert "not run: 0 minutes were over" in script.report.text("")
    assert not Path("benchmarks").exists()


def test_environments_can_be_kept_for_the_next_run(ci: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In the directory that CI_SCRATCH names; another directory is removed at the end."""
    kept, used = tmp_path / "kept", list[Path]()
    old = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)]
    try:
        for directory in (str(kept), ""):
            monkeypatch.setenv("CI_SCRATCH", directory)
            assert ci.script.run_steps(lambda script: used.append(script.scratch)) == 0
    finally:
        for number, handler in zip((signal.SIGINT, signal.SIGTERM), old, strict=True):
            signal.signal(number, handler)
    assert used[0] == kept
    assert [path.exists() for path in used] == [True, False]


def test_every_sweep_is_a_command_of_this_repository(ci: Any) -> None:
    """Or its row would have the name of a command that is not there, which only the next full run would show."""
    for title, command in ci.full_steps.SWEEPS.items():
        for name in re.findall(r"python -m ((?:tests|benchmarks)[\w.]+)", command):
            path = ROOT / name.replace(".", "/")
            assert path.with_suffix(".py").exists() or (path / "__main__.py").exists(), title
        for name in re.findall(r"python ([\w/]+\.py)", command):
            assert (ROOT / name).exists(), title


def test_pages_quote_the_last_run(ci: Any) -> None:
    """The numbers of programs and differences, and those of mpi4py's suite; `python .ci/full_table.py` writes the first."""
    table = ci.full_table.Table.read(ROOT / "benchmarks" / "full.out")
    assert table.sweeps()
    for page, text in table.quotes().items():
        assert f"<!-- full -->\n{text}\n<!-- end of full -->" in (ROOT / page).read_text(encoding="utf-8"), page
    page = (ROOT / "docs" / "conformance.md").read_text(encoding="utf-8")
    suites = [row.last for title, row in table.rows.items() if "mpi4py's test suite" in title]
    assert suites
    assert [last for last in suites if last not in page] == []


def test_quoted_figures_are_those_of_the_rows(ci: Any, tmp_path: Path) -> None:
    """Of each wording of a last line; a page that is not there is not written."""
    table, page = ci.full_table.Table(), tmp_path / "README.md"
    lasts = (
        "5 programs agree, 0 disagree, 2 skipped",
        "20 schedules, 1 differences",
        "TOTAL 99%",
        "3 programs, 2 differ; x",
    )
    table.add([step(ci, f"sweep: s{number}, more", last=last) for number, last in enumerate(lasts)], [], "0123abcd")
    assert table.sweeps() == {
        "sweep: s0, more": (5, "programs", 0), "sweep: s1, more": (20, "schedules", 1), "sweep: s3, more": (3, "programs", 2)
    }  # fmt: skip
    assert table.quotes()["docs/conformance.md"].splitlines()[3].startswith("| s1 | 20 schedules | 1 | 20")
    page.write_text("a\n<!-- full -->\nold\n<!-- end of full -->\nz")
    ci.full_table.write_quotes(table, tmp_path)
    assert "Of 28 programs and\nschedules in the [last ones](docs/conformance.md#sweeps), 3 differ." in page.read_text()
    assert page.read_text().startswith("a\n<!-- full -->\nSweeps compare")
    assert page.read_text().endswith("differ.\n<!-- end of full -->\nz")


def test_every_package_whose_state_is_kept_for_each_rank_is_installed_in_a_full_run(ci: Any) -> None:
    """Or its tests would be skipped."""
    names = {"sklearn": "scikit-learn", "PIL": "pillow"}
    assert sorted(names.get(package, package) for package in ROWS) == ci.full_steps.SHARED.split()
