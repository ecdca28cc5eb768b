"""An unmodified mpi4py script or module on every rank, as if each rank were a process of its own.

    >>> from fakempi import run
    >>> from fakempi.script import program
    >>> run(program(["work.py", "a", "b"]), 4)                  # doctest: +SKIP
    >>> run(program(["-m", "package.module", "a"]), 4)          # doctest: +SKIP

program    what a rank does with a command: find the code, run it, exit
stage      whose turn it is: what belongs to one rank is put in its place when that rank gets the baton
place      what a rank has of its own
imports    which modules are copied for every rank, and how they are imported
finders    who is asked for a module, and in which order
reach      which packages lead to mpi4py, by their sources
loaders    how modules of ranks are loaded: what need not be done on each rank is done once
names      files beside the script that are called like modules which we need
stand_in   the modules that `import mpi4py` finds
output     whole lines of text, by rank; standard input for one rank
turns      what Python keeps by thread and a rank has to itself
coroutines asyncio, by rank and in modelled time
debugging  the terminal, for pdb on any rank
leaving    `os._exit`, of one rank
patches    functions of the standard library that mean something else while a script runs
"""

from fakempi.script.program import Program, program

__all__ = ["Program", "program"]
