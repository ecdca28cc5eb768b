"""Runs with a seed: the order of events that MPI leaves open is random, the same for the same seed.

At one time, ranks run in a random order. A receive from any source takes one of the messages that were sent at the same time
at random. The times of a program without such receives, and without polls, do not depend on the seed.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable
from functools import partial
from random import Random
from typing import Any

from fakempi.core.network.cost import CostModel
from fakempi.core.network.delivery import Delivery
from fakempi.core.network.envelope import Envelope, PostedReceive
from fakempi.core.network.matching import Mailbox
from fakempi.core.network.ports import Clock


def use_seed(universe: Any, seed: int) -> None:
    """Let ranks that continue at the same time run in a random order, before the first one runs."""
    universe.mailbox = SeededMailbox
    loop = universe.loop
    loop.shuffle = partial(_shuffle, Random(seed))
    loop.shuffle(loop.due)


def _shuffle(random: Random, tasks: list[Any]) -> None:
    """Order tasks at random. Tasks of one process keep their order."""
    weights: defaultdict[int, float] = defaultdict(random.random)  # by process
    tasks.sort(key=lambda task: (weights[task.order >> 32], task.order))


class SeededDelivery(Delivery):
    """Messages that were sent at the same time, and that a posted receive from any source matches, are in random order."""

    def __init__(
        self, seed: int, clock: Clock, cost: CostModel, matched: Callable[[Envelope, PostedReceive], None]
    ) -> None:  # fmt: skip
        super().__init__(clock, cost, matched)
        self.random = Random(seed)

    def _sort(self, new: list[Envelope]) -> None:
        super()._sort(new)
        places: dict[Mailbox, list[int]] = defaultdict(list)  # mailboxes with receives from any source -> messages
        for place, envelope in enumerate(new):
            envelope.tie = self.clock.now, self.random.random()
            if any(receive.source < 0 for receive in envelope.box.receives()):
                places[envelope.box].append(place)
        for found in places.values():
            for place, envelope in zip(found, _shuffled([new[place] for place in found]), strict=True):
                new[place] = envelope


class SeededMailbox(Mailbox):
    """A receive from any source takes one of the messages that were sent when the first one was sent."""

    __slots__ = ()

    def find(self, source: int, tag: int) -> Envelope | None:
        """Return a matching envelope, without removing it; None if there is none. It stays the same until it is taken."""
        found = super().find(source, tag)
        if found is None or source >= 0:
            return found
        first: dict[int, Envelope] = {}  # by source: messages of one source are received in order
        for envelope in self.order or ():
            if tag < 0 or tag == envelope.tag:
                first.setdefault(envelope.source, envelope)
        ties = [envelope for envelope in first.values() if envelope.tie[0] == found.tie[0]]
        return min(ties, key=_weight, default=found)


def _weight(envelope: Envelope) -> Any:
    return envelope.tie[1]


def _shuffled(envelopes: list[Envelope]) -> list[Envelope]:
    """Return envelopes in random order, but those of one sender in the order in which they were sent."""
    sent: dict[int, deque[Envelope]] = defaultdict(deque)
    for envelope in envelopes:
        sent[envelope.out.number].append(envelope)
    return [sent[envelope.out.number].popleft() for envelope in sorted(envelopes, key=_weight)]
