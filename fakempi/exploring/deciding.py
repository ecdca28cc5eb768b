"""The choice at which two schedules part: which one it is, and where it is in a trace."""

from __future__ import annotations

from itertools import zip_longest
from typing import Any

from fakempi.choices.choices import Option
from fakempi.choices.points import AtMailbox, Receive
from fakempi.choices.steering import Replay
from fakempi.choices.token import read
from fakempi.wire.envelope import Envelope


def parting(one: str, other: str) -> int | None:
    """The number of the first choice, from 0, at which two tokens differ; None if it is their buffering."""
    (kind, mine), (other_kind, others) = read(one), read(other)
    if kind != other_kind:
        return None
    pairs = enumerate(zip_longest(mine, others, fillvalue=0))
    return next((at for at, (left, right) in pairs if left != right), None)


class Marked(Replay):
    """Follows a token, and remembers one of its choices, and when that was made."""

    def __init__(self, token: str, which: int | None) -> None:
        super().__init__(token)
        self.which, self.when = which, 0.0
        self.taken: Option | None = None

    def chosen(self, options: list[Option]) -> int | None:
        """As it is written."""
        index = super().chosen(options)
        if len(options) > 1 and index is not None and self.at - 1 == self.which:
            self.taken, self.when = options[index], float(self.loop.now)
        return index

    def place(self, trace: Any) -> dict[str, Any]:
        """Where the choice is in the trace: when, on which rank, in words, and the message if it took one."""
        if self.taken is None:
            return {}
        point, message = self.taken.point, -1
        if isinstance(self.taken.value, Envelope) and isinstance(point, AtMailbox):
            message = self._row(trace.transfer_rows, self.taken.value, point)
        return {"time": self.when, "rank": point.process.number, "words": self.taken.words(), "message": message}

    def _row(self, rows: Any, envelope: Envelope, point: AtMailbox) -> int:
        """Of the messages that look like it, the first that was not received before."""
        since = point.pattern.posted if isinstance(point, Receive) else self.when
        alike = rows["source"] == envelope.out.number
        alike &= (rows["dest"] == point.process.number) & (rows["tag"] == envelope.tag) & (rows["awaited"] >= float(since))
        alike &= rows["context"] == envelope.box.name.context.number
        found = alike.nonzero()[0]
        return int(found[rows["awaited"][found].argmin()]) if len(found) else -1
