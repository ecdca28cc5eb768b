"""Standard streams of ranks: a separate output stream for each, in whole lines; standard input for rank 0."""

from __future__ import annotations

import io
import os
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

from fakempi.isolation.lines import Cursor, Lines, Sink
from fakempi.isolation.rank_state import RankState


def replace_stream(name: str, stream: Any) -> Any:
    """Replace a standard stream of this Python process (`stdin`, `stdout`, `stderr`); return the previous stream."""
    before = getattr(sys, name)
    setattr(sys, name, stream)
    return before


class LineBytes(io.BufferedIOBase):
    """`sys.stdout.buffer` of a rank: its bytes arrive at the real stream unchanged, in whole lines."""

    def __init__(self, sink: Sink, label: str, lock: Any, before_write: Callable[[], object], cursor: Cursor) -> None:
        super().__init__()
        self.sink, self.lock, self.before_write = sink, lock, before_write
        self.lines = Lines(sink.write, label, cursor)
        self.pid = os.getpid()
        self.keeps_partial = True

    def write(self, data: Any) -> int:
        """Write complete lines; keep the rest until its line is complete or the rank ends."""
        if self.closed:
            raise ValueError("write to closed file")
        if type(data) is not bytes:
            try:
                data = memoryview(data).tobytes()
            except TypeError:
                raise TypeError(f"a bytes-like object is required, not {type(data).__name__!r}") from None
        with self.lock:
            self.before_write()
            self._drop_in_fork()
            self.lines.add(data)
            if not self.keeps_partial:
                self.lines.show()
        return len(data)

    def _drop_in_fork(self) -> None:
        """Drop the partial line in a process that the rank has forked: the rank itself writes it."""
        if self.pid != os.getpid():
            self.lines.partial.clear()
            self.pid, self.keeps_partial = os.getpid(), False

    def flush(self) -> None:
        """Flush the real stream. Part of a line is kept, unless the stream is a terminal."""
        if not getattr(self.sink.stream, "closed", False):  # it may be, after the run
            with self.lock:
                self._drop_in_fork()
                self.lines.show_flushed(self.sink)
            self.sink.flush()

    def finish(self) -> None:
        """Write the incomplete last line of a rank that has ended. Later bytes are written at once."""
        with self.lock:
            self._drop_in_fork()
            self.lines.finish()
            self.keeps_partial = False

    def __del__(self) -> None:
        """Do nothing: the method of the base class would flush the real stream."""

    def writable(self) -> bool:
        """Return True."""
        return True

    def isatty(self) -> bool:
        """Return whether the real stream is a terminal."""
        return self.sink.is_terminal()

    def fileno(self) -> int:
        """Return the file descriptor of the real stream."""
        return int(self.sink.stream.fileno())

    @property
    def raw(self) -> Any:
        """This stream."""
        return self

    @property
    def name(self) -> str:
        """The name of the real stream."""
        return str(getattr(self.sink.stream, "name", ""))

    @property
    def mode(self) -> str:
        """The mode of the stream."""
        return "wb"


class RankStream:
    """A standard stream of one rank: its text layer, and the bytes below.

    ASCII text without a newline is collected here first, because `print` writes each argument separately.
    """

    def __init__(self, sink: Sink, label: str, lock: Any, newline: str | None, cursor: Cursor) -> None:
        real = sink.stream
        self.data = LineBytes(sink, label, lock, self.complete, cursor)
        self.text = text = io.TextIOWrapper(
            self.data,
            encoding=getattr(real, "encoding", None) or "utf-8",
            errors=getattr(real, "errors", None) or "strict",
            newline=newline,
            line_buffering=bool(getattr(real, "line_buffering", False)),
            write_through=True,  # so that the order of lines is that of calls
        )
        self.lock, self.collected = lock, []  # type: Any, list[str]
        self.is_open = True
        vars(text)["mode"] = "w"  # as of `sys.stdout`; some programs copy it

    def write(self, text: str) -> int:
        """Write text of the rank."""
        with self.lock:
            if type(text) is not str or not text.isascii() or not self.is_open:
                return self.complete().write(text)
            self.collected.append(text)
            if "\n" in text:
                self.complete()
            return len(text)

    def complete(self) -> io.TextIOWrapper:
        """Return the text layer, which has received all text."""
        with self.lock:
            if self.collected:
                collected = "".join(self.collected)
                self.collected.clear()
                self.text.write(collected)
        return self.text

    def finish(self) -> None:
        """Write what is left when the rank ends."""
        with suppress(ValueError):  # closed or detached by the program
            self.complete().flush()
            self.text.detach()  # otherwise its finalizer would close the bytes, which another stream may use
        self.data.finish()


def finish_output(state: RankState) -> None:
    """Write what a rank that ends has left in its streams, also in those that it has put in place of ours."""
    for stream in (state.stdout, state.stderr):
        if not isinstance(stream, LineStream):
            with suppress(Exception):
                stream.flush()
    for output in state.outputs.values():
        output.finish()


