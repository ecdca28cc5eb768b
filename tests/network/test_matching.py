"""A mailbox compared with two plain lists, and its special cases one by one."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from fakempi.core.network.envelope import Envelope, PostedReceive, new_envelope, new_receive
from fakempi.core.network.matching import Mailbox

ANY = -1
SOURCES, TAGS = st.integers(0, 2), st.integers(0, 2)
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("arrive"), SOURCES, TAGS),
        st.tuples(st.just("post_receive"), st.integers(ANY, 2), st.integers(ANY, 2)),
        st.tuples(st.just("find"), st.integers(ANY, 2), st.integers(ANY, 2)),
        st.tuples(st.just("withdraw an envelope"), st.integers(0, 9), st.just(0)),
        st.tuples(st.just("withdraw a receive"), st.integers(0, 9), st.just(0)),
    ),
    max_size=40,
)


def envelope(source: int = 0, tag: int = 0) -> Envelope:
    """A message without a send."""
    return new_envelope(None, source, tag, 1, None, None, True)


def receive(source: int = ANY, tag: int = ANY) -> PostedReceive:
    """A message without a receive."""
    return new_receive(source, tag, None, None, 1)


def first_fit(pairs: list[Any], fits: Any) -> Any:
    """Remove and return the first match."""
    for index, each in enumerate(pairs):
        if fits(each):
            return pairs.pop(index)
    return None


@given(STEPS)
def test_a_mailbox_is_two_lists(steps: list[tuple[str, int, int]]) -> None:
    """For any internal structure: the first posted match takes the first arrived match."""
    box = Mailbox(0, None)
    arrived: list[Envelope] = []
    posted: list[PostedReceive] = []
    for what, source, tag in steps:
        if what == "arrive":
            new = envelope(source, tag)
            taker = first_fit(posted, lambda one, new=new: one.matches(new))
            assert box.arrive(new) is taker
            if taker is None:
                arrived.append(new)
        elif what == "post_receive":
            wanted = receive(source, tag)
            found = first_fit(arrived, wanted.matches)
            assert box.post_receive(wanted) is found
            if found is None:
                posted.append(wanted)
        elif what == "find":
            wanted = receive(source, tag)
            assert box.find(source, tag) is next((one for one in arrived if wanted.matches(one)), None)
        elif what == "withdraw an envelope":
            if source < len(arrived):
                assert box.withdraw(arrived.pop(source))
        elif source < len(posted):
            assert box.withdraw(posted.pop(source))
        assert set(box.envelopes()) == set(arrived)
        assert set(box.receives()) == set(posted)


@given(st.permutations(range(80)), st.booleans())
def test_many_envelopes_are_removed_in_any_order_and_the_rest_keeps_its_order(order: list[int], wild: bool) -> None:
    """From both ends and from the middle of a long queue, with wildcard matches in between."""
    box = Mailbox(0, None)
    arrived = [envelope(source, tag=0) for source in range(80)]
    for one in arrived:
        box.arrive(one)
    left = list(arrived)
    for source in order:
        if wild:
            assert box.find(ANY, ANY) is left[0]
        assert box.post_receive(receive(source, 0)) is arrived[source]
        left.remove(arrived[source])
    assert box.find(ANY, ANY) is None


def test_a_pattern_takes_the_first_arrived_match() -> None:
    """By source and tag, any source, any tag, or both."""
    for source, tag in ((1, 7), (1, ANY), (ANY, 7), (ANY, ANY)):
        box = Mailbox(0, None)
        first, second = envelope(1, 7), envelope(1, 7)
        box.arrive(first)
        box.arrive(second)
        assert box.post_receive(receive(source, tag)) is first
        assert box.post_receive(receive(source, tag)) is second


def test_an_envelope_matches_the_first_posted_pattern_even_if_a_later_one_is_exact() -> None:
    """Exact patterns are looked up first, which must not change the result."""
    box = Mailbox(0, None)
    wild, exact = receive(), receive(1, 7)
    box.post_receive(wild)
    box.post_receive(exact)
    assert box.arrive(envelope(1, 7)) is wild
    assert box.arrive(envelope(1, 7)) is exact


def test_an_envelope_passes_patterns_that_do_not_match() -> None:
    """They stay posted."""
    box = Mailbox(0, None)
    other_tag, other_source, fits = receive(1, 8), receive(2, ANY), receive(ANY, 7)
    for each in (other_tag, other_source, fits):
        box.post_receive(each)
    assert box.arrive(envelope(1, 7)) is fits
    assert box.receives() == [other_tag, other_source]


def test_find_does_not_remove() -> None:
    """The envelope can be found again, and taken."""
    box = Mailbox(0, None)
    one = envelope(3, 4)
    box.arrive(one)
    assert box.find(ANY, 4) is box.find(3, ANY) is one
    assert box.find(3, 5) is None
    assert box.post_receive(receive(3, 4)) is one


def test_matched_entries_cannot_be_withdrawn() -> None:
    """Neither side, whether alone in the mailbox or not."""
    for others in (0, 3):
        box = Mailbox(0, None)
        for source in range(others):
            box.arrive(envelope(source, tag=9))
            box.post_receive(receive(source, 8))
        sent, awaited = envelope(1, 1), receive(1, 1)
        box.arrive(sent)
        box.post_receive(awaited)
        assert not box.withdraw(sent)
        assert not box.withdraw(awaited)
        assert (len(box.envelopes()), len(box.receives())) == (others, others)


def test_an_empty_mailbox_uses_no_memory() -> None:
    """After much use no senders and tags are stored."""
    box = Mailbox(0, None)
    for tag in range(100):
        for source in range(3):
            box.arrive(envelope(source, tag))
        for source in range(3):
            box.post_receive(receive(source, tag))
    assert not box.envelopes()
    assert not box.pending
    assert not box.exact
