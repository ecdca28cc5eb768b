import traceback
from mpi4py import MPI

comm = MPI.COMM_WORLD


def inner():
    comm.bcast(1, root=99)


try:
    inner()
except MPI.Exception as error:
    print(
        comm.rank,
        len(traceback.extract_tb(error.__traceback__)) >= 2,
        error.Get_error_class() == MPI.ERR_ROOT,
        traceback.format_exc().count("inner"),
    )
# when: full
