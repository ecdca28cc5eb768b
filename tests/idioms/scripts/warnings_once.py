import warnings
from mpi4py import MPI

comm = MPI.COMM_WORLD
warnings.showwarning = lambda message, category, filename, lineno, file=None, line=None: print(
    comm.rank, category.__name__, message
)


def old():
    warnings.warn("old function", DeprecationWarning, stacklevel=2)


for _ in range(3):
    old()
    warnings.warn("user", UserWarning)
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    comm.barrier()
    warnings.warn("caught")
print(comm.rank, len(caught))
# when: full
