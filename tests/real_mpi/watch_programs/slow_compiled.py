"""One rank computes in one call of compiled code, without the interpreter lock; the others wait."""

import hashlib
import sys
import time

from mpi4py import MPI

comm = MPI.COMM_WORLD
if comm.rank == 1:
    begin = time.monotonic()
    hashlib.pbkdf2_hmac("sha256", b"", b"", 100_000)
    second = 100_000 / (time.monotonic() - begin)
    hashlib.pbkdf2_hmac("sha256", b"", b"", int(second * float(sys.argv[1])))
comm.Barrier()
