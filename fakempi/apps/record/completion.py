"""Wrappers of calls that complete, start or free requests, and of probes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from fakempi.apps.record.point import Replace
from fakempi.apps.record.rank_recording import RankRecording

Completed = Callable[[Any, int], Sequence[int]]
"""Returns the indices of completed requests, for the result of a call and the number of its requests."""


def install(recording: RankRecording, replace: Replace) -> None:
    """Replace the methods of requests, the probes of communicators, and Start."""
    request, comm = recording.mpi.Request, recording.mpi.Comm
    for name in ("Wait", "wait"):
        replace(request, name, _one(recording, request.__dict__[name], lambda result: True))
    replace(request, "Test", _one(recording, request.__dict__["Test"], bool))
    replace(request, "test", _one(recording, request.__dict__["test"], lambda result: bool(result[0])))
    for name in ("Waitany", "waitany"):
        replace(request, name, _any(recording, getattr(request, name), _index))
    for name in ("Testany", "testany"):
        replace(request, name, _any(recording, getattr(request, name), lambda result: result[0] if result[1] else None))
    for name in ("Waitall", "waitall"):
        replace(request, name, _several(recording, getattr(request, name), lambda result, count: range(count)))
    replace(request, "Testall", _several(recording, request.Testall, lambda result, count: range(count if result else 0)))
    replace(request, "testall", _several(recording, request.testall, lambda result, count: range(count if result[0] else 0)))
    for name in ("Waitsome", "Testsome"):
        replace(request, name, _several(recording, getattr(request, name), lambda result, count: result or (), packed=True))
    for name in ("waitsome", "testsome"):
        choose = _several(recording, getattr(request, name), lambda result, count: result[0] or (), packed=True)
        replace(request, name, choose)
    for name in ("Free", "free", "Cancel", "cancel"):
        if name in request.__dict__:
            replace(request, name, _ended(recording, request.__dict__[name]))
    prequest = recording.mpi.Prequest
    replace(prequest, "Start", _start(recording, prequest.__dict__["Start"]))
    replace(prequest, "Startall", _startall(recording, prequest.Startall))
    for name in ("Probe", "Iprobe", "probe", "iprobe"):
        replace(comm, name, _probe(recording, comm.__dict__[name]))
    for name in ("Mprobe", "Improbe", "mprobe", "improbe"):
        replace(comm, name, _mprobe(recording, comm.__dict__[name]))


def _index(result: Any) -> int:
    return int(result[0] if isinstance(result, tuple) else result)


def _one(recording: RankRecording, original: Any, done: Callable[[Any], bool]) -> Any:
    """Wait and Test of one request."""
    log, now, requests, own = recording.log, recording.log.now, recording.requests, recording.mpi.Status()

    def wait(self: Any, status: Any = None) -> Any:
        if recording.is_foreign("Wait"):
            return original(self, status)
        status = own if status is None else status
        start = now()
        result = original(self, status)
        end = now()
        if done(result):
            log.event("wait", start, end, log.site(1), requests.complete(self, status, recording.match)[1:])
        else:
            log.skip(start, end, log.site(1))
        return result

    return wait


def _any(recording: RankRecording, original: Any, choose: Callable[[Any], int | None]) -> Any:
    """Waitany and Testany; `choose` returns the index of the completed request."""
    log, now, complete, own = recording.log, recording.log.now, recording.requests.complete, recording.mpi.Status()

    def waitany(cls: Any, requests: Any, status: Any = None) -> Any:
        if recording.is_foreign("Waitany"):
            return original(requests, status)
        requests = _sequence(requests)
        status = own if status is None else status
        start = now()
        result = original(requests, status)
        end = now()
        index = choose(result)
        if index is None or not 0 <= index < len(requests):
            log.skip(start, end, log.site(1))
        else:
            words = complete(requests[index], status, recording.match)
            log.event("wait", start, end, log.site(1), words[1:])
        return result

    return waitany


def _several(
    recording: RankRecording, original: Any, choose: Callable[[Any, int], Sequence[int]], packed: bool = False
) -> Any:
    """Waitall, Testall, Waitsome and Testsome; with `packed`, statuses are those of the completed requests."""
    log, now, complete = recording.log, recording.log.now, recording.requests.complete

    def waitall(cls: Any, requests: Any, statuses: Any = None) -> Any:
        if recording.is_foreign("Waitall"):
            return original(requests, statuses)
        requests = _sequence(requests)
        statuses = [] if statuses is None else statuses
        start = now()
        result = original(requests, statuses)
        end = now()
        words = ""
        for place, index in enumerate(choose(result, len(requests))):
            position = place if packed else index
            status = statuses[position] if position < len(statuses) else None
            words += complete(requests[index], status, recording.match)
        if words:
            log.event("wait", start, end, log.site(1), words[1:])
        else:
            log.skip(start, end, log.site(1))
        return result

    return waitall


def _sequence(requests: Any) -> Any:
    return requests if isinstance(requests, list | tuple) else list(requests)


def _ended(recording: RankRecording, original: Any) -> Any:
    """Free and Cancel: the request is not completed by a call that a replay can repeat."""
    log, now = recording.log, recording.log.now

    def free(self: Any) -> Any:
        if recording.is_foreign("Request.Free"):
            return original(self)
        recording.requests.forget(self)
        start = now()
        original(self)
        log.skip(start, now(), log.site(1))
        return None

    return free


def _start(recording: RankRecording, original: Any) -> Any:
    log, now, restart = recording.log, recording.log.now, recording.requests.restart

    def start(self: Any) -> Any:
        if recording.is_foreign("Start"):
            return original(self)
        begin = now()
        original(self)
        end = now()
        found = restart(self)
        if found is None:
            log.event("other", begin, end, log.site(1), "Prequest.Start")
        else:
            log.event(found[0], begin, end, log.site(1), found[1])
        return None

    return start


def _startall(recording: RankRecording, original: Any) -> Any:
    log, now, restart = recording.log, recording.log.now, recording.requests.restart

    def startall(cls: Any, requests: Any) -> Any:
        if recording.is_foreign("Startall"):
            return original(requests)
        requests = _sequence(requests)
        begin = now()
        original(requests)
        end, site = now(), log.site(1)
        for request in requests:
            kind, rest = restart(request) or ("other", "Prequest.Startall")
            log.event(kind, begin, end, site, rest)
            begin = end = log.last
        return None

    return startall


# -- probes --------------------------------------------------------------------------------------------------------------


def _probe(recording: RankRecording, original: Any) -> Any:
    """A probe has no effect in a replay: the receive that follows waits for the same message."""
    log, now = recording.log, recording.log.now

    def probe(self: Any, *args: Any, **keywords: Any) -> Any:
        start = now()
        result = original(self, *args, **keywords)
        if not recording.is_foreign("Probe"):
            log.skip(start, now(), log.site(1))
        return result

    return probe


def _mprobe(recording: RankRecording, original: Any) -> Any:
    """A matched probe; the receive of the message needs the number of the communicator."""
    log, now = recording.log, recording.log.now

    def mprobe(self: Any, *args: Any, **keywords: Any) -> Any:
        start = now()
        result = original(self, *args, **keywords)
        if not recording.is_foreign("Mprobe"):
            if result is not None:
                recording.probed[id(result)] = recording.communicators.number(self)
            log.skip(start, now(), log.site(1))
        return result

    return mprobe
