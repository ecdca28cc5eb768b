"""A message with latency: it takes each link of its route, and its receiver's port, when its first byte gets there.

It holds its sender's port until its last byte has left. If it waits for a link or a port before that, its bytes stop, and it
holds the port for longer; a message that has left waits in the network. With a latency that approaches zero, and if it does
not change which message is the first at a port, times approach those without latency, where both ends are held together.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from typing import Any

from fakempi.core.network.parameters import Time
from fakempi.core.network.ports import LinkPort, Port


class Flight:
    """The times of a message on its way. `hold`, `sent`, `arrived` and `heads` are relative to `start`.

    `start` is the time at which the transfer has started, plus the time for which the message has waited since.
    """

    __slots__ = ("arrived", "has_left", "heads", "hold", "latency", "order", "sent", "start", "started")

    def __init__(self, hold: Time, sent: Time, arrived: Time, heads: Sequence[Time]) -> None:
        self.hold, self.sent, self.arrived = hold, sent, arrived
        self.heads = heads  # by port of the route: when the first byte reaches it
        self.latency = heads[-1]
        self.start: Time = 0
        self.started: Time = 0  # `start` when the end of the send became known; later the message waits in the network
        self.has_left = False  # whether the sender's ports are released
        self.order: Any = None  # its position among messages that reach a port at the same time

    def reach(self, stage: int, now: Time) -> Time:
        """Record that the message takes a port now; return when its first byte reaches the next one, if any."""
        head = self.heads[stage]
        if stage == 0 or now > self.start + head:  # it starts, or it has waited
            self.start = now - head
        return self.heads[stage + 1] if stage + 1 < len(self.heads) else inf


def heads_of(route: Sequence[Port], latency: Time) -> Sequence[Time]:
    """Return when the first byte reaches the ports of a route, if it reaches the last one `latency` after the start."""
    if not any(isinstance(port, LinkPort) for port in route):
        half = len(route) // 2  # ports of the sender and of its node, then those of the receiver
        return [0] * half + [latency] * half
    heads, at = list[Time]([0]), 0.0
    for port in route[1:-1]:
        heads.append(min(at, latency))
        at += port.latency  # type: ignore[attr-defined]  # all of them are links
    return [*heads, latency]
