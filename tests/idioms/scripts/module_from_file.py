"""A configuration that is loaded with spec_from_file_location, and exec."""

import importlib.util
import os
import sys
import tempfile
from mpi4py import MPI

comm = MPI.COMM_WORLD
with tempfile.NamedTemporaryFile("w", suffix=".py", delete=False) as f:
    f.write("import sys\nfrom mpi4py import MPI\nrank, me = MPI.COMM_WORLD.rank, sys.modules.get(__name__)\n")
spec = importlib.util.spec_from_file_location("config", f.name)
m = importlib.util.module_from_spec(spec)
sys.modules["config"] = m
comm.Barrier()
spec.loader.exec_module(m)
import config  # noqa: E402

print(m.rank == comm.rank, m.me is m, config is m)
os.remove(f.name)
