"""`-m mpi4py.futures`: run a script, a module or code on rank 0, with all other ranks as workers."""

from __future__ import annotations

import os
import sys

from fakempi.isolation.mpi4py.futures.shared import SharedPool
from fakempi.isolation.mpi4py.run import FORMS, run_command_line, set_abort_status


class _Usage(SystemExit):
    """The command line is invalid, or only requests help."""


def main() -> None:
    """Run `-m mpi4py.futures`."""
    try:
        with SharedPool() as pool:
            if pool is not None:
                _check(sys.argv[1:])
                run_command_line()
    except _Usage:
        raise
    except SystemExit as error:
        set_abort_status(error)
        raise


def _check(args: list[str]) -> None:
    command = f"{os.path.basename(sys.executable)} -m mpi4py.futures"
    usage = "usage: " + "\n   or: ".join(f"{command} {form}" for form in FORMS) + "\n"
    first = args[0] if args else None
    if first in ("-h", "--help"):
        sys.stdout.write(usage)
        raise _Usage(0)
    if first is None:
        error = "no script, module or code to run."
    elif first in ("-m", "-c"):
        error = "" if args[1:] else f"{first} must be followed by {'a module name' if first == '-m' else 'code'}."
    elif first.startswith("-") and first != "-":
        error = f"unknown option {first}."
    else:
        error = "" if first == "-" or os.path.exists(first) else f"no such file: {first!r}."
    if error:
        sys.stderr.write(f"mpi4py.futures: {error}\n{usage}")
        raise _Usage(1)


if __name__ == "__main__":
    main()
