"""Recording of output by rank, for the report of a failure; the output is also printed."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import pytest
from _pytest.logging import LogCaptureHandler

from fakempi.modelcheck.search.rank_output import RecordingStream

Texts = dict["int | None", list[str]]
"""The texts that each rank has written; None: written while no rank was running."""


_open: list[dict[str, Texts]] = []
"""The recordings in progress, the innermost last."""


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
    _open.append(recorded)
    try:
        yield recorded
    finally:
        _open.pop()
        sys.stdout, sys.stderr = before


class RankFormatter(logging.Formatter):
    """Puts the rank before each record, for pytest's section with log messages."""

    def __init__(self, formatter: logging.Formatter, current_rank: Callable[[], int | None]) -> None:
        super().__init__()
        self.formatter, self.current_rank = formatter, current_rank

    def format(self, record: logging.LogRecord) -> str:
        """Return the text of a record, with the rank if one is running."""
        rank = self.current_rank()
        return ("" if rank is None else f"[{rank}] ") + self.formatter.format(record)


@contextmanager
def log_with_ranks(current_rank: Callable[[], int | None]) -> Iterator[None]:
    """Name ranks in pytest's section with log messages while the context is open; `caplog` has the plain records."""
    handlers = [handler for handler in logging.getLogger().handlers if isinstance(handler, LogCaptureHandler)]
    before = [(handler, handler.formatter) for handler in handlers if handler.formatter is not None]
    for handler, formatter in before:
        handler.setFormatter(RankFormatter(formatter, current_rank))
    try:
        yield
    finally:
        for handler, formatter in before:
            handler.setFormatter(formatter)


class RankCapture:
    """The fixture `capsys` on a rank: `readouterr` returns what this rank has written, as in a process."""

    def __init__(self, fixture: pytest.CaptureFixture[Any], rank: int) -> None:
        self.fixture, self.rank, self.recorded = fixture, rank, _open[-1]
        self.read = {stream: len(texts.get(rank, ())) for stream, texts in self.recorded.items()}

    def __getattr__(self, name: str) -> Any:
        return getattr(self.fixture, name)

    def readouterr(self) -> Any:
        """Return the output since the last call. That of compiled code (`capfd`) is not known by rank."""
        new = []
        for stream, texts in self.recorded.items():
            parts = texts.get(self.rank, [])
            new.append("".join(parts[self.read[stream] :]))
            self.read[stream] = len(parts)
        return self.fixture.readouterr()._replace(out=new[0], err=new[1])
