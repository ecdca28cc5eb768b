"""A run that is interrupted at any moment ends, and says that it was interrupted and where its ranks were."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.fuzz.signals import interrupted


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_ctrl_c_ends_a_run_at_any_moment(seed: int, carrier: str, tmp_path: Path) -> None:
    """Also if ranks swallow it."""
    code, said = interrupted(seed, carrier, tmp_path)
    assert code == 130, said
    assert "fakempi: interrupted at t = " in said
