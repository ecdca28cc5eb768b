"""Public names are documented, examples run, and importing fakempi is cheap."""

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
from tests.helpers.loops import for_each

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
NAMES = (ROOT / "docs" / "names.md").read_text(encoding="utf-8")


def modules_with_examples() -> list[str]:
    """Modules whose docstrings have examples."""
    paths = [path for path in (ROOT / "fakempi").rglob("*.py") if ">>> " in path.read_text(encoding="utf-8")]
    return sorted(".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__") for path in paths)


def test_the_page_of_names_lists_every_public_one() -> None:
    """The page lists no other names."""
    listed = {name for row in re.findall(r"^\| (`.*?) \|", NAMES, re.MULTILINE) for name in re.findall(r"`(\w+)", row)}
    assert listed == set(dir(fakempi)) - {"__version__"}


@for_each("name", dir(fakempi))
def test_every_public_name_can_be_imported(name: str) -> None:
    """Names are imported on first use."""
    assert getattr(fakempi, name) is not None


def test_the_error_names_a_missing_attribute() -> None:
    """The message is Python's."""
    with pytest.raises(AttributeError, match=r"^module 'fakempi' has no attribute 'Sierpinski'$"):
        getattr(fakempi, "Sierpinski")  # noqa: B009  # mypy rejects fakempi.Sierpinski


def imported_by(program: str) -> set[str]:
    """The modules that a new process imports for a program."""
    show = f"import sys; before = set(sys.modules); {program}; print(*sorted(set(sys.modules) - before))"
    ended = subprocess.run(
        [sys.executable, "-c", show],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=True,
        timeout=270,
    )
    return set(ended.stdout.split())


def test_importing_fakempi_imports_nothing_heavy() -> None:
    """Programs that only import it do not pay for numpy or for packages of fakempi."""
    loaded = imported_by("import fakempi")
    assert {module for module in loaded if module.startswith("fakempi")} == {"fakempi"}
    assert loaded.isdisjoint({"numpy", "greenlet", "rich", "asyncio", "inspect", "dataclasses"})


def test_a_run_imports_only_what_it_needs() -> None:
    """Schedules, CPU time and buffer checks are imported by the runs that use them; monitoring by all, for Ctrl-C."""
    loaded = imported_by("import fakempi; fakempi.run(lambda comm: comm.barrier(), 2)")
    packages = ("fakempi.modelcheck", "fakempi.isolation", "fakempi.view")
    light = {"fakempi.modelcheck", "fakempi.view", "fakempi.view.loading", "fakempi.view.numbers"}
    assert {name for name in loaded if name.startswith(packages)} <= light
    features = {"fakempi.extensions.cpu_time", "fakempi.extensions.buffer_checks"}
    assert loaded.isdisjoint({*features, "importlib.metadata", "rich"})


@pytest.mark.parametrize("name", modules_with_examples())
def test_examples_in_docstrings_are_true(name: str) -> None:
    """Each example runs as it stands."""
    failed, tried = doctest.testmod(importlib.import_module(name))
    assert tried > 0
    assert failed == 0


def test_the_readme_example_prints_the_output_shown() -> None:
    """The Python block, and the text block after it."""
    code, output = re.search(r"```python\n(.*?)```\n\n```text\n(.*?)```", README, re.DOTALL).groups()  # type: ignore[union-attr]
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(code, "README.md", "exec"), {"__name__": "__main__"})
    assert printed.getvalue() == output
