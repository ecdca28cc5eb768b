"""The output of each rank in a run, and its comparison between schedules.

Addresses such as 0x7f12 are not compared. Numbers that differ between two runs of one schedule with different cost models
are not compared either: they are times, addresses or random numbers, which do not depend on the schedule alone.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from functools import partial
from itertools import zip_longest
from typing import Any
from warnings import catch_warnings

from fakempi.modelcheck.steering.state_hash import digest
from fakempi.mpi.base.current import current_rank

NUMBER = re.compile(r"0x[0-9a-fA-F]+|\d+(?:\.\d+)?(?:[eE][+-]?\d+)?")
MAX_LINE = 200
"""The maximum length of a line in a report."""

StreamAndRank = tuple[str, int]
"""A stream name and a rank; the rank is -1 if no rank was running."""


NumberInLine = tuple[StreamAndRank, str, int]
"""A number in the lines of a rank: stream and rank, the line with "#" for every number, and the number's index."""


class RankOutput:
    """The output of the current run's ranks."""

    def __init__(self) -> None:
        self.begin()

    def begin(self) -> None:
        """Start a new run. Python shows a warning of a line once per process, and each run is a new process."""
        with catch_warnings():  # forgets which warnings were shown
            pass
        self.parts: dict[StreamAndRank, list[str]] = {}
        self.digests: dict[StreamAndRank, int] = {}

    def add(self, stream: str, text: str) -> None:
        """Add output of the running rank."""
        rank = current_rank()
        where = stream, -1 if rank is None else rank
        self.parts.setdefault(where, []).append(text)
        self.digests[where] = digest(self.digests.get(where, 0), text)

    def state(self) -> Any:
        """Return a value that is equal if every rank has printed the same."""
        return frozenset(self.digests.items())

    def lines(self) -> dict[StreamAndRank, list[str]]:
        """Return the lines of each stream and rank."""
        return {where: "".join(parts).splitlines() for where, parts in self.parts.items()}

    @contextmanager
    def recorded(self) -> Iterator[None]:
        """Record output while the context is open; it is printed as well."""
        before = sys.stdout, sys.stderr
        sys.stdout, sys.stderr = (
            RecordingStream(stream, partial(self.add, name))
            for name, stream in zip(("stdout", "stderr"), before, strict=True)
        )
        try:
            yield
        finally:
            sys.stdout, sys.stderr = before


@contextmanager
def discarded_output() -> Iterator[None]:
    """Discard standard output and standard error while the context is open. All text can be encoded."""
    nothing = open(os.devnull, "w", encoding="utf-8", errors="surrogatepass")  # noqa: SIM115  closed by the next line
    with nothing, redirect_stdout(nothing), redirect_stderr(nothing):
        yield


class RecordingBytes:
    """The bytes below a `RecordingStream`; bytes that are not text are recorded as lone surrogates."""

    def __init__(self, stream: Any, record: Callable[[str], None]) -> None:
        self._stream, self._record = stream, record
        self._buffer = getattr(stream, "buffer", None)

    def write(self, data: Any) -> int:
        """Record and print bytes."""
        text = bytes(data).decode(getattr(self._stream, "encoding", None) or "utf-8", "surrogateescape")
        self._record(text)
        if self._buffer is None:
            self._stream.write(text)
            return len(data)
        return int(self._buffer.write(data))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream if self._buffer is None else self._buffer, name)


class RecordingStream:
    """A text stream that calls `record` with every text, and passes the text on to another stream."""

    def __init__(self, stream: Any, record: Callable[[str], None]) -> None:
        self._stream, self._record = stream, record

    def write(self, text: str) -> int:
        """Record and print a text."""
        self._record(text)
        return int(self._stream.write(text) or len(text))

    def writelines(self, lines: Any) -> None:
        """Record and print several texts."""
        for line in lines:
            self.write(line)

    @property
    def buffer(self) -> RecordingBytes:
        """The bytes below."""
        return RecordingBytes(self._stream, self._record)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


class Comparison:
    """Compares outputs, and learns which of their numbers do not depend on the schedule alone."""

    def __init__(self, ordered: bool) -> None:
        self.ordered = ordered
        self.volatile: set[NumberInLine] = set()  # numbers that differ between two runs of one schedule
        self.stable: set[NumberInLine] = set()  # numbers that were equal in two runs of one schedule
        self.nondeterministic: set[StreamAndRank] = set()  # more than numbers differ between two runs

    def difference(
        self, outputs: dict[StreamAndRank, list[str]], other_outputs: dict[StreamAndRank, list[str]]
    ) -> tuple[StreamAndRank, int, str, str] | None:
        """Return the first differing line: (stream and rank), line number from 1, both texts. None if there is none."""
        for where in sorted({*outputs, *other_outputs}):
            if where in self.nondeterministic:
                continue
            lines, other_lines = outputs.get(where, []), other_outputs.get(where, [])
            comparable = partial(self._comparable, where)
            if not self.ordered:
                lines, other_lines = sorted(lines, key=comparable), sorted(other_lines, key=comparable)
            for number, (left, right) in enumerate(zip_longest(lines, other_lines), 1):
                if left is None or right is None or comparable(left) != comparable(right):
                    return where, number, line_text(left), line_text(right)
        return None

    def learn(self, one: dict[StreamAndRank, list[str]], again: dict[StreamAndRank, list[str]]) -> None:
        """Learn from the outputs of two runs of one schedule."""
        for where in {*one, *again}:
            lines, again_lines = one.get(where, []), again.get(where, [])
            if [NUMBER.sub("#", line) for line in lines] != [NUMBER.sub("#", line) for line in again_lines]:
                self.nondeterministic.add(where)
                continue
            for left, right in zip(lines, again_lines, strict=True):
                for i, (a, b) in enumerate(zip(NUMBER.findall(left), NUMBER.findall(right), strict=True)):
                    if not a.startswith("0x"):
                        (self.stable if a == b else self.volatile).add((where, NUMBER.sub("#", left), i))

    def ambiguous(self) -> list[tuple[StreamAndRank, str]]:
        """Return the lines in which a number was ignored that was equal in two runs of one schedule: it may be a result."""
        return sorted({(where, shape) for where, shape, _ in self.volatile & self.stable})

    def _comparable(self, where: StreamAndRank, line: str) -> str:
        """Return the line with "#" in place of the numbers that are not compared."""
        shape, index = NUMBER.sub("#", line), -1

        def number(match: re.Match[str]) -> str:
            nonlocal index
            index += 1
            return "#" if match[0].startswith("0x") or (where, shape, index) in self.volatile else match[0]

        return NUMBER.sub(number, line)


def line_text(line: str | None) -> str:
    """Return a line in quotes, shortened if it is long; "(nothing)" for a missing line."""
    return "(nothing)" if line is None else repr(line if len(line) <= MAX_LINE else line[:MAX_LINE] + "...")
