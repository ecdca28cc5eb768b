"""What ranks print comes in whole lines, in the same order each time; standard input is rank 0's."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import pytest

from tests.script.harness import Capture, play


def test_lines_stay_whole(tmp_path: Path, carrier: str, capsys: Capture) -> None:
    """Though text and newline are written apart, and others run in between."""
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
    play(tmp_path, script, 2, carrier)
    out, err = capsys.readouterr()
    assert sorted(out.splitlines()) == ["0a0b0c", "1a1b1c", "bytes one", "bytes one", "two", "two"]
    assert sorted(err.splitlines()) == ["0 there", "1 there"]


def test_the_order_is_that_of_virtual_time_on_both_carriers(tmp_path: Path, capsys: Capture) -> None:
    """Whoever computes longer prints later."""
    script = """
    import time
    time.sleep(comm.size - comm.rank)
    print("awake", comm.rank)
    comm.Barrier()
    print("met", comm.rank)
    """
    outputs = set()
    for carrier in ("auto", "threads", "auto"):
        play(tmp_path, script, 5, carrier)
        outputs.add(capsys.readouterr().out)
    (output,) = outputs
    assert output.splitlines()[:5] == [f"awake {rank}" for rank in (4, 3, 2, 1, 0)]
    assert sorted(output.splitlines()[5:]) == [f"met {rank}" for rank in range(5)]


def test_a_last_line_without_an_end_comes_at_the_ranks_end(tmp_path: Path, carrier: str, capsys: Capture) -> None:
    """Each on a line of its own."""
    play(tmp_path, "comm.Barrier()\nprint('bye', comm.rank, end='')", 3, carrier)
    assert sorted(capsys.readouterr().out.splitlines()) == ["bye 0", "bye 1", "bye 2"]


def test_lines_can_say_whose_they_are(tmp_path: Path, carrier: str, capsys: Capture) -> None:
    """Each of them."""
    play(tmp_path, "print('a\\nb', end='')", 2, carrier, label="[{rank}] ")
    assert capsys.readouterr().out.splitlines() == ["[0] a", "[0] b", "[1] a", "[1] b"]


def test_standard_input_is_for_rank_0(
    tmp_path: Path, carrier: str, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    """The others find its end at once; and `exit()` does not close it for whoever comes after."""
    monkeypatch.setattr(sys, "stdin", io.StringIO("Ada\nand\nmore\nand the rest"))
    script = """
    import sys
    if comm.rank == 0:
        print("hello", input("name? "), sys.stdin.readline().strip(), next(iter(sys.stdin)).strip())
    else:
        print(repr(sys.stdin.read()), len(sys.stdin.buffer.read()))
    exit()
    """
    play(tmp_path, script, 2, carrier)
    assert capsys.readouterr().out.splitlines() == ["name? hello Ada and more", "'' 0"]
    assert sys.stdin.read() == "and the rest"


def test_a_rank_may_redirect_its_output(tmp_path: Path, carrier: str, capsys: Capture) -> None:
    """Its own, not that of the others who run meanwhile."""
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
    play(tmp_path, script, 2, carrier)
    assert capsys.readouterr().out == "before\nafter\n"


def test_logging_is_set_up_by_each_rank_for_itself(tmp_path: Path, carrier: str, capsys: Capture) -> None:
    """A format with the rank in it is that rank's."""
    script = """
    import logging
    logging.basicConfig(level=logging.INFO, format=f"{comm.rank}: %(message)s")
    comm.Barrier()
    logging.getLogger("work").info("hello")
    """
    play(tmp_path, script, 3, carrier)
    assert sorted(capsys.readouterr().err.splitlines()) == ["0: hello", "1: hello", "2: hello"]


def test_a_question_is_seen_on_a_terminal_before_it_is_answered(
    tmp_path: Path, carrier: str, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    """Though its line has no end; elsewhere the line is kept whole."""

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
    play(tmp_path, script, 2, carrier)
    assert seen == ["name? "]
    assert capsys.readouterr().out == "hello Ada\n"
