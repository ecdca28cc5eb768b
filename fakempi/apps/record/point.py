"""Wrappers of sends and receives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from fakempi.apps.record.rank_recording import RankRecording
from fakempi.apps.record.requests import Restart

Replace = Callable[[type[Any], str, Any], None]

MODES = {"Send": "S", "Ssend": "SS", "Bsend": "B", "Rsend": "R"}
"""The mode of a send as the file has it, by the name of the blocking call with a buffer."""


def install(recording: RankRecording, replace: Replace) -> None:
    """Replace the methods of communicators and of messages that send or receive."""
    comm, message = recording.mpi.Comm, recording.mpi.Message
    for name, mode in MODES.items():
        replace(comm, name, _send(recording, comm.__dict__[name], mode))
        replace(comm, f"I{name.lower()}", _isend(recording, comm.__dict__[f"I{name.lower()}"], mode))
        replace(comm, f"{name}_init", _send_init(recording, comm.__dict__[f"{name}_init"], mode))
        if name.lower() in comm.__dict__:
            replace(comm, name.lower(), _send_object(recording, comm.__dict__[name.lower()], mode))
            replace(comm, f"i{name.lower()}", _isend_object(recording, comm.__dict__[f"i{name.lower()}"], mode))
    for name in ("Recv", "recv"):
        replace(comm, name, _recv(recording, comm.__dict__[name], name == "recv"))
        replace(comm, f"I{name.lower()}" if name == "Recv" else "irecv", _irecv(recording, comm, name))
        replace(message, name, _message_recv(recording, message.__dict__[name]))
    replace(comm, "Recv_init", _recv_init(recording, comm.__dict__["Recv_init"]))
    for name in ("Sendrecv", "sendrecv"):
        replace(comm, name, _sendrecv(recording, comm.__dict__[name], name == "sendrecv"))
    replace(comm, "Sendrecv_replace", _sendrecv_replace(recording, comm.__dict__["Sendrecv_replace"]))
    for name in ("Isendrecv", "Isendrecv_replace"):
        if name in comm.__dict__:  # MPI 4
            replace(comm, name, _isendrecv(recording, comm.__dict__[name], name == "Isendrecv_replace"))


# -- sends ---------------------------------------------------------------------------------------------------------------


def _send(recording: RankRecording, original: Any, mode: str) -> Any:
    log, now, number, peer, nbytes = _parts(recording)

    def send(self: Any, buf: Any, dest: Any, tag: Any = 0) -> Any:
        if recording.is_foreign("Send"):
            return original(self, buf, dest, tag)
        start = now()
        result = original(self, buf, dest, tag)
        end = now()
        log.event("send", start, end, log.site(1), f"{mode} {number(self)} {peer(dest)} {tag} {nbytes(buf)} -")
        return result

    return send


def _isend(recording: RankRecording, original: Any, mode: str) -> Any:
    log, now, number, peer, nbytes = _parts(recording)
    begin = recording.requests.start

    def isend(self: Any, buf: Any, dest: Any, tag: Any = 0) -> Any:
        if recording.is_foreign("Isend"):
            return original(self, buf, dest, tag)
        start = now()
        request = original(self, buf, dest, tag)
        end = now()
        rest = f"{mode} {number(self)} {peer(dest)} {tag} {nbytes(buf)} {begin(request)}"
        log.event("send", start, end, log.site(1), rest)
        return request

    return isend


def _send_object(recording: RankRecording, original: Any, mode: str) -> Any:
    log, now, number, peer, _ = _parts(recording)
    pickles = recording.pickles

    def send(self: Any, obj: Any, dest: Any, tag: Any = 0) -> Any:
        if recording.is_foreign("send"):
            return original(self, obj, dest, tag)
        pickles.clear()
        start = now()
        result = original(self, obj, dest, tag)
        end = now()
        rest = f"{mode} {number(self)} {peer(dest)} {tag} {sum(pickles.written)} -"
        log.event("send", start, end, log.site(1), rest)
        return result

    return send


def _isend_object(recording: RankRecording, original: Any, mode: str) -> Any:
    log, now, number, peer, _ = _parts(recording)
    pickles, begin = recording.pickles, recording.requests.start

    def isend(self: Any, obj: Any, dest: Any, tag: Any = 0) -> Any:
        if recording.is_foreign("isend"):
            return original(self, obj, dest, tag)
        pickles.clear()
        start = now()
        request = original(self, obj, dest, tag)
        end = now()
        rest = f"{mode} {number(self)} {peer(dest)} {tag} {sum(pickles.written)} {begin(request)}"
        log.event("send", start, end, log.site(1), rest)
        return request

    return isend


def _send_init(recording: RankRecording, original: Any, mode: str) -> Any:
    log, now, number, peer, nbytes = _parts(recording)

    def send_init(self: Any, buf: Any, dest: Any, tag: Any = 0) -> Any:
        start = now()
        request = original(self, buf, dest, tag)
        if recording.is_foreign("Send_init"):
            return request
        line = f"{mode} {number(self)} {peer(dest)} {tag} {nbytes(buf)}"
        recording.requests.make_persistent(request, "send", False, _ending(line))
        log.skip(start, now(), log.site(1))
        return request

    return send_init


# -- receives ------------------------------------------------------------------------------------------------------------


def _recv(recording: RankRecording, original: Any, objects: bool) -> Any:
    log, now, number, *_ = _parts(recording)
    own, any_source, any_tag = recording.mpi.Status(), recording.mpi.ANY_SOURCE, recording.mpi.ANY_TAG
    received, default = _received(recording), {"buf": None} if objects else {}

    def recv(self: Any, *args: Any, **keywords: Any) -> Any:
        if recording.is_foreign("Recv"):
            return original(self, *args, **keywords)
        given = dict(zip(("buf", "source", "tag", "status"), args, strict=False)) | keywords
        buf, source, tag, status = (given.pop(name, None) for name in ("buf", "source", "tag", "status"))
        if given or not (default or args or "buf" in keywords):
            return original(self, *args, **keywords)  # mpi4py reports the wrong argument
        status = own if status is None else status
        source = any_source if source is None else source
        tag = any_tag if tag is None else tag
        start = now()
        result = original(self, buf, source, tag, status)
        end = now()
        log.event("recv", start, end, log.site(1), f"{number(self)} {received(status)} -")
        return result

    return recv


def _received(recording: RankRecording) -> Callable[[Any], str]:
    """Return a function that returns the source, the tag and the bytes of a received message."""
    peer, any_source, tag_word = recording.peer, recording.mpi.ANY_SOURCE, recording.tag

    def received(status: Any) -> str:
        source = status.Get_source()
        if source == any_source or source == recording.mpi.PROC_NULL:
            return f"{peer(source)} {tag_word(status.Get_tag())} 0"
        return f"{source} {status.Get_tag()} {status.Get_count(recording.mpi.BYTE)}"

    return received


def _irecv(recording: RankRecording, comm: Any, name: str) -> Any:
    log, now, number, peer, nbytes = _parts(recording)
    original, begin = comm.__dict__["Irecv" if name == "Recv" else "irecv"], recording.requests.start
    any_source, any_tag, tag_word = recording.mpi.ANY_SOURCE, recording.mpi.ANY_TAG, recording.tag
    pickled, room = name == "recv", recording.irecv_room

    def irecv(self: Any, buf: Any = None, source: Any = any_source, tag: Any = any_tag) -> Any:
        if recording.is_foreign("Irecv"):
            return original(self, buf, source, tag)
        start = now()
        request = original(self, buf, source, tag)
        end = now()
        size = nbytes(buf) if not pickled else room if buf is None else buf if isinstance(buf, int) else len(buf)
        request_number = begin(request, source == any_source or tag == any_tag)
        rest = f"{number(self)} {peer(source)} {tag_word(tag)} {size} {request_number}"
        log.event("recv", start, end, log.site(1), rest)
        return request

    return irecv


def _message_recv(recording: RankRecording, original: Any) -> Any:
    """Receives of matched probes: MPI does not tell their communicator, so `completion` notes it at the probe."""
    log, now = recording.log, recording.log.now
    received = _received(recording)

    def recv(self: Any, *args: Any, **keywords: Any) -> Any:
        if recording.is_foreign("Message.Recv"):
            return original(self, *args, **keywords)
        given = dict(zip(("buf", "status"), args, strict=False)) | keywords
        status = given.setdefault("status", None) or recording.mpi.Status()
        comm = recording.probed.pop(id(self), 0)
        start = now()
        result = original(self, **(given | {"status": status}))
        end = now()
        log.event("recv", start, end, log.site(1), f"{comm} {received(status)} -")
        return result

    return recv


def _recv_init(recording: RankRecording, original: Any) -> Any:
    log, now, number, peer, nbytes = _parts(recording)
    any_source, any_tag = recording.mpi.ANY_SOURCE, recording.mpi.ANY_TAG

    def recv_init(self: Any, buf: Any, source: Any = any_source, tag: Any = any_tag) -> Any:
        start = now()
        request = original(self, buf, source, tag)
        if recording.is_foreign("Recv_init"):
            return request
        line = f"{number(self)} {peer(source)} {recording.tag(tag)} {nbytes(buf)}"
        recording.requests.make_persistent(request, "recv", source == any_source or tag == any_tag, _ending(line))
        log.skip(start, now(), log.site(1))
        return request

    return recv_init


# -- both ----------------------------------------------------------------------------------------------------------------

_SENDRECV = ("dest", "sendtag", "recvbuf", "source", "recvtag", "status")


def _sendrecv(recording: RankRecording, original: Any, objects: bool) -> Any:
    log, now, number, peer, nbytes = _parts(recording)
    names, received, pickles = ("sendobj" if objects else "sendbuf", *_SENDRECV), _received(recording), recording.pickles

    def sendrecv(self: Any, *args: Any, **keywords: Any) -> Any:
        if recording.is_foreign("Sendrecv"):
            return original(self, *args, **keywords)
        given = dict(zip(names, args, strict=False)) | keywords
        status = given["status"] = given.get("status") or recording.mpi.Status()
        pickles.clear()
        start = now()
        result = original(self, **given)
        end = now()
        sent = sum(pickles.written) if objects else nbytes(given[names[0]])
        rest = f"{number(self)} {peer(given['dest'])} {given.get('sendtag', 0)} {sent} {received(status)}"
        log.event("sendrecv", start, end, log.site(1), rest)
        return result

    return sendrecv


def _sendrecv_replace(recording: RankRecording, original: Any) -> Any:
    log, now, number, peer, nbytes = _parts(recording)
    names, received = ("buf", "dest", "sendtag", "source", "recvtag", "status"), _received(recording)

    def sendrecv_replace(self: Any, *args: Any, **keywords: Any) -> Any:
        if recording.is_foreign("Sendrecv_replace"):
            return original(self, *args, **keywords)
        given = dict(zip(names, args, strict=False)) | keywords
        status = given["status"] = given.get("status") or recording.mpi.Status()
        start = now()
        result = original(self, **given)
        end = now()
        sent = nbytes(given["buf"])
        rest = f"{number(self)} {peer(given['dest'])} {given.get('sendtag', 0)} {sent} {received(status)}"
        log.event("sendrecv", start, end, log.site(1), rest)
        return result

    return sendrecv_replace


def _isendrecv(recording: RankRecording, original: Any, replaces: bool) -> Any:
    """A nonblocking Sendrecv: a send and a receive that one request completes."""
    log, now, number, peer, nbytes = _parts(recording)
    names = ("buf", "dest", "sendtag", "source", "recvtag") if replaces else ("sendbuf", *_SENDRECV[:-1])

    def isendrecv(self: Any, *args: Any, **keywords: Any) -> Any:
        start = now()
        request = original(self, *args, **keywords)
        end = now()
        if recording.is_foreign("Isendrecv"):
            return request
        given = dict(zip(names, args, strict=False)) | keywords
        source, tag = given.get("source", recording.mpi.ANY_SOURCE), given.get("recvtag", recording.mpi.ANY_TAG)
        wildcard = source == recording.mpi.ANY_SOURCE or tag == recording.mpi.ANY_TAG
        first, second = recording.requests.start_both(request, wildcard)
        site, comm, sent = log.site(1), number(self), nbytes(given[names[0]])
        room = sent if replaces else nbytes(given.get("recvbuf"))
        log.event("send", start, end, site, f"S {comm} {peer(given['dest'])} {given.get('sendtag', 0)} {sent} {first}")
        at = log.last
        log.event("recv", at, at, site, f"{comm} {peer(source)} {recording.tag(tag)} {room} {second}")
        return request

    return isendrecv


# -- parts ---------------------------------------------------------------------------------------------------------------


def _parts(recording: RankRecording) -> tuple[Any, Any, Any, Any, Any]:
    """Return what wrappers need as local variables: attributes would take a tenth of a microsecond each."""
    log = recording.log
    null, any_source = recording.mpi.PROC_NULL, recording.mpi.ANY_SOURCE

    def peer(rank: Any) -> Any:
        return rank if rank >= 0 else "-1" if rank == null else "*" if rank == any_source else rank

    return log, log.now, recording.communicators.number, peer, recording.sizes.nbytes


def _ending(line: str) -> Restart:
    return lambda number: f"{line} {number}"
