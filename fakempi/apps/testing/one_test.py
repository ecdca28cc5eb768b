"""A test whose ranks have private modules: each rank runs pytest with this one test, as each process does under mpiexec.

The test module, conftest and the other private modules are imported on each rank, and the test is collected and set up
there: marks, parameters, fixtures and classes are those of the rank. The session around the tests chooses the test and the
number of ranks, and reports the outcome.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from fakempi.apps.testing.rank_plugin import RankPlugin
from fakempi.apps.testing.rank_session import BLOCKED, arguments
from fakempi.isolation.program import Program
from fakempi.mpi.base.current import running_process

_directories = count()
"""Numbers of the directories for `tmp_path`, one for each rank of each test."""


class OneTest:
    """One test on the ranks of a run.

    Attributes
    ----------
    item : the test, as the session around it has collected it
    size : the number of ranks
    drawn : the arguments that Hypothesis has drawn
    warnings : the warnings of all ranks, each once
    xpassed : the reason of a test that was expected to fail and passed; empty if there is none
    """

    def __init__(self, item: Any, size: int, drawn: Mapping[str, Any]) -> None:
        self.item, self.size, self.drawn = item, size, drawn
        self.warnings: dict[tuple[str, str, int], warnings.WarningMessage] = {}
        self.xpassed = ""

    def on_this_rank(self, comm: Any) -> None:
        """Run pytest with this test on the calling rank, and raise the exception with which it failed or was skipped."""
        __tracebackhide__ = True
        plugin = RankPlugin(self.item, comm, self.drawn)
        with _private_environment():
            pytest.main(self._arguments(comm), plugins=[plugin])
        for warning in plugin.warnings:
            self.warnings.setdefault((str(warning.message), warning.filename, warning.lineno), warning)
        self.xpassed = self.xpassed or plugin.xpassed
        if plugin.error is not None:
            raise plugin.error
        if not plugin.reported:
            pytest.fail(self._not_found(plugin.names), pytrace=False)

    def _arguments(self, comm: Any) -> list[str]:
        """Return the arguments of pytest: this test, and the configuration of the session around it."""
        config, name = self.item.config, self.item.nodeid.partition("::")[2].partition("[")[0]
        base = Path(config._tmp_path_factory.getbasetemp(), f"ranks-{next(_directories)}-{comm.Get_rank()}")
        plugins = [f"-pno:{name}" for name in BLOCKED]
        return [f"{self.item.path}::{name}", f"--basetemp={base}", "--capture=no", *arguments(config), *plugins]

    def _not_found(self, names: list[str]) -> str:
        there = f"; there it is {', '.join(sorted(names)[:5])}" if names else ""
        return (
            f"on {self.size} ranks there is no test {self.item.name}{there}. Parameters and tests that depend on the "
            f"number of ranks are known only on the ranks: fakempi run -n {self.size} -m pytest {self.item.path.name}"
        )

    def warn(self) -> None:
        """Issue the warnings of the ranks, for the summary of the session; filters have been applied on the ranks."""
        for warning in self.warnings.values():
            with warnings.catch_warnings():
                warnings.simplefilter("always")
                warnings.warn_explicit(warning.message, warning.category, warning.filename, warning.lineno)

    def program(self, call: Callable[[Any], Any]) -> Program:
        """Return the program of a rank: the call, with private modules."""
        return _Call(call)


class _Call(Program):
    """A program that consists of one call."""

    def __init__(self, call: Callable[[Any], Any]) -> None:
        super().__init__(["-c", ""])
        self.call, self.argv, self.paths = call, list(sys.argv), list(sys.path)

    def _execute(self) -> None:
        process = running_process()
        sys.path[:] = self.paths
        try:
            self.call(process.comm_world)
        except SystemExit as error:
            if error.code not in (None, 0):
                process.universe.fail(process, error)
            raise


@contextmanager
def _private_environment() -> Iterator[None]:
    """Load no plugins but those of the session around the test, and apply no options from the environment."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTEST_ADDOPTS", "")
        patch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
        yield
