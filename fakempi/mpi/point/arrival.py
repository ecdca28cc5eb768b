"""The payload of a message: its copies before and after the message is matched.

While the send is in progress, the payload is the sender's buffer. If the receive is matched in that time, the data are
copied once, to the target. If the send completes first, a copy is made first (`copy_unreceived`), since the program may
change the buffer from then on.
"""

from __future__ import annotations

from types import FrameType

from numpy import ndarray

from fakempi.core.network.envelope import Envelope, PostedReceive
from fakempi.errors import MPIError
from fakempi.errors.classes import ERR_TRUNCATE
from fakempi.mpi.base.call_site import request_site
from fakempi.mpi.base.mpi_errors import mpi_error
from fakempi.mpi.buffers.objects import unpack
from fakempi.mpi.buffers.payload import copy_into, snapshot
from fakempi.mpi.buffers.pickling import PickleSettings
from fakempi.mpi.buffers.span import Payload
from fakempi.mpi.failures.failure import FailedPayload
from fakempi.mpi.interfaces.records import CallSites
from fakempi.mpi.point.mismatch import compare, compare_object, describe_both, report_not_a_pickle

PICKLE = b"a pickle"
"""The target of a receive into a buffer that is too short for an object that arrived."""


def matched(envelope: Envelope, receive: PostedReceive) -> None:
    """Copy the payload to its target, if it fits. An object stays in its envelope until it is unpacked.

    Arrays of equal dtype have equal type signatures; the types of other payloads are compared.
    """
    target, payload = receive.target, envelope.payload
    if target is not None:
        if envelope.nbytes == receive.capacity and payload.__class__ is ndarray and payload.dtype is target.dtype:
            try:  # `copy_into` for the common case, inlined: equal numbers of elements, so it fits or raises
                target[...] = payload
            except ValueError:
                copy_into(payload, target, envelope.nbytes)
        elif envelope.nbytes <= receive.capacity:
            compare(envelope, receive)
            copy_into(payload, target, envelope.nbytes)
        elif isinstance(payload, (bytes, tuple)):  # too long because an object is received as a buffer
            compare(envelope, receive)
            receive.target = PICKLE
        else:
            receive.target = describe_both(envelope, receive)
        envelope.payload = None
    elif not isinstance(payload, (bytes, tuple)):  # a buffer is received as an object
        compare_object(envelope, receive)
        envelope.payload = snapshot(payload)


def copy_unreceived(envelope: Envelope) -> None:
    """Copy the payload of a send that has completed, if the message has not been received."""
    if envelope.payload is not None:
        if type(envelope.payload) is FailedPayload:
            raise envelope.payload.mpi_error()
        envelope.payload = snapshot(envelope.payload)


def complete_send(envelope: Envelope, call_sites: CallSites | None, caller: FrameType | None) -> None:
    """Copy the payload of a blocking send that has not been received; if it is in the mailbox, record its call site.

    `caller` is the frame that called the public method; None on a communicator without call sites.
    """
    if type(envelope.payload) is FailedPayload:
        raise envelope.payload.mpi_error()
    envelope.payload = snapshot(envelope.payload)
    box = envelope.box
    if call_sites is not None and caller is not None and (box.lone_envelope is envelope or box.pending or box.delayed):
        envelope.call_site = call_sites.get((id(caller.f_code), caller.f_lasti)) or request_site(call_sites)


def receive_result(
    receive: PostedReceive, is_object: bool, target: Payload | None, pickle: PickleSettings | None
) -> tuple[object, MPIError | None]:
    """Return the object that a completed receive has received, or its error. `target` receives the pickle, if given."""
    envelope = receive.envelope
    if envelope is None or not envelope.nbytes:
        return None, None
    if envelope.nbytes > receive.capacity:
        return None, truncation_error(receive)
    if not is_object:
        return None, None
    if target is not None:
        copy_into(envelope.payload, target, envelope.nbytes)
    return unpack_received(receive, pickle), None


def unpack_received(receive: PostedReceive, pickle: PickleSettings | None) -> object:
    """Return the object that a receive has received."""
    envelope = receive.envelope
    try:
        return unpack(envelope.payload, envelope.nbytes, pickle, take=True)
    except Exception:
        report_not_a_pickle(receive)
        raise


def truncation_error(receive: PostedReceive) -> MPIError:
    """Return the error for a message that is longer than the buffer, or whose sender has failed."""
    envelope = receive.envelope
    receive.observed = True  # the text names the sender
    if type(envelope.payload) is FailedPayload:
        return envelope.payload.mpi_error()
    advice = ""
    if isinstance(receive.target, str):
        advice = receive.target
    if receive.target is PICKLE:
        advice = " The message is a pickled Python object (send), and this receive takes a buffer (Recv): use recv."
    return mpi_error(
        ERR_TRUNCATE,
        f"message truncated, {envelope.nbytes} bytes arrived from rank {envelope.source} (tag {envelope.tag}) but the "
        f"buffer holds {receive.capacity}.{advice}",
    )
