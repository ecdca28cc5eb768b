"""zeus: two independent chains, distributed by its ChainManager."""

import random

import numpy as np
import zeus
from mpi4py import MPI


def log_probability(x):
    return -0.5 * np.sum(x**2)


with zeus.ChainManager(MPI.COMM_WORLD.Get_size()) as manager:
    rank = manager.get_rank
    np.random.seed(rank)
    random.seed(rank)
    sampler = zeus.EnsembleSampler(6, 2, log_probability, pool=manager.get_pool, verbose=False)
    sampler.run_mcmc(np.random.randn(6, 2), 10, progress=False)
    chains = manager.gather(sampler.get_chain(flat=True), root=0)
    if rank == 0:
        print(f"{np.concatenate(chains).shape} {np.sum(chains):.12f}")
