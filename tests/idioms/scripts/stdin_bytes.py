"""stdin in bytes; other ranks see the end."""

# stdin: abc\ndef\n1 2 3\n
import sys
from mpi4py import MPI

comm = MPI.COMM_WORLD
if comm.rank == 0:
    print(sys.stdin.buffer.readline(), sys.stdin.readline())
    print(sys.stdin.read().split(), sys.stdin.isatty(), sys.stdin.readline() == "")
else:
    print(sys.stdin.isatty())
