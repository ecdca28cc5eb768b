"""What happened: every transfer, in the order in which they started."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple


class Transfer(NamedTuple):
    """One message: who sent how much to whom, when it was posted, started, and was over at either side."""

    source: int
    dest: int
    tag: int
    nbytes: int
    context: int
    posted: float
    start: float
    sent: float
    arrived: float


class Recorder:
    """Collects transfers while a run goes on."""

    def __init__(self) -> None:
        self.transfers: list[Transfer] = []

    def transfer(self, envelope: Any, start: float, sent: float, arrived: float) -> None:
        """A transfer starts."""
        box = envelope.box
        self.transfers.append(
            Transfer(
                source=envelope.out.number,
                dest=box.owner,
                tag=envelope.tag,
                nbytes=envelope.nbytes,
                context=box.name.context.number,
                posted=envelope.posted,
                start=start,
                sent=sent,
                arrived=arrived,
            )
        )


class Trace:
    """The record of a run."""

    def __init__(self, recorder: Recorder, clocks: Sequence[float]) -> None:
        self.transfers = recorder.transfers
        self.clocks = list(clocks)

    def __len__(self) -> int:
        return len(self.transfers)

    def __repr__(self) -> str:
        return f"<Trace: {len(self.clocks)} ranks, {len(self.transfers)} transfers>"
