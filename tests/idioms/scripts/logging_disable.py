"""Ranks other than 0 log errors only."""

import logging
import sys

from mpi4py import MPI

comm = MPI.COMM_WORLD
rank, size = comm.Get_rank(), comm.Get_size()

level = logging.INFO if rank == 0 else logging.ERROR
logging.basicConfig(stream=sys.stdout, format="%(levelname)s %(message)s", level=level)
comm.Barrier()
logging.info("information of %d", rank)
logging.error("error of %d", rank)
