"""A module is replaced by an object that is set as an attribute of a package (monkeypatch)."""

import os
import json
import time
from unittest import mock
from mpi4py import MPI

comm = MPI.COMM_WORLD
with (
    mock.patch("time.time", return_value=comm.rank),
    mock.patch.dict(os.environ, {"X_MODE": str(comm.rank)}),
    mock.patch.object(json, "dumps", return_value=f"patched {comm.rank}"),
):
    comm.Barrier()
    print(time.time(), os.environ["X_MODE"], json.dumps([]))
    comm.Barrier()
print("X_MODE" in os.environ, json.dumps([1]))
