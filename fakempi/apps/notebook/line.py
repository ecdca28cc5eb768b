"""The options in the line of `%%mpi`."""

from __future__ import annotations

import shlex
from argparse import ArgumentParser, Namespace
from typing import NoReturn

USAGE = (
    "%%mpi -n RANKS [--push NAMES] [--pull NAMES] [--keep] [--reset] [-o NAME] [--trace] [--strict] [--check] "
    "[--timeout SECONDS] [--schedule TOKEN] [--cost MODEL] [--algorithms LIST] [--seed S] [--prefix] [--ignore KIND]"
)


class _Parser(ArgumentParser):
    """A parser that raises an exception: a notebook must not exit."""

    def error(self, message: str) -> NoReturn:
        raise ValueError(f"%%mpi: {message}.")


def _names(text: str) -> list[str]:
    return text.replace(",", " ").split()


def parse_line(line: str) -> Namespace:
    """Return the options; raise ValueError if they are wrong, or if help is wanted."""
    words = shlex.split(line)
    if {"-h", "--help"} & {*words}:
        raise ValueError("%%mpi: run this cell, a program that starts with `from mpi4py import MPI`, on virtual ranks.")
    parser = _Parser("%%mpi", add_help=False, allow_abbrev=False)
    parser.add_argument("-n", "-np", dest="ranks", type=int, required=True)
    for flag in ("--trace", "--strict", "--check", "--prefix", "--keep", "--reset"):
        parser.add_argument(flag, action="store_true")
    for option in ("--cost", "--algorithms", "--schedule"):
        parser.add_argument(option)
    parser.add_argument("--seed", type=int)
    parser.add_argument("--timeout", type=float)
    for option in ("--ignore", "--push", "--pull"):
        parser.add_argument(option, action="extend", type=_names, default=[])
    parser.add_argument("-o", dest="output", default="")
    options = parser.parse_args(words)
    for name in (*options.push, *options.pull):
        if not name.isidentifier():
            raise ValueError(f"%%mpi: {name!r} is not the name of a variable: use --push x,y or --pull total.")
    if options.check and (options.pull or options.keep or options.trace or options.schedule):
        raise ValueError("%%mpi: --check runs the cell in many schedules: omit --pull, --keep, --trace and --schedule.")
    return options
