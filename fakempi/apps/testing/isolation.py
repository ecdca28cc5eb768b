"""Decides which tests get private modules, and lets the ranks do what the session around such a test would do."""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import pytest
from _pytest import runner

from fakempi.apps.testing.fixtures import DeferredFixture
from fakempi.apps.testing.markers import isolation
from fakempi.apps.testing.world_reads import reads_of

ISOLATED = pytest.StashKey[bool]()
"""Whether a test runs with private modules."""

_CALL_AND_REPORT = runner.call_and_report

EVALUATED_ON_RANKS = ("skip", "skipif", "xfail")
"""Marks whose conditions may depend on the number of ranks."""


def is_isolated(item: pytest.Item) -> bool:
    """Return whether the ranks of a test have private modules."""
    return item.stash.get(ISOLATED, False)


def set_up(item: Any, mark: pytest.Mark, call: Callable[[], None]) -> Generator[None, None, None]:
    """Set a test up, and isolate it: on request, or if a module or fixture uses COMM_WORLD outside the ranks.

    A fixture may be known to do so only after its setup, which may have failed because there is one rank.
    """
    try:
        given = isolation(mark, item.config.getoption("--mpi-isolation"))
    except pytest.UsageError:
        yield
        raise
    reads = reads_of(item.config)
    before = reads.count
    if given == "module" or (given == "auto" and (reads.of_modules(item) or reads.of_fixtures(item))):
        isolate(item, call)
    try:
        with reads.of_setup():
            yield
    except (Exception, pytest.skip.Exception, pytest.fail.Exception):
        if reads.count == before or given != "auto":
            raise
    if reads.count > before and given == "auto":
        isolate(item, call)


def isolate(item: Any, call: Callable[[], None]) -> None:
    """Replace the fixtures and the call of a test: pytest on each rank sets the test up, and evaluates its marks."""
    item.stash[ISOLATED] = True
    item.iter_markers = partial(_other_markers, item)
    item.funcargs.update({name: DeferredFixture(name) for name in item.fixturenames if name not in item.funcargs})
    item.runtest = call


def is_case(item: pytest.Item) -> bool:
    """Whether the test is a method of a unittest.TestCase: unittest calls it, not pytest."""
    unittest = sys.modules.get("unittest")
    return unittest is not None and issubclass(getattr(item, "cls", None) or object, unittest.TestCase)


def _other_markers(item: Any, name: str | None = None) -> Iterator[pytest.Mark]:
    """Yield the marks of a test, without those that its ranks evaluate."""
    return (mark for mark in type(item).iter_markers(item, name) if mark.name not in EVALUATED_ON_RANKS)


@contextmanager
def unchanged_runner() -> Iterator[None]:
    """Let the sessions of ranks use pytest's own function: the plugin flaky replaces it while a test of its session runs."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(runner, "call_and_report", _CALL_AND_REPORT)
        yield
