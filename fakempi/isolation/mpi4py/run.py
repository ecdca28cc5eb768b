"""`-m mpi4py.run`: run a script, a module or a line of code, with options for `mpi4py.rc`; if it fails, all ranks end."""

from __future__ import annotations

import os
import runpy
import sys
from ast import literal_eval
from collections.abc import Sequence
from typing import Any, NoReturn

from fakempi import MPI
from fakempi.isolation.mpi4py.options import Rc
from fakempi.isolation.mpi4py.package import DIRECTORY, VERSION
from fakempi.isolation.mpi4py.private_names import _set_abort_status

FORMS = ("script.py [argument ...]", "-m module [argument ...]", "-c code [argument ...]", "- [argument ...]")
OPTIONS = """
  -rc name=value,...  set options of mpi4py.rc; also --rc, and --rc=name=value,...
  --prefix            print the directory of this package
  --version           print the emulated version of mpi4py
  --mpi-library       print the directory of the emulator
  --mpi-std-version   print the version of the MPI standard
  --mpi-lib-version   print the version of the emulator
  -h, --help          print this help
"""


def run_command_line(args: Sequence[str] | None = None) -> None:
    """Run the command line: a file, `-m` and a module, `-c` and code, or `-` for standard input."""
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
    """Abort all ranks with the exit code of an exception that is about to be raised again."""
    if isinstance(status, SystemExit):
        status = status.code
    elif isinstance(status, KeyboardInterrupt):
        status = 130
    _set_abort_status(status if isinstance(status, int) else 0 if status is None else 1)


def main() -> None:
    """Run `-m mpi4py.run`."""
    options, args = _parse(sys.argv[1:])
    Rc(**options)
    try:
        run_command_line(args)
    except SystemExit as error:
        set_abort_status(error)
        raise


def _parse(args: list[str]) -> tuple[dict[str, Any], list[str]]:
    """Return the options of `mpi4py.rc` and the command to run; print information and exit if requested."""
    options: dict[str, Any] = {}
    while args and args[0].startswith("-") and args[0] not in ("-m", "-c", "-"):
        given = args.pop(0)
        name, equals, value = given.lstrip("-").partition("=")
        if name == "rc" and (not equals or given.startswith("--")):
            if not equals:
                if not args or args[0].startswith("-"):
                    _fail(f"{given} must be followed by options, such as threads=False.")
                value = args.pop(0)
            options.update(map(_option, value.split(",")))
        elif name in ("h", "help"):
            _print_and_exit(_usage() + OPTIONS)
        elif name in INFORMATION and not equals:
            _print_and_exit(f"{INFORMATION[name]}\n")
        else:
            _fail(f"unknown option {given}.")
    if not args:
        _fail("no script, module or code to run.")
    if args[0] in ("-m", "-c") and len(args) < 2:
        _fail(f"{args[0]} must be followed by {'a module name' if args[0] == '-m' else 'code'}.")
    return options, args


def _option(entry: str) -> tuple[str, Any]:
    """Parse `threads=False`: a name, and a Python literal or text."""
    name, _, value = entry.partition("=")
    if not name or not value:
        _fail(f"an option of rc must have the form name=value, not {entry!r}.")
    try:
        return name, literal_eval(value)
    except (ValueError, SyntaxError):
        return name, value


INFORMATION = {
    "prefix": DIRECTORY,
    "version": f"mpi4py {VERSION}",
    "mpi-library": os.path.dirname(DIRECTORY),
    "mpi-std-version": f"MPI {MPI.VERSION}.{MPI.SUBVERSION}",
    "mpi-lib-version": MPI.Get_library_version(),
}


def _usage() -> str:
    start = f"{os.path.basename(sys.executable)} -m mpi4py.run [option ...]"
    return "usage: " + "\n   or: ".join(f"{start} {form}" for form in FORMS)


def _print_and_exit(text: str) -> NoReturn:
    sys.stdout.write(text)
    sys.exit(0)


def _fail(text: str) -> NoReturn:
    sys.stderr.write(f"mpi4py.run: {text}\n{_usage()}{OPTIONS}")
    sys.exit(1)


if __name__ == "__main__":
    main()
