"""Sends and receives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from fakempi.extensions.recorder.rank_recording import RankRecording
from fakempi.extensions.recorder.wrapper import (
    Describe,
    Lines,
    Maker,
    recorded,
    with_sizes,
    with_sizes_and_status,
    with_status,
)

MODES = {"Send": "S", "Ssend": "SS", "Bsend": "B", "Rsend": "R"}
"""The mode of a send as the lines have it, by the name of the blocking call with a buffer."""


# -- sends -----------------------------------------------------------------------------------------------------------------


def _send(mode: str) -> Maker:
    def describe(recording: RankRecording) -> Describe:
        number, peer, nbytes = recording.communicators.number, recording.peer, recording.sizes.nbytes

        def lines(comm: Any, result: Any, buf: Any, dest: Any, tag: Any = 0) -> Lines:
            return (("send", f"{mode} {number(comm)} {peer(dest)} {tag} {nbytes(buf)} -"),)

        return lines

    return recorded(describe)


def _other_send(mode: str, *, nonblocking: bool, objects: bool) -> Maker:
    def describe(recording: RankRecording) -> Describe:
        number, peer, nbytes = recording.communicators.number, recording.peer, _bytes_sent(recording, objects)
        begin: Callable[[Any], Any] = recording.requests.start if nonblocking else lambda request: "-"

        def lines(comm: Any, request: Any, buf: Any = None, dest: Any = None, tag: Any = 0, obj: Any = None) -> Lines:
            return (("send", f"{mode} {number(comm)} {peer(dest)} {tag} {nbytes(buf)} {begin(request)}"),)

        return lines

    return recorded(describe, with_sizes if objects else None)


def _bytes_sent(recording: RankRecording, objects: bool) -> Callable[[Any], int]:
    return (lambda obj: sum(recording.pickles.written)) if objects else recording.sizes.nbytes


def _send_init(mode: str) -> Maker:
    def describe(recording: RankRecording) -> Describe:
        number, peer, nbytes = recording.communicators.number, recording.peer, recording.sizes.nbytes

        def lines(comm: Any, request: Any, buf: Any, dest: Any, tag: Any = 0) -> Lines:
            words = f"{mode} {number(comm)} {peer(dest)} {tag} {nbytes(buf)}"
            recording.requests.make_persistent(request, "send", False, words)
            return ()

        return lines

    return recorded(describe)


# -- receives --------------------------------------------------------------------------------------------------------------


def _recv(recording: RankRecording) -> Describe:
    number, received = recording.communicators.number, recording.received

    def lines(comm: Any, result: Any, buf: Any = None, source: Any = 0, tag: Any = 0, status: Any = None) -> Lines:
        return (("recv", f"{number(comm)} {received(status)} -"),)

    return lines


Posted: TypeAlias = Callable[[Any, Any, Any, int], tuple[str, bool]]


def _posted(recording: RankRecording) -> Posted:
    """Return a function that returns the words of a posted receive, and whether its message is known only on arrival.

    Its arguments are communicator, source and tag (None: any), and bytes.
    """
    any_source, any_tag = recording.mpi.ANY_SOURCE, recording.mpi.ANY_TAG
    number, peer = recording.communicators.number, recording.peer

    def posted(comm: Any, source: Any, tag: Any, size: int) -> tuple[str, bool]:
        source, tag = any_source if source is None else source, any_tag if tag is None else tag
        if source == any_source or tag == any_tag:
            return f"{number(comm)} {peer(source)} {recording.tag(tag)} {size}", True
        return f"{number(comm)} {peer(source)} {tag} {size}", False

    return posted


def _irecv(objects: bool) -> Maker:
    def describe(recording: RankRecording) -> Describe:
        begin, nbytes, posted = recording.requests.start, recording.sizes.nbytes, _posted(recording)

        def room(buf: Any) -> int:
            return recording.irecv_room if buf is None else buf if isinstance(buf, int) else len(buf)

        size = room if objects else nbytes

        def lines(comm: Any, request: Any, buf: Any = None, source: Any = None, tag: Any = None) -> Lines:
            words, wildcard = posted(comm, source, tag, size(buf))
            return (("recv", f"{words} {begin(request, wildcard)}"),)

        return lines

    return recorded(describe)


def _recv_init(recording: RankRecording) -> Describe:
    posted = _posted(recording)

    def lines(comm: Any, request: Any, buf: Any, source: Any = None, tag: Any = None) -> Lines:
        words, wildcard = posted(comm, source, tag, recording.sizes.nbytes(buf))
        recording.requests.make_persistent(request, "recv", wildcard, words)
        return ()

    return lines


def _message_recv(nonblocking: bool) -> Maker:
    """Receives of matched probes: MPI does not tell their communicator, so `completion` notes it at the probe."""

    def describe(recording: RankRecording) -> Describe:
        def lines(message: Any, request: Any, *args: Any, **keywords: Any) -> Lines:
            comm, words = recording.probed.pop(id(message), (0, "-1 * 0"))
            return (("recv", f"{comm} {words} {recording.requests.start(request) if nonblocking else '-'}"),)

        return lines

    return recorded(describe)


# -- both ------------------------------------------------------------------------------------------------------------------


def _sendrecv(objects: bool) -> Callable[[RankRecording], Describe]:
    def describe(recording: RankRecording) -> Describe:
        number, peer, received = recording.communicators.number, recording.peer, recording.received
        nbytes = _bytes_sent(recording, objects)

        def lines(
            comm: Any, result: Any, sendbuf: Any = None, dest: Any = None, sendtag: Any = 0, recvbuf: Any = None,
            source: Any = None, recvtag: Any = None, status: Any = None, sendobj: Any = None,
        ) -> Lines:  # fmt: skip
            return (("sendrecv", f"{number(comm)} {peer(dest)} {sendtag} {nbytes(sendbuf)} {received(status)}"),)

        return lines

    return describe


def _sendrecv_replace(recording: RankRecording) -> Describe:
    number, peer, nbytes, received = (
        recording.communicators.number, recording.peer, recording.sizes.nbytes, recording.received,
    )  # fmt: skip

    def lines(
        comm: Any, result: Any, buf: Any, dest: Any, sendtag: Any = 0, source: Any = None, recvtag: Any = None,
        status: Any = None,
    ) -> Lines:  # fmt: skip
        return (("sendrecv", f"{number(comm)} {peer(dest)} {sendtag} {nbytes(buf)} {received(status)}"),)

    return lines


def _isendrecv(recording: RankRecording) -> Describe:
    """A nonblocking Sendrecv: a send and a receive that one request completes."""
    number, peer, nbytes, posted = (
        recording.communicators.number, recording.peer, recording.sizes.nbytes, _posted(recording),
    )  # fmt: skip

    def lines(
        comm: Any, request: Any, sendbuf: Any, dest: Any, sendtag: Any = 0, recvbuf: Any = None, source: Any = None,
        recvtag: Any = None,
    ) -> Lines:  # fmt: skip
        words, wildcard = posted(comm, source, recvtag, nbytes(recvbuf))
        first, second = recording.requests.start_both(request, wildcard)
        send = f"S {number(comm)} {peer(dest)} {sendtag} {nbytes(sendbuf)} {first}"
        return ("send", send), ("recv", f"{words} {second}")

    return lines


def _isendrecv_replace(recording: RankRecording) -> Describe:
    both = _isendrecv(recording)

    def lines(
        comm: Any, request: Any, buf: Any, dest: Any, sendtag: Any = 0, source: Any = None, recvtag: Any = None
    ) -> Lines:
        return both(comm, request, buf, dest, sendtag, buf, source, recvtag)

    return lines


def _sends() -> dict[str, Maker]:
    found: dict[str, Maker] = {}
    for name, mode in MODES.items():
        found |= {
            name: _send(mode), f"{name}_init": _send_init(mode),
            f"I{name.lower()}": _other_send(mode, nonblocking=True, objects=False),
            name.lower(): _other_send(mode, nonblocking=False, objects=True),
            f"i{name.lower()}": _other_send(mode, nonblocking=True, objects=True),
        }  # fmt: skip
    return found


OF_COMM: dict[str, Maker] = {
    **_sends(),
    "Recv": recorded(_recv, with_status(3)),
    "recv": recorded(_recv, with_status(3)),
    "Irecv": _irecv(objects=False),
    "irecv": _irecv(objects=True),
    "Recv_init": recorded(_recv_init),
    "Sendrecv": recorded(_sendrecv(objects=False), with_status(6)),
    "sendrecv": recorded(_sendrecv(objects=True), with_sizes_and_status(6)),
    "Sendrecv_replace": recorded(_sendrecv_replace, with_status(5)),
    "Isendrecv": recorded(_isendrecv),
    "Isendrecv_replace": recorded(_isendrecv_replace),
}
"""Methods of communicators."""

OF_MESSAGE: dict[str, Maker] = {
    "Recv": _message_recv(False),
    "recv": _message_recv(False),
    "Irecv": _message_recv(True),
    "irecv": _message_recv(True),
}
"""Methods of messages that a matched probe has returned."""
