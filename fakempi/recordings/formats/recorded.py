"""Reader of the lines of fakempi/extensions/recorder, in files of `python -m fakempi.record` and in traces of `fakempi run`.

Times are nanoseconds in files, and modeled seconds in traces.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Hashable, Iterable, Sequence
from pathlib import Path
from struct import error as StructError
from typing import Any, NoReturn

from fakempi.errors.recordings import RecordingError
from fakempi.recordings.checks import MAX_SECONDS
from fakempi.recordings.events import ANY, OPERATIONS
from fakempi.recordings.formats.files import ByteProgress, all_ranks, numbered, starts_with
from fakempi.recordings.recording import MAX_RANKS, Recording, RecordingBuilder
from fakempi.recordings.writing import EventWriter

FIRST_LINE = "fakempi recording 1"
PATTERN = r"rank-(\d+)\.txt"
MODES = {"S": "standard", "R": "standard", "SS": "synchronous", "B": "buffered"}
WRONG = (ValueError, IndexError, KeyError, OverflowError, StructError)
"""Exceptions of int, of lists and of struct for words that a recorder does not write."""


def recognizes(path: Path) -> bool:
    """Return whether this is a directory of the recorder, or its file of rank 0."""
    return starts_with(path / "rank-0.txt" if path.is_dir() else path, FIRST_LINE[:-1].encode())


def read(path: Path, progress: Callable[[float], None]) -> Recording:
    """Return the recording of a directory, or of the directory of a file."""
    directory = path if path.is_dir() else path.parent
    files = numbered(directory, PATTERN)
    if 0 not in files:
        raise RecordingError("the file rank-0.txt is absent.", path)
    ranks = _header(files[0])["ranks"]
    paths = all_ranks(files, ranks, path)
    builder = RecordingBuilder(ranks, str(path))
    communicators: dict[Hashable, int] = {}
    counter, seconds, run = ByteProgress(paths, progress), 0.0, None
    for rank, each in enumerate(paths):
        header = _header(each)
        if (header["rank"], header["ranks"]) != (rank, ranks):
            reason = f"the file is that of rank {header['rank']} of {header['ranks']}, not of rank {rank} of {ranks}."
            raise RecordingError(reason, each, line=2)
        run = run or header["run"]
        if header["run"] != run:
            raise RecordingError("the file is from another run than that of rank 0.", each, line=2)
        reader = _RankReader(each, rank, builder, communicators)
        reader.read(line for line in counter.lines(each) if line[0] > 2)
        seconds = max(seconds, reader.seconds)
    return builder.finish(seconds)


def read_texts(texts: Sequence[bytes], source: str, progress: Callable[[float], None]) -> Recording:
    """Return the recording of the lines of each rank in a trace; `source` is its path."""
    builder, communicators, seconds = RecordingBuilder(len(texts), source), dict[Hashable, int](), 0.0
    for rank, text in enumerate(texts):
        reader = _TextReader(source, rank, builder, communicators)
        reader.read(enumerate(text.splitlines(keepends=True), 1))
        seconds = max(seconds, reader.seconds)
        progress((rank + 1) / len(texts))
    return builder.finish(seconds)


def _header(path: Path) -> dict[str, Any]:
    """Return the facts in the second line."""
    try:
        with path.open("rb") as file:
            first, second = file.readline(200).strip(), file.readline(100_000)
    except OSError as problem:
        raise RecordingError(f"cannot be read: {problem.strerror}.", path) from None
    if first != FIRST_LINE.encode():
        raise RecordingError(f"the first line is not {FIRST_LINE!r}.", path, line=1)
    try:
        header = json.loads(second)
        found = {"rank": header["rank"], "ranks": header["ranks"], "run": str(header["run"])}
    except (ValueError, KeyError, TypeError, RecursionError):
        raise RecordingError("the second line has no JSON with rank, ranks and run.", path, line=2) from None
    if type(found["rank"]) is not int or type(found["ranks"]) is not int:
        raise RecordingError("rank and ranks are not integers.", path, line=2)
    if not 1 <= found["ranks"] <= MAX_RANKS:
        raise RecordingError(f"{found['ranks']:,} ranks are not between 1 and {MAX_RANKS:,}.", path, line=2)
    return found


class _RankReader:
    """Reads the file of one rank."""

    no_end = "the file has no `end`: the rank was killed, or the program is still running."

    def __init__(self, path: str | Path, rank: int, builder: RecordingBuilder, communicators: dict[Hashable, int]) -> None:
        self.path, self.rank, self.builder = path, rank, builder
        self.writer: EventWriter = builder.rank(rank)
        self.shared = communicators  # identity -> index in the recording
        self.ranks = len(builder.communicators[0].members)
        self.comms: dict[str, int] = {"0": 0}  # number in this file -> index in the recording
        self.sites: dict[str, str] = {}
        self.outside = set[str]()  # communicators with processes of other worlds
        self.seconds = 0.0
        self.ended = False

    def read(self, lines: Iterable[tuple[int, bytes]]) -> None:
        """Read all lines, each with its number; RecordingError at the first wrong one."""
        kinds = {
            b"send": self._send, b"recv": self._receive, b"sendrecv": self._sendrecv, b"wait": self._wait,
            b"coll": self._collective, b"skip": self._skip, b"other": self._other, b"site": self._site, b"comm": self._comm,
            b"thread": self._thread, b"end": self._end,
        }  # fmt: skip
        number = 0
        for number, line in lines:
            kind, *_ = line.split(b" ", 1)
            read = kinds.get(kind.strip())
            if read is None or self.ended or not line.endswith(b"\n"):
                self._reject(number, line)
            try:
                read(line.decode("utf-8", "replace").split())
            except WRONG:
                self._reject(number, line)
        if not self.ended:
            self._fail(number, self.no_end)

    def _reject(self, number: int, line: bytes) -> NoReturn:
        text = line[:60].decode("utf-8", "replace").strip()
        self._fail(number, f"not a line of the recorder: {text!r}.")

    def _fail(self, number: int, reason: str) -> NoReturn:
        raise RecordingError(reason, self.path, line=number) from None

    # -- events ----------------------------------------------------------------------------------------------------------

    def _times(self, words: Sequence[str]) -> tuple[str, float]:
        """Add the computing time; returns the call site and the duration."""
        gap, duration = self._seconds(words[1]), self._seconds(words[2])
        self.writer.compute(gap)
        self.seconds += gap + duration
        return self.sites[words[3]], duration

    def _seconds(self, word: str) -> float:
        """Return a time in seconds."""
        nanoseconds = int(word)
        if nanoseconds < 0:
            raise ValueError
        return nanoseconds * 1e-9

    def _number(self, word: str) -> int:
        """Return the index of a communicator."""
        if word == "1" and word not in self.comms:
            self.comms[word] = self.builder.communicator([self.rank])
        return self.comms[word]

    def _send(self, words: list[str]) -> None:
        site, seconds = self._times(words)
        if words[5] in self.outside:
            self.builder.leave_out("send to another world")
            return
        self.writer.send(
            int(words[6]), int(words[7]), int(words[8]), self._number(words[5]), request=_request(words[9]),
            mode=MODES[words[4]], site=site, seconds=seconds,
        )  # fmt: skip

    def _receive(self, words: list[str]) -> None:
        site, seconds = self._times(words)
        if words[4] in self.outside:
            self.builder.leave_out("receive from another world")
            return
        self.writer.receive(
            _any(words[5]), _any(words[6]), int(words[7]), self._number(words[4]), request=_request(words[8]), site=site,
            seconds=seconds,
        )  # fmt: skip

    def _sendrecv(self, words: list[str]) -> None:
        site, seconds = self._times(words)
        if words[4] in self.outside:
            self.builder.leave_out("sendrecv with another world")
            return
        dest, tag, sent = map(int, words[5:8])
        source, recvtag, received = _any(words[8]), _any(words[9]), int(words[10])
        self.writer.sendrecv(
            dest, tag, sent, source, recvtag, received, self._number(words[4]), site=site, seconds=seconds
        )

    def _wait(self, words: list[str]) -> None:
        site, seconds = self._times(words)
        requests = []
        for word in words[4:]:
            request, *match = word.split(":")
            requests.append(int(request))
            if match:
                self.writer.matched(int(request), _any(match[0]), _any(match[1]))
        self.writer.wait(requests, site=site, seconds=seconds)

    def _collective(self, words: list[str]) -> None:
        site, seconds = self._times(words)
        operation, number = words[4], words[5]
        if operation not in OPERATIONS:
            raise ValueError
        index = -1 if number in self.outside else self._number(number)
        if index < 0 or len(self.builder.communicators[index].remote):
            self.builder.leave_out(f"{operation} on an intercommunicator")
            return
        counts = [] if words[10] == "-" else list(map(int, words[10].split(",")))
        self.writer.collective(
            operation, index, int(words[7]), root=int(words[6]), counts=counts, itemsize=int(words[8]),
            commutative={"c": True, "n": False}[words[9]], request=_request(words[11]), site=site, seconds=seconds,
        )  # fmt: skip

    def _skip(self, words: list[str]) -> None:
        self._times(words)

    def _other(self, words: list[str]) -> None:
        self._times(words)
        self.builder.leave_out(words[4])

    def _end(self, words: list[str]) -> None:
        gap = self._seconds(words[1])
        self.writer.compute(gap)
        self.seconds += gap
        self.ended = True

    # -- definitions -----------------------------------------------------------------------------------------------------

    def _site(self, words: list[str]) -> None:
        self.sites[words[1]] = words[2]

    def _thread(self, words: list[str]) -> None:
        self.builder.leave_out(f"{words[2]} in another thread", int(words[1]))

    def _comm(self, words: list[str]) -> None:
        """A communicator: the same parent, ordinal and members on several ranks are one."""
        parent: Hashable = None if words[2] == "-" else self._number(words[2])
        groups = [_ranks(word, self.ranks) for word in (words[4], *words[5:6])]
        if any(-1 in group for group in groups):
            self.outside.add(words[1])
            return
        groups.sort()  # both groups of an intercommunicator describe the same one
        if len(groups) > 1:
            parent = None
        identity = parent, int(words[3]), *map(tuple, groups)
        if identity not in self.shared:
            self.shared[identity] = self.builder.communicator(*groups)
        self.comms[words[1]] = self.shared[identity]


class _TextReader(_RankReader):
    """Reads the lines of a rank in a trace."""

    no_end = "it did not complete: it died, or the run failed."

    def _seconds(self, word: str) -> float:
        seconds = float(word)
        if not 0 <= seconds < MAX_SECONDS:
            raise ValueError
        return seconds

    def _fail(self, number: int, reason: str) -> NoReturn:
        line = f", line {number:,} of its calls" if number else ""
        raise RecordingError(f"rank {self.rank}{line}: {reason}", self.path) from None


def _request(word: str) -> int | None:
    return None if word == "-" else int(word)


def _any(word: str) -> int:
    return ANY if word == "*" else int(word)


def _ranks(text: str, ranks: int) -> list[int]:
    """Return the numbers of ranges `first-last:step`; ValueError if they are not ranks, or more than there are."""
    found: list[int] = []
    for part in text.split(","):
        span, _, step = part.partition(":")
        first, dash, last = span.partition("-")
        if not first and dash:  # -1, a process of another world
            return [-1]
        if dash:
            stride = int(step or 1)
            one, other = int(first), int(last)
            if not (0 <= one < ranks and 0 <= other < ranks and stride):
                raise ValueError
            found += range(one, other + (1 if stride > 0 else -1), stride)
        else:
            found.append(int(first))
        if len(found) > ranks:
            raise ValueError
    return found
