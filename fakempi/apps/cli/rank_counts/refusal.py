"""Whether a program itself rejects a number of ranks: "needs at least 4 ranks". That is not a failure of the program.

The rule: before any rank communicates, all ranks end with an exit code other than 0, or a rank calls `Abort`; and a rank
prints a message. An exception with a traceback is a failure, since an assertion about the number of ranks cannot be told
apart from any other error.
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
    output, errors = _stream(), _stream()
    script.codes.clear()
    with redirect_stdout(output), redirect_stderr(errors):
        refuses = _refuses(lambda: run(script, nprocs, trace=True, **options))
    for stream in (errors, output):  # a message is rather on standard error
        stream.flush()
        lines = stream.buffer.getvalue().decode(errors="replace").split("\n")  # type: ignore[attr-defined]
        if refuses and (said := [line.strip() for line in lines if line.strip()]):
            return said[-1] if len(said[-1]) <= MAX_MESSAGE else f"{said[-1][:MAX_MESSAGE]}..."
    return ""


def _stream() -> io.TextIOWrapper:
    """Return a stream that also takes bytes, as standard output does."""
    return io.TextIOWrapper(io.BytesIO(), encoding="utf-8", errors="replace")


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
