"""docs/packages.md: the rows name programs that exist, and every result that is not a pass has a reason."""

from __future__ import annotations

import importlib
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "packages.md").read_text(encoding="utf-8")


def rows(begin: str, end: str) -> list[list[str]]:
    """The cells of the rows of a table between two comments."""
    table = PAGE[PAGE.index(f"<!-- {begin} -->") : PAGE.index(f"<!-- {end} -->")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines()[3:]]


ROWS, SUITES = rows("table", "end of table"), rows("tests", "end of tests")


def test_at_least_40_packages_are_listed() -> None:
    """Each row has a name, a version, three results, a date and a command."""
    assert len({row[0] for row in ROWS}) >= 40
    assert {len(row) for row in ROWS} == {7}


def test_programs_exist() -> None:
    """The table is made by benchmarks/packages.py, whose programs are part of the repository."""
    named = {name for row in ROWS for name in re.findall(r"benchmarks/package_programs/\w+\.py", row[6])}
    assert [name for name in named if not (ROOT / name).is_file()] == []


def test_every_other_result_links_to_a_reason() -> None:
    """A result is a pass, a run without a result of MPICH, or a link to a section of the page."""
    headings = set(re.findall(r"^### (\S+)$", PAGE, re.MULTILINE))
    for row in ROWS:
        for result in row[2:5]:
            explained = "](#" in result and row[0] in headings
            assert result in ("passes", "runs") or explained, f"{row[0]}: {result}"


def test_suites_pass_as_with_mpich() -> None:
    """Where ranks of fakempi pass fewer tests than processes of MPICH, a section has the reason."""
    headings = set(re.findall(r"^### (\S+)$", PAGE, re.MULTILINE))
    assert SUITES
    for name, _, *results, mpich, _, _ in SUITES:
        assert all(result in (mpich, "no markers") for result in results) or name in headings, name


def test_the_lowest_number_of_all_ranks_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ranks of MPICH print one summary each, those of fakempi one for all; skipped tests did not run."""
    monkeypatch.syspath_prepend(ROOT / "benchmarks")
    script = importlib.import_module("package_tests")
    ours = "3 passed in 1.02s\n==== rank 0 of 2: 3 passed ====\n==== rank 1 of 2: 1 failed, 2 passed, 4 skipped ===="
    assert script.counted(1, ours) == "2 of 3"
    assert script.counted(1, "3 passed in 1.02s\n1 failed, 2 passed, 4 skipped in 1.03s (0:00:01)") == "2 of 3"
    assert [script.counted(code, "text") for code in (0, 1, None)] == ["passes", "exit code 1", "time limit"]
    assert script.counted(0, "1 skipped in 2.03s") == "0 of 0"


def test_suites_with_fewer_passed_tests_than_on_mpich_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where nothing ran on MPICH, since then there is nothing to compare with."""
    monkeypatch.syspath_prepend(ROOT / "benchmarks")
    worse = importlib.import_module("package_tests").worse
    cells = {"fakempi": "2 of 3", "processes": "3 of 3", "plugin": "no markers", "mpich": "2 of 3"}
    assert worse(cells) == []
    assert worse(cells | {"mpich": "3 of 3"}) == ["fakempi"]
    assert worse(cells | {"processes": "time limit", "plugin": "exit code 4"}) == ["processes", "plugin"]
    assert worse(cells | {"mpich": "0 of 0"}) == ["fakempi", "processes", "mpich"]
