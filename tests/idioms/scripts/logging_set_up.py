"""The rank in the format of all messages."""

import logging
import sys

from mpi4py import MPI

comm = MPI.COMM_WORLD
rank, size = comm.Get_rank(), comm.Get_size()

logging.basicConfig(stream=sys.stdout, level=logging.DEBUG, format=f"[{rank}] %(name)s %(message)s", force=True)
comm.Barrier()
logging.getLogger("solver").debug("step %d", 1)
