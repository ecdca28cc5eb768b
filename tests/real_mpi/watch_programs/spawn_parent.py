"""The parent waits for a message of the processes that it has spawned, and these wait for the parent."""

import os
import sys

from mpi4py import MPI

child = os.path.join(os.path.dirname(os.path.abspath(__file__)), "spawn_child.py")
inter = MPI.COMM_SELF.Spawn(sys.executable, [child], maxprocs=2)
inter.recv(source=1, tag=3)
