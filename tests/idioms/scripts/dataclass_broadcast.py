"""A dataclass of the script as configuration."""

from dataclasses import dataclass, field

from mpi4py import MPI

comm = MPI.COMM_WORLD
rank, size = comm.Get_rank(), comm.Get_size()

@dataclass
class Config:
    steps: int
    names: list = field(default_factory=list)


config = comm.bcast(Config(3, ["a", "b"]) if rank == 0 else None)
config.names.append(rank)
comm.Barrier()
print(rank, config == Config(3, ["a", "b", rank]), config)
