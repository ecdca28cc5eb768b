"""Recording of output by rank, for the report of a failure; the output is also printed."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial

from fakempi.modelcheck.search.rank_output import RecordingStream

Texts = dict["int | None", list[str]]
"""The texts that each rank has written; None: written while no rank was running."""


@contextmanager
def output_by_rank(current_rank: Callable[[], int | None]) -> Iterator[dict[str, Texts]]:
    """Record the output of ranks by stream and rank while the context is open."""
    recorded: dict[str, Texts] = {"stdout": {}, "stderr": {}}

    def record(stream: str, text: str) -> None:
        printable = text.encode("utf-8", "backslashreplace").decode()  # bytes may be lone surrogates
        recorded[stream].setdefault(current_rank(), []).append(printable)

    before = sys.stdout, sys.stderr
    sys.stdout, sys.stderr = (
        RecordingStream(stream, partial(record, name)) for name, stream in zip(recorded, before, strict=True)
    )
    try:
        yield recorded
    finally:
        sys.stdout, sys.stderr = before
