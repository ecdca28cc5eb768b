"""docs/packages.md: the rows name programs that exist, and every result that is not a pass has a reason."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "packages.md").read_text(encoding="utf-8")
LINES = [line for line in PAGE.splitlines() if re.match(r"\| .* \| \d{4}-", line)]
ROWS = [[cell.strip() for cell in line.strip("|").split("|")] for line in LINES]


def test_at_least_15_packages_are_listed() -> None:
    """Each row has a name, a version, three results, a date and a command."""
    assert len({row[0] for row in ROWS}) >= 15
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
