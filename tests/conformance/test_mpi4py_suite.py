"""A part of mpi4py's test suite on the emulator: only tests listed in docs/conformance.md fail.

The suite is not stored here. `MPI4PY_SUITE` names the directory `test` of an sdist of mpi4py; without it pip downloads one.
"""

from __future__ import annotations

import os
import subprocess
from fnmatch import fnmatchcase
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
SELECTION = {
    "test_attributes": 2,
    "test_cco_obj": 3,
    "test_comm": 5,
    "test_comm_inter": 4,
    "test_comm_topo": 4,
    "test_dynproc": 5,
    "test_errorcode": 2,
    "test_file": 3,
    "test_group": 3,
    "test_info": 2,
    "test_msgzero": 2,
    "test_p2p_obj_matched": 3,
    "test_request": 2,
    "test_session": 3,
    "test_spawn": 2,
    "test_status": 2,
    "test_subclass": 2,
    "test_ulfm": 3,
    "test_util_pool": 2,
}
"""Modules that take a second each, and the numbers of ranks."""


def batches() -> dict[tuple[int, bool], list[str]]:
    """The modules by number of ranks, and whether they are in the second table: those that one process can run."""
    second = SUITE.second_table_modules()
    found: dict[tuple[int, bool], list[str]] = {}
    for module, ranks in SELECTION.items():
        found.setdefault((ranks, module in second), []).append(module)
    return found


def load() -> Any:
    """The script that runs the suites."""
    spec = spec_from_file_location("mpi4py_suite", ROOT / "benchmarks" / "mpi4py_suite.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


SUITE = load()


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The directory of the suite."""
    if named := os.environ.get("MPI4PY_SUITE"):
        return Path(named)
    try:
        found: Path = SUITE.download(tmp_path_factory.mktemp("sdist"))
    except (subprocess.SubprocessError, OSError) as error:
        pytest.skip(f"mpi4py's sdist could not be downloaded, and MPI4PY_SUITE does not name its directory 'test': {error}")
    return found


@pytest.mark.slow
@pytest.mark.parametrize(("ranks", "second_table"), batches())
def test_only_listed_tests_fail(ranks: int, second_table: bool, directory: Path) -> None:
    """The modules with the same number of ranks run in one process."""
    modules = batches()[ranks, second_table]
    by_module, _ = SUITE.run_batch("emulator", ranks, directory, modules, 80 * len(modules), second_table=second_table)
    assert list(by_module) == modules
    for module, outcome in by_module.items():
        failed = {test: why for test, (verdict, why) in outcome.items() if verdict == "failed"}
        known = SUITE.known()
        assert {test: why for test, why in failed.items() if not any(fnmatchcase(test, name) for name in known)} == {}
        assert sum(verdict == "passed" for verdict, _ in outcome.values()) > 3, module


def test_the_page_lists_tests_and_modules_by_name() -> None:
    """The test above reads the list; another table has the tests that are counted separately."""
    assert len(SUITE.known()) > 10
    assert "<!-- second table -->" in SUITE.PAGE.read_text(encoding="utf-8")


def test_tests_that_are_counted_separately_are_not_counted_twice() -> None:
    """A module, or a test with a matching name, is in exactly one table."""
    assert "test_io" in SUITE.second_table_modules()
    assert "test_comm" not in SUITE.second_table_modules()
    assert SUITE.selection(False) == ["--exclude", SUITE.SECOND_TABLE_TESTS]
    assert SUITE.selection(True) == ["--match", SUITE.SECOND_TABLE_TESTS, "--whole", " ".join(SUITE.second_table_modules())]


def test_known_failures_are_not_repeated(monkeypatch: pytest.MonkeyPatch) -> None:
    """All other failures run again, each on its own; on a real MPI no failure is known."""
    listed, other = "test_op.TestOp.testCreateMany", "test_op.TestOp.testCreate"
    tried: list[str] = []

    def run_once(*requested: Any) -> tuple[list[list[dict[str, Any]]], str]:
        tried.extend(requested[requested.index("--only") + 1 :] if "--only" in requested else [])
        return [[{"test": test, "verdict": "failed", "why": ""} for test in (listed, other)] + [{"end": True}]], ""

    monkeypatch.setattr(SUITE, "run_once", run_once)
    for where, expected in (("emulator", [other]), ("mpi", [listed, other])):
        SUITE.run_batch(where, 1, Path(), ["test_op"], 1)
        assert tried == expected
        tried.clear()


def test_a_test_counts_as_passed_if_it_passes_on_every_rank() -> None:
    """It counts as failed if a rank did not report, and as skipped if no rank passed it."""

    def entry(test: str, verdict: str, why: str = "") -> dict[str, str]:
        return {"test": test, "verdict": verdict, "why": why}

    began = [entry(name, "began") for name in "abcd"]
    zero = [*began, entry("a", "passed"), entry("b", "failed", "for a reason"), entry("c", "skipped"), entry("d", "passed")]
    one = [*began, entry("a", "passed"), entry("b", "passed"), entry("c", "skipped")]
    outcome, ended = SUITE.outcome_of([[*zero, {"end": True}], one], "the last words")
    assert [outcome[name][0] for name in "abcd"] == ["passed", "failed", "skipped", "failed"]
    assert [outcome[name][1] for name in "bd"] == ["for a reason", "the last words"]
    assert not ended
    assert SUITE.differences(outcome, {name: ["passed", ""] for name in "abc"}) == {"b": "for a reason", "c": ""}


def test_the_table_counts_tests_that_pass_on_mpi_and_on_the_emulator() -> None:
    """For each number of ranks, in modules that were run on both."""
    there = {name: ["passed", ""] for name in "abcd"} | {"e": ["skipped", ""]}
    here = there | {"b": ["failed", "why"]}
    more = {"test_b": {"f": ["passed", ""]}}
    outcomes = {"mpi": {"2": {"test_a": there} | more, "3": more}, "emulator": {"2": {"test_a": here}}}
    assert SUITE.table(outcomes).splitlines()[2:] == ["| 2 | 1 | 4 | 3 | 75.0% |"]
