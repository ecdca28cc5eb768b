"""cobaya: one chain of Metropolis and Hastings per rank, with convergence checked through mpi4py."""

import sys
from contextlib import redirect_stdout

from cobaya.run import run
from mpi4py import MPI

info = {
    "likelihood": {"gauss": "lambda a, b: -0.5 * (a**2 + 4 * b**2)"},
    "params": {
        name: {"prior": {"min": -5, "max": 5}, "ref": 0.1, "proposal": 0.5} for name in ("a", "b")
    },
    "sampler": {"mcmc": {"Rminus1_stop": 0.2, "max_samples": 400, "seed": 1}},
}
with redirect_stdout(sys.stderr):  # progress, which depends on timing
    updated, sampler = run(info)
samples = MPI.COMM_WORLD.allgather(len(sampler.products()["sample"]))
if MPI.COMM_WORLD.rank == 0:
    print(f"chains on {len(samples)} ranks, none empty: {all(samples)}")
