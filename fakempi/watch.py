"""Watch this program for a hang on a real MPI, if its launcher cannot be changed: the public name of `fakempi.apps.watch`.

`mpiexec -n 4 python -m fakempi.watch work.py` runs a script under watch; `fakempi watch mpiexec -n 4 python work.py` is
better where possible, as it also explains a hang before MPI is initialized.

Examples
--------
>>> import fakempi.watch
>>> fakempi.watch.enable(after=60)  # on every rank
"""

import sys

from fakempi.apps.watch.enabling import enable, run_program

__all__ = ["enable"]

if __name__ == "__main__":
    sys.exit(run_program(sys.argv[1:]))
