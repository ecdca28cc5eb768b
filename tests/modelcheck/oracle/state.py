"""The states of the interpreter's search: what every rank has done and seen, and the messages between them."""

from __future__ import annotations

from typing import Any, NamedTuple

from tests.modelcheck.oracle.program import ANY

UNSEEN, BY_TAG, BY_ANY_TAG = range(3)


class Message(NamedTuple):
    """A message that was sent and is not matched.

    Attributes
    ----------
    sender, number : the world rank and the operation that sent it
    source : the sender's rank in the communicator
    notify : the request of the sender that completes when the message is matched; None if it is complete
    seen : whether a probe of the receiver has returned this message: UNSEEN, BY_TAG or BY_ANY_TAG
    """

    sender: int
    number: int
    source: int
    tag: int
    value: int
    size: int
    notify: int | None
    seen: int = UNSEEN

    @property
    def content(self) -> tuple[int, ...]:
        """The data that a receive gets: value, size, source and tag."""
        return self.value, self.size, self.source, self.tag


class Posted(NamedTuple):
    """A receive that was posted and is not matched: the request, the source and the tag."""

    slot: int
    source: int
    tag: int

    def matches(self, message: Message) -> bool:
        """Whether the envelope of a message agrees."""
        return self.source in (ANY, message.source) and self.tag in (ANY, message.tag)


class Rank(NamedTuple):
    """The actions and observations of a rank.

    Attributes
    ----------
    at : the number of the operation that it executes
    phase : 0 before the operation, 1 while it waits; of polls, how often they were unsuccessful
    slots : by number, the state of each request: None if inactive, ("send", done), ("recv", content or None),
        ("message", Message) after a matched probe, ("call", communicator, which collective call). Slot 0 belongs to the
        blocking call that the rank executes.
    seen : all observations so far
    """

    at: int
    phase: int
    last: int
    source: int
    flag: bool
    slots: tuple[Any, ...]
    seen: tuple[Any, ...]

    def with_slot(self, slot: int, what: Any) -> Rank:
        """The same with another state of one request."""
        return self._replace(slots=(*self.slots[:slot], what, *self.slots[slot + 1 :]))


class State(NamedTuple):
    """The state of all ranks and mailboxes. Keys of mailboxes are (communicator, world rank of the receiver).

    Attributes
    ----------
    sent : by mailbox and sender, the messages that are not matched, in the order of their sends
    posted : by mailbox, the receives that are not matched, in the order in which they were posted
    some_seen : by mailbox, the tags of successful probes that did not say which message is there
    calls : by (communicator, first member of the group), per collective call who has entered it with which contribution
    """

    ranks: tuple[Rank, ...]
    sent: tuple[tuple[Any, tuple[Message, ...]], ...] = ()
    posted: tuple[tuple[Any, tuple[Posted, ...]], ...] = ()
    calls: tuple[tuple[Any, tuple[Any, ...]], ...] = ()
    some_seen: tuple[tuple[Any, tuple[int, ...]], ...] = ()

    def some_seen_at(self, comm: int, receiver: int) -> tuple[int, ...]:
        """The tags for which a probe from any source was successful without saying which message is there."""
        found: tuple[int, ...] = dict(self.some_seen).get((comm, receiver), ())
        return found

    def with_some_seen(self, comm: int, receiver: int, tag: int | None = None, without: int | None = None) -> State:
        """The same with one more tag, or without those for which a receive of a tag may take the message."""
        before = self.some_seen_at(comm, receiver)
        tags = {one for one in before if without is None or not (one == ANY or without in (ANY, one))}
        after = tuple(sorted(tags if tag is None else tags | {tag}))
        return self if after == before else self._replace(some_seen=changed(self.some_seen, (comm, receiver), after))

    def with_rank(self, number: int, rank: Rank) -> State:
        """The same with another state of one rank."""
        return self._replace(ranks=(*self.ranks[:number], rank, *self.ranks[number + 1 :]))

    def queue(self, comm: int, receiver: int, sender: int) -> tuple[Message, ...]:
        """The messages from one sender to one receiver in one communicator."""
        found: tuple[Message, ...] = dict(self.sent).get((comm, receiver, sender), ())
        return found

    def with_queue(self, comm: int, receiver: int, sender: int, messages: tuple[Message, ...]) -> State:
        """The same with other messages there."""
        return self._replace(sent=changed(self.sent, (comm, receiver, sender), messages))

    def queues_to(self, comm: int, receiver: int) -> list[tuple[Message, ...]]:
        """The messages to one receiver in one communicator, by sender."""
        return [messages for key, messages in self.sent if key[:2] == (comm, receiver)]

    def posted_at(self, comm: int, receiver: int) -> tuple[Posted, ...]:
        """The receives of one rank in one communicator."""
        found: tuple[Posted, ...] = dict(self.posted).get((comm, receiver), ())
        return found

    def with_posted(self, comm: int, receiver: int, receives: tuple[Posted, ...]) -> State:
        """The same with other receives there."""
        return self._replace(posted=changed(self.posted, (comm, receiver), receives))

    def without(self, comm: int, receiver: int, message: Message) -> State:
        """The same without a message."""
        left = tuple(one for one in self.queue(comm, receiver, message.sender) if one is not message)
        return self.with_queue(comm, receiver, message.sender, left)

    def completed(self, message: Message) -> State:
        """The same after the send of a message is complete."""
        if message.notify is None:
            return self
        return self.with_rank(message.sender, self.ranks[message.sender].with_slot(message.notify, ("send", True)))


def changed(pairs: tuple[Any, ...], key: Any, value: Any) -> tuple[Any, ...]:
    """Sorted pairs of keys and values, with another value for one key; empty values are left out."""
    table = dict(pairs)
    table[key] = value
    if not value:
        del table[key]
    return tuple(sorted(table.items()))
