"""Whether a program itself rejects a number of ranks: "needs at least 4 ranks". That is not a failure of the program.

The rule: before any rank communicates, all ranks end with an exit code other than 0, or a rank calls `Abort`; and a rank
prints a message. An exception with a traceback is a failure, since an assertion about the number of ranks cannot be
distinguished from any other error.
"""

from __future__ import annotations

import io
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from typing import Any

from fakempi.core.world import run
from fakempi.errors import Aborted, ExitWithoutFinalize, RankError, RunError
from fakempi.isolation import Program

MAX_MESSAGE = 100
"""Maximum length of a message in the line of a number."""


def may_refuse(error: BaseException) -> bool:
    """Return whether a failure can be a refusal: a rank has called `Abort`, or has exited with a code."""
    if not isinstance(error, RankError) or isinstance(error.exception, ExitWithoutFinalize):
        return False
    return isinstance(error.exception, (Aborted, SystemExit))


def refusal(script: Program, nprocs: int, **options: Any) -> str:
    """Run the script once more, with a trace; returns the last line that it prints if it refuses, otherwise an empty text.

    A program that refuses ends before its first message, so that this run is short.
    """
    output, errors = io.BytesIO(), io.BytesIO()
    script.codes.clear()
    with _text(output) as out, _text(errors) as err, redirect_stdout(out), redirect_stderr(err):
        refuses = _refuses(lambda: run(script, nprocs, trace=True, **options))
        out.flush()
        err.flush()
        texts = [stream.getvalue().decode(errors="replace") for stream in (errors, output)]  # a message is rather on stderr
    for text in texts:
        if refuses and (lines := [line.strip() for line in text.splitlines() if line.strip()]):
            return lines[-1] if len(lines[-1]) <= MAX_MESSAGE else f"{lines[-1][:MAX_MESSAGE]}..."
    return ""


def _text(stream: io.BytesIO) -> io.TextIOWrapper:
    """Return a text stream that also takes bytes, as standard output does."""
    return io.TextIOWrapper(stream, encoding="utf-8", errors="replace")


def _refuses(start: Callable[[], Any]) -> bool:
    try:
        result = start()
    except RunError as error:
        if not may_refuse(error) or not isinstance(error, RankError):
            return False
        return not _communicates(error.trace, error.rank)
    return all(result.returns) and not _communicates(result.trace)


def _communicates(trace: Any, rank: int | None = None) -> bool:
    """Return whether a rank has started a collective call or a transfer; without `rank`, any of them."""
    callers = {region.rank for region in trace.regions} | {transfer.source for transfer in trace.transfers}
    return bool(callers) if rank is None else rank in callers
