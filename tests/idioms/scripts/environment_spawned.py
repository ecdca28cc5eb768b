import os
import subprocess
import sys
from mpi4py import MPI

comm = MPI.COMM_WORLD
os.environ["IDIOM"] = str(comm.rank)
comm.barrier()
os.environ.setdefault("IDIOM2", "d")
del os.environ["IDIOM2"]
out = subprocess.run(
    [
        sys.executable,
        "-c",
        "import os; print(os.environ['IDIOM'], 'IDIOM2' in os.environ, os.getcwd() == os.environ['PWD2'])",
    ],
    env={**os.environ, "PWD2": os.getcwd()},
    capture_output=True,
    text=True,
)
print(comm.rank, out.stdout.strip(), out.returncode, os.getenv("IDIOM"), os.path.expandvars("$IDIOM"))
# when: full
