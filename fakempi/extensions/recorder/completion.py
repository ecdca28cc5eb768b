"""Calls that complete, start or free requests, and probes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from fakempi.extensions.recorder.rank_recording import RankRecording
from fakempi.extensions.recorder.wrapper import (
    Describe,
    Lines,
    Maker,
    in_sequence,
    nothing,
    recorded,
    with_requests,
    with_status,
    with_statuses,
)

# -- requests --------------------------------------------------------------------------------------------------------------


def _one(is_done: Callable[[Any], bool]) -> Maker:
    """Wait and Test of one request."""

    def describe(recording: RankRecording) -> Describe:
        complete, match = recording.requests.complete, recording.match

        def lines(request: Any, result: Any, status: Any = None) -> Lines:
            return (("wait", complete(request, status, match)[1:]),) if is_done(result) else ()

        return lines

    return recorded(describe, with_status(0))


def _any(choose: Callable[[Any], int | None]) -> Maker:
    """Waitany and Testany; `choose` returns the index of the completed request."""

    def describe(recording: RankRecording) -> Describe:
        complete, match = recording.requests.complete, recording.match

        def lines(kind: Any, result: Any, requests: Any, status: Any = None) -> Lines:
            index = choose(result)
            if index is None or not 0 <= index < len(requests):
                return ()
            return (("wait", complete(requests[index], status, match)[1:]),)

        return lines

    return recorded(describe, with_requests)


def _several(choose: Callable[[Any, int], Sequence[int]], packed: bool = False) -> Maker:
    """Waitall, Testall, Waitsome and Testsome; with `packed`, statuses are those of the completed requests."""

    def describe(recording: RankRecording) -> Describe:
        complete, match = recording.requests.complete, recording.match

        def lines(kind: Any, result: Any, requests: Any, statuses: Any = ()) -> Lines:
            words = ""
            for place, index in enumerate(choose(result, len(requests))):
                position = place if packed else index
                words += complete(requests[index], statuses[position] if position < len(statuses) else None, match)
            return (("wait", words[1:]),) if words else ()

        return lines

    return recorded(describe, with_statuses)


def _forget(recording: RankRecording) -> Describe:
    """Free and Cancel: the request is not completed by a call that a replay can repeat."""

    def lines(request: Any, result: Any) -> Lines:
        recording.requests.forget(request)
        return ()

    return lines


def _start(recording: RankRecording) -> Describe:
    def lines(request: Any, result: Any) -> Lines:
        return (recording.requests.restart(request) or ("other", "Prequest.Start"),)

    return lines


def _startall(recording: RankRecording) -> Describe:
    def lines(kind: Any, result: Any, requests: Any) -> Lines:
        restart = recording.requests.restart
        return [restart(request) or ("other", "Prequest.Startall") for request in requests]

    return lines


def _done(result: Any) -> bool:
    return True


OF_REQUEST: dict[str, Maker] = {
    "Wait": _one(_done),
    "wait": _one(_done),
    "Test": _one(bool),
    "test": _one(lambda result: bool(result[0])),
    "Waitany": _any(int),
    "waitany": _any(lambda result: int(result[0])),
    "Testany": _any(lambda result: result[0] if result[1] else None),
    "testany": _any(lambda result: result[0] if result[1] else None),
    "Waitall": _several(lambda result, count: range(count)),
    "waitall": _several(lambda result, count: range(count)),
    "Testall": _several(lambda result, count: range(count if result else 0)),
    "testall": _several(lambda result, count: range(count if result[0] else 0)),
    "Waitsome": _several(lambda result, count: result or (), packed=True),
    "Testsome": _several(lambda result, count: result or (), packed=True),
    "waitsome": _several(lambda result, count: result[0] or (), packed=True),
    "testsome": _several(lambda result, count: result[0] or (), packed=True),
    **dict.fromkeys(("Free", "free", "Cancel", "cancel"), recorded(_forget)),
    **dict.fromkeys(("Get_status", "get_status"), recorded(nothing)),
    "Start": recorded(_start),
    "Startall": recorded(_startall, in_sequence),
}
"""Methods of requests, also of persistent ones."""

# -- probes ----------------------------------------------------------------------------------------------------------------


def _mprobe(of_class: bool) -> Callable[[RankRecording], Describe]:
    """A matched probe; the receive of the message needs the communicator, the source and the tag."""

    def describe(recording: RankRecording) -> Describe:
        def lines(comm: Any, message: Any, source: Any = None, tag: Any = None, status: Any = None) -> Lines:
            if message is not None:
                recording.probed[id(message)] = recording.communicators.number(comm), recording.received(status)
            return ()

        def lines_of_class(kind: Any, message: Any, comm: Any, *args: Any, **keywords: Any) -> Lines:
            return lines(comm, message, *args, **keywords)

        return lines_of_class if of_class else lines

    return describe


PROBES: dict[str, Maker] = {
    **dict.fromkeys(("Probe", "Iprobe", "probe", "iprobe"), recorded(nothing)),
    **dict.fromkeys(("Mprobe", "Improbe", "mprobe", "improbe"), recorded(_mprobe(False), with_status(2))),
}
"""Probes of communicators. A probe has no effect in a replay: the receive that follows waits for the same message."""

PROBES_OF_MESSAGE: dict[str, Maker] = dict.fromkeys(
    ("Probe", "Iprobe", "probe", "iprobe"), recorded(_mprobe(True), with_status(3))
)
"""The same as class methods of messages: these are matched probes."""
