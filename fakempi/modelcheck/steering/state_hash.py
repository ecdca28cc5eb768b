"""State hashing: a digest of everything that ranks have received. Two runs with equal digests continue in the same way.

Programs are assumed to be deterministic: the actions of a rank depend only on the results of its MPI calls. When no task can
run, the state of all ranks therefore follows from: the data that each receive got, the set of messages that were received,
the answers to calls and, if clocks advance, the times at which tasks continued. The contents of the mailboxes follow from
these, because every other message that was sent is in a mailbox. Two receives count as equal if they got the same bytes and
the program did not read their source. The digest does not depend on the order of independent events.

A run has no digest if its ranks communicate in other ways than by messages; `unknown` lists these ways.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterable
from functools import lru_cache
from hashlib import blake2b
from struct import pack
from typing import Any

from fakempi.core.network.envelope import Envelope, PostedReceive
from fakempi.mpi.datatypes.padding import value_bytes

ALL_RANKS = ("synchronized",)
"""The event of a synchronization: every rank may influence every other rank."""

Event = tuple[Any, ...]
"""("arrived", process, source, tag): a message at a mailbox; ("informed", p, q): process p may influence process q."""


class StateHash:
    """The digest of one run so far, and its events with the number of choices before each."""

    def __init__(self) -> None:
        self.number = self._matches = 0
        self.unknown: set[str] = set()
        self.events: list[tuple[int, Event]] = []
        self._wildcard_digests: dict[PostedReceive, tuple[int, int]] = {}
        # wildcard receive -> the digest that identifies its message by the sender, and the one that does so by the content
        self._passed: list[PostedReceive] = []  # wildcards whose task has continued: whether it read the source is final

    def matched(self, envelope: Envelope, sender: Any, receive: PostedReceive, receiver: Any) -> None:
        """Record a match, given the keys of the message and of the receive.

        The receive of a message that Mprobe took has no key: the answer of the probe already contains the message.
        """
        self.number ^= gone(sender)
        if receiver is None:
            return
        got = received(receiver, sender)
        self.number ^= got
        if receive.source < 0:
            content = content_of(envelope)
            if content is not envelope:
                self._wildcard_digests[receive] = got, digest("got", receiver, envelope.tag, envelope.nbytes, content)

    def takes_time(self, now: Any, sender: Any) -> None:
        """Record the match of a message that takes time: when later messages arrive depends on the order of all matches."""
        self._matches = digest(self._matches, now, sender)

    def passed(self, receive: Any) -> None:
        """Record that the task that waited for a receive continues."""
        if receive in self._wildcard_digests:
            self._passed.append(receive)

    def state(self, now: Any, tasks: Any, not_yet_counts: Any, findings: Any) -> int:
        """Return the digest of the state."""
        for receive in self._passed:
            if not getattr(receive, "observed", False):
                by_sender, by_bytes = self._wildcard_digests[receive]
                self.number ^= by_sender ^ by_bytes
        self._passed.clear()
        number = self.number
        for task in tasks.values():
            facts = task.sent, task.awaited, task.calls, task.children, task.answers, task.times
            if facts != task.hashed:  # most tasks have done nothing since the last choice
                task.hashed, task.digest = facts, _of_text(f"{task.key} {facts}")
            number ^= task.digest
        not_yet = frozenset((tasks[task].key, *call_site, count) for (task, *call_site), count in not_yet_counts.items())
        errors = frozenset((x.kind, x.ranks, x.call, x.place, x.sentence) for x in findings if not x.note)
        return digest(number, self._matches, now, not_yet, errors)


def digest(*values: Any) -> int:
    """Return a 128-bit digest of the arguments, which is the same in every process and on every machine."""
    parts: list[bytes] = []
    _encode(values, parts)
    return int.from_bytes(blake2b(b"".join(parts), digest_size=16).digest(), "little")


def _of_text(text: str) -> int:
    """Return the same of a text, such as that of tuples of integers."""
    return int.from_bytes(blake2b(text.encode(), digest_size=16).digest(), "little")


def encoded_keys(keys: Iterable[Any]) -> bytes:
    """Return the encodings of the keys of options, which do not depend on their order."""
    return b"".join(sorted({_encoded_key(key) for key in keys}))


@lru_cache(4096)
def _encoded_key(key: Any) -> bytes:
    parts: list[bytes] = []
    _encode(key, parts)
    return b"".join(parts)


@lru_cache(4096)
def gone(sender: Any) -> int:
    """Return the digest of a message that was received; `sender` consists of tuples and integers, in few combinations."""
    return digest("gone", sender)


@lru_cache(4096)
def received(receiver: Any, sender: Any) -> int:
    """Return the digest of a match, given the keys of the receive and the message, which have no other types, either."""
    return digest("got", receiver, sender)


def _encode(value: Any, into: list[bytes]) -> None:
    """Append the canonical encoding of a value: a type tag and a length before each part, so that no two values share one.

    -1 and -2, 1, 1.0 and True, "" and b"", (1, (2,)) and ((1, 2),) all differ.
    """
    kind = type(value)
    if kind is int:
        into.append(b"i%d;" % value)
    elif kind is tuple:
        into.append(b"t%d:" % len(value))
        for item in value:
            if type(item) is int:  # most items are integers; calling _encode for each takes a third of the time
                into.append(b"i%d;" % item)
            else:
                _encode(item, into)
    elif kind is str:
        text = value.encode("utf-8", "surrogatepass")
        into.append(b"s%d:%b" % (len(text), text))
    elif kind is bytes:
        into.append(b"b%d:%b" % (len(value), value))
    elif value is None or kind is bool:
        into.append(b"N" if value is None else b"T" if value else b"F")
    elif kind is float:
        into.append(b"f" + pack("<d", value))
    elif kind is frozenset:
        items = []
        for item in value:
            parts: list[bytes] = []
            _encode(item, parts)
            items.append(b"".join(parts))
        into.append(b"z%d:" % len(items))
        into += sorted(items)
    else:  # another number type, such as the Fractions of a cost model
        name, data = f"{kind.__module__}.{kind.__qualname__}".encode(), pickle.dumps(value)
        into.append(b"p%d:%b%d:%b" % (len(name), name, len(data), data))


def content_of(envelope: Envelope) -> Any:
    """Return a comparable form of the content; the envelope itself, which equals no other, if there is none."""
    content = envelope.payload
    if isinstance(content, bytes):
        return content
    if isinstance(content, tuple):  # immutable objects are not pickled when they are sent
        return pickle.dumps(content)
    if type(content).__name__ == "ndarray" and not content.dtype.hasobject:
        return content.dtype.str, content.shape, value_bytes(content)
    return envelope
