"""A log file for each rank."""

import logging
import shutil
import tempfile
from pathlib import Path

from mpi4py import MPI

comm = MPI.COMM_WORLD
rank, size = comm.Get_rank(), comm.Get_size()

top = comm.bcast(tempfile.mkdtemp() if rank == 0 else None)
logger = logging.getLogger("work")
handler = logging.FileHandler(f"{top}/{rank}.log")
handler.setFormatter(logging.Formatter("%(name)s: %(message)s"))
logger.addHandler(handler)
comm.Barrier()
logger.warning("line of rank %d", rank)
comm.Barrier()
print(rank, len(logger.handlers), Path(f"{top}/{rank}.log").read_text().strip())
comm.Barrier()
if rank == 0:
    shutil.rmtree(top)
