"""Parts of the recorder that need no MPI: sizes of buffers, the file, ranges of ranks."""

from __future__ import annotations

import os
import sys
from argparse import ArgumentParser
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from fakempi import MPI
from fakempi.apps.launched import parse
from fakempi.apps.record.log import RankFile
from fakempi.extensions.recorder.communicators import ranges
from fakempi.extensions.recorder.sizes import BufferSize, BufferSizes

SIZES = BufferSizes(MPI)
ARRAY = np.zeros(12)


@pytest.mark.parametrize(
    ("buffer", "span"),
    [
        (ARRAY, BufferSize(96, 8)), (b"1234", BufferSize(4, 1)), (bytearray(5), BufferSize(5, 1)), (None, BufferSize(0, 1)),
        (MPI.IN_PLACE, BufferSize(0, 1)),
        ([ARRAY, MPI.DOUBLE], BufferSize(96, 8)), ([ARRAY, 3, MPI.DOUBLE], BufferSize(24, 8)),
        ((ARRAY, 5), BufferSize(40, 8)),
        ([ARRAY, (5, 2), MPI.DOUBLE], BufferSize(40, 8)), ([ARRAY, 5, 2, MPI.DOUBLE], BufferSize(40, 8)),
        ([ARRAY, None, MPI.INT], BufferSize(96, 4)),
        ([ARRAY, "d"], BufferSize(96, 8)), ([ARRAY, np.int64(2), MPI.DOUBLE], BufferSize(16, 8)),
        ([MPI.BOTTOM, 3, MPI.INT], BufferSize(12, 4)),
    ],
)  # fmt: skip
def test_sizes_of_all_forms_of_buffers(buffer: Any, span: BufferSize) -> None:
    """Forms as in the documentation of mpi4py."""
    assert SIZES.span(buffer) == span
    assert SIZES.nbytes(buffer) == span.nbytes


@pytest.mark.parametrize(
    ("buffer", "blocks"),
    [
        (ARRAY, [32, 32, 32]), (np.zeros(4), [16, 8, 8]), ([ARRAY, [1, 2, 3]], [8, 16, 24]),
        ((ARRAY, (1, 2, 3)), [8, 16, 24]),
        ([ARRAY, ([1, 2, 3], [0, 1, 3])], [8, 16, 24]), ([ARRAY, (1, 2, 3), (0, 1, 3), MPI.DOUBLE], [8, 16, 24]),
        ([ARRAY, ((1, 2, 3), None), MPI.FLOAT], [4, 8, 12]), ([ARRAY, np.array([1, 2, 3]), MPI.DOUBLE], [8, 16, 24]),
        ([ARRAY, MPI.DOUBLE], [32, 32, 32]), ([ARRAY, None, None, MPI.DOUBLE], [32, 32, 32]), (None, []),
    ],
)  # fmt: skip
def test_counts_of_all_forms_of_vector_buffers(buffer: Any, blocks: list[int]) -> None:
    """Without counts, the elements are distributed evenly, as mpi4py does it."""
    assert SIZES.blocks(buffer, 3)[0] == blocks


def test_types_for_each_rank() -> None:
    """Alltoallw."""
    assert SIZES.typed_blocks([ARRAY, ([1, 2], [0, 8]), [MPI.DOUBLE, MPI.INT]]) == [8, 8]


def test_ranges_of_ranks_are_short_and_exact() -> None:
    """The reader expands them (tests/recordings)."""
    assert ranges(range(65536)) == "0-65535"
    assert ranges([]) == ""
    assert ranges([5, 3, 1]) == "5-1:-2"
    assert ranges([4, 4, 7]) == "4,4,7"


class Clock:
    """A clock that advances by the test only."""

    time = 0

    def __call__(self) -> int:
        return self.time


@pytest.fixture
def clock() -> Clock:
    """A clock at zero."""
    return Clock()


def lines(path: Path) -> list[str]:
    """The lines after the header."""
    return path.read_text().splitlines()[2:]


