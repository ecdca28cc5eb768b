"""Fixtures of the plugin's tests."""

from __future__ import annotations

from importlib import import_module
from time import monotonic

import pytest


@pytest.fixture
def late(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    """Clocks that stand still until a test starts them; then a minute is some milliseconds."""
    started: list[float] = []

    def clock() -> float:
        if not started and (pytester.path / "late").exists():
            started.append(monotonic())
        return 10_000 * (monotonic() - started[0]) if started else 0.0

    monitoring = "extensions.monitoring.monitor", "extensions.monitoring.limits"
    for module in (*monitoring, "apps.testing.limits", "apps.pytest_plugin"):
        monkeypatch.setattr(import_module(f"fakempi.{module}"), "monotonic", clock)
