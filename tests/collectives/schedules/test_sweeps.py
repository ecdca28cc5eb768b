"""The sweeps over schedules that `.ci/full` runs."""

from __future__ import annotations

import pytest

from tests.collectives.schedules import __main__ as sweep


def test_a_sweep_counts_and_names_what_differs(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """`.ci/full` reads the last line, and the exit code."""

    def wrong(number: int, seed: int, runs: int) -> None:
        if seed == 1:
            raise ValueError("accepted")

    assert sweep.main("mutants", 2) == 0
    monkeypatch.setattr(sweep, "check", wrong)
    assert sweep.main("mutants", 3) == 1
    *_, named, last = capsys.readouterr().out.splitlines()
    assert (named, last) == ("the mutant of seed 1: ValueError: accepted", "3 schedules, 1 differences")
