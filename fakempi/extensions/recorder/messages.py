"""Sends and receives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

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

SENDRECV = ("dest", "sendtag", "recvbuf", "source", "recvtag", "status")
REPLACE = ("buf", "dest", "sendtag", "source", "recvtag", "status")


def _sent(objects: bool, buffer: str) -> Callable[[RankRecording], Callable[[dict[str, Any]], int]]:
    """Return a function that returns the size of a send: of an object, or of the buffer in the argument of that name."""

    def size(recording: RankRecording) -> Callable[[dict[str, Any]], int]:
        pickles, nbytes = recording.pickles, recording.sizes.nbytes
        return (lambda given: sum(pickles.written)) if objects else (lambda given: nbytes(given[buffer]))

    return size


def _send(mode: str, objects: bool = False, nonblocking: bool = False) -> Maker:
    buffer = "obj" if objects else "buf"

    def describe(recording: RankRecording) -> Describe:
        number, peer, size = recording.communicators.number, recording.peer, _sent(objects, buffer)(recording)
        begin: Callable[[Any], Any] = recording.requests.start if nonblocking else lambda request: "-"

        def lines(comm: Any, given: dict[str, Any], request: Any) -> Lines:
            rest = f"{mode} {number(comm)} {peer(given['dest'])} {given.get('tag', 0)} {size(given)} {begin(request)}"
            return (("send", rest),)

        return lines

    return recorded((buffer, "dest", "tag"), describe, with_sizes if objects else None)


def _send_init(mode: str) -> Maker:
    def describe(recording: RankRecording) -> Describe:
        number, peer, size = recording.communicators.number, recording.peer, _sent(False, "buf")(recording)

        def lines(comm: Any, given: dict[str, Any], request: Any) -> Lines:
            line = f"{mode} {number(comm)} {peer(given['dest'])} {given.get('tag', 0)} {size(given)}"
            recording.requests.make_persistent(request, "send", False, line)
            return ()

        return lines

    return recorded(("buf", "dest", "tag"), describe)


def _recv(parameters: tuple[str, ...]) -> Maker:
    def describe(recording: RankRecording) -> Describe:
        number, received = recording.communicators.number, recording.received
        return lambda comm, given, result: (("recv", f"{number(comm)} {received(given['status'])} -"),)

    return recorded(parameters, describe, with_status)


def _posted(recording: RankRecording, comm: Any, given: dict[str, Any], size: int) -> tuple[str, bool]:
    """Return the words of a posted receive, and whether its message is known only when it has arrived."""
    source = given.get("source", recording.mpi.ANY_SOURCE)
    tag = given.get("tag", given.get("recvtag", recording.mpi.ANY_TAG))
    words = f"{recording.communicators.number(comm)} {recording.peer(source)} {recording.tag(tag)} {size}"
    return words, recording.is_wildcard(source, tag)


def _irecv(objects: bool) -> Maker:
    def describe(recording: RankRecording) -> Describe:
        begin, nbytes = recording.requests.start, recording.sizes.nbytes

        def size(buf: Any) -> int:
            if objects:
                return recording.irecv_room if buf is None else buf if isinstance(buf, int) else len(buf)
            return nbytes(buf)

        def lines(comm: Any, given: dict[str, Any], request: Any) -> Lines:
            words, wildcard = _posted(recording, comm, given, size(given.get("buf")))
            return (("recv", f"{words} {begin(request, wildcard)}"),)

        return lines

    return recorded(("buf", "source", "tag"), describe)


def _recv_init(recording: RankRecording) -> Describe:
    def lines(comm: Any, given: dict[str, Any], request: Any) -> Lines:
        words, wildcard = _posted(recording, comm, given, recording.sizes.nbytes(given["buf"]))
        recording.requests.make_persistent(request, "recv", wildcard, words)
        return ()

    return lines


def _message_recv(nonblocking: bool) -> Callable[[RankRecording], Describe]:
    """Receives of matched probes: MPI does not tell their communicator, so `completion` notes it at the probe."""

    def describe(recording: RankRecording) -> Describe:
        def lines(message: Any, given: dict[str, Any], request: Any) -> Lines:
            comm, words = recording.probed.pop(id(message), (0, "-1 * 0"))
            return (("recv", f"{comm} {words} {recording.requests.start(request) if nonblocking else '-'}"),)

        return lines

    return describe


def _sendrecv(buffer: str, parameters: tuple[str, ...], objects: bool = False) -> Maker:
    def describe(recording: RankRecording) -> Describe:
        number, peer, size, received = (
            recording.communicators.number, recording.peer, _sent(objects, buffer)(recording), recording.received,
        )  # fmt: skip

        def lines(comm: Any, given: dict[str, Any], result: Any) -> Lines:
            sent = f"{number(comm)} {peer(given['dest'])} {given.get('sendtag', 0)} {size(given)}"
            return (("sendrecv", f"{sent} {received(given['status'])}"),)

        return lines

    return recorded(parameters, describe, with_sizes_and_status if objects else with_status)


def _isendrecv(buffer: str, parameters: tuple[str, ...]) -> Maker:
    """A nonblocking Sendrecv: a send and a receive that one request completes."""

    def describe(recording: RankRecording) -> Describe:
        nbytes = recording.sizes.nbytes

        def lines(comm: Any, given: dict[str, Any], request: Any) -> Lines:
            sent = nbytes(given[buffer])
            received, wildcard = _posted(recording, comm, given, nbytes(given.get("recvbuf")) if buffer != "buf" else sent)
            first, second = recording.requests.start_both(request, wildcard)
            dest, tag = recording.peer(given["dest"]), given.get("sendtag", 0)
            send = f"S {recording.communicators.number(comm)} {dest} {tag} {sent} {first}"
            return ("send", send), ("recv", f"{received} {second}")

        return lines

    return recorded(parameters, describe)


def _sends() -> dict[str, Maker]:
    found: dict[str, Maker] = {}
    for name, mode in MODES.items():
        found |= {
            name: _send(mode), f"I{name.lower()}": _send(mode, nonblocking=True), f"{name}_init": _send_init(mode),
            name.lower(): _send(mode, objects=True), f"i{name.lower()}": _send(mode, objects=True, nonblocking=True),
        }  # fmt: skip
    return found


OF_COMM: dict[str, Maker] = {
    **_sends(),
    "Recv": _recv(("buf", "source", "tag", "status")),
    "recv": _recv(("buf", "source", "tag", "status")),
    "Irecv": _irecv(objects=False),
    "irecv": _irecv(objects=True),
    "Recv_init": recorded(("buf", "source", "tag"), _recv_init),
    "Sendrecv": _sendrecv("sendbuf", ("sendbuf", *SENDRECV)),
    "sendrecv": _sendrecv("sendobj", ("sendobj", *SENDRECV), objects=True),
    "Sendrecv_replace": _sendrecv("buf", REPLACE),
    "Isendrecv": _isendrecv("sendbuf", ("sendbuf", *SENDRECV[:-1])),
    "Isendrecv_replace": _isendrecv("buf", REPLACE[:-1]),
}
"""Methods of communicators."""

OF_MESSAGE: dict[str, Maker] = {
    "Recv": recorded(("buf", "status"), _message_recv(False)),
    "recv": recorded(("status",), _message_recv(False)),
    "Irecv": recorded(("buf",), _message_recv(True)),
    "irecv": recorded((), _message_recv(True)),
}
"""Methods of messages that a matched probe has returned."""
