"""iteration over stdin, fileinput, buffer"""

# stdin: 3\n4\nx y\n
import sys
from mpi4py import MPI

comm = MPI.COMM_WORLD
if comm.rank == 0:
    for line in sys.stdin:
        if line.strip() == "4":
            break
        comm.bcast(line)
    print(sys.stdin.readline(), sys.stdin.buffer.read())
    comm.bcast(None)
else:
    while (x := comm.bcast(None)) is not None:
        print(comm.rank, x.strip())
