"""Run an unmodified mpi4py script: pi_mpi4py.py, next to this file, does not refer to fakempi.

    fakempi run -n 8 demos/pi_mpi4py.py 1000             no MPI needed
    mpiexec -n 8 python demos/pi_mpi4py.py 1000          the same file on an MPI (pip install "fakempi[mpi]")

    python demos/06_mpi4py_script.py                     the first command, and some that mpiexec does not have
"""

import shlex
from pathlib import Path

from screen import arguments

from fakempi.apps.cli import main

SCRIPT = Path(__file__).with_name("pi_mpi4py.py")


def command(line, comment):
    """Print a command and run it through `fakempi.apps.cli.main`, the entry point of the command fakempi."""
    print(f"# {comment}\n$ {line}", flush=True)
    words = shlex.split(line)[1:]
    code = main([str(SCRIPT) if word == "demos/pi_mpi4py.py" else word for word in words])
    print(f"exit code {code}\n", flush=True)


arguments(__doc__)
command("fakempi run -n 8 demos/pi_mpi4py.py 1000", "like mpiexec -n 8 python demos/pi_mpi4py.py 1000")
command("fakempi run -n 1000 demos/pi_mpi4py.py 123456", "more ranks than this machine has cores")
command(
    "fakempi run -n 8 --prefix --algorithms reduce=linear,bcast=chain demos/pi_mpi4py.py 1000",
    "with other algorithms, and the rank at the start of each line",
)
