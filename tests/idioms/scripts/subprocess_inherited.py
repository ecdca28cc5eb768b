import subprocess
import sys
from mpi4py import MPI

comm = MPI.COMM_WORLD
for r in range(comm.size):
    if r == comm.rank:
        print("before", r, flush=True)
        subprocess.run([sys.executable, "-c", f"print('child of', {r})"])
        print("after", r, flush=True)
    comm.barrier()
# when: full
