import os
import signal
from mpi4py import MPI

comm = MPI.COMM_WORLD
seen = []
signal.signal(signal.SIGUSR1, lambda *_: seen.append(comm.rank))
os.kill(os.getpid(), signal.SIGUSR1)
print(comm.rank, seen, signal.getsignal(signal.SIGUSR2) == signal.SIG_DFL)
comm.barrier()
# when: full
