"""emcee: an ensemble of walkers, with log probabilities computed on schwimmbad's MPIPool."""

import sys

import emcee
import numpy as np
from schwimmbad import MPIPool


def log_probability(x):
    return -0.5 * np.sum(x**2)


with MPIPool() as pool:
    if not pool.is_master():
        pool.wait()
        sys.exit(0)
    np.random.seed(1)
    sampler = emcee.EnsembleSampler(8, 2, log_probability, pool=pool)
    sampler.run_mcmc(np.random.randn(8, 2), 20)
    print(f"{sampler.get_chain().sum():.12f}")
