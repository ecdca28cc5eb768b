"""The plugin of pytest in the process of a rank (`mpi(processes=True)`): records the outcome of one test.

It takes the place of the plugin in the parent, which has chosen the test and the number of ranks.
"""

from __future__ import annotations

import json
import os
import pickle
from collections.abc import Generator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from fakempi.apps.testing.fixtures import comms, paths
from fakempi.apps.testing.markers import marker_of, not_on_ranks, parametrize
from fakempi.apps.testing.rank_session import OptionValues

OUTCOME_DIRECTORY = "FAKEMPI_TEST_OUTCOMES"
"""The environment variable that names the directory for outcomes."""


OPTIONS = "options.pickle"
"""The file in this directory with the configuration of the session around the test."""


@cache
def outer() -> dict[str, Any]:
    """Return the configuration of the session around the test: options, lines of the ini file, and a directory."""
    found: dict[str, Any] = pickle.loads(Path(os.environ[OUTCOME_DIRECTORY], OPTIONS).read_bytes())
    return found


@cache
def option_values() -> OptionValues:
    """Return the options of the session around the test that can be pickled, and unpickled here."""
    values = {}
    for name, text in outer()["options"].items():
        try:
            values[name] = pickle.loads(text)
        except Exception:  # such as a class that only conftest defines
            continue
    return OptionValues(values)


@pytest.hookimpl(tryfirst=True)
def pytest_addoption(parser: pytest.Parser) -> None:
    """Record which options pytest has: other plugins are loaded after this one."""
    option_values().of_pytest = set(vars(parser.parse_known_args([])))


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests(early_config: pytest.Config, parser: pytest.Parser) -> None:
    """Record which options plugins have, before conftest adds its own; accept all lines of the ini file."""
    option_values().of_plugins = set(vars(early_config.known_args_namespace))
    option_values().accept_lines(parser, outer()["ini"])


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    """Register the markers and the fixtures, for a session on the ranks of the run."""
    from mpi4py import MPI

    numbers = option_values().values.get("mpi_ranks") or ""
    option_values().configure(config, MPI.COMM_WORLD, numbers, outer()["markers"], comms, paths)
    config.option.basetemp = str(Path(outer()["base"], str(MPI.COMM_WORLD.Get_rank())))


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Apply the markers of pytest-mpi."""
    for item in items:
        not_on_ranks(item)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Parametrize the test as the parent does, so that it has the same name."""
    mark = marker_of(metafunc.definition)
    if mark is not None:
        parametrize(metafunc, mark)


_outcome = dict.fromkeys(("failed", "skipped", "xfailed", "xpassed"), "")
"""The text of the first failure, and the reasons of a skip, an expected failure or its absence."""


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Generator[None, Any, Any]:
    """Record a failure or a skip. A rank whose call ended because another rank failed has not failed itself."""
    report = yield
    ended = call.excinfo is not None and call.excinfo.typename == "RunEnded"
    if report.failed and not ended and not _outcome["failed"]:
        _outcome["failed"] = report.longreprtext + "".join(f"\n{title}:\n{text}" for title, text in report.sections)
    reason = getattr(report, "wasxfail", None)
    if reason is not None and not ended and report.skipped:
        _outcome["xfailed"] = reason or "xfail"
    elif reason is not None and report.passed and report.when == "call":
        _outcome["xpassed"] = reason or "xfail"
    elif report.skipped and reason is None and not _outcome["skipped"]:
        _outcome["skipped"] = str(report.longrepr[2] if isinstance(report.longrepr, tuple) else report.longrepr)
    return report


def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """Write the outcome to a file of this rank."""
    from mpi4py import MPI

    path = Path(os.environ[OUTCOME_DIRECTORY], f"{MPI.COMM_WORLD.Get_rank()}.json")
    path.write_text(json.dumps({**_outcome, "collected": session.testscollected}), encoding="utf-8")
