"""A script spawns itself by the interpreter; parents and children merge into one communicator."""
# ranks: 2

import sys

from mpi4py import MPI


def write(*words):
    """Write a line at once: with -u, `print` writes each word alone, and mpiexec mixes the words of several ranks."""
    sys.stdout.write(" ".join(map(str, words)) + "\n")


parent = MPI.Comm.Get_parent()
if parent == MPI.COMM_NULL:
    between = MPI.COMM_WORLD.Spawn(sys.executable, args=["-u", __file__, "child"], maxprocs=2)
    everyone = between.Merge(high=False)
    write("parent", everyone.rank, everyone.size, between.remote_size, sys.argv[1:])
    between.bcast({"x": 1}, root=MPI.ROOT if MPI.COMM_WORLD.rank == 0 else MPI.PROC_NULL)
    write("ranks of the children", between.allgather(None))
else:
    between = parent
    everyone = parent.Merge(high=True)
    write("child", everyone.rank, everyone.size, sys.argv[1:], parent.name)
    write(parent.bcast(None, root=0))
    parent.allgather(MPI.COMM_WORLD.rank)
everyone.Free()
between.Disconnect()
