"""Run a script or a module as `python` would, for commands such as `mpiexec -n 4 python -m fakempi.watch work.py`.

Ranks of a real MPI import this module: it needs the standard library only.
"""

from __future__ import annotations

import os
import runpy
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Collection, Sequence


def parse(parser: ArgumentParser, arguments: Sequence[str], with_value: Collection[str]) -> tuple[Namespace, list[str]]:
    """Parse the options that precede a script, or `-m` and a module; returns the options, and the program's own words.

    `with_value` are options of the parser that have one. `sys.argv` becomes that of the program.
    """
    parser.add_argument("-m", dest="module", metavar="MODULE", help="run a module, such as pytest")
    start = first_of_program(arguments, with_value)
    options, program = parser.parse_args(list(arguments[:start])), list(arguments[start:])
    if not options.module and not program:
        parser.error(f"the program is missing, for example: mpiexec -n 4 {parser.prog} work.py")
    if not options.module and not os.path.exists(program[0]):
        parser.error(f"{program[0]}: there is no such file.")
    sys.argv = [options.module, *program] if options.module else program
    return options, program


def first_of_program(arguments: Sequence[str], with_value: Collection[str]) -> int:
    """Return the place of the script, or of the first argument of the module; `with_value` are options that have one."""
    place = 0
    while place < len(arguments) and arguments[place].startswith("-"):
        word = arguments[place]
        place += 2 if word in with_value or word == "-m" else 1
        if word == "-m":
            break
    return min(place, len(arguments))


def run(module: str | None, program: Sequence[str]) -> None:
    """Run the module with these arguments, or the script that is the first of them."""
    if module:
        runpy.run_module(module, run_name="__main__", alter_sys=True)
    else:
        sys.path[0] = os.path.dirname(os.path.abspath(program[0]))
        runpy.run_path(program[0], run_name="__main__")
