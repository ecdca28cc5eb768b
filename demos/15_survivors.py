"""Continue an iteration after process failures: the surviving ranks detect them, agree on the members, and repeat the step.

    python demos/15_survivors.py
"""

from screen import arguments

import fakempi
from fakempi import MPI

STEPS = 8
NETWORK = fakempi.Hockney(t_s=2e-6, t_w=1e-9)
FAILURES = (MPI.ERR_PROC_FAILED, MPI.ERR_REVOKED)


def iterate(comm):
    """Count the ranks in every step; on a failure, revoke and shrink the communicator and repeat the step."""
    step, sizes, log, begun = 0, [], [], MPI.Wtime()
    while step < STEPS:
        try:
            fakempi.compute(1e-3)
            sizes.append(comm.allreduce(1))
            step += 1
        except MPI.Exception as error:
            if error.Get_error_class() not in FAILURES:
                raise
            log.append(f"t = {1e3 * (MPI.Wtime() - begun):5.2f} ms: {error}")
            comm.Revoke()
            comm = comm.Shrink()
            step = comm.allreduce(step, MPI.MIN)
            del sizes[step:]
    return sizes, log


arguments(__doc__)
run = fakempi.run(iterate, 8, cost=NETWORK, kill={5: 2.5e-3, 0: 6.2e-3}, detection_delay=0.5e-3)
for rank, result in enumerate(run.returns):
    if result is None:
        print(f"rank {rank} failed at {1e3 * run.clocks[rank]:.1f} ms")
    else:
        print(f"rank {rank}: number of ranks in each step: {result[0]}")
print(f"\nerrors that rank 1 received until it ended at {1e3 * run.clocks[1]:.2f} ms:")
print("\n".join(run.returns[1][1]))

print("\na program that does not catch the error ends with it:")
try:
    fakempi.run(lambda comm: comm.Barrier(), 4, cost=NETWORK, kill={2: 0})
except fakempi.RankError as error:
    print(error)
