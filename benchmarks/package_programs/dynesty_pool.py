"""dynesty: nested sampling with likelihoods computed on schwimmbad's MPIPool."""

import sys

import dynesty
import numpy as np
from schwimmbad import MPIPool


def log_likelihood(x):
    return -0.5 * np.sum(x**2)


def prior(u):
    return 10 * u - 5


with MPIPool() as pool:
    if not pool.is_master():
        pool.wait()
        sys.exit(0)
    rng = np.random.default_rng(1)
    sampler = dynesty.NestedSampler(log_likelihood, prior, 2, nlive=50, pool=pool, queue_size=4, rstate=rng)
    sampler.run_nested(dlogz=1, print_progress=False)
    print(f"{sampler.results.logz[-1]:.12f}")
