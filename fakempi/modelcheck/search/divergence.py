"""The first choice at which two schedules differ: its number, and its position in a trace."""

from __future__ import annotations

from itertools import zip_longest
from typing import Any

from fakempi.core.network.envelope import Envelope
from fakempi.modelcheck.steering.choices import Option
from fakempi.modelcheck.steering.points import MailboxPoint, Receive
from fakempi.modelcheck.steering.replay import Replay
from fakempi.modelcheck.steering.token import read


def first_difference(first: str, second: str) -> int | None:
    """Return the index of the first choice at which two tokens differ; None if their modes differ."""
    (kind, mine), (other_kind, others) = read(first), read(second)
    if kind != other_kind:
        return None
    pairs = enumerate(zip_longest(mine, others, fillvalue=0))
    return next((at for at, (left, right) in pairs if left != right), None)


class MarkingReplay(Replay):
    """Follow a token, and record one of its choices and the time at which it was made."""

    def __init__(self, token: str, choice_index: int | None) -> None:
        super().__init__(token)
        self.choice_index, self.when = choice_index, 0.0
        self.taken: Option | None = None

    def chosen(self, options: list[Option]) -> int | None:
        """Return the token's choice."""
        index = super().chosen(options)
        if len(options) > 1 and index is not None and self.at - 1 == self.choice_index:
            self.taken, self.when = options[index], float(self.loop.now)
        return index

    def place(self, trace: Any) -> dict[str, Any]:
        """Return the choice's position in the trace: time, rank, description, and the row of its message (-1 if none)."""
        if self.taken is None:
            return {}
        point, message = self.taken.point, -1
        if isinstance(self.taken.value, Envelope) and isinstance(point, MailboxPoint):
            message = self._row(trace.transfer_rows, self.taken.value, point)
        return {"time": self.when, "rank": point.process.number, "words": self.taken.describe(), "message": message}

    def _row(self, rows: Any, envelope: Envelope, point: MailboxPoint) -> int:
        """Return the row of the matching message that was received first after the receive was posted."""
        since = point.receive.posted if isinstance(point, Receive) else self.when
        alike = rows["source"] == envelope.out.number
        alike &= (rows["dest"] == point.process.number) & (rows["tag"] == envelope.tag) & (rows["awaited"] >= float(since))
        alike &= rows["context"] == envelope.box.name.context.number
        matching = alike.nonzero()[0]
        return int(matching[rows["awaited"][matching].argmin()]) if len(matching) else -1
