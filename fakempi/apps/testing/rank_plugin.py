"""The plugin of the pytest session in which one rank runs one test."""

from __future__ import annotations

import io
import sys
import warnings
from collections.abc import Generator, Mapping
from contextlib import AbstractContextManager, nullcontext
from importlib import import_module
from inspect import iscoroutinefunction
from types import ModuleType
from typing import Any

import pytest

from fakempi.apps.testing import environment
from fakempi.apps.testing.fixtures import capturing, comms, paths
from fakempi.apps.testing.markers import OVERRIDE, marker_of, not_on_ranks, parametrize
from fakempi.apps.testing.rank_session import NOT_ON_A_RANK, OptionValues


class RankPlugin:
    """Collects one test on a rank, and records its outcome.

    Attributes
    ----------
    error : the exception with which the test failed or was skipped, None if it passed
    reported : whether the test was found
    names : the names of all tests with these arguments
    xpassed : the reason of a test that was expected to fail and passed
    warnings : the warnings of the test
    """

    def __init__(self, item: Any, comm: Any, drawn: Mapping[str, Any]) -> None:
        self.item, self.comm, self.drawn = item, comm, drawn
        self.error: BaseException | None = None
        self.reported, self.xpassed = False, ""
        self.names: list[str] = []
        self.warnings: list[warnings.WarningMessage] = []
        self.options = OptionValues(vars(item.config.option))

    def pytest_addoption(self, parser: pytest.Parser, pluginmanager: pytest.PytestPluginManager) -> None:
        """Load the installed plugins of the session around the test, and accept all lines of its configuration file."""
        outer = self.item.config
        self.options.of_pytest = set(vars(parser.parse_known_args([])))
        for plugin, _ in outer.pluginmanager.list_plugin_distinfo():
            name = getattr(plugin, "__name__", "")
            if isinstance(plugin, ModuleType) and name.partition(".")[0] not in NOT_ON_A_RANK:
                pluginmanager.register(import_module(name), outer.pluginmanager.get_name(plugin))
        self.options.of_plugins = set(vars(parser.parse_known_args([])))
        self.options.accept_lines(parser, outer._parser._inidict)

    @pytest.hookimpl(tryfirst=True)
    def pytest_configure(self, config: pytest.Config) -> None:
        """Register fixtures and markers, and copy options that conftest has defined."""
        outer = self.item.config
        numbers, markers = outer.stash.get(OVERRIDE, ""), outer.getini("markers")
        self.options.configure(config, self.comm, numbers, markers, capturing, comms, paths)

    def pytest_sessionstart(self, session: pytest.Session) -> None:
        """Discard what the session prints: the session around the test reports the outcome."""
        reporter: Any = session.config.pluginmanager.get_plugin("terminalreporter")
        if reporter is not None:
            reporter._tw._file = io.StringIO()

    def pytest_generate_tests(self, metafunc: pytest.Metafunc) -> None:
        """Parametrize the test as the session around it does, so that it has the same name."""
        mark = marker_of(metafunc.definition)
        if mark is not None and mark.name not in environment.of(self.item.config).owners:
            parametrize(metafunc, mark)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_collection(self) -> Generator[None, object, object]:
        """Leave the current example of Hypothesis, which rejects tests that are defined in an example."""
        with _outside_hypothesis():
            return (yield)

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Select the test, after other plugins have added marks."""
        self.names = [item.name for item in items]
        items[:] = [item for item in items if _names(item) == _names(self.item)][:1]
        for item in items:
            not_on_ranks(item)

    def pytest_pyfunc_call(self, pyfuncitem: pytest.Function) -> bool | None:
        """Call the function inside a test of Hypothesis with the arguments that have been drawn for all ranks.

        A plugin for coroutine functions has replaced this function before.
        """
        __tracebackhide__ = True
        if not hasattr(pyfuncitem.obj, "hypothesis"):
            return None
        own = [] if pyfuncitem.instance is None else [pyfuncitem.instance]
        names = pyfuncitem._fixtureinfo.argnames
        fixtures = {name: pyfuncitem.funcargs[name] for name in names if name in pyfuncitem.funcargs}
        if iscoroutinefunction(pyfuncitem.obj.hypothesis.inner_test):
            pytest.fail("no plugin has run this coroutine function", pytrace=False)
        pyfuncitem.obj.hypothesis.inner_test(*own, **{**fixtures, **self.drawn})
        return True

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Record a failure, a skip or an expected failure; only the first counts."""
        self.reported = True
        if call.excinfo is not None and not isinstance(call.excinfo.value, (Exception, *_OUTCOMES)):
            self.error = call.excinfo.value  # the run has ended, or the rank ends
            item.repr_failure = lambda *_: ""  # type: ignore[method-assign]  # fast: the rank may be interrupted again
        report = yield
        reason = getattr(report, "wasxfail", None)
        if report.passed and reason is not None and report.when == "call":
            self.xpassed = reason or "xfail"
        if report.passed or self.error is not None:
            return report
        raised = None if call.excinfo is None else call.excinfo.value
        if reason is not None:
            self.error = raised if isinstance(raised, pytest.xfail.Exception) else pytest.xfail.Exception(reason)
        elif report.skipped:
            text = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
            self.error = pytest.skip.Exception(text.removeprefix("Skipped: "))
        else:
            self.error = raised or pytest.fail.Exception(report.longreprtext, pytrace=False)
        return report

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Record a module that cannot be imported, or that is skipped."""
        if self.error is None and report.failed:
            self.error = pytest.fail.Exception(report.longreprtext, pytrace=False)
        elif self.error is None and report.skipped:
            self.error = pytest.skip.Exception(str(report.longrepr[2]).removeprefix("Skipped: "))  # type: ignore[index]  # a tuple

    def pytest_keyboard_interrupt(self, excinfo: pytest.ExceptionInfo[BaseException]) -> None:
        """Record Ctrl-C and `pytest.exit`, which end the session around the test."""
        self.error = excinfo.value

    def pytest_internalerror(self, excrepr: object) -> None:
        """Record an error of pytest or of a plugin."""
        if self.error is None:
            self.error = pytest.fail.Exception(str(excrepr), pytrace=False)

    def pytest_warning_recorded(self, warning_message: warnings.WarningMessage, when: str) -> None:
        """Record a warning of the test; those of imports appear in the session around it."""
        if when == "runtest":
            self.warnings.append(warning_message)


_OUTCOMES = (pytest.skip.Exception, pytest.fail.Exception, pytest.xfail.Exception)


def _names(item: pytest.Item) -> list[str]:
    """Return the names of a test and of the modules and classes around it. A hook may have changed its node id."""
    return [node.name for node in item.listchain()[1:]]


def _outside_hypothesis() -> AbstractContextManager[Any]:
    current = getattr(sys.modules.get("hypothesis.control"), "_current_build_context", None)
    return nullcontext() if current is None else current.with_value(None)
