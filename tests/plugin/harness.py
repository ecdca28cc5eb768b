"""Writes a test file and runs pytest on it, in this process."""

from __future__ import annotations

from importlib.metadata import entry_points

import hypothesis.strategies  # noqa: F401  loaded once, before runs in this process come and go
import pytest

import fakempi.script
import fakempi.world  # noqa: F401  likewise, and numpy with it

INSTALLED = any(entry.value == "fakempi.pytest_plugin" for entry in entry_points(group="pytest11"))

LATE = "open('late', 'w').close()"
"""In a test: from here on it is too late, and not before, however slow the machine is."""


def run_pytest(pytester: pytest.Pytester, source: str, *options: str) -> tuple[pytest.RunResult, str]:
    pytester.makepyfile("import pytest\nfrom fakempi import MPI\n" + source)
    plugin = [] if INSTALLED else ["-p", "fakempi.pytest_plugin"]
    result = pytester.runpytest_inprocess("-p", "no:cacheprovider", "-p", "no:xdist", *plugin, *options)
    return result, result.stdout.str()
