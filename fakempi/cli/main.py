"""The way in: read the command, do it, and end with an exit code and without a Python traceback."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from io import StringIO

from fakempi.cli.parser import make_parser
from fakempi.errors import KEEP, MPIError, RunError, TraceError, printable

FAILED = 1
WRONG_USE = 2
INTERRUPTED = 130
BROKEN_PIPE = 141


def main(argv: Sequence[str] | None = None) -> int:
    """Do what the arguments say, or, without any, say what there is; returns the exit code."""
    words = sys.argv[1:] if argv is None else argv
    if sys.stderr is None:  # it was closed: what is said there is lost
        sys.stderr = StringIO()
    if sys.stdout is None:
        sys.stderr.write("fakempi: standard output is closed.\n")
        return WRONG_USE
    try:
        options = make_parser().parse_args(words or ["--help"])
    except SystemExit as error:
        return int(error.code or 0)
    except BrokenPipeError:  # while help was printed, on Python 3.10
        return _quiet()
    try:
        code = int(options.do(options))
        sys.stdout.flush()
        return code
    except (MPIError, RunError, TraceError, LookupError, OSError) as error:
        if isinstance(error, BrokenPipeError):
            return _quiet()
        words = str(error.args[0]) if isinstance(error, KeyError) else str(error)
        sys.stderr.write(f"fakempi {options.command_name}: {printable(words, keep=KEEP)}\n")
        return WRONG_USE
    except MemoryError as error:
        sys.stderr.write(f"fakempi {options.command_name}: {str(error) or 'there is not enough memory.'}\n")
        return FAILED
    except KeyboardInterrupt:
        return INTERRUPTED


def _quiet() -> int:
    """Nobody reads what is printed (`| head`): say nothing, not even when Python flushes its streams at the end."""
    with suppress(OSError, ValueError):  # it may be no real file
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return BROKEN_PIPE
