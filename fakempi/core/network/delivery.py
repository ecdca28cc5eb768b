"""The path of an envelope: it is sent, becomes ready (matched, or eager), takes its ports, is transferred, and arrives.

Ports are given to envelopes at the end of an instant, when all ranks that can run at that time have run (`finish`). The
result therefore does not depend on the order in which they ran. The envelopes are those that wait for a port that has
become free, those that were matched at this time, and those that were sent at this time and are ready; `transfers` has the
order. If that lets ranks continue at the same time, because a transfer takes no time, all of this is repeated (a delta
cycle in the terms of hardware simulation).

An eager envelope is matched when its transfer starts, a synchronous one as soon as both sides are posted. A receiver
therefore never waits for a message that is delayed at its sender's port while another message could arrive.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from heapq import heapify
from itertools import chain
from operator import attrgetter
from typing import Any

from fakempi.core.hooks import Layer, OnMatchWaiting, OnPostReceive, OnSend, OnSendMatched
from fakempi.core.network.cost import CostModel
from fakempi.core.network.envelope import Envelope, PostedReceive
from fakempi.core.network.matching import Mailbox
from fakempi.core.network.parameters import Time
from fakempi.core.network.ports import FOREVER, Clock, Port, QueueEntry
from fakempi.core.network.transfers import ANY_TIME, Transfers, order_of

SENDER = attrgetter("out.number")
SERIAL = attrgetter("serial")


class _Closed(
    OnSend[Envelope], OnPostReceive[PostedReceive], OnMatchWaiting[Envelope, PostedReceive], OnSendMatched[Envelope]
):
    """Rejects every call."""

    layer = Layer.TIME_LIMIT

    def __init__(self, rejection: Callable[[], None]) -> None:
        self.rejection = rejection

    def reject(self, *_: Any) -> None:
        """Reject a call of any hook point."""
        self.rejection()

    send = post_receive = match_waiting = send_matched = reject


class Delivery(Transfers):
    """Transfers envelopes.

    Hook points: an envelope is sent (`send`), a receive is posted (`post_receive`), it takes an envelope that waits
    (`match_waiting`), or the two belong together from the start (`send_matched`); an envelope and a receive match
    (`matched`); arrival times are requested (`all_arrived_at`).

    A recorder of a trace sets `watcher`, an object with these methods:

    started(envelope, receive, start, sent, arrived)
        Called when a transfer starts. The receive is None if the envelope has not been matched.
    met(envelope, receive)
        Called when an envelope is matched after its transfer has started.

    A recorder sees sends and the other matches at the hook points `send`, `send_matched`, `post_receive` and
    `match_waiting`.
    """

    HOOK_POINTS = ("send", "post_receive", "match_waiting", "send_matched", "matched", "all_arrived_at")

    matched: Callable[[Envelope, PostedReceive], None]
    """Copies the content of an envelope to the target of its receive. A parameter of the constructor."""

    def __init__(self, clock: Clock, cost: CostModel, matched: Callable[[Envelope, PostedReceive], None]) -> None:
        super().__init__(clock, cost)
        self.watcher: Any = None
        clock.finish_with(self.new, self.finish)
        if type(self).send is Delivery.send:
            self.set_functions(matched=matched, send=self.new.append)  # one call less for each message
        else:
            self.set_functions(matched=matched)
        self.by_task = False  # whether envelopes of a process are ordered by the task that sends them (`Envelope.task`)
        self.serials = 0  # number of envelopes that did not start at once on the fast path

    # -- hook points ----------------------------------------------------------------------------------------------

    def send(self, envelope: Envelope) -> None:
        """Send an envelope now."""
        self.new.append(envelope)

    def post_receive(self, receive: PostedReceive) -> None:
        """Post a receive: wait for an envelope that matches from now on."""
        envelope = receive.box.post_receive(receive)
        if envelope is not None:
            self.match_waiting(envelope, receive)

    def match_waiting(self, envelope: Envelope, receive: PostedReceive) -> None:
        """Match an envelope that waited in the mailbox with a receive."""
        receive.envelope = envelope
        self.matched(envelope, receive)
        if envelope.arrived is not None:  # it is eager, and its transfer has started
            now = self.clock.now
            self._settle(receive, envelope.arrived if envelope.arrived > now else now)
        else:
            envelope.receive = receive
            self._continue_later(envelope)

    def send_matched(self, envelope: Envelope, receive: Any) -> None:
        """Transfer an envelope whose receive is known from the start, without a mailbox."""
        envelope.receive = receive
        self.new.append(envelope)

    def all_arrived_at(self, box: Mailbox) -> Time:
        """Return the time at which all transfers to a mailbox end; if `in_order`, those to all mailboxes of its process."""
        if not self.in_order:
            return max(box.latest.values()) if box.latest else self.clock.now
        into: Port = box.into
        return max(into.free_at, into.latest) if into.free_at < FOREVER else into.latest  # inf: not started yet

    def close(self, rejection: Callable[[], None]) -> None:
        """Reject all sends and receives from now on: `rejection` is called instead."""
        self.subscribe(_Closed(rejection))

    def waiting(self, processes: Iterable[int]) -> Iterator[Envelope]:
        """Return the envelopes that wait for ports of these processes or of nodes, or for links, or are on their way."""
        self.finish()
        return chain(self.ports.waiting(processes), self.in_flight)

    # -- the end of an instant ------------------------------------------------------------------------------------

    def finish(self) -> None:
        """Match the envelopes that were sent at this time, and give free ports to envelopes that are ready."""
        new, continued = self.new.copy(), self.continued
        self.new.clear()
        if continued:
            self.continued = []
            new = [envelope for envelope in new if envelope is not None]
        self._sort(new)
        matched = sorted((item for item in continued if isinstance(item, Envelope)), key=SERIAL)
        entries = [item for item in continued if isinstance(item, tuple)]
        entries += [entry for item in continued if isinstance(item, Port) and (entry := item.first()) is not None]
        self._give(entries, matched, new)

    def _sort(self, new: list[Envelope]) -> None:
        """Sort the envelopes that were sent at this time; those of one task stay in the order in which they were sent."""
        if self.by_task:
            new.sort(key=lambda envelope: (envelope.out.number, getattr(envelope, "task", 0)))
        else:
            new.sort(key=SENDER)

    def _give(self, entries: list[QueueEntry], matched: list[Envelope], new: list[Envelope]) -> None:
        """Give ports to envelopes that wait for a free port, to those that were matched now, and to new ones that are ready.

        If there are links, or several envelopes have the same sender, all take output ports before one takes another port:
        the number of messages that are left at a sender matters, and messages move one link at a time.
        """
        if not self.cost.duplex:
            for _, envelope in sorted({entry[1:] for entry in entries}):
                if envelope.arrived is None:
                    self._claim(envelope)
        elif entries or not self.plain or len({envelope.out for envelope in chain(matched, new)}) < len(matched) + len(new):
            self.ready = ready = [entry[1:] for entry in entries if entry[0] == ANY_TIME]
            self.attempts += [entry for entry in entries if entry[0] != ANY_TIME]
            heapify(self.attempts)
        for envelope in matched:
            self._depart(envelope)
        for envelope in new:
            self._launch(envelope)
        if self.ready is not None:
            self.ready, self.is_giving = None, True
            departing = [envelope for serial, envelope in sorted(ready) if envelope.out.take((ANY_TIME, serial, envelope))]
            for order, envelope in sorted((order_of(envelope), envelope) for envelope in departing):
                self._enter(envelope, order)
            self._make_attempts()

    def _launch(self, envelope: Envelope) -> None:
        """Send an envelope on its way: to its ports if it is ready, else to the mailbox."""
        box: Mailbox = envelope.box
        self.serials = envelope.serial = self.serials + 1
        if envelope.receive is not None:
            self._depart(envelope)
        elif box.delayed is not None and envelope.source in box.delayed:
            box.delayed[envelope.source].append(envelope)  # after the envelopes that were sent before
            if envelope.eager:
                self._depart(envelope)
        elif envelope.eager:
            if not self.in_order:
                self._delay(envelope)
                self._depart(envelope)
            elif not self._depart(envelope):
                self._delay(envelope)
        else:
            self._announce(envelope)

    # -- transfers ------------------------------------------------------------------------------------------------

    @staticmethod
    def _delay(envelope: Envelope) -> None:
        """Delay later messages of the same sender until this envelope has arrived."""
        box: Mailbox = envelope.box
        if box.delayed is None:
            box.delayed = {}
        box.delayed[envelope.source] = deque((envelope,))

    def _announce(self, envelope: Envelope) -> None:
        """Put a synchronous envelope into the mailbox; if a receive matches, start its transfer."""
        receive = envelope.box.arrive(envelope)
        if receive is None:
            if envelope.box.probes:
                self._complete_probes(envelope, self.clock.now)
        else:
            envelope.receive = receive
            receive.envelope = envelope
            self.matched(envelope, receive)
            self._depart(envelope)

    def _travel(self, envelope: Envelope, start: Time, sent: Time, arrived: Time) -> None:
        """Count a transfer whose end is known; match an eager envelope."""
        box: Mailbox = envelope.box
        nbytes = envelope.nbytes
        out, into = envelope.out, box.into
        out.sent += 1
        out.bytes_sent += nbytes
        into.received += 1
        into.bytes_received += nbytes
        if not self.in_order:
            if box.latest is None:
                box.latest = {}
            arrived = box.latest[envelope.source] = max(arrived, box.latest.get(envelope.source, arrived))
        envelope.arrived = into.latest = arrived
        receive: PostedReceive | None = envelope.receive
        if self.watcher is not None:
            self.watcher.started(envelope, receive, start, sent, arrived)
        if receive is None:  # an eager envelope
            if not self.in_order:  # other messages may overtake it: match it when it has arrived
                self.clock.call_at(arrived, partial(self._match_first_arrived, box, envelope.source))
            else:
                self._match_arrived(envelope, arrived)
        if envelope.end is None:
            self._settle(envelope, sent)
        if receive is not None:
            envelope.receive = None  # break the reference cycle, so that reference counting frees the message
            self._settle(receive, arrived)

    def _match_arrived(self, envelope: Envelope, arrived: Time) -> None:
        """Put an eager envelope into the mailbox; if a receive matches, complete the receive at the time of arrival."""
        box: Mailbox = envelope.box
        receive = box.arrive(envelope)
        if receive is not None:
            receive.envelope = envelope
            self.matched(envelope, receive)
            if self.watcher is not None:
                self.watcher.met(envelope, receive)
            self._settle(receive, arrived)
        elif box.probes:
            self._complete_probes(envelope, arrived)
        if box.delayed is not None and envelope.source in box.delayed:
            self._release(box, envelope)

    def _match_first_arrived(self, box: Mailbox, source: int) -> None:
        """After an arrival from a source, match the envelope that it sent first: several may arrive at one time."""
        assert box.delayed is not None
        first = box.delayed[source][0]
        self._match_arrived(first, first.arrived)

    def _release(self, box: Mailbox, envelope: Envelope) -> None:
        """After a delayed envelope has entered the mailbox, announce the synchronous envelopes sent after it.

        Stop at the next eager envelope, which is put into the mailbox when it arrives.
        """
        assert box.delayed is not None
        waiting = box.delayed[envelope.source]
        if not waiting or waiting[0] is not envelope:
            return  # a synchronous envelope that was announced before
        waiting.popleft()
        while waiting and not waiting[0].eager:
            self._announce(waiting.popleft())  # may start a transfer, which calls this function again
        if not waiting:
            box.delayed.pop(envelope.source, None)

    def _complete_probes(self, envelope: Envelope, at: Time) -> None:
        """Complete the probes that match an envelope, at the time `at`."""
        probes = envelope.box.probes
        for probe in [probe for probe in probes if probe.matches(envelope)]:
            probes.remove(probe)
            self._settle(probe, at)
