"""The plugin of pytest in the process of a rank (`mpi(processes=True)`): records the outcome of one test.

It takes the place of the plugin in the parent, which has chosen the test and the number of ranks.
"""

from __future__ import annotations

import json
import os
from collections.abc import Generator
from typing import Any

import pytest

from fakempi.apps.testing import comm_fixtures, environment, path_fixtures
from fakempi.apps.testing.markers import HELP, marker_of, parametrize

OUTCOME_DIRECTORY = "FAKEMPI_TEST_OUTCOMES"
"""The environment variable that names the directory for outcomes."""


def pytest_configure(config: pytest.Config) -> None:
    """Register the markers and the fixtures, for a session on the ranks of the run."""
    from mpi4py import MPI

    config.stash[environment.ENVIRONMENT] = environment.Environment(comm=MPI.COMM_WORLD)
    for fixtures in (comm_fixtures, path_fixtures):
        config.pluginmanager.register(fixtures)
    for line in HELP:
        config.addinivalue_line("markers", line)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Parametrize the test as the parent does, so that it has the same name."""
    mark = marker_of(metafunc.definition)
    if mark is not None:
        parametrize(metafunc, mark)


class PhaseOutcomes:
    """The outcomes of the phases of the test, and the text of the first failure."""

    failed = ""
    skipped = ""


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Generator[None, Any, Any]:
    """Record a failure or a skip. A rank whose call ended because another rank failed has not failed itself."""
    report = yield
    ended = call.excinfo is not None and call.excinfo.typename == "RunEnded"
    if report.failed and not ended and not PhaseOutcomes.failed:
        PhaseOutcomes.failed = report.longreprtext + "".join(f"\n{title}:\n{text}" for title, text in report.sections)
    elif report.skipped and not PhaseOutcomes.skipped:
        PhaseOutcomes.skipped = str(report.longrepr[2] if isinstance(report.longrepr, tuple) else report.longrepr)
    return report


def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """Write the outcome to a file of this rank."""
    from mpi4py import MPI

    outcome = {"failed": PhaseOutcomes.failed, "skipped": PhaseOutcomes.skipped, "collected": session.testscollected}
    path = os.path.join(os.environ[OUTCOME_DIRECTORY], f"{MPI.COMM_WORLD.Get_rank()}.json")
    with open(path, "w", encoding="utf-8") as file:
        json.dump(outcome, file)
