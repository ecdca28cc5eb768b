"""A sample of the programs; `python -m tests.numbered` (in .ci/full) runs all of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.numbered.catalogue import PROGRAMS
from tests.numbered.judging import failing_number, lint_codes, problem_of_right
from tests.numbered.program import NumberedProgram

SAMPLE = [
    "the remainder is lost", "Scatter of unequal blocks", "a power of two", "a square grid", "tags that overlap",
    "a sum for each row", "a buffer that is changed too early",
]  # fmt: skip


def test_there_are_sixty_programs_with_different_texts() -> None:
    """The corrected versions differ from the wrong ones."""
    texts = [text for program in PROGRAMS.values() for text in (program.wrong, program.right)]
    assert len(PROGRAMS) >= 60
    assert len(set(texts)) >= len(texts) - 2  # two mistakes in exchanges have the same correction


@pytest.mark.parametrize("name", SAMPLE)
def test_the_smallest_number_of_ranks_is_found(name: str, tmp_path: Path) -> None:
    """And the corrected version is clean."""
    assert failing_number(PROGRAMS[name], tmp_path) == PROGRAMS[name].smallest
    assert problem_of_right(PROGRAMS[name], tmp_path) == ""


@pytest.mark.parametrize("program", PROGRAMS.values(), ids=PROGRAMS)
def test_corrected_versions_have_no_alarm_of_lint(program: NumberedProgram, tmp_path: Path) -> None:
    assert lint_codes(program, tmp_path, right=True) == []


def test_lint_finds_most_mistakes_that_are_visible_in_the_source(tmp_path: Path) -> None:
    """Without a run. It does not take an assertion on the rows of a rank, or a source in a loop, for a mistake."""
    visible = {name: program for name, program in PROGRAMS.items() if program.visible}
    missed = {name for name, program in visible.items() if not lint_codes(program, tmp_path, right=False)}
    assert missed == {"an assertion on the rows of the rank", "recv of a message of Send"}
    assert len(missed) <= 0.2 * len(visible)
