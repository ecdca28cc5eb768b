"""A run that is interrupted at any time ends, and reports the interrupt and the places of its ranks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.fuzz.signals import interrupted


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_ctrl_c_ends_a_run_at_any_time(seed: int, backend: Any, tmp_path: Path) -> None:
    """Also if ranks catch it."""
    code, said = interrupted(seed, backend, tmp_path)
    assert code == 130, said
    assert "fakempi: interrupted at t = " in said
