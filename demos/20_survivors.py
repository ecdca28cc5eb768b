"""An iteration that survives: ranks die, the others notice, agree on who is left, and go on from where all of them were.

    python demos/20_survivors.py
"""

from screen import asked

import fakempi
from fakempi import MPI

STEPS = 8
NETWORK = fakempi.Hockney(t_s=2e-6, t_w=1e-9)
GONE = (MPI.ERR_PROC_FAILED, MPI.ERR_REVOKED)


def iterate(comm):
    """Add up something in every step; whoever sees that somebody has died tells all, and they begin the step again."""
    step, sizes, log = 0, [], []
    while step < STEPS:
        try:
            fakempi.compute(1e-3)
            sizes.append(comm.allreduce(1))
            step += 1
        except MPI.Exception as error:
            if error.Get_error_class() not in GONE:
                raise
            log.append(f"t = {1e3 * MPI.Wtime():5.2f} ms: {error}")
            comm.Revoke()
            comm = comm.Shrink()
            step = comm.allreduce(step, MPI.MIN)
            del sizes[step:]
    return sizes, log


asked(__doc__)
run = fakempi.run(iterate, 8, cost=NETWORK, kill={5: 2.5e-3, 0: 6.2e-3}, detection=0.5e-3)
for rank, result in enumerate(run.returns):
    if result is None:
        print(f"rank {rank} died at {1e3 * run.clocks[rank]:.1f} ms")
    else:
        print(f"rank {rank}: so many took part in each step: {result[0]}")
print(f"\nand this is what rank 1 was told until it was done at {1e3 * run.clocks[1]:.2f} ms:")
print("\n".join(run.returns[1][1]))

print("\nwho does not catch the error ends with it:")
try:
    fakempi.run(lambda comm: comm.Barrier(), 4, cost=NETWORK, kill={2: 0})
except fakempi.RankError as error:
    print(error)
