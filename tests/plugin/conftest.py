"""Fixtures of the plugin's tests."""

from __future__ import annotations

from importlib import import_module
from time import monotonic

import pytest


@pytest.fixture
def late(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    """Clocks that do not advance until a test advances them."""

    def clock() -> float:
        return 1000 + monotonic() if (pytester.path / "late").exists() else 0.0

    monitoring = "extensions.monitoring.monitor", "extensions.monitoring.limits"
    for module in (*monitoring, "apps.testing.limits", "apps.pytest_plugin"):
        monkeypatch.setattr(import_module(f"fakempi.{module}"), "monotonic", clock)
