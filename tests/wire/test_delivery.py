"""The way of an envelope, and the express way beside it: the same messages, posted by a plain agenda."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fakempi.kernel.agenda import Agenda
from fakempi.wire.cost import CostModel
from fakempi.wire.delivery import Delivery
from fakempi.wire.envelope import Envelope, Pattern, new_envelope, new_pattern
from fakempi.wire.express import Express
from fakempi.wire.matching import Mailbox
from fakempi.wire.models.hockney import Hockney
from fakempi.wire.models.loggp import LogGP

ANY = -1
UNIT = Hockney(t_s=0, t_w=1)


class Waiter:
    """Somebody who is told when something will have ended."""

    def __init__(self) -> None:
        self.told: list[float] = []

    def settled(self, end: float) -> None:
        """As tasks have it."""
        self.told.append(end)


class Yard:
    """Some processes with a mailbox each, and a wire between them."""

    def __init__(
        self, cost: CostModel = UNIT, processes: int = 4, express: bool = False, watched: bool = False
    ) -> None:
        self.clock = Agenda()
        self.seen: list[Any] = []
        self.caught: list[Any] = []
        self.meetings: list[tuple[float, Any, Any]] = []
        if express:
            self.wire: Delivery = Express(self.clock, cost, self.matched)
        else:
            self.wire = Delivery(self.clock, cost, self.matched)
        if watched:
            self.wire.watcher = self
        for _ in range(processes):
            self.wire.ports.add_process()
        self.boxes = [Mailbox(number, self.wire.into[number]) for number in range(processes)]

    def matched(self, envelope: Envelope, pattern: Pattern) -> None:
        """An envelope has met its pattern."""
        self.meetings.append((self.clock.now, envelope.content, pattern.place))

    def posted(self, envelope: Envelope) -> None:
        """A message is sent."""
        envelope.posted = self.clock.now

    def started(self, envelope: Envelope, pattern: Any, start: float, sent: float, arrived: float) -> None:
        """A transfer has started."""
        self.seen.append((envelope.content, envelope.posted, pattern and pattern.place, start, sent, arrived))

    def started_at_once(self, envelope: Envelope, pattern: Any, now: float, end: float) -> None:
        """A transfer has started when it was sent."""
        self.seen.append((envelope.content, now, pattern and pattern.place, now, end, end))

    def met(self, envelope: Envelope, pattern: Pattern) -> None:
        """It has met its pattern on its way."""
        self.caught.append((envelope.content, pattern.place))

    def send(
        self, at: float, source: int, dest: int, nbytes: int, *, tag: int = 0, eager: bool = True, name: Any = None
    ) -> Envelope:
        """A message will be sent."""
        envelope = new_envelope(self.wire.out[source], source, tag, nbytes, self.boxes[dest], name, eager)
        self.clock.book(at, lambda: self.post(self.wire.send, envelope))
        return envelope

    def expect(self, at: float, dest: int, source: int = ANY, *, tag: int = ANY, name: Any = None) -> Pattern:
        """A message will be awaited."""
        pattern = new_pattern(source, tag, self.boxes[dest], name, 1 << 40)
        self.clock.book(at, lambda: self.post(self.wire.expect, pattern))
        return pattern

    @staticmethod
    def post(door: Callable[[Any], None], half: Any) -> None:
        """Through the door, and then wait, unless the end is known already."""
        door(half)
        if half.end is None:
            half.waiter = Waiter()

    def look(self, at: float, dest: int, source: int = ANY, *, tag: int = ANY) -> Pattern:
        """Somebody will look for a message that has not come."""
        pattern = new_pattern(source, tag, self.boxes[dest], None, 0)
        pattern.waiter = Waiter()

        def wait() -> None:
            self.boxes[dest].probes = [*(self.boxes[dest].probes or ()), pattern]

        self.clock.book(at, wait)
        return pattern

    def go(self) -> None:
        """Let everything happen."""
        while (action := self.clock.take()) is not None:
            action()


@pytest.fixture(params=["ordinary", "express"])
def yard(request: pytest.FixtureRequest) -> Yard:
    """Both ways."""
    return Yard(express=request.param == "express")


def test_a_message_takes_its_time_and_both_sides_end_together(yard: Yard) -> None:
    """Posted receive first, then the send."""
    pattern, envelope = yard.expect(2, 1, 0), yard.send(3, 0, 1, 10)
    yard.go()
    assert (envelope.end, pattern.end, envelope.arrived) == (13, 13, 13)
    assert pattern.envelope is envelope
    assert (envelope.waiter, pattern.waiter.told) == (None, [13])


def test_an_eager_message_ends_before_it_is_received(yard: Yard) -> None:
    """And is there at once for whoever comes later."""
    envelope, pattern = yard.send(0, 0, 1, 10), yard.expect(50, 1)
    yard.go()
    assert (envelope.end, pattern.end) == (10, 50)


def test_who_comes_while_an_eager_message_is_on_its_way_gets_it_when_it_is_there(yard: Yard) -> None:
    """Not before."""
    envelope, pattern = yard.send(0, 0, 1, 10), yard.expect(4, 1)
    yard.go()
    assert (envelope.end, pattern.end) == (10, 10)


def test_a_synchronous_message_waits_for_its_pattern(yard: Yard) -> None:
    """It travels from then on."""
    envelope, pattern = yard.send(0, 0, 1, 10, eager=False), yard.expect(50, 1)
    yard.go()
    assert (envelope.end, pattern.end) == (60, 60)


def test_a_synchronous_message_that_nobody_wants_never_starts(yard: Yard) -> None:
    """It stays in the mailbox, and holds no port."""
    stuck, other = yard.send(0, 0, 1, 10, eager=False), yard.send(5, 0, 1, 10)
    yard.go()
    assert (stuck.end, stuck.arrived, other.end) == (None, None, 15)
    assert yard.boxes[1].envelopes() == [stuck, other]


def test_the_two_doors_do_not_care_which_is_first(yard: Yard) -> None:
    """At the same moment: send then expect, expect then send."""
    one = yard.send(0, 0, 1, 10, eager=False), yard.expect(0, 1)
    other = yard.expect(0, 3), yard.send(0, 2, 3, 10, eager=False)
    yard.go()
    assert [half.end for half in (*one, *other)] == [10] * 4


def test_ports_count_what_goes_through(yard: Yard) -> None:
    """Messages and bytes, each way; a message that has not started is not counted."""
    yard.send(0, 0, 1, 10)
    yard.send(0, 0, 2, 5)
    yard.send(0, 1, 0, 7, eager=False)
    yard.go()
    assert [(port.sent, port.bytes_sent) for port in yard.wire.out] == [(2, 15), (0, 0), (0, 0), (0, 0)]
    assert [(port.received, port.bytes_received) for port in yard.wire.into] == [(0, 0), (1, 10), (1, 5), (0, 0)]


def test_a_message_behind_its_own_senders_port_leaves_an_idle_receiver_alone(yard: Yard) -> None:
    """Rank 1 sends at 0 behind a busy port, rank 2 at 10: the receiver gets 2, then 1."""
    yard.send(0, 1, 3, 100, name="busy")
    late = yard.send(0, 1, 0, 1, name="from 1")
    early = yard.send(10, 2, 0, 1, name="from 2")
    first, second = yard.expect(0, 0), yard.expect(0, 0)
    yard.go()
    assert (first.envelope, second.envelope) == (early, late)
    assert (first.end, second.end) == (11, 101)


def test_messages_to_one_receiver_queue_in_the_order_in_which_they_come_to_its_port(yard: Yard) -> None:
    """Three senders, one in-port."""
    for source, at in ((1, 2), (2, 0), (3, 1)):
        yard.send(at, source, 0, 10, name=source)
    patterns = [yard.expect(0, 0) for _ in range(3)]
    yard.go()
    assert [(one.envelope.content, one.end) for one in patterns] == [(2, 10), (3, 20), (1, 30)]


def test_a_synchronous_message_does_not_pass_an_eager_one_that_is_held_up(yard: Yard) -> None:
    """Between two processes messages are matched in the order of sending, whatever their kind."""
    yard.send(0, 1, 3, 100)
    held = yard.send(0, 1, 0, 1)
    behind = yard.send(1, 1, 0, 1, eager=False)
    first, second = yard.expect(2, 0), yard.expect(2, 0)
    yard.go()
    assert (first.envelope, second.envelope) == (held, behind)
    assert (first.end, second.end) == (101, 102)


def test_an_eager_message_does_not_pass_a_synchronous_one_that_waits(yard: Yard) -> None:
    """It travels first, and is received second."""
    waits, travels = yard.send(0, 1, 0, 10, eager=False), yard.send(1, 1, 0, 5)
    first, second = yard.expect(20, 0), yard.expect(20, 0)
    yard.go()
    assert (first.envelope, second.envelope) == (waits, travels)
    assert (travels.end, first.end, second.end) == (6, 30, 20)


def test_whoever_looks_is_told_when_a_message_is_there() -> None:
    """Of an eager one, when all of it has arrived; of a synchronous one, as soon as it is sent. It stays."""
    for eager, when in ((True, 13), (False, 3)):
        yard = Yard()
        look, blind = yard.look(0, 1, 0, tag=5), yard.look(0, 1, 2)
        envelope = yard.send(3, 0, 1, 10, tag=5, eager=eager)
        yard.go()
        assert (look.end, look.waiter.told, blind.end) == (when, [when], None)
        assert yard.boxes[1].envelopes() == [envelope]


def test_what_is_received_is_not_shown_to_those_who_look() -> None:
    """A posted pattern takes it first."""
    yard = Yard()
    look, pattern = yard.look(0, 1), yard.expect(1, 1)
    yard.send(2, 0, 1, 10)
    yard.go()
    assert (look.end, pattern.end) == (None, 12)


def test_a_watcher_is_told_of_every_transfer_when_it_starts() -> None:
    """What, when posted, by whom awaited, when started, when over at either side; and of patterns met on the way."""
    yard = Yard(LogGP(L=100, o=1, g=3, G=1), watched=True)
    yard.send(0, 0, 1, 11, name="a")
    yard.send(5, 0, 2, 1, name="b")
    yard.send(40, 3, 2, 1, name="c", eager=False)
    yard.expect(4, 2, 0, name="x")
    yard.expect(50, 2, 3, name="y")
    yard.go()
    assert yard.seen == [
        ("a", 0, None, 0, 11, 112),
        ("b", 5, None, 13, 14, 115),
        ("c", 40, "y", 50, 51, 152),
    ]
    assert yard.caught == [("b", "x")]


def test_a_watcher_of_the_express_way_is_told_too() -> None:
    """At once, if a message travels when it is sent; what is received later shows at the door."""
    yard = Yard(express=True, watched=True)
    yard.expect(1, 1, 0, name="x")
    yard.send(2, 0, 1, 10, name="a")
    yard.send(3, 2, 1, 10, name="b")
    yard.expect(30, 1, 2, name="y")
    yard.go()
    assert yard.seen == [("a", 2, "x", 2, 12, 12), ("b", 3, None, 12, 22, 22)]


def test_whoever_gets_a_synchronous_message_that_was_taken_out_of_its_box_has_it_sent() -> None:
    """As a matched probe does."""
    yard = Yard()
    envelope = yard.send(0, 0, 1, 10, eager=False)
    pattern = new_pattern(0, 0, yard.boxes[1], None, 100)

    def take() -> None:
        assert yard.boxes[1].withdraw(envelope)

    yard.clock.book(5, take)
    yard.clock.book(8, lambda: yard.wire.join(envelope, pattern))
    yard.go()
    assert (envelope.end, pattern.end, pattern.envelope) == (18, 18, envelope)


def test_arrivals_keep_departure_order_where_the_model_would_not() -> None:
    """A later message that is faster arrives with the earlier one, not before it."""

    class Hasty(CostModel):
        in_order = False

        def transfer(self, source: int, dest: int, nbytes: int) -> tuple[float, float, float]:
            return 1, 1, 100 - nbytes

    yard = Yard(Hasty())
    slow, fast, elsewhere = yard.send(0, 0, 1, 10), yard.send(0, 0, 1, 80), yard.send(0, 0, 2, 80)
    yard.go()
    assert (slow.arrived, fast.arrived, elsewhere.arrived) == (90, 90, 22)


def test_after_the_end_nothing_is_sent_or_received(yard: Yard) -> None:
    """Whoever tries is told so."""

    class OverError(BaseException):
        pass

    def refuse() -> None:
        raise OverError

    yard.wire.close(refuse)
    for action in (yard.send(0, 0, 1, 1), yard.expect(1, 1)):
        assert action.end is None
        with pytest.raises(OverError):
            yard.go()


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
    """Everything that can be seen of a play."""
    yard = Yard(processes=3, **how)
    halves: list[Any] = []
    for number, post in enumerate(posts):
        if post.sends:
            dest, tag = max(post.peer, 0), max(post.tag, 0)
            halves.append(yard.send(post.at, post.process, dest, post.nbytes, tag=tag, eager=post.eager, name=number))
        else:
            halves.append(yard.expect(post.at, post.process, post.peer, tag=post.tag, name=number))
    yard.go()
    both = yard.wire.out + yard.wire.into
    ports = [(port.sent, port.bytes_sent, port.received, port.bytes_received) for port in both]
    ends = [(half.end, half.waiter and half.waiter.told) for half in halves]
    return ends, yard.meetings, ports, yard.clock.now


@given(POSTS)
def test_the_express_way_is_the_ordinary_one(posts: list[Post]) -> None:
    """The same messages meet the same patterns at the same times, watched, unwatched, and express."""
    ordinary = played(posts)
    assert played(posts, express=True)[:3] == ordinary[:3]
    assert played(posts, watched=True) == ordinary


@given(POSTS)
def test_matched_messages_between_two_processes_keep_their_order(posts: list[Post]) -> None:
    """Of two messages that would both fit, the one that was sent first is received first."""
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
    yard = Yard(processes=3, watched=True)
    for number, post in enumerate(posts):
        if post.sends:
            yard.send(post.at, post.process, max(post.peer, 0), post.nbytes, eager=True, name=number)
    yard.go()
    assert len(yard.seen) == sum(post.sends for post in posts)
    for side in ("process", "peer"):
        for process in range(3):
            here = [seen for seen in yard.seen if max(getattr(posts[seen[0]], side), 0) == process]
            spans = sorted((start, end) for _, _, _, start, end, _ in here)
            assert all(before[1] <= after[0] for before, after in pairwise(spans))
