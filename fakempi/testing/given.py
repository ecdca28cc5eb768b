"""Fixtures that a test on ranks may ask for: a communicator, and how many ranks there are."""

from __future__ import annotations

from typing import Any

import pytest

from fakempi.testing import situation
from fakempi.testing.fixtures import Later
from fakempi.testing.markers import marker_of, size_of


@pytest.fixture(scope="session")  # it is only a placeholder; and Hypothesis dislikes fixtures of function scope
def comm(request: pytest.FixtureRequest) -> Any:
    """COMM_WORLD, on every rank of a marked test."""
    world = situation.of(request.config).comm
    return Later("comm") if world is None else world


@pytest.fixture
def mpi_ranks(request: pytest.FixtureRequest) -> int:
    """The number of ranks that this test runs on."""
    world = situation.of(request.config).comm
    if world is not None:
        return int(world.Get_size())
    mark = marker_of(request.node)
    return 1 if mark is None else size_of(request.node, mark)
