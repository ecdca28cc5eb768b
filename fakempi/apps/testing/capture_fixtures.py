"""The fixtures `capfd` and `capfdbinary` of ranks that each run pytest in one process.

The ranks share the file descriptors: if one of them redirected a descriptor, it would redirect those of all ranks.
"""

from __future__ import annotations

from typing import Any

import pytest


@pytest.fixture
def capfd(capsys: pytest.CaptureFixture[str]) -> Any:
    """The fixture `capsys`: what this rank writes to `sys.stdout` and `sys.stderr`."""
    return capsys


@pytest.fixture
def capfdbinary(capsysbinary: pytest.CaptureFixture[bytes]) -> Any:
    """The fixture `capsysbinary`, for bytes."""
    return capsysbinary
