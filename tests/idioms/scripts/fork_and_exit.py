"""Processes that ranks fork before they import MPI end by `sys.exit`, an exception, or the end of the script."""
# ranks: 2

import os
import sys


def fork(end):
    sys.stdout.flush()
    pid = os.fork()
    if pid == 0:
        end()
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def fail():
    raise ValueError("in the child")


codes = [fork(lambda: sys.exit(3)), fork(lambda: os._exit(4)), fork(lambda: sys.exit("text")), fork(fail)]
last = os.fork()
if last == 0:
    print("a child ends with the script")
else:
    os.waitpid(last, 0)

    from mpi4py import MPI

    print(MPI.COMM_WORLD.rank, codes)
