"""Run one algorithm from one file on 1,000 virtual ranks, and under mpiexec on a real MPI.

    python demos/10_same_code.py
    mpiexec -n 4 python demos/10_same_code.py mpi       (with mpi4py and an MPI: pip install "fakempi[mpi]")
"""

import sys

import numpy as np
from screen import arguments

import collectives


def main(comm, SUM):
    """Sum the rank numbers on every rank, by recursive doubling with point-to-point calls of `comm`."""
    mine, total = np.full(4, float(comm.Get_rank())), np.empty(4)
    collectives.find("allreduce", "recursive_doubling").run(comm, mine, total, op=SUM)
    return float(total[0])


if "mpi" in arguments(__doc__, "mpi"):
    try:
        from mpi4py import MPI
    except (ImportError, RuntimeError):  # RuntimeError: mpi4py finds no MPI library
        sys.exit('This needs mpi4py and an MPI: python -m pip install "fakempi[mpi]"')

    print(f"process {MPI.COMM_WORLD.Get_rank()}: the sum is {main(MPI.COMM_WORLD, MPI.SUM):.0f}")
else:
    import fakempi
    from fakempi import MPI, Hockney

    algorithm = collectives.find("allreduce", "recursive_doubling")
    for p in (1000, 1024):
        run = fakempi.run(main, p, MPI.SUM, cost=Hockney(t_s=1e-6, t_w=1e-9, eager_limit=0))
        claim = algorithm.time(collectives.Case(p=p, m=32, itemsize=8), 1e-6, 1e-9)
        print(f"{p} ranks: the sum is {run.returns[0]:.0f} on every rank, by {run.messages} messages")
        print(f"           modeled {run.time * 1e6:.3f} us, claimed {claim * 1e6:.3f} us")
