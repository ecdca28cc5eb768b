"""Tests with `mpi(processes=True)`: each rank is a process that runs pytest with this one test."""

from __future__ import annotations

import json
import pickle
from contextlib import contextmanager, redirect_stdout, suppress
from io import StringIO
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import pytest

from fakempi.apps.testing.in_child import OPTIONS, OUTCOME_DIRECTORY
from fakempi.apps.testing.rank_session import NOT_ON_A_RANK, OURS, arguments
from fakempi.core.arguments import RunOptions
from fakempi.core.reports.findings import headline
from fakempi.core.reports.findings import lines as findings_in_lines
from fakempi.core.world import run
from fakempi.errors import FindingsError, RankError, RunError
from fakempi.errors.paths import with_paths
from fakempi.errors.records import Finding
from fakempi.processes.program import ProcessProgram

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_directories = count()
"""Numbers of the directories for `tmp_path`, one for each test."""


def run_in_processes(item: pytest.Item, size: int, options: RunOptions) -> tuple[Sequence[Finding], str]:
    """Run a test on ranks that are processes. A failure has the report of the first failed rank.

    Return the findings, and the reason why the test was expected to fail, if it passed.
    """
    __tracebackhide__ = True
    findings: Sequence[Finding] = ()
    problem: RunError | None = None
    with TemporaryDirectory() as directory:
        _write_options(item.config, directory)
        with _environment(directory):
            try:
                findings = run(ProcessProgram(command(item)), size, **options).findings
            except RunError as error:
                problem, findings = error, error.findings
        outcomes = [_outcome(Path(directory, f"{rank}.json")) for rank in range(size)]
    failed = [rank for rank in range(size) if outcomes[rank]["failed"]]
    expected = next((outcome["xfailed"] for outcome in outcomes if outcome["xfailed"]), "")
    if expected and not failed:  # the failure of a rank may block others
        pytest.xfail(expected)
    parts = []
    if failed:
        others = f" (also {', '.join(map(str, failed[1:]))})" if failed[1:] else ""
        parts.append(f"rank {failed[0]} of {size} failed{others}:\n{outcomes[failed[0]]['failed']}")
    if problem is not None and not (failed and isinstance(problem, RankError)):
        parts.append(with_paths(str(problem), str(item.config.rootpath)))
    if not parts and not all(outcome["collected"] for outcome in outcomes):
        parts.append(f"pytest found no test {item.nodeid} in the process of a rank")
    if parts:
        if findings and not isinstance(problem, FindingsError):
            text = "\n  ".join([f"{headline(findings)}:", *findings_in_lines(findings)])
            parts.append(with_paths(text, str(item.config.rootpath)))
        pytest.fail("\n\n".join(parts), pytrace=False)
    if all(outcome["skipped"] for outcome in outcomes):
        pytest.skip(outcomes[0]["skipped"])
    return findings, next((outcome["xpassed"] for outcome in outcomes if outcome["xpassed"]), "")


def command(item: pytest.Item) -> list[str]:
    """Return the command of each rank: pytest with this test, and this project's configuration without `addopts`."""
    config, name = item.config, item.nodeid.partition("::")[2]
    blocked = {OURS, "cacheprovider", "stepwise", "pastebin"}
    for plugin, _ in config.pluginmanager.list_plugin_distinfo():
        if getattr(plugin, "__name__", "").partition(".")[0] in NOT_ON_A_RANK:
            blocked.add(config.pluginmanager.get_name(plugin) or OURS)
    without = [argument for name in sorted(blocked) for argument in ("-p", f"no:{name}")]
    plugins = ["-p", "fakempi.apps.testing.in_child", *without]
    return ["-m", "pytest", "-q", *plugins, *arguments(config), f"{item.path}::{name}"]


def _write_options(config: pytest.Config, directory: str) -> None:
    """Write the options that can be pickled, and more of the configuration, for the sessions of the ranks."""
    options = {}
    for name, value in vars(config.option).items():
        with suppress(Exception):  # whatever `__reduce__` of a user raises
            options[name] = pickle.dumps(value)
    base = Path(config._tmp_path_factory.getbasetemp(), f"processes-{next(_directories)}")  # type: ignore[attr-defined]  # of pytest's plugin
    base.mkdir()
    lines = {"ini": list(config._parser._inidict), "markers": config.getini("markers")}
    Path(directory, OPTIONS).write_bytes(pickle.dumps({"options": options, "base": str(base), **lines}))


def _outcome(path: Path) -> dict[str, Any]:
    if not path.exists():
        return {"failed": "", "skipped": "", "xfailed": "", "xpassed": "", "collected": 0}
    outcome: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return outcome


@contextmanager
def _environment(directory: str) -> Iterator[None]:
    """Set the variables of the children, and discard their output, which is part of their reports."""
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(StringIO()):
        patch.setenv(OUTCOME_DIRECTORY, directory)
        patch.setenv("PYTEST_ADDOPTS", "")
        yield
