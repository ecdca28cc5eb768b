"""nautilus: importance nested sampling with an MPIPoolExecutor. Started with -m mpi4py.futures."""

import numpy as np
from mpi4py.futures import MPIPoolExecutor
from nautilus import Prior, Sampler


def log_likelihood(parameters):
    return -0.5 * (parameters["x"] ** 2 + parameters["y"] ** 2)


if __name__ == "__main__":
    prior = Prior()
    prior.add_parameter("x", dist=(-5, 5))
    prior.add_parameter("y", dist=(-5, 5))
    with MPIPoolExecutor(2) as pool:
        sampler = Sampler(prior, log_likelihood, n_live=100, n_networks=0, seed=1, pool=(pool, None))
        sampler.run(n_eff=200, n_like_max=2000, discard_exploration=False)
    print(np.isfinite(sampler.log_z), f"{sampler.log_z:.12f}")
