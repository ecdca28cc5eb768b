"""Our collectives and a real MPI's: small programs return the same on both, rank by rank."""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest

import fakempi
from fakempi import MPI
from tests.real_mpi.asking import answered, plain
from tests.real_mpi.collective_programs import PROGRAMS, facts

SIZES = [1, 2, 3, 5]


@cache
def real(size: int) -> Any:
    """What a real MPI says on so many ranks: one start of mpiexec each."""
    return answered("collective_programs.py", ranks=size)


@cache
def emulated(size: int, carrier: str = "auto") -> Any:
    """What we say, as it comes out of JSON: tuples are lists."""
    returns = fakempi.run(lambda comm: facts(MPI, comm), size, carrier=carrier).returns
    return plain(returns)


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("size", SIZES)
def test_collectives_agree(size: int, name: str) -> None:
    """On every rank."""
    for rank, (theirs, mine) in enumerate(zip(real(size), emulated(size), strict=True)):
        assert (rank, mine[name]) == (rank, theirs[name])


@pytest.mark.parametrize("size", SIZES)
def test_no_program_fails_on_any_carrier(carrier: str, size: int) -> None:
    """And all return the same on each."""
    found = emulated(size, carrier)
    assert found == emulated(size)
    assert [name for each in found for name, value in each.items() if isinstance(value, str)] == []