def _delegated(name: str, value: str) -> property:
    return property(lambda self: getattr(self.stream(), name), doc=f"{value} of the stream of the running rank.")


class LineStream(io.TextIOWrapper):
    """A text stream that is a separate stream for each rank, and outside ranks the real one.

    The stream of a rank begins with the encoding of the real one, and writes whole lines, so that lines of different ranks
    are not mixed. Text written outside ranks, where `running_state` returns None, is not kept.
    """

    def __init__(self, real: Any, running_state: Callable[[], RankState | None]) -> None:
        super().__init__(io.BytesIO())  # unused: all methods are replaced
        self.real: Any = io.StringIO() if real is None else real  # it was closed: output is lost
        self.running_state = running_state
        self.sink, self.cursor = Sink(self.real), Cursor()
        self.newline = None if real is sys.__stdout__ or real is sys.__stderr__ else ""  # only those have "\r\n" on Windows
        self.lock = threading.RLock()  # threads that ranks start may write at any time, and signal handlers, too
        self.real.flush()  # ranks write to the layer of bytes below

    def stream(self) -> Any:
        """Return the stream of the running rank, or the real one."""
        state = self.running_state()
        if state is None:
            return self.real
        return self._output(state).complete()

    def _output(self, state: RankState) -> RankStream:
        output: RankStream | None = state.outputs.get(id(self))
        if output is None:
            output = state.outputs[id(self)] = RankStream(self.sink, state.label, self.lock, self.newline, self.cursor)
        return output

    def write(self, text: str) -> int:
        """Write text to the stream of the running rank."""
        state = self.running_state()
        if state is None:
            count: int = self.real.write(text)
            self.real.flush()
            return count
        return self._output(state).write(text)

    def show(self, state: RankState) -> None:
        """Write the incomplete line of a rank that is about to read input."""
        output = self._output(state)
        output.complete()
        output.data.lines.show()
        self.real.flush()

    def flush(self) -> None:
        """Flush the stream of the running rank."""
        self.stream().flush()

    def close(self) -> None:
        """Close the stream of the running rank; do nothing outside ranks."""
        state = self.running_state()
        if state is not None:
            self.stream().close()
            self._output(state).is_open = False

    def __del__(self) -> None:
        """Do nothing: the method of the base class closes the stream."""

    def __repr__(self) -> str:
        return repr(self.stream())

    def detach(self) -> Any:
        """Return the bytes below the stream of the running rank."""
        bytes_below, state = self.stream().detach(), self.running_state()
        if state is not None:
            self._output(state).is_open = False
        return bytes_below

    def reconfigure(self, **options: Any) -> None:
        """Change the encoding and similar settings of the stream of the running rank."""
        self.stream().reconfigure(**options)

    def isatty(self) -> bool:
        """Return whether the real stream is a terminal."""
        return bool(self.stream().isatty())

    def fileno(self) -> int:
        """Return the file descriptor of the real stream."""
        return int(self.stream().fileno())

    def readable(self) -> bool:
        """Return False."""
        return False

    def writable(self) -> bool:
        """Return True."""
        return True

    def seekable(self) -> bool:
        """Return False."""
        return False

    encoding = _delegated("encoding", "The encoding")
    errors = _delegated("errors", "The error handler")
    buffer = _delegated("buffer", "The bytes below")
    line_buffering = _delegated("line_buffering", "Whether a newline flushes")
    write_through = _delegated("write_through", "Whether nothing is kept")
    closed = _delegated("closed", "Whether a program has closed")
    newlines = _delegated("newlines", "The line ends")
    name = _delegated("name", "The name")
    mode = _delegated("mode", "The mode")


class StandardInput:
    """Standard input: the real one for rank 0, empty for other ranks.

    `exit()` calls `close`, which must not close the real one.
    `before` is called before each read, to write the prompt although its line is incomplete.
    """

    def __init__(
        self, real: Any, before: Callable[[], None], running_state: Callable[[], RankState | None] = lambda: None
    ) -> None:
        self._real, self._before, self._running_state = real, before, running_state
        self._empty: Any = None

    def for_any_rank(self) -> StandardInput:
        """Return an input that every rank can read, for a debugger."""
        return StandardInput(self._real, self._before)

    def _stream(self) -> Any:
        state = self._running_state()
        if state is None or state.number == 0:
            return self._real
        if self._empty is None:  # a file, because `select` and programs that a rank starts need its descriptor
            self._empty = open(os.devnull, encoding="utf-8")  # noqa: SIM115  closed by `end`
        return self._empty

    def __getattr__(self, name: str) -> Any:
        if name in ("read", "readline", "readlines", "fileno", "buffer"):  # `input()` reads from the file descriptor
            self._before()
        return getattr(self._stream(), name)

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        self._before()
        return str(next(self._stream()))

    def close(self) -> None:
        """Do nothing."""

    def end(self) -> None:
        """Close the empty input at the end of the run."""
        if self._empty is not None:
            self._empty.close()
