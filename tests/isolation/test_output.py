"""Ranks print whole lines, in a reproducible order; standard input belongs to rank 0."""

from __future__ import annotations

import io
import sys
from pathlib import Path
from typing import Any

import pytest

from fakempi.isolation.lines import Cursor
from fakempi.isolation.output import LineStream, finish_output
from fakempi.isolation.rank_state import RankState
from fakempi.processes.relay import Relay
from tests.isolation.harness import Capture, play


def test_lines_stay_whole(tmp_path: Path, backend: Any, capsys: Capture) -> None:
    """Although text and newline are written separately, and other ranks run in between."""
    script = """
    import sys
    for part in ("a", "b", "c"):
        print(comm.rank, end=part, flush=True)
        comm.Barrier()
    print()
    sys.stderr.write(f"{comm.rank}")
    comm.Barrier()
    sys.stderr.write(" there\\n")
    sys.stdout.buffer.write(b"bytes ")
    print("one\\ntwo")
    """
    play(tmp_path, script, 2, backend)
    out, err = capsys.readouterr()
    assert sorted(out.splitlines()) == ["0a0b0c", "1a1b1c", "bytes one", "bytes one", "two", "two"]
    assert sorted(err.splitlines()) == ["0 there", "1 there"]


def test_the_order_is_that_of_modeled_time_on_both_backends(tmp_path: Path, capsys: Capture) -> None:
    """A rank that computes longer prints later."""
    script = """
    import time
    time.sleep(comm.size - comm.rank)
    print("awake", comm.rank)
    comm.Barrier()
    print("met", comm.rank)
    """
    outputs = set()
    for backend in ("auto", "threads", "auto"):
        play(tmp_path, script, 5, backend)
        outputs.add(capsys.readouterr().out)
    (output,) = outputs
    assert output.splitlines()[:5] == [f"awake {rank}" for rank in (4, 3, 2, 1, 0)]
    assert sorted(output.splitlines()[5:]) == [f"met {rank}" for rank in range(5)]


def test_an_unfinished_last_line_is_printed_at_the_end_of_the_rank(tmp_path: Path, backend: Any, capsys: Capture) -> None:
    """Nothing is added, as under mpiexec; with a label, each is on a separate line."""
    script = "comm.Barrier()\nprint('bye', comm.rank, end='')"
    play(tmp_path, script, 3, backend)
    assert capsys.readouterr().out == "bye 0bye 1bye 2"
    play(tmp_path, script, 3, backend, label="[{rank}] ")
    assert capsys.readouterr().out == "[0] bye 0\n[1] bye 1\n[2] bye 2\n"


def test_lines_can_have_the_rank_as_a_prefix(tmp_path: Path, backend: Any, capsys: Capture) -> None:
    """Every line has one."""
    play(tmp_path, "print('a\\nb', end='')", 2, backend, label="[{rank}] ")
    assert capsys.readouterr().out.splitlines() == ["[0] a", "[0] b", "[1] a", "[1] b"]


