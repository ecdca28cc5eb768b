"""Recording: the model that all readers produce; RecordingBuilder: how they produce it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from fakempi.errors import printable
from fakempi.errors.recordings import RecordingError
from fakempi.recordings.checks import check_communicators, check_order, check_rank
from fakempi.recordings.events import Communicator, Numbers, Rows
from fakempi.recordings.writing import EventWriter

MAX_RANKS = 1 << 20
"""The largest number of ranks that a file may claim."""


@dataclass(frozen=True)
class Recording:
    """A recorded run.

    Attributes
    ----------
    source
        Where it came from: the format and the path.
    communicators
        The first one is the world.
    events, numbers
        The rows of each rank, and the numbers that they refer to (fakempi.recordings.events).
    sites
        Call sites; the first one is "".
    seconds
        The measured time of the recorded run; None if it is unknown.
    left_out
        Calls that are in the file and not in the recording: name -> count.
    """

    source: str
    communicators: Sequence[Communicator]
    events: Sequence[Rows]
    numbers: Sequence[Numbers]
    sites: Sequence[str] = ("",)
    seconds: float | None = None
    left_out: Mapping[str, int] = field(default_factory=dict)

    @property
    def ranks(self) -> int:
        """The number of ranks."""
        return len(self.events)

    def __len__(self) -> int:
        return sum(map(len, self.events))

    @property
    def nbytes(self) -> int:
        """The memory of the events in bytes."""
        return sum(rows.nbytes + numbers.nbytes for rows, numbers in zip(self.events, self.numbers, strict=True))

    def check(self) -> None:
        """Raise RecordingError if an event refers to something that is not there, or collective calls do not match."""
        check_communicators(self.communicators, self.ranks, self.source)
        for rank, (rows, numbers) in enumerate(zip(self.events, self.numbers, strict=True)):
            check_rank(rank, rows, numbers, self.communicators, self.source)
        check_order(self.events, self.communicators, self.source)


class RecordingBuilder:
    """Builds a recording.

    >>> builder = RecordingBuilder(2, "example")
    >>> builder.rank(0).send(1, 7, 1000)
    >>> builder.rank(1).compute(1e-3)
    >>> builder.rank(1).receive(0, 7, 1000)
    >>> recording = builder.finish()
    >>> recording.ranks, len(recording)
    (2, 4)
    """

    def __init__(self, ranks: int, source: str) -> None:
        if not 0 < ranks <= MAX_RANKS:
            raise RecordingError(f"a recording has 1 to {MAX_RANKS:,} ranks, not {ranks:,}.", source)
        self.source = source
        self.communicators: list[Communicator] = []
        self.communicator(range(ranks))
        self._sites = {"": 0}
        self._writers = [EventWriter(self._site) for _ in range(ranks)]
        self._left_out: Counter[str] = Counter()

    def communicator(self, members: Iterable[int], remote: Iterable[int] = ()) -> int:
        """Add a communicator, and return its index; `remote` has the other group of an intercommunicator."""
        groups = (np.fromiter(group, np.int32) for group in (members, remote))
        self.communicators.append(Communicator(*groups))
        return len(self.communicators) - 1

    def rank(self, rank: int) -> EventWriter:
        """Return the writer of a rank."""
        return self._writers[rank]

    def leave_out(self, call: str, times: int = 1) -> None:
        """Count a call that a recording cannot express, such as an access to a window."""
        self._left_out[call] += times

    def finish(self, seconds: float | None = None) -> Recording:
        """Return the checked recording; `seconds` is the measured time of the run."""
        events, numbers = zip(*(writer.finish() for writer in self._writers), strict=True)
        left_out = {printable(call): count for call, count in self._left_out.items()}
        recording = Recording(
            self.source, self.communicators, events, numbers, list(map(printable, self._sites)), seconds, left_out
        )
        recording.check()
        return recording

    def _site(self, text: str) -> int:
        return self._sites.setdefault(text, len(self._sites))
