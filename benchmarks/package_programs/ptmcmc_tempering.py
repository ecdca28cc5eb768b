"""PTMCMCSampler runs one temperature of parallel tempering on each rank."""

import numpy as np
from mpi4py import MPI
from PTMCMCSampler import PTMCMCSampler

comm = MPI.COMM_WORLD
np.random.seed(comm.rank)
sampler = PTMCMCSampler.PTSampler(2, lambda x: -0.5 * float(np.sum(x**2)), lambda x: 0.0, np.eye(2), comm=comm,
                                  outDir="chains", verbose=False, seed=comm.rank)  # fmt: skip
sampler.sample(np.zeros(2), 2000, burn=500, thin=1, covUpdate=500, isave=500)
comm.Barrier()
if comm.rank == 0:
    print(np.loadtxt("chains/chain_1.0.txt").shape)
print(f"{comm.rank}: {sampler.ladder.round(6).tolist()} {sampler.temp:.6f} {bool(sampler.naccepted)}\n", end="", flush=True)
