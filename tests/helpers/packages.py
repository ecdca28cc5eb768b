"""Packages that tests need. Without one of them a test is skipped, and the reason is the command that would make it run."""

from __future__ import annotations

from importlib.metadata import distributions
from typing import Any

import pytest


def needs(name: str) -> Any:
    """Import a module, or skip the test or the whole file."""
    top = name.partition(".")[0]
    if top == "mpi4py" and not any(distributions(name=top)):  # the plugin has the emulator in its place
        pytest.skip("there is no mpi4py: python -m pip install mpi4py")
    return pytest.importorskip(name, reason=f"there is no {top}: python -m pip install {top}", exc_type=ImportError)
