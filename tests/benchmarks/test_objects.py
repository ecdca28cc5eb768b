"""benchmarks/objects.py prints what it says."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

import pytest


def test_a_line_has_rates_and_ratios_of_two_calls(monkeypatch: pytest.MonkeyPatch) -> None:
    """For each kind of object; as usual, with all in the pickle, and what one takes of the other."""
    monkeypatch.syspath_prepend(str(Path(__file__).parents[2] / "benchmarks"))
    benchmark = import_module("objects")
    for name in benchmark.OBJECTS:
        found = benchmark.line(name, 100, work=1)
        assert found.startswith(name)
        assert [float(number) >= 0 for number in found[18:].split()] == [True] * 7
