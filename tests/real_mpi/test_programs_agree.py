"""The emulator and a real MPI: the same programs return the same, rank by rank, on 1 to 5 ranks."""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest

import fakempi
from fakempi import MPI
from tests.helpers.loops import for_each
from tests.real_mpi.processes import script_answer
from tests.real_mpi.programs import PROGRAMS as TABLE
from tests.real_mpi.runner import results

PROGRAMS = sorted(TABLE)
RANKS = [1, 2, 3, 4, pytest.param(5, marks=pytest.mark.slow)]


@cache
def real(ranks: int) -> Any:
    """The results of the programs on a real MPI: one start for all of them."""
    return script_answer("runner.py", ranks=ranks)


@cache
def emulated(ranks: int, backend: Any) -> Any:
    """The results on the emulator."""
    return fakempi.run(lambda comm: results(MPI, comm), ranks, backend=backend).returns


def results_of(results: Any, name: str) -> list[Any]:
    """A program's results by rank."""
    return [each[name] for each in results]


@pytest.mark.parametrize("ranks", RANKS)
@for_each("name", PROGRAMS)
def test_a_program_returns_the_same_as_on_a_real_mpi(name: str, ranks: int) -> None:
    """On every rank."""
    assert results_of(emulated(ranks, "auto"), name) == results_of(real(ranks), name)


@pytest.mark.quick(2)
@pytest.mark.parametrize("ranks", RANKS)
def test_a_program_returns_the_same_on_every_backend(backend: Any, ranks: int) -> None:
    """No program fails."""
    results = emulated(ranks, backend)
    assert results == emulated(ranks, "auto")
    failed = [name for name in PROGRAMS for each in results_of(results, name) if isinstance(each, str)]
    assert failed == []


def test_there_are_enough_programs() -> None:
    """The table must not be empty."""
    assert len(PROGRAMS) >= 20
