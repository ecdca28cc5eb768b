"""What happens to a message's content: where it goes when an envelope meets its pattern, and who keeps it until then.

The content of a message is the sender's own buffer for as long as the send is under way, and is moved at most once: to its
place, if a receive is there by then. A sender that learns that its send is over while nobody has received it makes a
copy (`secure`), since the program may change the buffer from then on.
"""

from __future__ import annotations

from sys import _getframe
from typing import Any

from numpy import ndarray

from fakempi.error_classes import ERR_TRUNCATE
from fakempi.errors import MPIError
from fakempi.mpi.base.complain import complaint
from fakempi.mpi.base.origin import Notes, noted
from fakempi.mpi.buffers.objects import unpack
from fakempi.mpi.buffers.payload import copy_into, snapshot
from fakempi.mpi.failures.failure import Failure
from fakempi.mpi.point.mismatch import compare, compare_object
from fakempi.wire.envelope import Envelope, Pattern


def matched(envelope: Envelope, pattern: Pattern) -> None:
    """Move the content to its place, if there is room. An object stays in its envelope until it is unpacked.

    Arrays of one dtype have one signature; whatever else meets is compared.
    """
    place, content = pattern.place, envelope.content
    if place is not None:
        if envelope.nbytes == pattern.capacity and content.__class__ is ndarray and content.dtype is place.dtype:
            try:  # `copy_into` for the common case, inlined: as many elements on both sides, so it fits or it fails
                place[...] = content
            except ValueError:
                copy_into(content, place, envelope.nbytes)
        elif envelope.nbytes <= pattern.capacity:
            compare(envelope, pattern)
            copy_into(content, place, envelope.nbytes)
        envelope.content = None
    elif not isinstance(content, (bytes, tuple)):  # a buffer is received as an object
        compare_object(envelope, pattern)
        envelope.content = snapshot(content)


def secure(envelope: Envelope) -> None:
    """The send is over: if nobody has received the content yet, keep a copy of it."""
    if envelope.content is not None:
        if type(envelope.content) is Failure:
            raise envelope.content.complaint()
        envelope.content = snapshot(envelope.content)


def leave(envelope: Envelope, notes: Notes | None, depth: int) -> None:
    """The same for a sender that goes on with its program; and if the message stays in the mailbox, whose line sent it.

    That is the program's so many calls above this one, in most cases.
    """
    if type(envelope.content) is Failure:
        raise envelope.content.complaint()
    envelope.content = snapshot(envelope.content)
    box = envelope.box
    if notes is not None and (box.lone_envelope is envelope or box.pending or box.delayed):
        frame = _getframe(depth)
        envelope.origin = notes.get((id(frame.f_code), frame.f_lasti)) or noted(notes)


def taken_out(pattern: Pattern, is_object: bool, place: Any, pickle: Any) -> tuple[Any, MPIError | None]:
    """What a receive that has ended gives to the program: the object, which may have a place; or what went wrong."""
    envelope = pattern.envelope
    if envelope is None or not envelope.nbytes:
        return None, None
    if envelope.nbytes > pattern.capacity:
        return None, truncation(pattern)
    if not is_object:
        return None, None
    if place is not None:
        copy_into(envelope.content, place, envelope.nbytes)
    return unpack(envelope.content, envelope.nbytes, pickle, take=True), None


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
