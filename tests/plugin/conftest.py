"""What tests of the plugin share."""

from __future__ import annotations

from importlib import import_module
from time import monotonic

import pytest


@pytest.fixture
def late(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    """Clocks that stand still until a test says so."""

    def clock() -> float:
        return 1000 + monotonic() if (pytester.path / "late").exists() else 0.0

    for module in ("watch.watching", "watch.limits", "testing.limits", "pytest_plugin"):
        monkeypatch.setattr(import_module(f"fakempi.{module}"), "monotonic", clock)