def test_standard_input_belongs_to_rank_0(
    tmp_path: Path, backend: Any, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    """The other ranks read its end at once; `exit()` does not close it for later runs."""
    monkeypatch.setattr(sys, "stdin", io.StringIO("Ada\nand\nmore\nand the rest"))
    script = """
    import sys
    if comm.rank == 0:
        print("hello", input("name? "), sys.stdin.readline().strip(), next(iter(sys.stdin)).strip())
    else:
        print(repr(sys.stdin.read()), len(sys.stdin.buffer.read()))
    exit()
    """
    play(tmp_path, script, 2, backend)
    assert capsys.readouterr().out.splitlines() == ["name? hello Ada and more", "'' 0"]
    assert sys.stdin.read() == "and the rest"


def test_a_rank_may_redirect_its_output(tmp_path: Path, backend: Any, capsys: Capture) -> None:
    """This changes only the output of that rank."""
    script = """
    import contextlib, io
    if comm.rank == 0:
        with contextlib.redirect_stdout(io.StringIO()) as kept:
            comm.Barrier()
            print("kept")
        assert kept.getvalue() == "kept\\n"
    else:
        print("before")
        comm.Barrier()
        print("after")
    """
    play(tmp_path, script, 2, backend)
    assert capsys.readouterr().out == "before\nafter\n"


def test_logging_is_configured_per_rank(tmp_path: Path, backend: Any, capsys: Capture) -> None:
    """A format with the rank number is used by that rank only."""
    script = """
    import logging
    logging.basicConfig(level=logging.INFO, format=f"{comm.rank}: %(message)s")
    comm.Barrier()
    logging.getLogger("work").info("hello")
    """
    play(tmp_path, script, 3, backend)
    assert sorted(capsys.readouterr().err.splitlines()) == ["0: hello", "1: hello", "2: hello"]


def test_a_prompt_is_shown_on_a_terminal_before_it_is_answered(
    tmp_path: Path, backend: Any, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    """Although its line has no end; otherwise lines are kept whole."""

    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

        def readline(self, size: int | None = -1) -> str:  # type: ignore[override]
            seen.append(capsys.readouterr().out)
            return super().readline()

    seen: list[str] = []
    monkeypatch.setattr(sys, "stdin", Terminal("Ada\n"))
    script = """
    import sys
    if comm.rank == 0:
        print("name? ", end="")
        print("hello", sys.stdin.readline().strip())
    """
    play(tmp_path, script, 2, backend)
    assert seen == ["name? "]
    assert capsys.readouterr().out == "hello Ada\n"


ENCODINGS = """
    import array, io, sys
    every = bytes(range(256))
    sys.stdout.buffer.write(every)
    assert sys.stdout.buffer.write(memoryview(array.array("h", [10, 2560]))) == 4
    sys.stdout.flush()
    for stream, data in ((sys.stdout, b""), (sys.stdout.buffer, "")):
        try:
            stream.write(data)
        except TypeError as error:
            print(error)
    try:
        print("\\ud800")
    except UnicodeEncodeError:
        print("not UTF-8")
    if comm.rank == 0:
        sys.stdout.reconfigure(encoding="latin-1", errors="replace", newline="\\r\\n", line_buffering=True)
    else:
        sys.stdout.reconfigure(encoding="utf-8", errors="strict")
    comm.Barrier()
    print("\\xe9\\u20ac", sys.stdout.encoding, sys.stdout.errors, comm.rank)
    if comm.rank == 0:
        sys.stdout = io.TextIOWrapper(sys.stdout.detach(), encoding="latin-1")
    else:
        sys.stdout = io.TextIOWrapper(sys.stdout.buffer, encoding="utf-8", errors="surrogateescape")
    print("na\\xefve", end="")
"""


def test_bytes_of_a_rank_arrive_unchanged(tmp_path: Path, backend: Any, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    """Also those that are not text. The encoding, the error handler and line ends are a setting of each rank."""
    play(tmp_path, ENCODINGS, 2, backend)
    begin = (
        bytes(range(256))
        + b"\n\0\0\n"
        + (b"write() argument must be str, not bytes\na bytes-like object is required, not 'str'\nnot UTF-8\n")
    )
    first, second = b"\xe9? latin-1 replace 0\r\n", "\xe9\u20ac utf-8 strict 1\n".encode()
    last, other = b"na\xefve", "na\xefve".encode()
    out = capsysbinary.readouterr().out
    for part in (first, second, last, other):
        assert out.count(part) == 1
        out = out.replace(part, b"")
    assert sorted(out.split(b"\n")) == sorted((begin * 2).split(b"\n"))  # lines of ranks in any order


def test_bytes_follow_the_text_that_was_printed_before(tmp_path: Path, backend: Any, capfdbinary: Any) -> None:
    """Also if the text is not a line, and `sys.stdout.buffer` was stored before."""
    script = """
    import sys
    data = sys.stdout.buffer
    print("a", end="")
    data.write(b"b")
    print("c")
    """
    play(tmp_path, script, 1, backend)
    assert capfdbinary.readouterr().out == b"abc\n"


def test_a_prefix_does_not_decode_lines(tmp_path: Path, backend: Any, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    """A line may contain any bytes."""
    play(tmp_path, "import sys; sys.stdout.buffer.write(b'\\xff\\n' * 2)", 1, backend, label="[{rank}] ")
    assert capsysbinary.readouterr().out == b"[0] \xff\n" * 2


def test_a_closed_stream_is_closed_for_its_rank(tmp_path: Path, backend: Any, capsys: Capture) -> None:
    """Others still print. `sys.__stdout__` is the stream of the rank, too; a stream in its place is flushed at the end."""
    script = """
    import io, sys
    assert isinstance(sys.stdout, io.TextIOWrapper)
    class Kept(io.StringIO):
        def flush(self):
            sys.stderr.write(self.getvalue())
            self.truncate(0)
    sys.stdout = kept = Kept()
    print("kept", comm.rank)
    sys.stdout = sys.__stdout__
    if comm.rank == 0:
        with sys.stdout:
            sys.stdout.write("a")
        try:
            print("closed")
        except ValueError as error:
            sys.stderr.write(f"{error}\\n")
    comm.Barrier()
    if comm.rank == 1:
        print(" b")
        sys.stdout = kept
    """
    play(tmp_path, script, 2, backend)
    out, err = capsys.readouterr()
    assert (sorted(out), err) == (sorted("a b\n"), "I/O operation on closed file.\nkept 1\n")


class Screen(io.TextIOWrapper):
    """A file, or a terminal."""

    def __init__(self, terminal: bool) -> None:
        self.bytes, self.terminal = io.BytesIO(), terminal
        super().__init__(self.bytes, encoding="utf-8", write_through=True)

    def isatty(self) -> bool:
        """Return whether it is a terminal."""
        return self.terminal


@pytest.mark.parametrize("terminal", [True, False])
def test_a_progress_bar_is_shown_on_a_terminal_when_it_is_flushed(monkeypatch: pytest.MonkeyPatch, terminal: bool) -> None:
    """It has a carriage return and no newline. Elsewhere it is kept, so that no line of another rank follows it."""
    real, state = Screen(terminal), RankState(0, "", ())
    monkeypatch.setattr(sys, "stdout", real)
    stream, relay = LineStream(real, lambda: state), Relay("")
    stream.write("\r50 %")
    stream.flush()
    relay.write(1, b"\r50 %")
    assert real.bytes.getvalue() == (b"\r50 %" * 2 if terminal else b"")
    finish_output(state)
    relay.finish()
    assert real.bytes.getvalue() == b"\r50 %" * 2


@pytest.mark.parametrize("label", ["", "[{}] "])
def test_part_of_a_line_is_shown_on_a_terminal_when_it_is_flushed(monkeypatch: pytest.MonkeyPatch, label: str) -> None:
    """Text of another rank begins on a new line; the rank itself continues its line."""
    real, states = Screen(True), [RankState(rank, label.format(rank), ()) for rank in range(2)]
    monkeypatch.setattr(sys, "stdout", real)
    running, cursors = [states[0]], {1: Cursor(), 2: Cursor()}
    stream = LineStream(real, lambda: running[0])
    relays = [Relay(label.format(rank), False, cursors) for rank in range(2)]

    def by_stream(rank: int, text: str) -> None:
        running[0] = states[rank]
        stream.write(text)
        stream.flush()

    def by_relay(rank: int, text: str) -> None:
        relays[rank].write(1, text.encode())

    first, second = (label.format(rank) for rank in range(2))
    for write in (by_stream, by_relay):
        real.bytes.truncate(0)
        real.bytes.seek(0)
        write(0, "working ")
        assert real.bytes.getvalue().decode() == f"{first}working "
        write(0, "...")
        write(1, "hello\n")
        write(0, "done\nnext")
        write(0, "\n")
        lines = [f"{first}working ...", f"{second}hello", f"{first}done", f"{first}next", ""]
        assert real.bytes.getvalue().decode() == "\n".join(lines)
