# args: --x 1 "two words" ""
import os
import sys
from mpi4py import MPI

print(
    MPI.COMM_WORLD.rank,
    os.path.basename(__file__),
    [os.path.basename(sys.argv[0]), *sys.argv[1:]],
    __name__,
    __spec__,
    __package__,
    __doc__,
)
print(os.path.samefile(sys.path[0], os.path.dirname(os.path.abspath(__file__))))
# when: full
