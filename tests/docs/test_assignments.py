"""Assignments: handouts are pages of the site, solutions are not; the programs and commands of both run."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from docs.hooks import site
from docs.hooks.blocks import blocks, commands, perform

ROOT = Path(__file__).parents[2]
SOLUTIONS = {
    "assignment": "choose_a_broadcast",
    "assignment_halo": "halo_exchange",
    "assignment_collective": "prove_a_claim",
}
"""Page of the handout -> file of the solution."""


def texts(page: str) -> tuple[str, str]:
    """The handout and the solution."""
    files = ROOT / "docs" / f"{page}.md", ROOT / "assignments" / f"{SOLUTIONS[page]}.md"
    handout, solution = (file.read_text(encoding="utf-8") for file in files)
    return handout, solution


@pytest.mark.sample
@pytest.mark.slow
@pytest.mark.parametrize("page", SOLUTIONS)
def test_a_solution_prints_the_output_shown(page: str, tmp_path: Path) -> None:
    """In one directory with the handout, whose programs it uses."""
    handout, solution = texts(page)
    wrong = [
        f"line {one.line} of both: expected\n{one.expected}\nbut the program printed\n{one.printed}"
        for one in perform(f"{handout}\n{solution}", tmp_path)
    ]
    assert not wrong, "\n\n".join(wrong)


@pytest.mark.parametrize("page", SOLUTIONS)
def test_a_handout_has_tasks_with_points_and_no_solution(page: str) -> None:
    """The parts of the rubric are the tasks, with the same points; no program of the solution is in the handout."""
    handout, solution = texts(page)
    tasks = re.findall(r"^\d\. \*\*(.*?)\*\* \((\d+) points\)", handout, re.MULTILINE)
    rubric = re.findall(r"^\| ([a-z ]+) \((\d+)\) \|", solution.partition("## Rubric")[2], re.MULTILINE)
    assert [points for _, points in tasks] == [points for _, points in rubric]
    assert len(tasks) >= 6
    given = {block.title for block in blocks(handout)} - {""}
    solved = {block.title for block in blocks(solution)} - {""}
    assert solved
    assert not given & solved
    assert "## Solution" not in handout
    assert all(len(commands(block.text)) for block in blocks(solution) if block.kind == "console")


def test_the_site_has_handouts_and_no_solutions() -> None:
    """No page links to a solution, since a linked file of the repository would become a page."""
    outside = {path for file in (ROOT / "docs").rglob("*.md") for path in links(file)}
    assert not {path for path in outside if path.startswith("assignments/")}
    assert {f"{page}.md" for page in SOLUTIONS} <= {file.name for file in (ROOT / "docs").glob("*.md")}
    assert {file.stem for file in (ROOT / "assignments").glob("*.md")} == set(SOLUTIONS.values())


def links(file: Path) -> set[str]:
    """The repository files outside docs that a page links to."""
    return set(site.outside(file.relative_to(ROOT / "docs").as_posix(), file.read_text(encoding="utf-8")))
