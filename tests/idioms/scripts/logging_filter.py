"""A filter that adds the rank to every record."""

import logging
import sys

from mpi4py import MPI

comm = MPI.COMM_WORLD
rank, size = comm.Get_rank(), comm.Get_size()

class AddRank(logging.Filter):
    def filter(self, record):
        record.rank = rank
        return True


handler = logging.StreamHandler(sys.stdout)
handler.addFilter(AddRank())
handler.setFormatter(logging.Formatter("[%(rank)d] %(message)s"))
logging.getLogger().addHandler(handler)
comm.Barrier()
logging.getLogger("module").warning("hello")
