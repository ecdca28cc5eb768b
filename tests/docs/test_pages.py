"""Run every code block and every command on the pages, and compare the output."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from docs.hooks import site
from docs.hooks.blocks import blocks, perform, takes_seconds

ROOT = Path(__file__).parents[2]
PAGES = {path: path.read_text(encoding="utf-8") for path in (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")))}
RUNNING = [path for path, text in PAGES.items() if any(one.kind in ("python", "console") for one in blocks(text))]


def marked(page: Path) -> object:
    """Mark pages that take seconds as slow."""
    slow = [pytest.mark.slow] if takes_seconds(PAGES[page]) else []
    return pytest.param(page, id=page.relative_to(ROOT).as_posix(), marks=slow)


@pytest.mark.parametrize("page", [marked(page) for page in RUNNING])
def test_programs_on_a_page_print_the_output_shown(page: Path, tmp_path: Path) -> None:
    """In an empty directory, from the first block to the last."""
    wrong = [
        f"{page.name}:{one.line}: expected\n{one.expected}\nbut the program printed\n{one.printed}"
        for one in perform(PAGES[page], tmp_path)
    ]
    assert not wrong, "\n\n".join(wrong)


def test_a_wrong_output_is_reported_with_its_line(tmp_path: Path) -> None:
    """With the expected and the printed text."""
    page = "words\n\n```python\nprint(1 + 1)\n```\n\n```text\n3\n```\n\n```console\n$ python two.py\n...\n```\n"
    program = '```python title="two.py"\nx = 1\nprint(x)\n```\n\n```python title="two.py, in place of x = 1"\nx = 2\n```\n'
    assert perform(program + page, tmp_path) == [(11, "3\n", "2\n")]
    assert (tmp_path / "two.py").read_text(encoding="utf-8") == "x = 2\nprint(x)\n"
    with pytest.raises(ValueError, match="two.py, before x = 1: a title is the name of a file, or"):
        perform(program.replace("in place of", "before"), tmp_path)


def test_the_terminal_of_the_caller_does_not_change_pages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Width and colors of output are fixed; the variables are the same afterwards."""
    program = """```python
import sys
from rich.console import Console
console = Console(file=sys.stdout)
print(console.width, console.is_terminal, console.color_system)
```

```text
80 False None
```
"""
    plain = site.pages()
    variables = {"COLUMNS": "100", "NO_COLOR": "1", "TERM": "dumb"}, {"COLUMNS": "33", "FORCE_COLOR": "1", "TERM": "xterm"}
    for chosen in variables:
        for name, value in chosen.items():
            monkeypatch.setenv(name, value)
        before = dict(os.environ)
        assert perform(program, tmp_path) == []
        assert site.pages() == plain
        assert dict(os.environ) == before
