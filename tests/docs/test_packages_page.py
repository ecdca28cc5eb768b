"""docs/packages.md: the rows name programs that exist, and every result that is not a pass has a reason."""

from __future__ import annotations

import re
from pathlib import Path

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
        assert all(result in (mpich, "") for result in results) or name in headings, name
