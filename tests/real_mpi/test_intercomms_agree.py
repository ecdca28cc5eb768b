"""Collectives between two groups of fakempi and of a real MPI: small programs return the same on both, rank by rank."""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest

import fakempi
from fakempi import MPI
from tests.helpers.loops import for_each
from tests.real_mpi.inter_programs import PROGRAMS, facts
from tests.real_mpi.processes import script_answer, through_json

SIZES = [(2, 3), (2, 2), *(pytest.param(*sizes, marks=pytest.mark.slow) for sizes in ((1, 4), (5, 3)))]


@cache
def real(p: int, q: int) -> Any:
    """The results of a real MPI on p + q ranks: one start of mpiexec each."""
    return script_answer("inter_programs.py", p, ranks=p + q)


@cache
def emulated(p: int, q: int, backend: Any = "auto", table: str = "plain") -> Any:
    """The results of fakempi, in the form of JSON: tuples are lists."""
    returns = fakempi.run(lambda comm: facts(MPI, comm, p), p + q, backend=backend, algorithms=table).returns
    return through_json(returns)


@for_each("name", PROGRAMS)
@pytest.mark.parametrize(("p", "q"), SIZES)
def test_collectives_between_groups_agree(p: int, q: int, name: str) -> None:
    """On every rank."""
    for rank, (theirs, mine) in enumerate(zip(real(p, q), emulated(p, q), strict=True)):
        assert (rank, mine[name]) == (rank, theirs[name])


@pytest.mark.quick(3)
@pytest.mark.parametrize("table", ["plain", "mpich", "openmpi"])
@pytest.mark.parametrize(("p", "q"), SIZES)
def test_no_program_fails_on_any_backend_or_table(backend: Any, p: int, q: int, table: str) -> None:
    """All results are equal."""
    found = emulated(p, q, backend, table)
    assert found == emulated(p, q)
    assert [name for each in found for name, value in each.items() if isinstance(value, str)] == []
