"""Record the MPI calls of a program on a real MPI for `fakempi replay`: the public name of `fakempi.apps.record`.

`mpiexec -n 8 python -m fakempi.record -o recording work.py` writes the files `recording/rank-0.txt` to `rank-7.txt`.
"""

import sys

from fakempi.apps.record.running import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
