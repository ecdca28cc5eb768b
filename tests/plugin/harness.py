"""Writes a test file and runs pytest on it, in this process."""

from __future__ import annotations

import asyncio  # noqa: F401  loaded once, before runs in this process, as are hypothesis and the emulator
from collections.abc import Sequence
from importlib.metadata import entry_points

import hypothesis.strategies  # noqa: F401
import pytest

import fakempi.apps.testing.calls
import fakempi.core.options  # noqa: F401  with numpy: pytester would remove them after the first run that loads them

INSTALLED = any(entry.value == "fakempi.apps.pytest_plugin" for entry in entry_points(group="pytest11"))

LATE = "open('late', 'w').close()"
"""Code of a test that expires the time limit from here on, and not before, however slow the machine is."""


def run_pytest(
    pytester: pytest.Pytester, source: str, *options: str, plugins: Sequence[object] = ()
) -> tuple[pytest.RunResult, str]:
    pytester.makepyfile("import pytest\nfrom fakempi import MPI\n" + source)
    plugin = [] if INSTALLED else ["-p", "fakempi.apps.pytest_plugin"]
    result = pytester.runpytest_inprocess("-p", "no:cacheprovider", "-p", "no:xdist", *plugin, *options, plugins=[*plugins])
    return result, result.stdout.str()
