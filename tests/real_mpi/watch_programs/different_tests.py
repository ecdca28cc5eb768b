"""A test is skipped on one rank only."""

import pytest
from mpi4py import MPI

comm = MPI.COMM_WORLD


def test_before():
    pass


@pytest.mark.skipif(comm.rank == 1, reason="not on this rank")
def test_sum():
    assert comm.allreduce(1) == comm.size


def test_rest():
    comm.Barrier()
