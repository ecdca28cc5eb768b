"""The table of benchmarks/objects.py has the right columns."""

from __future__ import annotations

from tests.helpers.scripts import imported


def test_a_line_has_rates_and_ratios_of_two_calls() -> None:
    """For each kind of object: by default, with all data in the pickle, and the ratio."""
    benchmark = imported("objects")["objects"]
    for name in benchmark.OBJECTS:
        found = benchmark.line(name, 100, work=1)
        assert found.startswith(name)
        assert [float(number) >= 0 for number in found[18:].split()] == [True] * 7
