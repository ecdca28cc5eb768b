"""What pages show is what runs: every block of code and every command on them, with what it prints."""

from __future__ import annotations

from pathlib import Path

import pytest

from docs.hooks.blocks import blocks, perform, takes_seconds

ROOT = Path(__file__).parents[2]
PAGES = {path: path.read_text(encoding="utf-8") for path in (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")))}
RUNNING = [path for path, text in PAGES.items() if any(one.kind in ("python", "console") for one in blocks(text))]


def marked(page: Path) -> object:
    """Some pages take seconds."""
    slow = [pytest.mark.slow] if takes_seconds(PAGES[page]) else []
    return pytest.param(page, id=page.relative_to(ROOT).as_posix(), marks=slow)


@pytest.mark.parametrize("page", [marked(page) for page in RUNNING])
def test_a_page_does_what_it_says(page: Path, tmp_path: Path) -> None:
    """In an empty folder, from its first block to its last."""
    wrong = [
        f"{page.name}:{one.line} says\n{one.said}\nand what is printed is\n{one.printed}"
        for one in perform(PAGES[page], tmp_path)
    ]
    assert not wrong, "\n\n".join(wrong)


def test_a_page_that_is_wrong_is_told_of(tmp_path: Path) -> None:
    """Where, what it says, and what is printed."""
    page = "words\n\n```python\nprint(1 + 1)\n```\n\n```text\n3\n```\n\n```console\n$ python two.py\n...\n```\n"
    program = '```python title="two.py"\nprint("any")\n```\n\n```python title="two.py, continued"\nprint("thing")\n```\n'
    assert perform(program + page, tmp_path) == [(10, "3\n", "2\n")]
    assert (tmp_path / "two.py").read_text(encoding="utf-8") == 'print("any")\nprint("thing")\n'
