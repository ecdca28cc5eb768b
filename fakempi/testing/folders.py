"""Fixtures of pytest-mpi: folders and names of files that are the same on all ranks."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from fakempi.testing import situation


def _of_rank_0(name: str, request: pytest.FixtureRequest) -> str:
    """On virtual ranks a fixture is made once for all; where each has a pytest of its own, they have to agree."""
    world = situation.of(request.config).comm
    return name if world is None else str(world.bcast(name, root=0))


@pytest.fixture
def mpi_tmp_path(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    """A new folder, the same one on all ranks."""
    return Path(_of_rank_0(str(tmp_path), request))


@pytest.fixture
def mpi_tmpdir(tmpdir: Any, request: pytest.FixtureRequest) -> Any:
    """The same as a path of the kind that `tmpdir` is."""
    return type(tmpdir)(_of_rank_0(str(tmpdir), request))


@pytest.fixture
def mpi_file_name(mpi_tmp_path: Path, request: pytest.FixtureRequest) -> str:
    """The name of a file that is not there yet, in a new folder, the same on all ranks."""
    return str(mpi_tmp_path / f"{re.sub(r'[^0-9A-Za-z_.=-]', '_', request.node.name)}.hdf5")
