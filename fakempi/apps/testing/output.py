"""Recording of output by rank, for the report of a failure; the output is also printed."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any
from weakref import WeakKeyDictionary

import pytest
from _pytest.capture import FDCaptureBase
from _pytest.logging import LogCaptureHandler

from fakempi.errors.plurals import counted
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


SHARED = (
    "{name}: the ranks of this test share the file descriptors, and {count} were written that are not those of Python's "
    "streams (compiled code, subprocesses), so their rank is unknown. Use mpi(processes=True), or capsys"
)


class RankCapture:
    """The fixture `capsys`, `capfd` or their binary form on a rank: `readouterr` returns what this rank has written."""

    def __init__(self, fixture: pytest.CaptureFixture[Any], rank: int) -> None:
        self.fixture, self.rank, self.recorded = fixture, rank, _open[-1]
        self.read = {stream: len(texts.get(rank, ())) for stream, texts in self.recorded.items()}
        self.has_bytes = isinstance(fixture.captureclass.EMPTY_BUFFER, bytes)
        self.has_descriptors = issubclass(fixture.captureclass, FDCaptureBase)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.fixture, name)

    def readouterr(self) -> Any:
        """Return the output of this rank since its last call, as in a process."""
        captured, new = self.fixture.readouterr(), []
        for stream, texts in self.recorded.items():
            parts = texts.get(self.rank, [])
            text = "".join(parts[self.read[stream] :])
            new.append(text.encode() if self.has_bytes else text)
            self.read[stream] = len(parts)
        if self.has_descriptors:
            self._reject_other_output(captured)
        return captured._replace(out=new[0], err=new[1])

    def _reject_other_output(self, captured: Any) -> None:
        """Fail if more was captured since the last call of any rank than Python's streams have recorded."""
        for both, texts in zip(captured, self.recorded.values(), strict=True):
            written = "".join(part for parts in texts.values() for part in parts)
            size = len(written.encode() if self.has_bytes else written)
            seen = _seen.setdefault(self.fixture, {}).setdefault(id(texts), 0)
            _seen[self.fixture][id(texts)] = size
            if len(both) > size - seen:
                count = counted(len(both) - size + seen, "byte" if self.has_bytes else "character")
                pytest.fail(SHARED.format(name=self.fixture.request.fixturename, count=count), pytrace=False)


_seen: WeakKeyDictionary[Any, dict[int, int]] = WeakKeyDictionary()
"""Fixture -> the size of the recorded output of all ranks at the last call of `readouterr`, by stream."""
