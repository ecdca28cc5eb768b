"""Our collectives between two groups and a real MPI's: small programs return the same on both, rank by rank."""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest

import fakempi
from fakempi import MPI
from tests.real_mpi.asking import answered, plain
from tests.real_mpi.inter_programs import PROGRAMS, facts

SIZES = [(2, 3), (1, 4), (5, 3), (2, 2)]


@cache
def real(p: int, q: int) -> Any:
    """What a real MPI says on p + q ranks: one start of mpiexec each."""
    return answered("inter_programs.py", p, ranks=p + q)


@cache
def emulated(p: int, q: int, carrier: str = "auto", table: str = "plain") -> Any:
    """What we say, as it comes out of JSON: tuples are lists."""
    returns = fakempi.run(lambda comm: facts(MPI, comm, p), p + q, carrier=carrier, algorithms=table).returns
    return plain(returns)


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize(("p", "q"), SIZES)
def test_collectives_between_groups_agree(p: int, q: int, name: str) -> None:
    """On every rank."""
    for rank, (theirs, mine) in enumerate(zip(real(p, q), emulated(p, q), strict=True)):
        assert (rank, mine[name]) == (rank, theirs[name])


@pytest.mark.parametrize("table", ["plain", "mpich", "openmpi"])
@pytest.mark.parametrize(("p", "q"), SIZES)
def test_no_program_fails_on_any_carrier_or_table(carrier: str, p: int, q: int, table: str) -> None:
    """And all return the same on each."""
    found = emulated(p, q, carrier, table)
    assert found == emulated(p, q)
    assert [name for each in found for name, value in each.items() if isinstance(value, str)] == []
