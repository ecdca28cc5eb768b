"""The record of each test, which the steps for continuous integration read."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import fakempi
from fakempi.apps.ci.record import SuiteRecord
from fakempi.apps.testing.environment import RECORD
from fakempi.isolation import Program
from fakempi.processes.program import ProcessProgram
from tests.plugin.harness import run_pytest

pytest_plugins = ["pytester"]

SOURCE = """
@pytest.mark.mpi(ranks=[2, 4])
def test_marked(comm):
    assert comm.size < 4

@pytest.mark.xfail
def test_expected():
    assert False

def test_skips():
    pytest.skip("not here")

@pytest.mark.mpi(ranks=5)
@pytest.mark.skip(reason="not yet")
def test_skipped():
    pass

@pytest.fixture
def broken():
    raise ValueError("two\\nlines")

def test_error(broken):
    pass
"""
NAMES = [f"test_it.py::test_{name}" for name in ("marked", "expected", "skips", "skipped", "error")]


def test_outcomes_are_recorded_by_name_and_failures_by_line(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A test that a marker or the program skips counts as run, since the project wants that."""
    path = pytester.path / "record.jsonl"
    monkeypatch.setenv(RECORD, "record.jsonl")
    pytester.makeini("[pytest]")
    run_pytest(pytester, SOURCE, "--mpi4py=emulated")
    assert RECORD not in os.environ, "a pytest that a test starts is not recorded"
    record = SuiteRecord.read(path)
    assert {name.partition("::")[2] for name in record.ran} == {name.partition("::")[2] for name in NAMES}
    assert len(record.collected) == 6
    assert record.wanted == {}
    failures = {test.partition("::")[2]: (line, message) for (test, _, line), message in record.failures.items()}
    assert failures == {"test_marked[ranks4]": (6, "assert 4 < 4"), "test_error": (22, "ValueError: two")}
    assert all(Path(place).is_file() for _, place, _ in record.failures)
    assert record.summary() == "1 failed, 1 passed, 2 skipped, 1 xfailed, 1 error"


@pytest.mark.sample
@pytest.mark.slow
@pytest.mark.parametrize("kind", [Program, ProcessProgram])
def test_all_ranks_write_one_record(kind: object, pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    """A marker that skips the test wins over its number of ranks."""
    monkeypatch.setenv(RECORD, str(pytester.path / "record.jsonl"))
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")  # each rank would import the plugins of this environment
    pytester.makepyfile(test_it=f"import pytest\nfrom mpi4py import MPI\n{SOURCE}")
    fakempi.run(kind(["-m", "pytest", "-p", "fakempi", "-p", "no:cacheprovider", "-p", "no:faulthandler"]), 3)  # type: ignore[operator]  # a class
    record = SuiteRecord.read(pytester.path / "record.jsonl")
    assert record.wanted.keys() == {NAMES[0]}
    assert set(record.wanted[NAMES[0]]) == {"2", "4"}
    assert record.ran == set(NAMES[1:])
    assert sorted(record.totals) == [0, 1, 2]
    assert record.summary() == "all 3 ranks: 4 skipped, 1 xfailed, 1 error"
