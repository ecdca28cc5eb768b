"""Each error class of the public taxonomies: the wrong program is told, by its kind and its line, and its twin is not."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

import fakempi
from fakempi.checks.findings import CUSTOMARY, NOTES

HERE = Path(__file__).parent / "wrong"
CLASSES = sorted(path.stem for path in HERE.glob("*.py") if path.stem != "__init__")


def place_of(name: str) -> str:
    """The line that is wrong."""
    lines = (HERE / f"{name}.py").read_text(encoding="utf-8").splitlines()
    (number,) = [number for number, line in enumerate(lines, 1) if line.endswith("  # here")]
    return f"{name}.py:{number}"


@pytest.mark.parametrize("name", CLASSES)
def test_a_wrong_program_is_told_with_its_kind_and_its_line(name: str, carrier: str) -> None:
    """In a default run, but for what is customary, and for memory in use, which strict runs look for."""
    program: Any = import_module(f"tests.checks.wrong.{name}")
    strict = program.EXPECTED in (*CUSTOMARY, "buffer-in-use")
    try:
        told = [str(one) for one in fakempi.run(program.wrong, program.RANKS, strict=strict, carrier=carrier).findings]
    except fakempi.RunError as error:
        told = [f"{type(error).__name__}: {error}", *map(str, error.findings)]
    (found,) = [one for one in told if one.startswith(f"{program.EXPECTED}: ")]
    assert program.WORDS in found
    assert place_of(name) in found


@pytest.mark.parametrize("name", CLASSES)
def test_its_correct_twin_has_no_finding(name: str, carrier: str) -> None:
    """Not even in a strict run."""
    program: Any = import_module(f"tests.checks.wrong.{name}")
    findings = fakempi.run(program.right, program.RANKS, strict=True, carrier=carrier).findings
    assert findings == []


@pytest.mark.parametrize("name", CLASSES)
def test_a_strict_run_of_a_wrong_program_fails(name: str) -> None:
    """But for what may be intended."""
    program: Any = import_module(f"tests.checks.wrong.{name}")
    if program.EXPECTED in NOTES:
        assert fakempi.run(program.wrong, program.RANKS, strict=True).findings
    else:
        with pytest.raises(fakempi.RunError):
            fakempi.run(program.wrong, program.RANKS, strict=True)


def test_there_are_as_many_as_there_are_classes() -> None:
    """Twenty-five at least."""
    assert len(CLASSES) >= 25
