"""Every test in this directory has the marker `architecture`."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.architecture import source


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests of this directory."""
    for item in items:
        if item.path.is_relative_to(Path(__file__).parent):
            item.add_marker(pytest.mark.architecture)


def pytest_runtest_teardown(nextitem: pytest.Item | None) -> None:
    """Free the syntax trees after the last test of this directory: tests of other directories do not pay for them."""
    if nextitem is None or not nextitem.path.is_relative_to(Path(__file__).parent):
        source.forget()
