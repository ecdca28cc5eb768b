"""The tutorial: two exercises per chapter, whose solutions run, and scripts for mpi4py up to the last chapter."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from docs.hooks.blocks import blocks

TUTORIAL = (Path(__file__).parents[2] / "docs" / "tutorial.md").read_text(encoding="utf-8")
HEADINGS = re.findall(r"^## (\d+)\. (.*)$", TUTORIAL, re.MULTILINE)
TEXTS = re.split(r"^## .*\n", TUTORIAL, flags=re.MULTILINE)[1:]
CHAPTERS = list(range(1, len(HEADINGS)))
SOLUTION = re.compile(r"^<details markdown><summary>Solution</summary>\n\n(.*?)\n\n</details>$", re.MULTILINE | re.DOTALL)


def test_chapters_are_numbered_and_collectives_come_before_rings() -> None:
    """The order of subjects: messages, collective calls, a ring, and functions on ranks at the end."""
    assert [int(number) for number, _ in HEADINGS] == [0, *CHAPTERS]
    titles = [title for _, title in HEADINGS]
    order = ["A message", "Collectives", "A ring", "A pipeline", "Runs in Python"]
    assert sorted(order, key=titles.index) == order
    assert titles[-1] == order[-1]


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_a_chapter_has_two_exercises_with_solutions_that_run(chapter: int) -> None:
    """tests/docs/test_pages.py runs all blocks of the page: a solution without a command would not be tested."""
    text = TEXTS[chapter]
    assert re.findall(r"^\*\*Exercise (.*?)\.\*\*", text, re.MULTILINE) == [f"{chapter}.1", f"{chapter}.2"]
    solutions = SOLUTION.findall(text)
    assert len(solutions) == text.count("<details") == 2
    for solution in solutions:
        assert any(block.kind == "console" for block in blocks(solution))


@pytest.mark.parametrize("chapter", CHAPTERS[:-1])
def test_programs_are_scripts_for_mpi4py_before_the_last_chapter(chapter: int) -> None:
    """They would run under mpiexec, too; the last chapter is about `fakempi.run`."""
    programs = [block for block in blocks(TEXTS[chapter]) if block.kind == "python"]
    assert programs
    for program in programs:
        assert "from mpi4py import MPI" in program.text
        assert "fakempi" not in program.text
