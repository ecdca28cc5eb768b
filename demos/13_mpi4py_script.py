"""An mpi4py script as it is: nothing in pi_mpi4py.py, beside this file, knows of the emulator.

    fakempi run -n 8 demos/pi_mpi4py.py 1000             no MPI needed
    mpiexec -n 8 python demos/pi_mpi4py.py 1000          the same file on an MPI (pip install "fakempi[mpi]")

    python demos/13_mpi4py_script.py                     the first command, and some that mpiexec has no answer to
"""

import shlex
from pathlib import Path

from screen import asked

from fakempi.cli import main

SCRIPT = Path(__file__).with_name("pi_mpi4py.py")


def command(line, words):
    """Show a command of the terminal, and do it: `fakempi.cli.main` is what the command fakempi calls."""
    print(f"# {words}\n$ {line}", flush=True)
    arguments = shlex.split(line)[1:]
    code = main([str(SCRIPT) if word == "demos/pi_mpi4py.py" else word for word in arguments])
    print(f"exit code {code}\n", flush=True)


asked(__doc__)
command("fakempi run -n 8 demos/pi_mpi4py.py 1000", "as mpiexec -n 8 python demos/pi_mpi4py.py 1000")
command("fakempi run -n 1000 demos/pi_mpi4py.py 123456", "more ranks than this machine has cores")
command(
    "fakempi run -n 8 --prefix --algorithms reduce=linear,bcast=chain demos/pi_mpi4py.py 1000",
    "other algorithms underneath, and each line says who wrote it",
)
