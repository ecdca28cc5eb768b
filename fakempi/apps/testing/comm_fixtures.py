"""The fixtures `comm` and `mpi_ranks`, and the deferral of fixtures that use `comm`."""

from __future__ import annotations

from typing import Any

import pytest

from fakempi.apps.testing import environment
from fakempi.apps.testing.fixtures import DeferredFixture, defer_if_needed
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


@pytest.hookimpl(tryfirst=True)
def pytest_fixture_setup(fixturedef: pytest.FixtureDef[Any], request: pytest.FixtureRequest) -> Any:
    """Defer fixtures that need a communicator until the ranks run."""
    if environment.of(request.config).comm is not None or "comm" not in request.fixturenames:
        return None
    return defer_if_needed(fixturedef, request)
