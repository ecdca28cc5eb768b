"""Report messages whose datatype differs between sender and receiver: the receiver would get wrong data.

A payload carries its type: the dtype of an array, the datatype of a span. If both sides have the same dtype, as in
most messages, nothing here is called. Otherwise the type signatures are compared.

A report names both calls. Calls are not recorded in advance. If a rank is still inside its call, the call is found on the
rank's stack; otherwise the request, or the message that was not received, has it as `call_site`.
"""

from __future__ import annotations

from types import FrameType

from fakempi.core.network.envelope import Envelope, PostedReceive
from fakempi.mpi.base.call_site import call_and_place, frame_at, is_ours, place_of, public_call
from fakempi.mpi.base.process import Universe
from fakempi.mpi.buffers.payload import is_byte_type, signature_of
from fakempi.mpi.buffers.phantom import Phantom
from fakempi.mpi.buffers.raw import NO_BYTES
from fakempi.mpi.buffers.span import Payload

_POSTING_METHODS = (
    "_post_send", "_post_receive", "_post_wildcard_receive", "_receive",
    "Sendrecv", "Sendrecv_replace", "Isendrecv", "Isendrecv_replace", "sendrecv",
)  # fmt: skip
"""Methods that have an envelope or a receive in a local variable while it is matched."""

_BYTES = signature_of(NO_BYTES)
CallAndSite = tuple[str, str]


def compare(envelope: Envelope, receive: PostedReceive) -> None:
    """Report a message and a receive of buffers, of different dtypes, unless their type signatures agree."""
    payload, target = envelope.payload, receive.target
    if not envelope.nbytes or envelope.box.name.original is not None:
        return
    if isinstance(payload, (bytes, tuple)):
        if not is_byte_type(target):
            _report(envelope, receive, "pickle-met-buffer", "an object", _content_text(target, receive.capacity))
        return
    if type(payload) is Phantom or type(target) is Phantom:
        return
    sent, taken = signature_of(payload), signature_of(target)
    if not sent.agrees(taken, envelope.nbytes):
        _report(envelope, receive, "datatype-mismatch", sent.describe(envelope.nbytes), taken.describe(receive.capacity))


def compare_object(envelope: Envelope, receive: PostedReceive) -> None:
    """Report a buffer that is received as an object, unless it consists of bytes, which may be a pickle."""
    payload = envelope.payload
    if not envelope.nbytes or envelope.box.name.original is not None or type(payload) is Phantom:
        return
    if not signature_of(payload).agrees(_BYTES, envelope.nbytes):
        _report(envelope, receive, "pickle-met-buffer", _content_text(payload, envelope.nbytes), "an object")


def report_not_a_pickle(receive: PostedReceive) -> None:
    """Report a message that cannot be unpacked as an object, if it was sent as a buffer of bytes."""
    envelope, box = receive.envelope, receive.box
    if isinstance(envelope.payload, (bytes, tuple)) or box.name.original is not None or envelope.out is None:
        return
    if signature_of(envelope.payload).agrees(_BYTES, envelope.nbytes):  # otherwise `compare_object` has reported it
        call, place = call_and_place()
        sentence = f"takes an object, but {{others}} sent a buffer of {envelope.nbytes} bytes, which are not a pickle"
        universe, sender = box.name.context.universe, envelope.out.number
        receive.observed = True  # the report names the sender
        universe.report("pickle-met-buffer", box.owner, sentence, [sender], call=call, place=place, wrong_data=True)


def describe_both(envelope: Envelope, receive: PostedReceive) -> str:
    """Return a sentence on the elements of a message that is too long and of its receive; empty inside collective calls."""
    box = receive.box
    if box.name.original is not None or envelope.out is None:
        return ""
    sent, taken = _content_text(envelope.payload, envelope.nbytes), _content_text(receive.target, receive.capacity)
    call = _call_of(box.name.context.universe, envelope.out.number, envelope)
    where = "" if call is None else f" by {call[0]} at {call[1]}"
    return f" Rank {envelope.source} sent {sent}{where}; this receive takes {taken}."


def _content_text(payload: Payload, nbytes: int) -> str:
    return f"{nbytes} bytes" if type(payload) is Phantom else signature_of(payload).describe(nbytes)


def _report(envelope: Envelope, receive: PostedReceive, kind: str, sent: str, taken: str) -> None:
    box, receive.observed = receive.box, True  # the report names the sender
    universe, sender = box.name.context.universe, envelope.out.number
    call, place = _call_of(universe, box.owner, receive) or ("a receive", "?")
    send_call = _call_of(universe, sender, envelope)
    where_sent = ""
    if send_call is not None:
        where_sent = f" at {send_call[1]}" if kind == "datatype-mismatch" else f" by {send_call[0]} at {send_call[1]}"
    sentence = f"takes {taken}, but {{others}} sent {sent}{where_sent}"
    universe.report(kind, box.owner, sentence, [sender], call=call, place=place, wrong_data=True)


def _call_of(universe: Universe, number: int, item: Envelope | PostedReceive) -> CallAndSite | None:
    """Return the call of a process that made an envelope or a receive: from its call site, or from the process's stack."""
    call_site = getattr(item, "call_site", None)
    if call_site is not None:
        return call_site.call, call_site.place
    running = universe.loop.running
    frame: FrameType | None = frame_at(1) if running is None or running.owner is universe.processes[number] else None
    while frame is not None:
        if frame.f_code.co_name in _POSTING_METHODS and any(value is item for value in frame.f_locals.values()):
            break
        frame = frame.f_back
    if frame is None:
        process = universe.processes[number]
        tasks = [process.task, *(process.threads or ())]
        frames = universe.loop.backend.frames(tasks)
        if running in frames:  # it has posted its operations, and ports are given to messages before others run
            frames[running] = frame_at(1)
        candidates = (task for task in tasks if _waits_for(task.reason, item) or _has_in_scope(frames.get(task), item))
        task = next(candidates, None)
        if task is None:
            return None
        # A greenlet without a frame is the current one: its rank waits, and a choice of a schedule is taken on its stack.
        frame = frames.get(task) or frame_at(1)
    call, program = public_call(frame)
    return None if program is None else (call, place_of(program))


def _has_in_scope(frame: FrameType | None, item: Envelope | PostedReceive) -> bool:
    """Whether a frame of fakempi on the stack has the item in a variable: the call has completed but has not returned."""
    while frame is not None and is_ours(frame):
        if any(value is item for value in frame.f_locals.values()):
            return True
        frame = frame.f_back
    return False


def _waits_for(reason: object, item: Envelope | PostedReceive) -> bool:
    if isinstance(reason, tuple):
        return any(_waits_for(part, item) for part in reason)
    return reason is item
