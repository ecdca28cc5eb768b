"""Traces of liballprof: what is read from each kind of line, and errors with file and line."""

from __future__ import annotations

from pathlib import Path

import pytest

from fakempi.errors.recordings import RecordingError
from fakempi.recordings.events import ANY, COLLECTIVE, KIND_NAMES, OPERATIONS, PROC_NULL
from fakempi.recordings.reading import read
from fakempi.recordings.recording import Recording
from tests.recordings.allprof_traces import BYTE, DOUBLE, AllprofRank, example, write


def operations(recording: Recording, rank: int) -> list[tuple[str, int, int, list[int]]]:
    """Name, communicator, bytes and counts of the collective calls of a rank."""
    rows = recording.events[rank]
    return [
        (
            OPERATIONS[row["operation"]],
            int(row["comm"]),
            int(row["nbytes"]),
            recording.numbers[rank][row["first"] : row["first"] + row["count"]].tolist(),
        )
        for row in rows[rows["kind"] == COLLECTIVE]
    ]


def test_an_example_with_most_kinds_of_calls(tmp_path: Path) -> None:
    """Sizes, peers, requests, computing times, counts, and the halves that Comm_split makes by color and key."""
    recording = read(write(tmp_path / "traces", example(4)))
    assert recording.ranks == 4
    rows = recording.events[1]
    assert [KIND_NAMES[kind] for kind in rows["kind"][:4]] == ["send", "receive", "wait", "sendrecv"]
    assert rows["nbytes"][:4].tolist() == [80, 160, 0, 12]
    assert rows["peer"][:4].tolist() == [2, ANY, 0, 2]
    assert rows["tag"][:2].tolist() == [5, ANY]
    assert rows["compute"][2] == pytest.approx(100e-6)
    assert recording.numbers[1][rows["first"][2] : rows["first"][2] + 2].tolist() == [0, 1]
    assert [each.members.tolist() for each in recording.communicators] == [[0, 1, 2, 3], [2, 0], [3, 1]]
    counts = [4, 8, 12, 16]
    assert operations(recording, 1) == [
        ("allreduce", 0, 32, []), ("create", 0, 0, []), ("bcast", 2, 100, []), ("allgatherv", 0, 16, [8, 16, 24, 32]),
        ("gatherv", 0, 8, counts), ("alltoallv", 0, 40, counts * 2), ("reduce_scatter", 0, 16, [8, 16, 24, 32]),
        ("scatter", 0, 8, []), ("barrier", 0, 0, []),
    ]  # fmt: skip
    assert operations(recording, 0)[4] == ("gatherv", 0, 4, [])
    assert recording.left_out == {"MPI_Win_fence": 4, "MPI_Iprobe": 4}
    assert recording.seconds == pytest.approx(176e-6)
    assert read(tmp_path / "traces" / "pmpi-trace-rank-2.txt").seconds == recording.seconds


def test_any_source_and_no_process_depend_on_the_library(tmp_path: Path) -> None:
    """-1 and -2 have each other's meaning in MPICH and in Open MPI, whose handles are addresses."""
    for world, any_source in ((1140850688, -2), (94000, -1)):
        one = AllprofRank(0, 1, world)
        one.call("Irecv", 1, 1, BYTE, any_source, -1, one.world, 8)
        one.call("Send", 1, 1, BYTE, -3 - any_source, 0, one.world)
        rows = read(write(tmp_path / str(world), [one])).events[0]
        assert rows["peer"][:2].tolist() == [ANY, PROC_NULL]


def test_requests_of_an_array_are_four_or_eight_bytes_apart(tmp_path: Path) -> None:
    """Fortran and MPICH have integers, Open MPI has addresses."""
    for stride in (4, 8):
        one = AllprofRank(0, 1)
        for place in range(3):
            one.call("Isend", 1, 1, BYTE, 0, 0, one.world, 800 + stride * place)
        one.call("Isend", 1, 1, BYTE, 0, 0, one.world, 700)
        one.call("Waitall", 3, 800, 0)
        one.call("Wait", 700, 0)
        recording = read(write(tmp_path / str(stride), [one]))
        assert recording.numbers[0].tolist() == [0, 1, 2, 3]
        assert recording.events[0]["count"].tolist() == [0, 0, 0, 0, 3, 1, 0]


