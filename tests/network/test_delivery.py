"""The path of an envelope, and the express path: the same messages, posted by a plain agenda."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fakempi.core.kernel.agenda import Agenda
from fakempi.core.network.cost import CostModel
from fakempi.core.network.delivery import Delivery
from fakempi.core.network.envelope import Envelope, PostedReceive, new_envelope, new_receive
from fakempi.core.network.express import Express
from fakempi.core.network.matching import Mailbox
from fakempi.core.network.models.hockney import Hockney
from fakempi.core.network.models.loggp import LogGP

ANY = -1
UNIT = Hockney(t_s=0, t_w=1)


class Waiter:
    """A task stand-in that records end times."""

    def __init__(self) -> None:
        self.ends_seen: list[float] = []

    def settled(self, end: float) -> None:
        """As in tasks."""
        self.ends_seen.append(end)


class Mailboxes:
    """Some processes with a mailbox each, and a network between them."""

    def __init__(
        self, cost: CostModel = UNIT, processes: int = 4, express: bool = False, watched: bool = False
    ) -> None:
        self.clock = Agenda()
        self.seen: list[Any] = []
        self.caught: list[Any] = []
        self.meetings: list[tuple[float, Any, Any]] = []
        if express:
            self.network: Delivery = Express(self.clock, cost, self.matched)
        else:
            self.network = Delivery(self.clock, cost, self.matched)
        if watched:
            self.network.watcher = self
        for _ in range(processes):
            self.network.ports.add_process()
        self.boxes = [Mailbox(number, self.network.into[number]) for number in range(processes)]

    def matched(self, envelope: Envelope, receive: PostedReceive) -> None:
        """An envelope has matched its receive."""
        self.meetings.append((self.clock.now, envelope.payload, receive.target))

    def started(self, envelope: Envelope, receive: Any, start: float, sent: float, arrived: float) -> None:
        """A transfer has started."""
        self.seen.append((envelope.payload, envelope.posted, receive and receive.target, start, sent, arrived))

    def met(self, envelope: Envelope, receive: PostedReceive) -> None:
        """It has matched its receive in transit."""
        self.caught.append((envelope.payload, receive.target))

    def send(
        self, at: float, source: int, dest: int, nbytes: int, *, tag: int = 0, eager: bool = True, name: Any = None
    ) -> Envelope:
        """A message will be sent."""
        envelope = new_envelope(self.network.out[source], source, tag, nbytes, self.boxes[dest], name, eager)
        self.clock.call_at(at, lambda: self.post(self.network.send, envelope))
        return envelope

    def post_receive(self, at: float, dest: int, source: int = ANY, *, tag: int = ANY, name: Any = None) -> PostedReceive:
        """A message will be awaited."""
        receive = new_receive(source, tag, self.boxes[dest], name, 1 << 40)
        self.clock.call_at(at, lambda: self.post(self.network.post_receive, receive))
        return receive

    def post(self, door: Callable[[Any], None], half: Any) -> None:
        """Post, and then wait, unless the end is known."""
        half.posted = self.clock.now
        door(half)
        if half.end is None:
            half.waiter = Waiter()

    def look(self, at: float, dest: int, source: int = ANY, *, tag: int = ANY) -> PostedReceive:
        """Probe later for a message that has not arrived."""
        receive = new_receive(source, tag, self.boxes[dest], None, 0)
        receive.waiter = Waiter()

        def wait() -> None:
            self.boxes[dest].probes = [*(self.boxes[dest].probes or ()), receive]

        self.clock.call_at(at, wait)
        return receive

    def go(self) -> None:
        """Process all events."""
        while (action := self.clock.pop()) is not None:
            action()


@pytest.fixture(params=["ordinary", "express"])
def mailboxes(request: pytest.FixtureRequest) -> Mailboxes:
    """Both paths."""
    return Mailboxes(express=request.param == "express")


def test_a_message_takes_its_time_and_both_sides_end_together(mailboxes: Mailboxes) -> None:
    """Receive posted first, then the send."""
    receive, envelope = mailboxes.post_receive(2, 1, 0), mailboxes.send(3, 0, 1, 10)
    mailboxes.go()
    assert (envelope.end, receive.end, envelope.arrived) == (13, 13, 13)
    assert receive.envelope is envelope
    assert (envelope.waiter.ends_seen, receive.waiter.ends_seen) == ([13], [13])


def test_an_eager_message_ends_before_it_is_received(mailboxes: Mailboxes) -> None:
    """A later receive finds it at once."""
    envelope, receive = mailboxes.send(0, 0, 1, 10), mailboxes.post_receive(50, 1)
    mailboxes.go()
    assert (envelope.end, receive.end) == (10, 50)


def test_a_receive_posted_while_an_eager_message_is_in_transit_ends_at_its_arrival(mailboxes: Mailboxes) -> None:
    """Not before."""
    envelope, receive = mailboxes.send(0, 0, 1, 10), mailboxes.post_receive(4, 1)
    mailboxes.go()
    assert (envelope.end, receive.end) == (10, 10)


def test_a_synchronous_message_waits_for_its_pattern(mailboxes: Mailboxes) -> None:
    """It is transferred from then on."""
    envelope, receive = mailboxes.send(0, 0, 1, 10, eager=False), mailboxes.post_receive(50, 1)
    mailboxes.go()
    assert (envelope.end, receive.end) == (60, 60)


def test_a_synchronous_message_without_a_receive_never_starts(mailboxes: Mailboxes) -> None:
    """It stays in the mailbox, and holds no port."""
    stuck, other = mailboxes.send(0, 0, 1, 10, eager=False), mailboxes.send(5, 0, 1, 10)
    mailboxes.go()
    assert (stuck.end, stuck.arrived, other.end) == (None, None, 15)
    assert mailboxes.boxes[1].envelopes() == [stuck, other]


def test_send_and_expect_may_be_called_in_either_order(mailboxes: Mailboxes) -> None:
    """At the same time."""
    one = mailboxes.send(0, 0, 1, 10, eager=False), mailboxes.post_receive(0, 1)
    other = mailboxes.post_receive(0, 3), mailboxes.send(0, 2, 3, 10, eager=False)
    mailboxes.go()
    assert [half.end for half in (*one, *other)] == [10] * 4


def test_ports_count_messages_and_bytes(mailboxes: Mailboxes) -> None:
    """In each direction; a message that has not started is not counted."""
    mailboxes.send(0, 0, 1, 10)
    mailboxes.send(0, 0, 2, 5)
    mailboxes.send(0, 1, 0, 7, eager=False)
    mailboxes.go()
    assert [(port.sent, port.bytes_sent) for port in mailboxes.network.out] == [(2, 15), (0, 0), (0, 0), (0, 0)]
    assert [(port.received, port.bytes_received) for port in mailboxes.network.into] == [(0, 0), (1, 10), (1, 5), (0, 0)]


def test_a_message_that_waits_for_its_senders_port_does_not_block_an_idle_receiver(mailboxes: Mailboxes) -> None:
    """Rank 1 sends at 0 behind a busy port, rank 2 at 10: the receiver gets 2, then 1."""
    mailboxes.send(0, 1, 3, 100, name="busy")
    late = mailboxes.send(0, 1, 0, 1, name="from 1")
    early = mailboxes.send(10, 2, 0, 1, name="from 2")
    first, second = mailboxes.post_receive(0, 0), mailboxes.post_receive(0, 0)
    mailboxes.go()
    assert (first.envelope, second.envelope) == (early, late)
    assert (first.end, second.end) == (11, 101)


def test_messages_to_one_receiver_queue_in_the_order_of_arrival_at_its_port(mailboxes: Mailboxes) -> None:
    """Three senders, one input port."""
    for source, at in ((1, 2), (2, 0), (3, 1)):
        mailboxes.send(at, source, 0, 10, name=source)
    receives = [mailboxes.post_receive(0, 0) for _ in range(3)]
    mailboxes.go()
    assert [(one.envelope.payload, one.end) for one in receives] == [(2, 10), (3, 20), (1, 30)]


def test_a_synchronous_message_does_not_pass_a_delayed_eager_one(mailboxes: Mailboxes) -> None:
    """Between two processes messages are matched in the order of sending, whatever their mode."""
    mailboxes.send(0, 1, 3, 100)
    held = mailboxes.send(0, 1, 0, 1)
    behind = mailboxes.send(1, 1, 0, 1, eager=False)
    first, second = mailboxes.post_receive(2, 0), mailboxes.post_receive(2, 0)
    mailboxes.go()
    assert (first.envelope, second.envelope) == (held, behind)
    assert (first.end, second.end) == (101, 102)


def test_an_eager_message_does_not_pass_a_waiting_synchronous_one(mailboxes: Mailboxes) -> None:
    """It is transferred first, and received second."""
    waits, travels = mailboxes.send(0, 1, 0, 10, eager=False), mailboxes.send(1, 1, 0, 5)
    first, second = mailboxes.post_receive(20, 0), mailboxes.post_receive(20, 0)
    mailboxes.go()
    assert (first.envelope, second.envelope) == (waits, travels)
    assert (travels.end, first.end, second.end) == (6, 30, 20)


def test_a_probe_returns_when_a_message_is_available() -> None:
    """For an eager one, when it has arrived completely; for a synchronous one, as soon as it is sent. The message stays."""
    for eager, when in ((True, 13), (False, 3)):
        mailboxes = Mailboxes()
        look, blind = mailboxes.look(0, 1, 0, tag=5), mailboxes.look(0, 1, 2)
        envelope = mailboxes.send(3, 0, 1, 10, tag=5, eager=eager)
        mailboxes.go()
        assert (look.end, look.waiter.ends_seen, blind.end) == (when, [when], None)
        assert mailboxes.boxes[1].envelopes() == [envelope]


def test_a_received_message_is_not_shown_to_probes() -> None:
    """A posted receive takes it first."""
    mailboxes = Mailboxes()
    look, receive = mailboxes.look(0, 1), mailboxes.post_receive(1, 1)
    mailboxes.send(2, 0, 1, 10)
    mailboxes.go()
    assert (look.end, receive.end) == (None, 12)


def test_a_subscriber_gets_every_transfer_when_it_starts() -> None:
    """Message, post time, receiver, start, and end on either side; and receives matched in transit."""
    mailboxes = Mailboxes(LogGP(L=100, o=1, g=3, G=1), watched=True)
    mailboxes.send(0, 0, 1, 11, name="a")
    mailboxes.send(5, 0, 2, 1, name="b")
    mailboxes.send(40, 3, 2, 1, name="c", eager=False)
    mailboxes.post_receive(4, 2, 0, name="x")
    mailboxes.post_receive(50, 2, 3, name="y")
    mailboxes.go()
    assert mailboxes.seen == [
        ("a", 0, None, 0, 11, 112),
        ("b", 5, None, 13, 14, 115),
        ("c", 40, "y", 50, 51, 152),
    ]
    assert mailboxes.caught == [("b", "x")]


def test_a_subscriber_gets_transfers_of_the_express_path_too() -> None:
    """A later receive is seen by `post_receive`."""
    mailboxes = Mailboxes(express=True, watched=True)
    mailboxes.post_receive(1, 1, 0, name="x")
    mailboxes.send(2, 0, 1, 10, name="a")
    mailboxes.send(3, 2, 1, 10, name="b")
    mailboxes.post_receive(30, 1, 2, name="y")
    mailboxes.go()
    assert mailboxes.seen == [("a", 2, None, 2, 12, 12), ("b", 3, None, 12, 22, 22)]
    assert mailboxes.caught == [("a", "x")]


def test_a_synchronous_message_that_was_taken_out_of_its_mailbox_is_transferred_on_receive() -> None:
    """As for a matched probe."""
    mailboxes = Mailboxes()
    envelope = mailboxes.send(0, 0, 1, 10, eager=False)
    receive = new_receive(0, 0, mailboxes.boxes[1], None, 100)

    def take() -> None:
        assert mailboxes.boxes[1].withdraw(envelope)

    mailboxes.clock.call_at(5, take)
    mailboxes.clock.call_at(8, lambda: mailboxes.network.match_waiting(envelope, receive))
    mailboxes.go()
    assert (envelope.end, receive.end, receive.envelope) == (18, 18, envelope)


def test_arrivals_keep_departure_order_even_if_the_model_would_not() -> None:
    """A later message that is faster arrives with the earlier one, not before it."""

    class FasterLater(CostModel):
        in_order = False

        def transfer(self, source: int, dest: int, nbytes: int) -> tuple[float, float, float]:
            return 1, 1, 100 - nbytes

    mailboxes = Mailboxes(FasterLater())
    slow, fast, elsewhere = mailboxes.send(0, 0, 1, 10), mailboxes.send(0, 0, 1, 80), mailboxes.send(0, 0, 2, 80)
    mailboxes.go()
    assert (slow.arrived, fast.arrived, elsewhere.arrived) == (90, 91, 22)


def test_after_the_end_nothing_is_sent_or_received(mailboxes: Mailboxes) -> None:
    """Such calls raise."""

    class OverError(BaseException):
        pass

    def refuse() -> None:
        raise OverError

    mailboxes.network.close(refuse)
    for action in (mailboxes.send(0, 0, 1, 1), mailboxes.post_receive(1, 1)):
        assert action.end is None
        with pytest.raises(OverError):
            mailboxes.go()


class Post(NamedTuple):
    """A send or a receive at a time."""

    at: int
    sends: bool
    process: int
    peer: int
    tag: int
    nbytes: int
    eager: bool


POSTS = st.lists(
    st.builds(
        Post, st.integers(0, 12), st.booleans(), st.integers(0, 2), st.integers(ANY, 2), st.integers(ANY, 1),
        st.integers(0, 4), st.booleans(),
    ),
    max_size=24,
)  # fmt: skip


def played(posts: list[Post], **how: Any) -> tuple[Any, ...]:
    """Everything that can be observed of a sequence."""
    mailboxes = Mailboxes(processes=3, **how)
    halves: list[Any] = []
    for number, post in enumerate(posts):
        if post.sends:
            dest, tag = max(post.peer, 0), max(post.tag, 0)
            halves.append(mailboxes.send(post.at, post.process, dest, post.nbytes, tag=tag, eager=post.eager, name=number))
        else:
            halves.append(mailboxes.post_receive(post.at, post.process, post.peer, tag=post.tag, name=number))
    mailboxes.go()
    both = mailboxes.network.out + mailboxes.network.into
    ports = [(port.sent, port.bytes_sent, port.received, port.bytes_received) for port in both]
    ends = [(half.end, half.waiter and half.waiter.ends_seen) for half in halves]
    return ends, mailboxes.meetings, ports, mailboxes.clock.now


@given(POSTS)
def test_the_express_path_equals_the_general_one(posts: list[Post]) -> None:
    """The same messages match the same receives at the same times: traced, untraced, and express."""
    ordinary = played(posts)
    assert played(posts, express=True)[:3] == ordinary[:3]
    assert played(posts, watched=True) == ordinary


@given(POSTS)
def test_matched_messages_between_two_processes_keep_their_order(posts: list[Post]) -> None:
    """Of two matching messages, the one that was sent first is received first."""
    ordered = sorted(posts, key=lambda post: post.at)
    _, met, _, _ = played(ordered)
    taken = {sent: received for _, sent, received in met}
    for later in range(len(ordered)):
        for earlier in range(later):
            first, second = ordered[earlier], ordered[later]
            same_way = first.sends and second.sends and first.process == second.process
            if same_way and max(first.peer, 0) == max(second.peer, 0) and max(first.tag, 0) == max(second.tag, 0):
                assert later not in taken or earlier in taken
                exact = later in taken and ordered[taken[later]].peer >= 0 and ordered[taken[later]].tag >= 0
                same_want = exact and ordered[taken[earlier]][2:5] == ordered[taken[later]][2:5]
                assert not same_want or taken[earlier] < taken[later]


@given(POSTS)
def test_a_port_serves_one_transfer_at_a_time(posts: list[Post]) -> None:
    """Out of each process, and into each process."""
    mailboxes = Mailboxes(processes=3, watched=True)
    for number, post in enumerate(posts):
        if post.sends:
            mailboxes.send(post.at, post.process, max(post.peer, 0), post.nbytes, eager=True, name=number)
    mailboxes.go()
    assert len(mailboxes.seen) == sum(post.sends for post in posts)
    for side in ("process", "peer"):
        for process in range(3):
            here = [seen for seen in mailboxes.seen if max(getattr(posts[seen[0]], side), 0) == process]
            spans = sorted((start, end) for _, _, _, start, end, _ in here)
            assert all(before[1] <= after[0] for before, after in pairwise(spans))
