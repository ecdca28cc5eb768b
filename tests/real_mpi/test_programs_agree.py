"""The emulator and a real MPI: the same programs return the same, rank by rank, on 1 to 5 ranks."""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest

import fakempi
from fakempi import MPI
from tests.real_mpi.asking import answered
from tests.real_mpi.programs import PROGRAMS as TABLE
from tests.real_mpi.runner import results

PROGRAMS = sorted(TABLE)
RANKS = [1, 2, 3, 4, pytest.param(5, marks=pytest.mark.slow)]


@cache
def real(ranks: int) -> Any:
    """What the programs return on a real MPI: one start for all of them."""
    return answered("runner.py", ranks=ranks)


@cache
def emulated(ranks: int, carrier: str) -> Any:
    """What they return on the emulator."""
    return fakempi.run(lambda comm: results(MPI, comm), ranks, carrier=carrier).returns


def of(results: Any, name: str) -> list[Any]:
    """A program's results by rank."""
    return [each[name] for each in results]


@pytest.mark.parametrize("ranks", RANKS)
@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_returns_what_it_returns_on_a_real_mpi(name: str, ranks: int) -> None:
    """On every rank."""
    assert of(emulated(ranks, "auto"), name) == of(real(ranks), name)


@pytest.mark.parametrize("ranks", RANKS)
def test_a_program_returns_the_same_on_every_carrier(carrier: str, ranks: int) -> None:
    """And none fails."""
    results = emulated(ranks, carrier)
    assert results == emulated(ranks, "auto")
    failed = [name for name in PROGRAMS for each in of(results, name) if isinstance(each, str)]
    assert failed == []


def test_there_are_enough_programs() -> None:
    """Lest the table was not filled."""
    assert len(PROGRAMS) >= 20
