"""A part of mpi4py's own test suite on the emulator: nothing fails but what docs/conformance.md says.

The suite is not kept here. `MPI4PY_SUITE` names the folder `test` of an sdist of mpi4py; without it pip downloads one.
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
"""Modules that take a second each, and at how many ranks they are run."""


def load() -> Any:
    """The script that runs suites."""
    spec = spec_from_file_location("mpi4py_suite", ROOT / "benchmarks" / "mpi4py_suite.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


SUITE = load()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the suite is."""
    if named := os.environ.get("MPI4PY_SUITE"):
        return Path(named)
    try:
        found: Path = SUITE.download(tmp_path_factory.mktemp("sdist"))
    except (subprocess.CalledProcessError, OSError) as error:
        pytest.skip(f"mpi4py's sdist could not be downloaded, and MPI4PY_SUITE does not name its folder 'test': {error}")
    return found


@pytest.mark.slow
@pytest.mark.parametrize("module", list(SELECTION))
def test_nothing_fails_but_what_the_page_says(module: str, folder: Path) -> None:
    """Each module in a process of its own."""
    by_module, _ = SUITE.run_batch("emulator", SELECTION[module], folder, [module], 80, apart=module in SUITE.rest())
    outcome = by_module[module]
    failed = {test: why for test, (verdict, why) in outcome.items() if verdict == "failed"}
    surprising = {test: why for test, why in failed.items() if not any(fnmatchcase(test, name) for name in SUITE.known())}
    assert not surprising
    assert sum(verdict == "passed" for verdict, _ in outcome.values()) > 3


def test_the_page_lists_tests_and_modules_by_name() -> None:
    """So that the list can be read by the test above; and there is a table of what is counted apart."""
    assert len(SUITE.known()) > 10
    assert "<!-- table of the rest -->" in SUITE.PAGE.read_text(encoding="utf-8")


def test_what_is_counted_apart_is_not_counted_twice() -> None:
    """A module, or a test whose name says so, is either in the one table or in the other."""
    assert "test_io" in SUITE.rest()
    assert "test_comm" not in SUITE.rest()
    assert SUITE.selection(False) == ["--exclude", SUITE.REST_TESTS]
    assert SUITE.selection(True) == ["--match", SUITE.REST_TESTS, "--whole", " ".join(SUITE.rest())]


def test_what_fails_for_a_reason_is_not_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """All else that fails is, by itself; and on MPI nothing is known to fail."""
    listed, other = "test_op.TestOp.testCreateMany", "test_op.TestOp.testCreate"
    tried: list[str] = []

    def run_once(*asked: Any) -> tuple[list[list[dict[str, Any]]], str]:
        tried.extend(asked[asked.index("--only") + 1 :] if "--only" in asked else [])
        return [[{"test": test, "verdict": "failed", "why": ""} for test in (listed, other)] + [{"end": True}]], ""

    monkeypatch.setattr(SUITE, "run_once", run_once)
    for where, expected in (("emulator", [other]), ("mpi", [listed, other])):
        SUITE.run_batch(where, 1, Path(), ["test_op"], 1)
        assert tried == expected
        tried.clear()


def test_a_test_counts_as_passed_if_it_passes_on_every_rank() -> None:
    """As failed, if a rank never said how it ended; as skipped, if no rank passed it."""

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


def test_the_table_counts_what_passes_there_and_here() -> None:
    """Ranks by ranks, in modules that were run on both."""
    there = {name: ["passed", ""] for name in "abcd"} | {"e": ["skipped", ""]}
    here = there | {"b": ["failed", "why"]}
    more = {"test_b": {"f": ["passed", ""]}}
    outcomes = {"mpi": {"2": {"test_a": there} | more, "3": more}, "emulator": {"2": {"test_a": here}}}
    assert SUITE.table(outcomes).splitlines()[2:] == ["| 2 | 1 | 4 | 3 | 75.0% |"]
