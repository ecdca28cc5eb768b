"""`-m mpi4py.futures`: run a script, a module or code on rank 0, with all other ranks as workers."""

from __future__ import annotations

import os
import sys

from fakempi.mpi4py.futures.shared import SharedPool
from fakempi.mpi4py.run import FORMS, run_command_line, set_abort_status


class _Usage(SystemExit):
    """There is nothing to run."""


def main() -> None:
    """What `-m mpi4py.futures` does."""
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
    start = f"{os.path.basename(sys.executable)} -m mpi4py.futures"
    usage = "usage: " + "\n   or: ".join(f"{start} {form}" for form in FORMS) + "\n"
    first = args[0] if args else None
    if first in ("-h", "--help"):
        sys.stdout.write(usage)
        raise _Usage(0)
    if first is None:
        wrong = "there is nothing to run."
    elif first in ("-m", "-c"):
        wrong = "" if args[1:] else f"{first} needs {'a module' if first == '-m' else 'code'} after it."
    elif first.startswith("-") and first != "-":
        wrong = f"there is no option {first}."
    else:
        wrong = "" if first == "-" or os.path.exists(first) else f"there is no file {first!r}."
    if wrong:
        sys.stderr.write(f"mpi4py.futures: {wrong}\n{usage}")
        raise _Usage(1)


if __name__ == "__main__":
    main()
