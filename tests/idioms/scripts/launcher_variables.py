"""A program finds its rank without MPI, in the variables of the launcher."""

import os

from mpi4py import MPI

comm = MPI.COMM_WORLD
rank, size = comm.Get_rank(), comm.Get_size()

names = [("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"), ("PMI_RANK", "PMI_SIZE")]
found = next((os.environ[a], os.environ[b]) for a, b in names if a in os.environ)
print(rank, found == (str(rank), str(size)), os.environ.get("MPI_LOCALRANKID"))
