"""Ctrl-C and time limits end a process, even if its ranks catch every exception, with the expected message only."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.fuzz.endings import HOW, KINDS, ending

PATIENCE = 120.0
"""Seconds; two are enough on an idle machine. `benchmarks/interrupts.py` measures the time of hundreds of tries."""

SAMPLE = [(kind, HOW[number % len(HOW)]) for number, kind in enumerate(KINDS)]
"""Each program once, and each way to end it three times."""


@pytest.mark.quick(1)
@pytest.mark.parametrize(("kind", "how"), SAMPLE, ids=[f"{kind}-{how.replace(' ', '-')}" for kind, how in SAMPLE])
def test_a_process_ends(kind: str, how: str, backend: Any, tmp_path: Path) -> None:
    """With a seed for which ranks catch every exception."""
    assert ending(kind, how, backend, 3, tmp_path, PATIENCE).wrong == ""
