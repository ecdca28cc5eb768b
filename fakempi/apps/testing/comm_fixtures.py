"""The fixtures `comm` and `mpi_ranks`."""

from __future__ import annotations

from typing import Any

import pytest

from fakempi.apps.testing import environment
from fakempi.apps.testing.fixtures import DeferredFixture
from fakempi.apps.testing.markers import marker_of, size_of


@pytest.fixture(scope="session")  # a placeholder; Hypothesis rejects fixtures of function scope
def comm(request: pytest.FixtureRequest) -> Any:
    """COMM_WORLD, on every rank of a marked test."""
    world = environment.of(request.config).comm
    return DeferredFixture("comm") if world is None else world


@pytest.fixture
def mpi_ranks(request: pytest.FixtureRequest) -> int:
    """The number of ranks of this test."""
    world = environment.of(request.config).comm
    if world is not None:
        return int(world.Get_size())
    mark = marker_of(request.node)
    return 1 if mark is None else size_of(request.node, mark)
