"""What pages show is what runs: every block of code and every command on them, with what it prints."""

from __future__ import annotations

from pathlib import Path

import pytest

from docs.hooks.blocks import blocks, needs_pytest, perform

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
RUNNING = [page for page in PAGES if any(one.kind in ("python", "console") for one in blocks(page.read_text(encoding="utf-8")))]


def marked(page: Path) -> object:
    """Pages that start processes take seconds."""
    slow = needs_pytest(page.read_text(encoding="utf-8"))
    return pytest.param(page, id=page.relative_to(ROOT).as_posix(), marks=[pytest.mark.slow] if slow else [])


@pytest.mark.parametrize("page", [marked(page) for page in RUNNING])
def test_a_page_does_what_it_says(page: Path, tmp_path: Path) -> None:
    """In an empty folder, from its first block to its last."""
    wrong = [f"{page.name}:{one.line}\nsays\n{one.said}\nand prints\n{one.printed}" for one in perform(page.read_text(encoding="utf-8"), tmp_path)]
    assert not wrong, "\n\n".join(wrong)
