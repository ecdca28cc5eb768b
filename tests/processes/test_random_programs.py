"""Random scripts: whether ranks are processes cannot be observed."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.helpers.breadth import breadth
from tests.processes.random_programs import difference

COUNT, BATCH = breadth(40, 300), 10


def test_some_random_programs(tmp_path: Path) -> None:
    """Output, clocks, findings and messages of a few."""
    assert difference(tmp_path, range(BATCH), 3) == ""


@pytest.mark.slow
@pytest.mark.parametrize("first", range(0, COUNT, BATCH))
def test_random_programs(first: int, tmp_path: Path) -> None:
    """The same for many."""
    assert difference(tmp_path, range(first, first + BATCH), 1 + first // BATCH % 4) == ""
