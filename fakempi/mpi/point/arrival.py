"""What happens to a message's content: where it goes when an envelope meets its pattern, and who keeps it until then.

The content of a message is the sender's own buffer for as long as the send is under way, and is moved at most once: to its
place, if a receive is there by then. A sender that learns that its send is over while nobody has received it makes a
copy (`secure`), since the program may change the buffer from then on.
"""

from __future__ import annotations

from numpy import ndarray

from fakempi.error_classes import ERR_TRUNCATE
from fakempi.errors import MPIError
from fakempi.mpi.base.complain import complaint
from fakempi.mpi.base.failure import Failure
from fakempi.mpi.buffers.payload import copy_into, snapshot
from fakempi.wire.envelope import Envelope, Pattern


def matched(envelope: Envelope, pattern: Pattern) -> None:
    """Move the content to its place, if there is room. An object stays in its envelope until it is unpacked."""
    place, content = pattern.place, envelope.content
    if place is not None:
        if envelope.nbytes == pattern.capacity and content.__class__ is ndarray and content.dtype is place.dtype:
            try:  # `copy_into` for the common case, inlined: as many elements on both sides, so it fits or it fails
                place[...] = content
            except ValueError:
                copy_into(content, place, envelope.nbytes)
        elif envelope.nbytes <= pattern.capacity:
            copy_into(content, place, envelope.nbytes)
        envelope.content = None
    elif not isinstance(content, (bytes, tuple)):  # a buffer is received as an object
        envelope.content = snapshot(content)


def secure(envelope: Envelope) -> None:
    """The send is over: if nobody has received the content yet, keep a copy of it."""
    if envelope.content is not None:
        if type(envelope.content) is Failure:
            raise envelope.content.complaint()
        envelope.content = snapshot(envelope.content)


def truncation(pattern: Pattern) -> MPIError:
    """The complaint about a message that is longer than the buffer, or that cannot come any more."""
    envelope = pattern.envelope
    if type(envelope.content) is Failure:
        return envelope.content.complaint()
    return complaint(
        ERR_TRUNCATE,
        f"message truncated, {envelope.nbytes} bytes arrived from rank {envelope.source} (tag {envelope.tag}) but the "
        f"buffer holds {pattern.capacity}.",
    )
