"""The modules of `.ci`, which are no package."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace

import pytest

DIRECTORY = Path(__file__).parents[2] / ".ci"
NAMES = ("full_table", "script", "steps", "full_steps")


@pytest.fixture
def ci(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """New copies of the modules, by their names."""
    if not DIRECTORY.exists():
        pytest.skip("an archive of the sources has no .ci")
    monkeypatch.syspath_prepend(DIRECTORY)
    for name in NAMES:  # as they were, after the test
        monkeypatch.setitem(sys.modules, name, None)
        del sys.modules[name]
    return SimpleNamespace(**{name: import_module(name) for name in NAMES})
