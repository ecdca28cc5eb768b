"""The fixtures of pytest-mpi: directories and file names that are equal on all ranks."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from fakempi.apps.testing import environment


def _of_rank_0(name: str, request: pytest.FixtureRequest) -> str:
    """Return the name that rank 0 has. Virtual ranks share the fixture; ranks that each run pytest broadcast the name."""
    world = environment.of(request.config).comm
    return name if world is None else str(world.bcast(name, root=0))


@pytest.fixture
def mpi_tmp_path(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    """A new directory, the same one on all ranks."""
    return Path(_of_rank_0(str(tmp_path), request))


@pytest.fixture
def mpi_tmpdir(tmpdir: Any, request: pytest.FixtureRequest) -> Any:
    """The same directory, with the type of pytest's `tmpdir`."""
    return type(tmpdir)(_of_rank_0(str(tmpdir), request))


@pytest.fixture
def mpi_file_name(mpi_tmp_path: Path, request: pytest.FixtureRequest) -> str:
    """The name of a new file in a new directory, the same on all ranks."""
    return str(mpi_tmp_path / f"{re.sub(r'[^0-9A-Za-z_.=-]', '_', request.node.name)}.hdf5")
