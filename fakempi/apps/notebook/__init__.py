"""The cell magic `%%mpi -n 8`: run a notebook cell on virtual ranks. `%load_ext fakempi` registers it.

magic        the magic: runs or checks a cell, and shows findings and failures
line         the options in the line of the magic
cell         a cell as a program: variables that go in and out, the value of its last expression
reports      a failure as lines, and as a table with the lines of the cell
"""

from fakempi.apps.notebook.magic import CellError, load, run_cell

__all__ = ["CellError", "load", "run_cell"]
