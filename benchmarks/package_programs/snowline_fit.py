"""snowline shares the samples of an importance sampling between ranks."""

import numpy as np
import snowline
from mpi4py import MPI


def likelihood(x):
    """A normal distribution."""
    return -0.5 * float(np.sum((x / 0.1) ** 2))


np.random.seed(3)
sampler = snowline.ReactiveImportanceSampler(["a", "b"], likelihood, lambda cube: 2 * cube - 1)
found = sampler.run(num_global_samples=60, num_gauss_samples=60, max_ncalls=2000, max_improvement_loops=1, verbose=False)
print(f"{MPI.COMM_WORLD.rank}: {len(found['posterior']['mean'])} {abs(found['logz'] + 4.15) < 1.5}\n", end="", flush=True)
