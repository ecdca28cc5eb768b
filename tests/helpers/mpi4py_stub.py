"""The stub file of the installed mpi4py, which states its names, arguments and types; MPI is not started."""

from __future__ import annotations

from importlib.machinery import PathFinder
from pathlib import Path

MISSING = 'there is no MPI: python -m pip install "fakempi[mpi]"'


def stub_file() -> Path | None:
    """Return its path, or None if mpi4py is not installed. `importlib.util.find_spec` would find a replacement, which our
    plugin makes while some tests run.
    """
    spec = PathFinder.find_spec("mpi4py")
    path = None if spec is None or spec.origin is None else Path(spec.origin).with_name("MPI.pyi")
    return path if path is not None and path.exists() else None
