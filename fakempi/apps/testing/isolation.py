"""Decides which tests get private modules, and lets the ranks do what the session around such a test would do."""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from functools import partial
from inspect import iscoroutinefunction
from typing import Any

import pytest
from _pytest import runner

from fakempi.apps.testing.fixtures.deferred import DeferredFixture
from fakempi.apps.testing.markers import isolation
from fakempi.apps.testing.mpi4py_choice import real_in_use
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
    """Set a test up, and isolate it: on request, if a module or fixture uses COMM_WORLD outside the ranks, if
    modules of this process use the real mpi4py, or if the test is a coroutine function, which another plugin runs.

    A fixture may be known to do so only after its setup, which may have failed because there is one rank.
    """
    try:
        given = isolation(mark, item.config.getoption("--mpi-isolation"))
    except pytest.UsageError:
        yield
        raise
    reads = reads_of(item.config)
    before = reads.count
    depends = reads.of_modules(item) or reads.of_fixtures(item) or real_in_use(item.config) or is_coroutine(item)
    if given == "module" or (given == "auto" and depends):
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


def is_coroutine(item: Any) -> bool:
    """Whether the test is a coroutine function, with or without Hypothesis."""
    function = getattr(item, "obj", None)
    return iscoroutinefunction(getattr(getattr(function, "hypothesis", None), "inner_test", function))


def unsupported_coroutine(item: Any) -> str:
    """Return a sentence on a coroutine function that the ranks of a test cannot run; empty if there is none."""
    if not is_coroutine(item):
        return ""
    sentence = f"{item.name} is a coroutine function, which is not supported on ranks"
    if is_case(item) and not issubclass(item.cls, sys.modules["unittest"].IsolatedAsyncioTestCase):
        return f"{sentence} in a TestCase other than IsolatedAsyncioTestCase"
    return "" if is_isolated(item) else f"{sentence} that share modules (isolation='none')"


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
