"""Ranks print whole lines, in a reproducible order; standard input belongs to rank 0."""

from __future__ import annotations

import io
import sys
from pathlib import Path
from typing import Any

import pytest

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
    """Each on a separate line."""
    play(tmp_path, "comm.Barrier()\nprint('bye', comm.rank, end='')", 3, backend)
    assert sorted(capsys.readouterr().out.splitlines()) == ["bye 0", "bye 1", "bye 2"]


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
