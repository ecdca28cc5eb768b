"""DUMPI traces: what is read from each kind of record, and errors with file and offset."""

from __future__ import annotations

from pathlib import Path

import pytest

from fakempi.errors.recordings import RecordingError
from fakempi.recordings.events import ANY, KIND_NAMES, PROC_NULL
from fakempi.recordings.formats.dumpi.layouts import FUNCTIONS, NUMBERS
from fakempi.recordings.reading import read
from tests.recordings import dumpi_traces
from tests.recordings.dumpi_traces import BYTE, INT, SELF, WORLD, DumpiRank, example, write
from tests.recordings.test_allprof import operations


def test_functions_have_the_numbers_of_the_format() -> None:
    """Counted independently."""
    assert {name: NUMBERS[name] for name in dumpi_traces.FUNCTIONS} == dumpi_traces.FUNCTIONS
    assert NUMBERS["END_OF_STREAM"] == dumpi_traces.END_OF_STREAM == len(FUNCTIONS) - 1


@pytest.mark.parametrize("version", [(0, 6, 1), (0, 7, 1)])
def test_an_example_with_most_kinds_of_calls(tmp_path: Path, version: tuple[int, int, int]) -> None:
    """Sizes, peers as they matched, requests, times, counts, and the halves of Comm_split; older statuses have no tag."""
    ranks = example(4, version=version)
    if version < (0, 6, 2):  # which wrote the number of arguments twice
        for one in ranks:
            one.data = one.data.replace(b"\0\0\0\1\0\0\0\4work", b"\0\0\0\1\0\0\0\1\0\0\0\4work", 1)
    recording = read(write(tmp_path / "trace", ranks))
    assert recording.ranks == 4
    rows = recording.events[1]
    assert [KIND_NAMES[kind] for kind in rows["kind"][:5]] == ["send", "receive", "wait", "receive", "sendrecv"]
    assert rows["nbytes"][:5].tolist() == [80, 480, 0, 12, 12]
    assert rows["peer"][:5].tolist() == [2, 0, 0, PROC_NULL, 2]
    assert rows["tag"][:2].tolist() == [5, 5 if version > (0, 6, 2) else ANY]
    assert rows["compute"][2] == pytest.approx(0.25)
    assert rows["seconds"][2] == pytest.approx(1e-3)
    assert recording.numbers[1][rows["first"][2] : rows["first"][2] + 2].tolist() == [0, 1]
    members = sorted(each.members.tolist() for each in recording.communicators)
    assert members == [[0], [0, 1, 2, 3], [1], [2], [2, 0], [3], [3, 1]]
    doubles = [8, 16, 24, 32]
    half = next(index for index, each in enumerate(recording.communicators) if each.members.tolist() == [3, 1])
    assert operations(recording, 1) == [
        ("allreduce", 0, 32, []), ("reduce", 0, 32, []), ("create", 0, 0, []), ("bcast", half, 100, []),
        ("allgatherv", 0, 16, doubles), ("gatherv", 0, 8, [4, 8, 12, 16]), ("alltoallv", 0, 40, [4, 8, 12, 16] * 2),
        ("reduce_scatter", 0, 20, doubles), ("gather", 0, 20, []), ("barrier", 0, 0, []),
    ]  # fmt: skip
    flags = rows["flags"][rows["kind"] == KIND_NAMES.index("collective")]
    assert flags.tolist() == [0, 1, *[0] * 8], "the operation of the program does not commute"
    assert recording.left_out == {"MPI_Put": 4}
    calls = 18 + 2
    assert recording.seconds == pytest.approx(0.375 + calls * 1e-3)
    for name in ("dumpi-2026.meta", "dumpi-2026-0002.bin"):
        assert len(read(tmp_path / "trace" / name)) == len(recording)


def test_traces_without_sizes_statuses_and_threads(tmp_path: Path) -> None:
    """Before version 0.6.6, the sizes of predefined datatypes are assumed; a wildcard without status stays one."""
    one = DumpiRank((0, 6, 5), statuses=False, threads=False)
    one.call("Recv", "ihiihS", 3, INT, -1, -1, WORLD, [])
    recording = read(write(tmp_path / "trace", [one], sizes=False))
    row = recording.events[0][0]
    assert (row["nbytes"], row["peer"], row["tag"]) == (12, ANY, ANY)


def test_a_source_of_minus_one_is_no_process_if_destinations_are_minus_one(tmp_path: Path) -> None:
    """DUMPI writes -1 for any source, and MPICH has it for no process: destinations and statuses tell which."""
    one = DumpiRank()
    one.call("Send", "ihiih", 1, BYTE, -1, 0, WORLD)
    one.call("Recv", "ihiihS", 1, BYTE, -1, 0, WORLD, [])
    one.call("Recv", "ihiihS", 1, BYTE, -1, 0, WORLD, [(1, 0, 9)])
    rows = read(write(tmp_path / "trace", [one])).events[0]
    assert rows["peer"][:3].tolist() == [PROC_NULL, PROC_NULL, 0]


