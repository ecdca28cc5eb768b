"""Calls of a marked test on every rank: a function, each example of Hypothesis, or a method of a unittest.TestCase."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from functools import cache, wraps
from types import MappingProxyType
from typing import Any

import pytest

from fakempi.apps.testing.fixtures.deferred import DeferredFixture, RankFixtures
from fakempi.apps.testing.isolation import is_case, unchanged_runner
from fakempi.apps.testing.limits import OUTCOME, limit_of
from fakempi.apps.testing.markers import isolation, size_of, sizes_of, strict
from fakempi.apps.testing.one_test import OneTest
from fakempi.apps.testing.outcome import RanksOutcome, on_every_rank
from fakempi.apps.testing.schedules import failing_schedule, schedules
from fakempi.apps.testing.shared_objects import SharedByTest, shared_by_test
from fakempi.apps.testing.source_lines import file_and_line
from fakempi.apps.testing.subtests import SubTests
from fakempi.apps.testing.world_reads import reads_of
from fakempi.core.arguments import BackendName, RunOptions
from fakempi.core.world import run
from fakempi.errors import MPIFindingWarning
from fakempi.errors.paths import with_paths
from fakempi.errors.records import Finding
from fakempi.modelcheck.search.shared_objects import Wrapper
from fakempi.mpi.base.current import running_process
from fakempi.mpi.collective.selection import Selection

SEEN = pytest.StashKey[set[tuple[str, str, int]]]()
"""Kinds and lines of findings that were reported as warnings in this session."""

EMPTY: Mapping[str, Any] = MappingProxyType({})

MAX_THREADS = 2000
"""The maximum number of ranks on threads under coverage; more are slow, and the system may run out of threads."""

CONCURRENCY = """coverage does not measure greenlets after the first switch between ranks unless it is configured for them.
Add to pyproject.toml:
    [tool.coverage.run]
    concurrency = ["thread", "greenlet"]"""


NOTE = "{} uses COMM_WORLD when it is imported, outside the ranks: rank 0 of 1 (isolation='module': on each rank)"
"""A line of the report of a failure, if ranks share a module that needs to be imported on each."""


class RankCall:
    """The call of one marked test on its ranks."""

    def __init__(self, item: Any, mark: pytest.Mark, options: RunOptions, isolated: bool) -> None:
        self.item, self.mark = item, mark
        self.in_processes = bool(mark.kwargs.get("processes"))
        self.explores = 0 if options.schedule else schedules(mark, item.config.getoption("--mpi-explore"))
        steered = self.explores or options.schedule  # the schedule decides the order of events, not time
        cost = None if steered and not item.config.getoption("--mpi-cost") else options.cost
        self.options = replace(options, strict=strict(mark, options.strict), cost=cost)
        self.isolated, self.directory = isolated, str(item.config.rootpath)
        if limit_of(item, mark) is not None:
            load_algorithms()
        self.limit = limit_of(item, mark)
        self.arguments = {name: item.funcargs[name] for name in item._fixtureinfo.argnames if name in item.funcargs}

    def private(self) -> None:
        """Run pytest with this test on every rank, with private modules."""
        __tracebackhide__ = True
        function = self.item.obj
        for size in sizes_of(self.item, self.mark, is_case(self.item)):
            if hasattr(function, "hypothesis") and not is_case(self.item):
                names = self.item._fixtureinfo.argnames
                with _without_deadline(function), self._inner_test(function.hypothesis, size, None):
                    function(**{name: DeferredFixture(name) for name in names})
            else:
                self._call(None, (), {}, size, None)

    def function(self) -> None:
        """Call the test function on the requested number of ranks."""
        __tracebackhide__ = True
        function, size = self.item.obj, size_of(self.item, self.mark)
        if self.in_processes:
            if hasattr(function, "hypothesis"):
                pytest.fail("processes=True: each process would draw different values from Hypothesis", pytrace=False)
            self._call_in_processes(size)
            return
        shared = shared_by_test(function, self.item.instance, self.arguments, self.directory)
        if hasattr(function, "hypothesis"):  # values are drawn once, and are equal on all ranks
            self._run(_warm_up, (), {}, size, None)  # one-time imports happen before Hypothesis measures times
            with self._inner_test(function.hypothesis, size, shared):
                function(**self.arguments)
        else:
            self._call(function, (), self.arguments, size, shared)

    def unittest(self) -> None:
        """Call the method of a TestCase on each number of ranks in turn; every rank sets up its own instance."""
        __tracebackhide__ = True
        instance, method = self.item.instance, self.item.originalname or self.item.name
        for owner in (type(instance), getattr(instance, method)):
            if getattr(owner, "__unittest_skip__", False):
                pytest.skip(owner.__unittest_skip_why__)
            if getattr(owner, "__unittest_expecting_failure__", False):
                pytest.fail("unittest.expectedFailure is not supported on ranks: use pytest.mark.xfail", pytrace=False)
        if hasattr(getattr(instance, method), "hypothesis"):
            pytest.fail("in a TestCase each rank would draw different values: use a plain class", pytrace=False)
        for size in sizes_of(self.item, self.mark, True):
            if self.in_processes:
                self._call_in_processes(size)
                continue
            shared = shared_by_test(getattr(instance, method), instance, {}, self.directory)
            self._call(_run_case, (instance, method), {}, size, shared)

    @contextmanager
    def _inner_test(self, hypothesis: Any, size: int, shared: SharedByTest | None) -> Iterator[None]:
        """Run each example of Hypothesis on all ranks, while the context is open."""
        inner = hypothesis.inner_test

        @wraps(inner)
        def on_all_ranks(*args: Any, **kwargs: Any) -> None:
            __tracebackhide__ = True
            drawn = {name: value for name, value in kwargs.items() if name not in self.item._fixtureinfo.argnames}
            self._call(inner, args, kwargs, size, shared, drawn)

        hypothesis.inner_test = on_all_ranks
        try:
            yield
        finally:
            hypothesis.inner_test = inner

    def _call(
        self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], size: int, shared: SharedByTest | None,
        drawn: Mapping[str, Any] = EMPTY,
    ) -> None:  # fmt: skip
        __tracebackhide__ = True
        outcome = self._run(function, args, kwargs, size, shared)
        outcome.drawn = drawn
        self.item.stash[OUTCOME] = outcome
        if outcome.verdict is not None:
            raise outcome.verdict
        self._warn_of_findings(outcome)

    def _limited(self) -> RunOptions:
        """Return the options, with the time that is left."""
        return replace(self.options, timeout=None if self.limit is None else self.limit.remaining)

    def _call_in_processes(self, size: int) -> None:
        """Run the test on ranks that are processes."""
        __tracebackhide__ = True
        from fakempi.apps.testing.in_processes import run_in_processes  # few tests need it

        findings, xpassed = run_in_processes(self.item, size, replace(self._limited(), check_buffers=None))
        if xpassed:
            self.item.stash[OUTCOME] = RanksOutcome(size, xpassed=xpassed)
        self._warn_of_findings(RanksOutcome(size, findings=findings))

    def _warn_of_findings(self, outcome: RanksOutcome) -> None:
        """Issue a warning for each finding that is not a note; the report of a test has the first that is an error."""
        __tracebackhide__ = True
        for finding in outcome.findings:
            if not finding.note:  # notes may be intended: no warning, which a project may turn into an error
                try:
                    self._warn(finding)
                except MPIFindingWarning as warning:
                    outcome.warning, self.item.stash[OUTCOME] = warning, outcome
                    raise

    def _warn(self, finding: Finding) -> None:
        """Issue a warning for the source line of the finding, once per kind and line in a session."""
        __tracebackhide__ = True
        test = str(self.item.path)
        place = file_and_line(finding.place, test) or (test, (self.item.location[1] or 0) + 1)
        seen = self.item.config.stash.setdefault(SEEN, set())
        repeated = (finding.kind, *place) in seen
        with warnings.catch_warnings(record=True) if repeated else nullcontext():  # a filter may still make it an error
            text = with_paths(str(finding), self.directory, [finding.place])
            warnings.warn_explicit(MPIFindingWarning(text), MPIFindingWarning, *place)
        seen.add((finding.kind, *place))

    def _run(
        self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], size: int, shared: SharedByTest | None
    ) -> RanksOutcome:
        item = self.item
        drawn = {name: value for name, value in kwargs.items() if name not in item._fixtureinfo.argnames}
        if self.isolated:
            return self._run_isolated(size, drawn)
        deferred = {name: value for name, value in item.funcargs.items() if isinstance(value, DeferredFixture)}
        autouse = [value for name, value in deferred.items() if name not in kwargs]

        def on_this_rank(comm: Any) -> None:
            __tracebackhide__ = True
            with RankFixtures(comm, item.instance) as fixtures:
                if shared is not None:
                    for value in autouse:  # autouse fixtures
                        fixtures.value(value)
                fixtures.call(function, args, kwargs)

        program = Wrapper(on_this_rank, [*args, *kwargs.values(), function, item.instance])
        outcome = self._on_ranks(program, size, None, shared is not None)
        reads = reads_of(item.config)
        if reads.on_ranks and isolation(self.mark, item.config.getoption("--mpi-isolation")) == "auto":
            reads.forget_modules()
            return self._run_isolated(size, drawn)
        if shared is not None and outcome.verdict is not None:
            outcome.changed = "\n".join(filter(None, (shared.changed(size), *map(NOTE.format, reads.of_modules(item)))))
        return outcome

    def _run_isolated(self, size: int, drawn: dict[str, Any]) -> RanksOutcome:
        """Run pytest with this test on every rank."""
        test = OneTest(self.item, size, drawn)
        with reads_of(self.item.config).inactive(), unchanged_runner():
            outcome = self._on_ranks(test.on_this_rank, size, test.program, True)
        outcome.xpassed = test.xpassed
        test.warn()
        return outcome

    def _on_ranks(
        self, call: Callable[[Any], None], size: int, wrapped: Callable[[Any], Any] | None, may_explore: bool
    ) -> RanksOutcome:
        """Call a function on every rank, in all schedules if the test requests it."""
        limit, why = self.limit, ""
        options = replace(self._limited(), backend=_backend(self.options.backend, size))
        if self.explores and may_explore:
            buffering = self.item.config.getoption("--mpi-buffering")
            failure = failing_schedule(call, size, self.explores, buffering, options, wrapped)
            if failure is not None:
                options, why = replace(options, schedule=failure.schedule, seed=None), failure.why
            # Otherwise the test runs once more, in order of time, so that findings become warnings.
        outcome = on_every_rank(call, size, options, wrapped)
        outcome.schedule, outcome.why = options.schedule or "", why
        outcome.limit = "" if limit is None else f"{limit.seconds:g} s ({limit.origin})"
        return outcome


def _warm_up() -> None:
    """Import modules that are imported on first use."""
    process = running_process()
    process.comm_world.allgather(process.comm_world.allreduce(0))
    process.universe.state(Selection).load_algorithms()


@cache
def load_algorithms() -> None:
    """Import the algorithms once, outside the time limit of any test."""
    run(lambda comm: _warm_up(), 2)


@contextmanager
def _without_deadline(function: Any) -> Iterator[None]:
    """Remove the time limit that Hypothesis has for an example: each one imports the modules of all ranks."""
    before = getattr(function, "_hypothesis_internal_use_settings", None)
    if before is None:
        yield
        return
    function._hypothesis_internal_use_settings = type(before)(before, deadline=None)
    try:
        yield
    finally:
        function._hypothesis_internal_use_settings = before


def _run_case(instance: Any, method: str) -> None:
    """Run a method of a TestCase with its setup and cleanup, without a result object."""
    __tracebackhide__ = True
    case = type(instance)(method)
    vars(case).update({name: value for name, value in vars(instance).items() if name not in vars(case)})
    case.subTest = subtests = SubTests(case.failureException)
    try:
        case.setUp()
        try:
            getattr(case, method)()
            subtests.finish()
        finally:
            case.tearDown()
    finally:
        if not case.doCleanups():
            raise AssertionError(f"a cleanup of {type(case).__name__}.{method} failed")


def _backend(requested: BackendName, size: int) -> BackendName:
    """Return the backend: threads if coverage is active and not configured for greenlets, which it would not measure."""
    coverage = sys.modules.get("coverage")
    current = None if coverage is None else coverage.Coverage.current()
    if current is None or requested == "threads" or "greenlet" in (current.get_option("run:concurrency") or ()):
        return requested
    if requested == "greenlets" or size > MAX_THREADS:
        pytest.fail(CONCURRENCY, pytrace=False)
    return "threads"
