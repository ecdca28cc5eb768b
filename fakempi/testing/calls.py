"""A marked test on every rank: a function, each example of Hypothesis, or a method of a unittest.TestCase."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache, wraps
from typing import Any

import pytest

from fakempi.errors import MPIFindingWarning
from fakempi.mpi.base.current import running_process
from fakempi.testing.fixtures import Later, OnThisRank
from fakempi.testing.limits import OUTCOME, limit_of
from fakempi.testing.markers import size_of, sizes, strict
from fakempi.testing.outcome import Outcome, on_every_rank
from fakempi.testing.private import Copies
from fakempi.testing.schedules import schedules, that_fails
from fakempi.testing.shared import Shared, of_test
from fakempi.world import run

MOST_THREADS = 2000
"""Ranks that coverage may follow on threads; more are slow, and at some point the system has no more."""

CONCURRENCY = """coverage misses what greenlets execute after the first switch between ranks, unless it is told of them.
Add to pyproject.toml:
    [tool.coverage.run]
    concurrency = ["thread", "greenlet"]"""


class OnRanks:
    """How one marked test is called."""

    def __init__(self, item: Any, mark: pytest.Mark, options: dict[str, Any], isolated: bool) -> None:
        self.item, self.mark = item, mark
        self.options = {**options, "strict": strict(mark, options["strict"])}
        self.explores = 0 if options["decisions"] else schedules(mark, item.config.getoption("--mpi-explore"))
        if self.explores or options["decisions"]:  # what is left open is not decided by time
            self.options["cost"] = options["cost"] if item.config.getoption("--mpi-cost") else None
        self.copies = Copies(item.config) if isolated else None
        if limit_of(item, mark) is not None:
            load_algorithms()
        self.limit = limit_of(item, mark)
        self.arguments = {name: item.funcargs[name] for name in item._fixtureinfo.argnames if name in item.funcargs}

    def function(self) -> None:
        """Call the function, on as many ranks as it asks for."""
        __tracebackhide__ = True
        function, size = self.item.obj, size_of(self.item, self.mark)
        shared = of_test(function, self.item.instance, self.arguments)
        if hasattr(function, "hypothesis"):  # its values are drawn once, for all ranks alike
            self._run(_warm_up, (), {}, size, None)  # what is done but once is done before Hypothesis looks at the clock
            with self._inner_test(function.hypothesis, size, shared):
                function(**self.arguments)
        else:
            self._call(function, (), self.arguments, size, shared)

    def unittest(self) -> None:
        """Call the method of a TestCase on each number of ranks in turn; every rank has an instance, set up on it."""
        __tracebackhide__ = True
        instance, method = self.item.instance, self.item.originalname or self.item.name
        for owner in (type(instance), getattr(instance, method)):
            if getattr(owner, "__unittest_skip__", False):
                pytest.skip(owner.__unittest_skip_why__)
            if getattr(owner, "__unittest_expecting_failure__", False):
                pytest.fail("unittest.expectedFailure means nothing on ranks: mark it with pytest.mark.xfail", pytrace=False)
        if hasattr(getattr(instance, method), "hypothesis"):
            pytest.fail("in a TestCase each rank would draw values of its own: put it into a plain class", pytrace=False)
        for size in sizes(self.mark):
            shared = of_test(getattr(instance, method), instance, {})
            self._call(_run_case, (instance, method), {}, size, shared)

    @contextmanager
    def _inner_test(self, hypothesis: Any, size: int, shared: Shared) -> Iterator[None]:
        """While this lasts, each example that Hypothesis tries runs on all ranks."""
        inner = hypothesis.inner_test

        @wraps(inner)
        def on_all_ranks(*args: Any, **kwargs: Any) -> None:
            __tracebackhide__ = True
            self._call(inner, args, kwargs, size, shared)

        hypothesis.inner_test = on_all_ranks
        try:
            yield
        finally:
            hypothesis.inner_test = inner

    def _call(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], size: int, shared: Shared) -> None:
        __tracebackhide__ = True
        outcome = self._run(function, args, kwargs, size, shared)
        self.item.stash[OUTCOME] = outcome
        if outcome.verdict is not None:
            raise outcome.verdict
        for finding in outcome.findings:
            if not finding.note:  # what may be intended is no warning, which some make errors
                warnings.warn(MPIFindingWarning(str(finding)), stacklevel=2)

    def _run(
        self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], size: int, shared: Shared | None
    ) -> Outcome:
        item, copies = self.item, self.copies
        unasked = [value for name, value in item.funcargs.items() if isinstance(value, Later) and name not in kwargs]

        def on_this_rank(comm: Any) -> None:
            __tracebackhide__ = True
            with OnThisRank(comm, item.instance, None if copies is None else copies.finder()) as own:
                if shared is not None:
                    for value in unasked:  # those that nobody has to ask for
                        own.value(value)
                own.call(function, args, kwargs)

        limit = self.limit
        options = {**self.options, "carrier": _carrier(self.options["carrier"], size)}
        options["timeout"] = None if limit is None else limit.left
        wrapped, why = None if copies is None else copies.program, ""
        if self.explores and shared is not None:
            buffering = item.config.getoption("--mpi-buffering")
            failure = that_fails(on_this_rank, size, self.explores, buffering, options, wrapped)
            if failure is None:
                return Outcome(size)
            options, why = {**options, "decisions": failure.decisions, "seed": None}, failure.why
        outcome = on_every_rank(on_this_rank, size, options, wrapped)
        outcome.decisions, outcome.why = options["decisions"] or "", why
        outcome.limit = "" if limit is None else f"{limit.seconds:g} s ({limit.who})"
        if shared is not None and outcome.verdict is not None and copies is None:
            outcome.changed = shared.changed(size)
        return outcome


def _warm_up() -> None:
    """A first run: modules that are imported when they are needed are, here."""
    comm = running_process().comm_world
    comm.allgather(comm.allreduce(0))


@cache
def load_algorithms() -> None:
    """Likewise, and once: no test's time is spent on that."""
    run(lambda comm: _warm_up(), 2)


def _run_case(instance: Any, method: str) -> None:
    """What a TestCase does with a method, without a result to put it in."""
    __tracebackhide__ = True
    case = type(instance)(method)
    vars(case).update({name: value for name, value in vars(instance).items() if name not in vars(case)})
    try:
        case.setUp()
        try:
            getattr(case, method)()
        finally:
            case.tearDown()
    finally:
        if not case.doCleanups():
            raise AssertionError(f"a cleanup of {type(case).__name__}.{method} failed")


def _carrier(asked: str, size: int) -> str:
    """What ranks run on: where coverage is not told of greenlets, and would miss most of what they execute, threads."""
    coverage = sys.modules.get("coverage")
    current = None if coverage is None else coverage.Coverage.current()
    if current is None or asked == "threads" or "greenlet" in (current.get_option("run:concurrency") or ()):
        return asked
    if asked == "greenlets" or size > MOST_THREADS:
        pytest.fail(CONCURRENCY, pytrace=False)
    return "threads"