def test_completions_that_the_trace_does_not_tell_are_counted(tmp_path: Path) -> None:
    """Waitany completes the oldest request of its array; a test completes nothing."""
    one = AllprofRank(0, 1)
    for place in range(2):
        one.call("Isend", 1, 1, BYTE, 0, 0, one.world, 800 + 8 * place)
    one.call("Test", 800, 1, 2)
    for _ in range(2):
        one.call("Waitany", 2, 800, 5, 6)
    recording = read(write(tmp_path / "one", [one]))
    assert recording.events[0]["count"].tolist() == [0, 0, 1, 1, 0]
    assert recording.numbers[0].tolist() == [0, 1]
    assert sum(recording.left_out.values()) == 3


def test_a_loop_of_tests_is_no_computing_time(tmp_path: Path) -> None:
    """Gaps of less than 20 µs between two tests are those of a polling loop."""
    one = AllprofRank(0, 1)
    for _ in range(4):
        one.call("Iprobe", -2, -1, one.world, 3, 4, after=10)
    one.call("Barrier", one.world, after=7)
    rows = read(write(tmp_path / "one", [one])).events[0]
    assert rows["compute"][0] == pytest.approx(17e-6)


def test_communicators_that_a_group_defines_are_found_if_they_are_unique(tmp_path: Path) -> None:
    """Comm_create has a group of unknown members; two of the ranks use the result, and a duplicate of it."""
    ranks = [AllprofRank(rank, 3) for rank in range(3)]
    for rank, one in enumerate(ranks):
        one.call("Comm_create", one.world, 99, 5000)
        if rank != 1:
            new = f"777,{1 - rank // 2},2"
            one.call("Barrier", new)
            one.call("Comm_dup", new, 5008)
            one.call("Bcast", 1, 8, BYTE, 0, f"778,{1 - rank // 2},2")
    recording = read(write(tmp_path / "three", ranks))
    assert [each.members.tolist() for each in recording.communicators] == [[0, 1, 2], [2, 0], [2, 0]]
    assert operations(recording, 2)[-1] == ("bcast", 2, 8, [])
    assert recording.left_out == {}


WRONG = {
    "pmpi-trace-rank-0.txt:7: not a line of liballprof: 'MPI_Send:": ("MPI_Isend:1000001", "MPI_Send:x"),
    "the trace ends without MPI_Finalize: it is cut off": ("MPI_Finalize", "MPI_Wtime"),
    "not a line of liballprof: 'MPI_Allreduce": (f"4:{DOUBLE}:3", f"{'9' * 30}:{DOUBLE}:3"),
    "not a line of liballprof: 'hello": ("MPI_Barrier", "hello"),
    "the first line does not start with": ("# htor", "htor"),
}


@pytest.mark.parametrize("sentence", WRONG)
def test_wrong_lines_are_reported_with_file_and_line(tmp_path: Path, sentence: str) -> None:
    """One sentence, and no traceback."""
    directory = write(tmp_path / "traces", example(2))
    path = directory / f"pmpi-trace-rank-{int('first line' in sentence)}.txt"
    path.write_text(path.read_text().replace(*WRONG[sentence]))
    with pytest.raises(RecordingError, match=sentence):
        read(directory)


def test_a_file_that_is_absent_or_cut_off_is_reported(tmp_path: Path) -> None:
    """In the middle of a line, and a rank without a file."""
    directory = write(tmp_path / "traces", example(3))
    path = directory / "pmpi-trace-rank-1.txt"
    path.write_text(path.read_text()[:400])
    with pytest.raises(RecordingError, match=r"pmpi-trace-rank-1\.txt:\d+: "):
        read(directory)
    path.unlink()
    with pytest.raises(RecordingError, match="the files of 3 ranks are expected, and rank 1 has none"):
        read(directory)
