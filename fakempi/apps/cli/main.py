"""Entry point: parse the arguments, run the command, and return an exit code without a Python traceback."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from io import StringIO, TextIOWrapper

from fakempi.apps.cli.parser import make_parser
from fakempi.errors import LAYOUT_CHARACTERS, MPIError, RunError, TraceError, printable
from fakempi.view.lines import write_text

FAILED = 1
WRONG_USE = 2
INTERRUPTED = 130
BROKEN_PIPE = 141


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command in `argv`, or print the help if it is empty; returns the exit code."""
    arguments = sys.argv[1:] if argv is None else argv
    if sys.stderr is None:  # it was closed: messages are lost
        sys.stderr = StringIO()
    if sys.stdout is None:
        sys.stderr.write("fakempi: standard output is closed.\n")
        return WRONG_USE
    try:
        if arguments[:1] in (["mpirun"], ("mpirun",)):
            from fakempi.apps.cli.real_mpi.mpirun import permanent_directory, translated

            if list(arguments[1:]) == ["--path"]:
                sys.stdout.write(f"{permanent_directory()}\n")
                return 0
            arguments = translated(arguments[1:])
        if list(arguments[:2]) == ["completion", "--words"]:
            from fakempi.apps.cli.completion.candidates import complete

            return complete(arguments[2:])
        if list(arguments[:1]) != ["run"]:  # characters that a program prints are encoded, or are an error, as with python
            _replace_unknown_characters()
        options = make_parser((*arguments, "--help")[0]).parse_args(arguments or ["--help"])
        options.argv = list(arguments)
    except MPIError as error:
        write_text(sys.stderr, f"fakempi mpirun: {error}")
        return WRONG_USE
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
        if isinstance(error, (IndexError, KeyError)):  # a mistake of fakempi: its traceback says more than its message
            raise
        message = str(error)
        if isinstance(error, OSError) and error.strerror and error.filename is not None:
            message = f"{error.filename}: {error.strerror[0].lower()}{error.strerror[1:]}."
        message = message.removeprefix(f"{options.command_name}: ")  # errors of `fakempi.run` begin with `run: `
        write_text(sys.stderr, f"fakempi {options.command_name}: {printable(message, keep=LAYOUT_CHARACTERS)}")
        return WRONG_USE
    except MemoryError as error:
        sys.stderr.write(f"fakempi {options.command_name}: {str(error).removeprefix('run: ') or 'out of memory.'}\n")
        return FAILED
    except KeyboardInterrupt:
        return INTERRUPTED


def _replace_unknown_characters() -> None:
    """Print a question mark for each character that the encoding of standard output lacks: arrows in a pipe on Windows."""
    if isinstance(sys.stdout, TextIOWrapper) and sys.stdout.encoding.lower() != "utf-8":
        sys.stdout.reconfigure(errors="replace")


def _quiet() -> int:
    """Discard all further output after the reader has closed the pipe (`| head`); returns the exit code.

    Python would otherwise report the broken pipe when it flushes its streams at exit.
    """
    with suppress(OSError, ValueError):  # sys.stdout may not be a real file
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return BROKEN_PIPE
