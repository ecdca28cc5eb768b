"""`import mpi4py` is the emulator, even where the real one is installed."""

from __future__ import annotations

from importlib.machinery import PathFinder
from pathlib import Path

import pytest

from tests.script.harness import play

needs_mpi4py = pytest.mark.skipif(PathFinder.find_spec("mpi4py") is None, reason="mpi4py is missing")


def test_every_way_to_import_it_leads_to_the_emulator(tmp_path: Path, carrier: str) -> None:
    """And to the same module."""
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
    play(tmp_path, script, 2, carrier)


def test_run_time_options_are_each_ranks_own(tmp_path: Path, carrier: str) -> None:
    """They are kept, and unknown ones refused."""
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
    play(tmp_path, script, 2, carrier)


@needs_mpi4py
def test_the_plain_python_parts_work_on_the_emulator(tmp_path: Path, carrier: str) -> None:
    """pkl5 sends large objects in pieces, dtlib translates datatypes."""
    script = """
    import numpy as np
    from mpi4py.util import pkl5, dtlib
    import mpi4py.typing
    big = np.arange(100_000) + comm.rank
    other = pkl5.Intracomm(comm)
    got = other.sendrecv(big, (comm.rank + 1) % comm.size, 3, source=(comm.rank - 1) % comm.size)
    assert (got == np.arange(100_000) + (comm.rank - 1) % comm.size).all()
    assert [len(x) for x in other.allgather(big)] == [100_000] * comm.size
    for dtype in ("d", "i4,f8", "(2,3)i2", [("f0", "u1"), ("f1", "f4", 3)]):
        assert dtlib.to_numpy_dtype(dtlib.from_numpy_dtype(dtype)) == np.dtype(dtype)
    assert dtlib.to_numpy_dtype(MPI.DOUBLE_INT) == np.dtype("d,i", align=True)
    request = other.isend(big, comm.rank)
    assert (other.recv(source=comm.rank) == big).all()
    request.wait()
    assert other.bcast(big if comm.rank == 1 else None, root=1)[0] == 1
    half = comm.Split(comm.rank % 2)
    inter = pkl5.Intercomm(half.Create_intercomm(0, comm, 1 - comm.rank % 2))
    assert inter.remote_size + half.size == comm.size
    assert inter.sendrecv(big, half.rank, source=half.rank)[0] == comm.rank + 1 - 2 * (comm.rank % 2)
    assert [x[0] for x in inter.allgather(big)] == list(range(1 - comm.rank % 2, comm.size, 2))
    """
    play(tmp_path, script, 4, carrier)


@pytest.mark.parametrize("name", ["mpi4py.futures", "mpi4py.run"])
def test_what_is_not_emulated_is_refused(tmp_path: Path, name: str) -> None:
    """With the reason."""
    script = f"""
    try:
        import {name}
    except ImportError as error:
        assert "{name} is not emulated: " in str(error)
    else:
        raise AssertionError
    """
    play(tmp_path, script, 1)
