"""`import mpi4py` imports the emulator, even where the real package is installed."""

from __future__ import annotations

from importlib.machinery import PathFinder
from pathlib import Path
from typing import Any

import pytest

from tests.isolation.harness import play

absent = PathFinder.find_spec("mpi4py") is None
needs_mpi4py = pytest.mark.skipif(absent, reason='there is no MPI: python -m pip install "fakempi[mpi]"')


def test_every_import_statement_gives_the_emulator(tmp_path: Path, backend: Any) -> None:
    """It is always the same module."""
    script = """
    import mpi4py, mpi4py.MPI, mpi4py.rc, importlib, fakempi
    import mpi4py.MPI as m
    from mpi4py.MPI import COMM_WORLD, COMM_SELF, SUM
    assert m is MPI is mpi4py.MPI is importlib.import_module("mpi4py.MPI")
    assert MPI.Get_library_version().startswith("fakempi") and SUM is fakempi.MPI.SUM
    assert COMM_WORLD.Get_rank() == comm.rank and COMM_SELF.Get_size() == 1
    assert mpi4py.__version__ >= "4" and mpi4py.get_config() == {}
    try:
        MPI.nothing
    except AttributeError as error:
        assert str(error) == "module 'mpi4py.MPI' has no attribute 'nothing'"
    """
    play(tmp_path, script, 2, backend)


def test_run_time_options_are_private_to_each_rank(tmp_path: Path, backend: Any) -> None:
    """They are stored, and unknown ones are rejected."""
    script = """
    import mpi4py
    from mpi4py import rc
    rc.threads = comm.rank
    rc(thread_level=f"level {comm.rank}")
    comm.Barrier()
    assert mpi4py.rc.threads == comm.rank and rc.thread_level == f"level {comm.rank}" and rc.initialize
    for wrong in (lambda: rc(nothing=1), lambda: setattr(rc, "nothing", 1)):
        try:
            wrong()
        except TypeError as error:
            assert str(error) == "mpi4py.rc has no option 'nothing'"
        else:
            raise AssertionError
    """
    play(tmp_path, script, 2, backend)
