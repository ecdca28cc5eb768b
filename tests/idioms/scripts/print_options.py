import sys
from mpi4py import MPI

comm = MPI.COMM_WORLD
print(comm.rank, "a", "b", sep="-", end=";\n")
print(f"{comm.rank}: äöü ✓")
sys.stdout.write(f"{comm.rank} w\n")
sys.stdout.writelines([f"{comm.rank} l1\n", f"{comm.rank} l2\n"])
print(
    sys.stdout.encoding.lower(),
    sys.stdout.errors,
    sys.stdout.isatty(),
    sys.stdout.fileno(),
    sys.stdout.name,
    sys.stdout.writable(),
    sys.stderr.errors,
)
# when: full
