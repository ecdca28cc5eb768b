"""Ctrl-C and time limits end a process, whatever its ranks do and catch, with the words that are expected and no others."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.fuzz.endings import HOW, KINDS, ending

PATIENCE = 120.0
"""Seconds; it takes two on a quiet machine. `benchmarks/interrupts.py` measures how long, with hundreds of tries."""

SAMPLE = [(kind, HOW[number % len(HOW)]) for number, kind in enumerate(KINDS)]
"""Each program once, and each way three times."""


@pytest.mark.parametrize(("kind", "how"), SAMPLE, ids=[f"{kind}-{how.replace(' ', '-')}" for kind, how in SAMPLE])
def test_a_run_ends_when_it_is_told_to(kind: str, how: str, carrier: str, tmp_path: Path) -> None:
    """With a seed for which ranks catch everything."""
    assert ending(kind, how, carrier, 3, tmp_path, PATIENCE).wrong == ""
