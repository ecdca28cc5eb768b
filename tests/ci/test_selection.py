"""The usual run has a sample of the cases, and `-m ""` all of them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

pytest_plugins = ["pytester"]

TESTS = """
import pytest

@pytest.mark.parametrize("size", range(20))
def test_of_both_backends(backend, size): ...

@pytest.mark.quick(3)
@pytest.mark.parametrize("size", [*range(20), pytest.param(20, marks=pytest.mark.slow)])
def test_of_few_sizes(size): ...

@pytest.mark.quick(3)
@pytest.mark.parametrize("size", range(20))
def test_of_few_sizes_on_both(backend, size): ...

@pytest.mark.slow
def test_that_takes_long(): ...

def test_that_is_short(): ...
"""


Select = Callable[[str], list[str]]


@pytest.fixture
def selected(pytester: pytest.Pytester) -> Select:
    """The tests that an expression of markers selects, by name."""
    pytester.makeconftest((Path(__file__).parents[1] / "conftest.py").read_text(encoding="utf-8"))
    pytester.makepyfile(TESTS)
    pytester.makeini("[pytest]\nmarkers =\n    slow: x\n    quick: x\n    sample: x\n")

    def selected(markers: str) -> list[str]:
        done = pytester.runpytest_inprocess("--co", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", "-m", markers)
        return [line.rpartition("::")[2] for line in done.outlines if "::" in line]

    return selected


def test_the_usual_run_and_the_slow_tests_are_all_tests(selected: Select) -> None:
    """Each case is in one of the two."""
    usual, slow, every = selected("not slow"), selected("slow"), selected("")
    assert sorted([*usual, *slow]) == sorted(every)
    assert len(every) == len(set(every)) == 40 + 21 + 40 + 2


def test_the_usual_run_has_one_backend_of_each_case_and_few_cases_of_some(selected: Select) -> None:
    """Half of the cases on either backend, more or less; the same in each run."""
    usual = selected("not slow")
    assert usual == selected("not slow")
    both = [name for name in usual if name.startswith("test_of_both_backends")]
    assert {int(name.rpartition("-")[2][:-1]) for name in both} == set(range(20))
    assert 4 <= sum("greenlets" in name for name in both) <= 16 or not any("greenlets" in name for name in selected(""))
    assert sum(name.startswith("test_of_few_sizes[") for name in usual) == 3
    assert sum(name.startswith("test_of_few_sizes_on_both[") for name in usual) == 3
    assert "test_that_is_short" in usual
    assert "test_that_takes_long" not in usual
