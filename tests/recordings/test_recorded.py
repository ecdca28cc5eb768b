"""Files of `python -m fakempi.record`: what is read from each kind of line, and errors with file and line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from fakempi.errors.recordings import RecordingError
from fakempi.extensions.recorder.communicators import ranges
from fakempi.recordings.events import ANY, KIND_NAMES, OPERATIONS
from fakempi.recordings.formats.recorded import _ranks
from fakempi.recordings.reading import read

LINES = """
site 1 work.py:12
recv 120 95000 1 0 * * 80 4
send 8100 950 1 SS 0 1 7 80 5
wait 50 1200 1 4:1:7 5
skip 10 300 1
sendrecv 0 900 1 0 1 7 24 1 8 32
comm 2 0 0 1-0:-1
coll 5 4000 1 create 0 0 0 1 c - -
coll 5 4000 1 allgatherv 2 0 8 8 c 16,8 -
coll 5 4000 1 reduce 2 1 40 8 n - 6
wait 0 0 1 6
coll 0 0 1 barrier 1 0 0 1 c - -
other 10 300 1 Win.Fence
thread 2 Send
end 1000 completed
"""


def write(directory: Path, texts: list[str], **header: object) -> Path:
    """Write the files of all ranks."""
    directory.mkdir(exist_ok=True)
    for rank, text in enumerate(texts):
        facts = json.dumps({"rank": rank, "ranks": len(texts), "run": "a", **header})
        (directory / f"rank-{rank}.txt").write_text(f"fakempi recording 1\n{facts}\n{text.strip()}\n")
    return directory


def pair() -> list[str]:
    """The lines of two ranks that exchange messages."""
    return [
        LINES,
        LINES.replace("4:1:7", "4:0:7").replace("SS 0 1 7", "SS 0 0 7").replace("900 1 0 1 7 24 1", "900 1 0 0 7 24 0"),
    ]


def test_every_kind_of_line(tmp_path: Path) -> None:
    """Sizes, matches, computing times, communicators, and calls that are left out."""
    recording = read(write(tmp_path / "r", pair()))
    rows, numbers = recording.events[0], recording.numbers[0]
    kinds = [KIND_NAMES[kind] for kind in rows["kind"]]
    assert kinds[:4] == ["receive", "ssend", "wait", "sendrecv"]
    assert [kinds[4:-1], kinds[-1]] == [["collective"] * 3 + ["wait", "collective"], "end"]
    assert rows["compute"][:4] * 1e9 == pytest.approx([120, 8100, 50, 10])
    assert rows["compute"][-1] * 1e9 == pytest.approx(1010)
    assert rows["seconds"][0] == pytest.approx(95e-6)
    assert (rows["peer"][0], rows["tag"][0]) == (1, 7), "the match of the wildcard"
    assert numbers[rows["first"][3] : rows["first"][3] + 3].tolist() == [1, 8, 32]
    assert [OPERATIONS[each] for each in rows["operation"][4:7]] == ["create", "allgatherv", "reduce"]
    assert rows["flags"][6] == 1
    assert recording.sites == ["", "work.py:12"]
    members = sorted(each.members.tolist() for each in recording.communicators)
    assert members == [[0], [0, 1], [1], [1, 0]], "both ranks have the same communicator, and each its own"
    assert recording.left_out == {"Win.Fence": 2, "Send in another thread": 4}
    assert recording.seconds == pytest.approx(119_955e-9)


def test_wildcards_that_were_never_matched_stay_open(tmp_path: Path) -> None:
    """A request that the program dropped."""
    recording = read(write(tmp_path / "r", ["site 1 x\nrecv 0 0 1 0 * * 80 4\nsend 0 0 1 S 0 0 0 80 -\nend 0 completed"]))
    assert recording.events[0]["peer"][0] == ANY


def test_ranges_are_those_that_the_recorder_writes() -> None:
    """Both directions; too many ranks, or ranks outside of the world, are wrong."""
    for ranks in ([0], [3, 2, 1, 0], [0, 2, 4, 6, 7], list(range(500)), [5, 9, 1]):
        assert _ranks(ranges(ranks), 500) == ranks
    for text in ("0-500", "1000000-3000000", "0-9:0", "x", ",".join(["0"] * 501)):
        with pytest.raises(ValueError, match=r".*"):
            _ranks(text, 500)


WRONG = {
    r"rank-1\.txt:5: not a line of the recorder: 'send": ("SS", "SSS"),
    "no `end`: the rank was killed": ("\nend 1000 completed", ""),
    r"rank-1\.txt:3: not a line of the recorder: 'site 1'": ("site 1 work.py:12", "site 1"),
    "not a line of the recorder: 'recv -120": ("recv 120", "recv -120"),
    "not a line of the recorder: 'recv 999": ("recv 120 95000 1 0", "recv 120 95000 1 7"),
    "not a line of the recorder: 'coll 5 4000 1 allgatherv": ("16,8", "9" * 40),
    "communicator 0 has no rank 9": ("SS 0 0", "SS 0 9"),
    "the file is from another run": ('"run": "a"', '"run": "b"'),
    r"rank-1\.txt:2: the file is that of rank 0 of 2": ('"rank": 1', '"rank": 0'),
    r"rank-1\.txt:2: the second line has no JSON": ('"rank": 1', '"rank": [['),
    r"rank-1\.txt:2: 1,099,511,627,776 ranks are not between": ('"ranks": 2', '"ranks": 1099511627776'),
    r"rank-1\.txt:3: not a line of the recorder: 'comm 1 0 0'": ("site 1 work.py:12", "comm 1 0 0"),
    r"rank-1\.txt:1: the first line is not": ("fakempi recording 1", "fakempi recording 2"),
}


@pytest.mark.parametrize("sentence", WRONG)
def test_wrong_lines_are_reported_with_file_and_line(tmp_path: Path, sentence: str) -> None:
    """In the file of rank 1."""
    directory = write(tmp_path / "r", pair())
    path = directory / "rank-1.txt"
    path.write_text(path.read_text().replace(*WRONG[sentence]))
    with pytest.raises(RecordingError, match=sentence.replace("recv 999", "recv 120 95000 1 7")):
        read(directory)


def test_a_directory_without_a_rank_is_reported(tmp_path: Path) -> None:
    """The number of ranks is in each file."""
    directory = write(tmp_path / "r", pair(), ranks=4000)
    with pytest.raises(
        RecordingError, match="the files of 4,000 ranks are expected, and 3,998 ranks have none, such as rank 2"
    ):
        read(directory)
    write(tmp_path / "r", pair(), ranks=10**12)
    with pytest.raises(RecordingError, match="are not between 1 and"):
        read(directory)
