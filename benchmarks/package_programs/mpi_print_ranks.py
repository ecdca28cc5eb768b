"""mpi_print writes the rank above each line."""

import io

from mpi_print import mpi_rank, print

found = io.StringIO()
print("result", 2, file=found)
print_plain = __builtins__.print if hasattr(__builtins__, "print") else __builtins__["print"]
lines = found.getvalue().splitlines()
print_plain(f"{mpi_rank()}: {lines[1].split(' [')[0]} / {lines[2]}\n", end="", flush=True)
