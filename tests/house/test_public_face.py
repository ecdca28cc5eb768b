"""The front door: what is public, that a page says so, that every example runs, and that coming in costs nothing."""

from __future__ import annotations

import contextlib
import doctest
import importlib
import io
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import fakempi

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
NAMES = (ROOT / "docs" / "names.md").read_text(encoding="utf-8")


def modules_with_examples() -> list[str]:
    """Modules of ours with a `>>>` in them."""
    paths = [path for path in (ROOT / "fakempi").rglob("*.py") if ">>> " in path.read_text(encoding="utf-8")]
    return sorted(".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__") for path in paths)


def test_the_page_of_names_lists_every_public_one() -> None:
    """And no other."""
    listed = {name for row in re.findall(r"^\| (`.*?) \|", NAMES, re.MULTILINE) for name in re.findall(r"`(\w+)", row)}
    assert listed == set(fakempi.__all__) - {"__version__"}


@pytest.mark.parametrize("name", fakempi.__all__)
def test_every_public_name_is_there(name: str) -> None:
    """Though it is imported only when asked for."""
    assert getattr(fakempi, name) is not None
    assert name in dir(fakempi)


def test_a_name_that_is_not_there_is_named() -> None:
    """As Python does it."""
    with pytest.raises(AttributeError, match=r"^module 'fakempi' has no attribute 'Sierpinski'$"):
        _ = fakempi.Sierpinski


def imported_by(program: str) -> set[str]:
    """The modules that a new process imports for a program."""
    show = f"import sys; before = set(sys.modules); {program}; print(*sorted(set(sys.modules) - before))"
    ended = subprocess.run(
        [sys.executable, "-c", show],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=True,
        timeout=600,
    )
    return set(ended.stdout.split())


def test_importing_fakempi_imports_nothing_heavy() -> None:
    """Neither numpy nor rooms of our own: it is paid for by whoever uses it."""
    come = imported_by("import fakempi")
    assert {module for module in come if module.startswith("fakempi")} == {"fakempi"}
    assert come.isdisjoint({"numpy", "greenlet", "rich", "asyncio", "inspect", "dataclasses"})


def test_a_run_imports_only_what_it_needs() -> None:
    """Schedules, measuring and looking after memory are imported by runs that ask for them; watching by all, for Ctrl-C."""
    come = imported_by("import fakempi; fakempi.run(lambda comm: comm.barrier(), 2)")
    rooms = {"choices", "computing", "exploring", "script", "view"}
    found = {name for name in come if name.startswith("fakempi.") and name.split(".")[1] in rooms}
    assert found == {"fakempi.view", "fakempi.view.numbers"}  # how `watch` writes seconds
    assert come.isdisjoint({"fakempi.mpi.buffers.pins", "importlib.metadata", "rich"})


@pytest.mark.parametrize("name", modules_with_examples())
def test_examples_in_docstrings_are_true(name: str) -> None:
    """Each is run as it stands."""
    failed, tried = doctest.testmod(importlib.import_module(name))
    assert tried > 0
    assert failed == 0


def test_the_readme_example_prints_what_it_says() -> None:
    """The Python block and the block of text after it."""
    code, output = re.search(r"```python\n(.*?)```\n\n```text\n(.*?)```", README, re.DOTALL).groups()  # type: ignore[union-attr]
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(code, "README.md", "exec"), {"__name__": "__main__"})
    assert printed.getvalue() == output
