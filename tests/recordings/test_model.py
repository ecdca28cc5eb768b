"""Recordings: what readers write is what a replay reads, and wrong events are reported."""

from __future__ import annotations

import pytest

from fakempi.errors.recordings import RecordingError
from fakempi.recordings.events import ANY, EVENTS, KIND_NAMES, OPERATIONS, RECEIVE, WAIT
from fakempi.recordings.reading import read
from fakempi.recordings.recording import RecordingBuilder


def test_a_row_is_aligned() -> None:
    """Columns of 8 bytes are at multiples of 8."""
    assert EVENTS.itemsize == 72


def test_computing_before_a_call_adds_up() -> None:
    """Two intervals before one call are one; computing after the last call belongs to the end."""
    builder = RecordingBuilder(1, "x")
    rank = builder.rank(0)
    rank.compute(1.0)
    rank.compute(2.0)
    rank.collective("barrier")
    rank.compute(4.0)
    [rows] = builder.finish().events
    assert rows["compute"].tolist() == [3.0, 4.0]
    assert [KIND_NAMES[kind] for kind in rows["kind"]] == ["collective", "end"]


def test_requests_are_numbered_when_they_start() -> None:
    """An address that is used again names another request; requests that are not open are ignored."""
    builder = RecordingBuilder(1, "x")
    rank = builder.rank(0)
    for _ in range(2):
        rank.send(0, 1, 8, request="0xa")
        rank.receive(ANY, ANY, 8, request="0xb")
        rank.matched("0xb", 0, 1)
        rank.wait(["0xa", "0xb", "null"])
    recording = builder.finish()
    [rows], [numbers] = recording.events, recording.numbers
    waits = rows[rows["kind"] == WAIT]
    assert [numbers[row["first"] : row["first"] + row["count"]].tolist() for row in waits] == [[0, 1], [2, 3]]
    receives = rows[rows["kind"] == RECEIVE]
    assert receives["peer"].tolist() == [0, 0]
    assert receives["tag"].tolist() == [1, 1]


def test_equal_counts_are_stored_once() -> None:
    """A loop with the same counts takes the memory of its rows."""
    builder = RecordingBuilder(1, "x")
    for _ in range(100):
        builder.rank(0).collective("allgatherv", counts=[7])
    [numbers] = builder.finish().numbers
    assert numbers.tolist() == [7]


WRONG = {
    "communicator 0 has no rank 5": lambda rank: rank.send(5, 1, 8),
    "there is no communicator 3": lambda rank: rank.send(0, 1, 8, 3),
    "the tag -4 is negative": lambda rank: rank.send(1, -4, 8),
    "a size of -1 bytes": lambda rank: rank.receive(1, 1, -1),
    "-1.0 s of computing": lambda rank: (rank.compute(-1.0), rank.send(1, 1, 8)),
    "nan s of computing": lambda rank: (rank.compute(float("nan")), rank.send(1, 1, 8)),
    "the root of bcast": lambda rank: rank.collective("bcast", 0, 8, root=2),
    "alltoallv with 3 counts": lambda rank: rank.collective("alltoallv", counts=[1, 2, 3]),
    "a negative count": lambda rank: rank.collective("allgatherv", counts=[1, -2]),
    "elements of 0 bytes": lambda rank: rank.collective("allreduce", 0, 8, itemsize=0),
    "the rank is no member of communicator 1": lambda rank: rank.send(0, 1, 8, 1),
    "its receiving half is [7, 1, 8]": lambda rank: rank.sendrecv(1, 1, 8, 7, 1, 8),
    "communicator 0: rank 0 makes 1 collective calls, and rank 1 none": lambda rank: rank.collective("barrier"),
}


@pytest.mark.parametrize("sentence", WRONG)
def test_a_wrong_event_is_reported(sentence: str) -> None:
    """The sentence has the rank, the event and the number that is wrong."""
    builder = RecordingBuilder(2, "some.trace")
    builder.communicator([1])
    builder.rank(0).wait([])
    WRONG[sentence](builder.rank(0))  # type: ignore[no-untyped-call]
    with pytest.raises(RecordingError) as error:
        builder.finish()
    assert sentence in str(error.value)
    assert str(error.value).startswith("some.trace: ")


def test_collective_calls_in_another_order_are_reported() -> None:
    """Both ranks and their calls are in the sentence."""
    builder = RecordingBuilder(2, "x")
    for rank in range(2):
        for name in ("barrier", "scan")[:: 1 - 2 * rank]:
            builder.rank(rank).collective(name)
    with pytest.raises(RecordingError, match="call 1 is barrier with root 0 on rank 0 and scan with root 0 on rank 1"):
        builder.finish()


def test_another_number_of_collective_calls_is_reported() -> None:
    """The recording of one rank was cut off."""
    builder = RecordingBuilder(2, "x")
    for rank in range(2):
        for _ in range(2 + rank):
            builder.rank(rank).collective("barrier")
    with pytest.raises(RecordingError, match="the numbers of collective calls differ: 2 on rank 0 and 3 on rank 1"):
        builder.finish()


@pytest.mark.parametrize("members", [[], [0, 0], [0, 2], [-1]])
def test_wrong_members_are_reported(members: list[int]) -> None:
    """Members are distinct ranks."""
    builder = RecordingBuilder(2, "x")
    builder.communicator(members)
    with pytest.raises(RecordingError, match="communicator 1: its members are not distinct ranks from 0 to 1"):
        builder.finish()


def test_every_operation_can_be_written() -> None:
    """The names of operations are those of the writer."""
    builder = RecordingBuilder(1, "x")
    for name in OPERATIONS:
        counts = [1] * {"allgatherv": 1, "reduce_scatter": 1, "alltoallv": 2}.get(name, 0)
        builder.rank(0).collective(name, counts=counts)
    assert len(builder.finish()) == len(OPERATIONS) + 1


def test_a_path_without_recording_is_reported(tmp_path: object) -> None:
    """A missing file has its own sentence."""
    with pytest.raises(RecordingError, match="no such file or directory"):
        read(f"{tmp_path}/missing")
    with pytest.raises(RecordingError, match="not a recording that fakempi can read"):
        read(str(tmp_path))