def test_computing_time_excludes_the_recorder_and_loops_of_tests_are_one_line(tmp_path: Path, clock: Clock) -> None:
    """A test that comes 20 µs after another one at the same place continues it; a later one does not."""
    path = tmp_path / "rank"
    log = RankFile(str(path), {}, clock)
    for start in (100, 15_000, 30_000, 80_000):
        clock.time = start + 50  # the recorder itself takes 40
        log.skip(start, start + 10, 7)
    log.events(90_000, 90_007, 7, [("wait", "3")])
    log.end("completed")
    log.end("again")
    assert lines(path) == ["skip 100 29910 7", "skip 49950 10 7", "wait 9950 7 7 3", "end 0 completed"]


def test_lines_are_written_after_half_a_second_or_two_thousand_calls(tmp_path: Path, clock: Clock) -> None:
    """The file of a program that crashes has all calls but the last ones."""
    path = tmp_path / "rank"
    log = RankFile(str(path), {"rank": 0}, clock)
    log.events(0, 1, 1, [("coll", "x")])
    assert lines(path) == []
    log.events(500_000_000, 500_000_001, 1, [("coll", "y")])
    assert len(lines(path)) == 2
    for _ in range(2001):
        log.events(clock.time, clock.time, 1, [("coll", "z")])
    assert len(lines(path)) == 2003
    log.forget()  # the process has forked
    log.events(0, 1, 1, [("coll", "child")])
    log.flush()
    assert len(lines(path)) == 2003


def test_call_sites_are_numbered_by_line(tmp_path: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two calls in one line are one site; paths are relative to the working directory, without blanks."""
    monkeypatch.chdir(tmp_path)
    log = RankFile(str(tmp_path / "rank"), {}, clock)
    space: dict[str, Any] = {"call": lambda: log.site(1)}
    exec(compile("def one():\n    return call(), call()\n\ndef two():\n    return call()\n", "my work.py", "exec"), space)
    assert space["one"]() == (1, 1)
    assert space["two"]() == 2
    assert space["one"]() == (1, 1)
    other = compile("found = call()", str(tmp_path / "a" / "b.py"), "exec")
    exec(other, space)
    log.end("completed")
    assert lines(tmp_path / "rank")[:3] == ["site 1 my_work.py:2", "site 2 my_work.py:5", f"site 3 a{os.sep}b.py:1"]
    assert SimpleNamespace(**space).found == 3


@pytest.mark.parametrize(
    ("words", "module", "program", "argv"),
    [
        (["-o", "out", "{script}", "-m", "x"], None, ["{script}", "-m", "x"], ["{script}", "-m", "x"]),
        (["-o", "out", "-m", "pytest", "-o", "y"], "pytest", ["-o", "y"], ["pytest", "-o", "y"]),
        (["{script}"], None, ["{script}"], ["{script}"]),
    ],
)
def test_options_end_at_the_program(
    words: list[str], module: str | None, program: list[str], argv: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same for `python -m fakempi.record` and `python -m fakempi.watch`; `sys.argv` is that of the program."""
    monkeypatch.setattr(sys, "argv", ["before"])
    parser = ArgumentParser("python -m tool")
    parser.add_argument("-o", "--output", default="none")
    words, program, argv = ([each.format(script=__file__) for each in given] for given in (words, program, argv))
    options, found = parse(parser, words, ("-o", "--output"))
    assert (options.module, found, sys.argv) == (module, program, argv)
    assert options.output == ("out" if "out" in words else "none")


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ([], "the program is missing, for example: mpiexec -n 4 python -m tool work.py"),
        (["absent.py"], "absent.py: there is no such file."),
    ],
)
def test_a_missing_program_is_reported(words: list[str], sentence: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Before a rank communicates."""
    with pytest.raises(SystemExit):
        parse(ArgumentParser("python -m tool"), words, ())
    assert sentence in capsys.readouterr().err