def test_requests_complete_as_recorded(tmp_path: Path) -> None:
    """Waitany and Waitsome have indices, Test a flag; persistent requests start again; numbers are used again."""
    one = DumpiRank()
    for request in (5, 6, 7):
        one.call("Isend", "ihiihi", 1, BYTE, 0, 0, SELF, request)
    one.call("Waitany", "iAiS", 3, [5, 6, 7], 1, [(0, -1, -1)])
    one.call("Test", "iiS", 5, 0, [])
    one.call("Waitsome", "iAiAS", 3, [5, 1, 7], 2, [0, 2], [])
    one.call("Recv_init", "ihiihi", 1, BYTE, 0, 0, SELF, 5)
    for _ in range(2):
        one.call("Start", "i", 5)
        one.call("Wait", "iS", 5, [(1, 0, 0)])
    recording = read(write(tmp_path / "trace", [one]))
    rows = recording.events[0]
    kinds = [KIND_NAMES[kind] for kind in rows["kind"]]
    assert kinds == ["send"] * 3 + ["wait", "wait", "receive", "wait", "receive", "wait", "end"]
    assert recording.numbers[0].tolist() == [1, 0, 2, 3, 4]
    assert rows["comm"][5] == 1


def test_communicators_of_groups_and_grids(tmp_path: Path) -> None:
    """Comm_create of included ranks, a duplicate of it, rows of a grid; an intercommunicator is left out."""
    ranks = [DumpiRank() for _ in range(4)]
    for rank, one in enumerate(ranks):
        one.call("Comm_group", "hh", WORLD, 3)
        one.call("Group_incl", "hiAh", 3, 3, [3, 1, 0], 4)
        one.call("Group_range_excl", "hi", 4, 1)
        one.arguments("iAh", 1, [1, 1, 1], 5)
        one.call("Comm_create", "hhh", WORLD, 5, 4 if rank in (3, 0) else 1)
        if rank in (3, 0):
            one.call("Comm_dup", "hh", 4, 5)
            one.call("Barrier", "h", 5)
        one.call("Cart_create", "hiAAih", WORLD, 2, [2, 2], [0, 0], 0, 6)
        one.call("Cart_sub", "ihAh", 2, 6, [0, 1], 7)
        one.call("Bcast", "ihih", 1, BYTE, 1, 7)
        one.call("Intercomm_create", "hihiih", 7, 0, WORLD, 2 - rank // 2 * 2, 0, 8)
        one.call("Barrier", "h", 8)
    recording = read(write(tmp_path / "trace", ranks))
    members = [
        recording.communicators[comm].members.tolist() for name, comm, *_ in operations(recording, 3) if name != "create"
    ]
    assert members == [[3, 0], [2, 3]]
    assert recording.left_out["MPI_Barrier on a communicator whose members are unknown"] == 4


def test_seconds_start_again_after_eighteen_hours(tmp_path: Path) -> None:
    """They have 16 bits."""
    one = DumpiRank()
    one.call("Barrier", "h", WORLD, after=50_000)
    one.call("Barrier", "h", WORLD, after=30_000)
    rows = read(write(tmp_path / "trace", [one])).events[0]
    assert rows["compute"][:2].tolist() == pytest.approx([50_000, 30_000])


def test_files_that_are_cut_off_or_wrong_are_reported_with_their_offset(tmp_path: Path) -> None:
    """Without an index, with another magic number, with an unknown function, with an array of four billion elements."""
    directory = write(tmp_path / "trace", example(2))
    path = directory / "dumpi-2026-0001.bin"
    data = path.read_bytes()
    at = data.index(b"\0\x12\x4f")  # Waitall
    changes = {
        r"dumpi-2026-0001\.bin \(offset 500\): the file has no index at its end: it is cut off": data[:500],
        r"offset 0\): the file does not start with the magic number": b"DUMPI" + data[5:],
        "there is no function 9999": data[:at] + b"\x27\x0f" + data[at + 2 :],
        "an array of 4,294,967,295 elements is longer than the file": data[: at + 33] + b"\xff" * 4 + data[at + 37 :],
        "the offset of the .*, 1[0-9,]+, is behind the end of the file": data[:-32] + b"\0\0\1" + data[-29:],
    }
    for sentence, changed in changes.items():
        path.write_bytes(changed)
        with pytest.raises(RecordingError, match=sentence):
            read(directory)
    path.unlink()
    with pytest.raises(RecordingError, match="the files of 2 ranks are expected, and rank 1 has none"):
        read(directory)
