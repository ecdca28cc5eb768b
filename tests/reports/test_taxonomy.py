"""Each error class of the public taxonomies: the wrong program is reported with kind and line, and its correct version is
not.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

import fakempi
from fakempi.core.reports.findings import NOTES, STRICT_ONLY
from tests.helpers.loops import for_each

HERE = Path(__file__).parent / "wrong"
CLASSES = sorted(path.stem for path in HERE.glob("*.py") if path.stem != "__init__")


def place_of(name: str) -> str:
    """The wrong line."""
    lines = (HERE / f"{name}.py").read_text(encoding="utf-8").splitlines()
    (number,) = [number for number, line in enumerate(lines, 1) if line.endswith("  # here")]
    return f"{name}.py:{number}"


@for_each("name", CLASSES)
def test_a_wrong_program_is_reported_with_kind_and_line(name: str, backend: Any) -> None:
    """In a default run, except for kinds that only strict runs check."""
    program: Any = import_module(f"tests.reports.wrong.{name}")
    strict = program.EXPECTED in (*STRICT_ONLY, "buffer-in-use")
    try:
        messages = [str(one) for one in fakempi.run(program.wrong, program.RANKS, strict=strict, backend=backend).findings]
    except fakempi.RunError as error:
        messages = [f"{type(error).__name__}: {error}", *map(str, error.findings)]
    (found,) = [one for one in messages if one.startswith(f"{program.EXPECTED}: ")]
    assert program.WORDS in found
    assert place_of(name) in found


@for_each("name", CLASSES)
def test_the_correct_version_has_no_finding(name: str, backend: Any) -> None:
    """Not even in a strict run."""
    program: Any = import_module(f"tests.reports.wrong.{name}")
    findings = fakempi.run(program.right, program.RANKS, strict=True, backend=backend).findings
    assert findings == []


@for_each("name", CLASSES)
def test_a_strict_run_of_a_wrong_program_fails(name: str) -> None:
    """Except for notes."""
    program: Any = import_module(f"tests.reports.wrong.{name}")
    if program.EXPECTED in NOTES:
        assert fakempi.run(program.wrong, program.RANKS, strict=True).findings
    else:
        with pytest.raises(fakempi.RunError):
            fakempi.run(program.wrong, program.RANKS, strict=True)


def test_the_number_of_classes_is_known() -> None:
    """At least twenty-five."""
    assert len(CLASSES) >= 25
