"""Collectives of fakempi and of a real MPI: small programs return the same on both, rank by rank."""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest

import fakempi
from fakempi import MPI
from tests.helpers.loops import for_each
from tests.real_mpi.collective_programs import PROGRAMS, facts
from tests.real_mpi.processes import script_answer, through_json

SIZES = [1, 2, 3, pytest.param(5, marks=pytest.mark.slow)]


@cache
def real(size: int) -> Any:
    """The results of a real MPI on p ranks: one start of mpiexec each."""
    return script_answer("collective_programs.py", ranks=size)


@cache
def emulated(size: int, backend: Any = "auto") -> Any:
    """The results of fakempi, in the form of JSON: tuples are lists."""
    returns = fakempi.run(lambda comm: facts(MPI, comm), size, backend=backend).returns
    return through_json(returns)


@for_each("name", PROGRAMS)
@pytest.mark.parametrize("size", SIZES)
def test_collectives_agree(size: int, name: str) -> None:
    """On every rank."""
    for rank, (theirs, mine) in enumerate(zip(real(size), emulated(size), strict=True)):
        assert (rank, mine[name]) == (rank, theirs[name])


@pytest.mark.quick(2)
@pytest.mark.parametrize("size", SIZES)
def test_no_program_fails_on_any_backend(backend: Any, size: int) -> None:
    """All results are equal."""
    found = emulated(size, backend)
    assert found == emulated(size)
    assert [name for each in found for name, value in each.items() if isinstance(value, str)] == []
