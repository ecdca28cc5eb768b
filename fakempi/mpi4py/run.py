"""`-m mpi4py.run`: run a script, a module or a line of code, with options for `mpi4py.rc`; if it fails, all ranks end."""

from __future__ import annotations

import os
import runpy
import sys
from ast import literal_eval
from collections.abc import Sequence
from typing import Any, NoReturn

from fakempi import MPI
from fakempi.mpi4py.hidden import _set_abort_status
from fakempi.mpi4py.options import Rc
from fakempi.mpi4py.package import FOLDER, VERSION

FORMS = ("script.py [argument ...]", "-m module [argument ...]", "-c code [argument ...]", "- [argument ...]")
OPTIONS = """
  -rc name=value,...  set options of mpi4py.rc; also --rc, and --rc=name=value,...
  --prefix            where this mpi4py is
  --version           whose names it has
  --mpi-library       where the emulator is
  --mpi-std-version   the MPI standard that it follows
  --mpi-lib-version   what it is
  -h, --help          this
"""


def run_command_line(args: Sequence[str] | None = None) -> None:
    """Run what is on the command line: a file, `-m` and a module, `-c` and code, or `-` for standard input."""
    sys.argv[:] = sys.argv[1:] if args is None else args
    kind = sys.argv[0]
    if kind in ("-", "-c"):
        text = sys.stdin.read() if kind == "-" else sys.argv.pop(1)
        main: Any = sys.modules["__main__"]
        exec(compile(text, "<stdin>" if kind == "-" else "<string>", "exec", dont_inherit=True), vars(main))
    elif kind == "-m":
        del sys.argv[0]
        runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
    else:
        sys.path[0] = os.path.realpath(os.path.dirname(kind))
        runpy.run_path(kind, run_name="__main__")


def set_abort_status(status: Any) -> None:
    """Where an exception is handled that is to be raised again: let it end all ranks, with this exit code."""
    if isinstance(status, SystemExit):
        status = status.code
    elif isinstance(status, KeyboardInterrupt):
        status = 130
    _set_abort_status(status if isinstance(status, int) else 0 if status is None else 1)


def main() -> None:
    """What `-m mpi4py.run` does."""
    options, args = _parsed(sys.argv[1:])
    Rc(**options)
    try:
        run_command_line(args)
    except SystemExit as error:
        set_abort_status(error)
        raise


def _parsed(args: list[str]) -> tuple[dict[str, Any], list[str]]:
    """What to set, and what to run; questions are answered, which ends the program."""
    options: dict[str, Any] = {}
    while args and args[0].startswith("-") and args[0] not in ("-m", "-c", "-"):
        given = args.pop(0)
        name, equals, value = given.lstrip("-").partition("=")
        if name == "rc" and (not equals or given.startswith("--")):
            if not equals:
                if not args or args[0].startswith("-"):
                    _complain(f"{given} needs options after it, such as threads=False.")
                value = args.pop(0)
            options.update(map(_option, value.split(",")))
        elif name in ("h", "help"):
            _answer(_usage() + OPTIONS)
        elif name in ANSWERS and not equals:
            _answer(f"{ANSWERS[name]}\n")
        else:
            _complain(f"there is no option {given}.")
    if not args:
        _complain("there is nothing to run.")
    if args[0] in ("-m", "-c") and len(args) < 2:
        _complain(f"{args[0]} needs {'a module' if args[0] == '-m' else 'code'} after it.")
    return options, args


def _option(entry: str) -> tuple[str, Any]:
    """`threads=False`: a name, and a value as Python would read it, or a word."""
    name, _, value = entry.partition("=")
    if not name or not value:
        _complain(f"an option of rc is name=value, not {entry!r}.")
    try:
        return name, literal_eval(value)
    except (ValueError, SyntaxError):
        return name, value


ANSWERS = {
    "prefix": FOLDER,
    "version": f"mpi4py {VERSION}",
    "mpi-library": os.path.dirname(FOLDER),
    "mpi-std-version": f"MPI {MPI.VERSION}.{MPI.SUBVERSION}",
    "mpi-lib-version": MPI.Get_library_version(),
}


def _usage() -> str:
    start = f"{os.path.basename(sys.executable)} -m mpi4py.run [option ...]"
    return "usage: " + "\n   or: ".join(f"{start} {form}" for form in FORMS)


def _answer(text: str) -> NoReturn:
    sys.stdout.write(text)
    sys.exit(0)


def _complain(text: str) -> NoReturn:
    sys.stderr.write(f"mpi4py.run: {text}\n{_usage()}{OPTIONS}")
    sys.exit(1)


if __name__ == "__main__":
    main()
