"""Makes the wrapper of a call: it takes the times, calls the original, and adds the lines that describe the call."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from fakempi.extensions.recorder.rank_recording import RankRecording

Lines: TypeAlias = Sequence[tuple[str, str]]
"""Kinds of events, and the words after their times. Without any, the call has no effect in a replay."""

Describe: TypeAlias = Callable[[Any, dict[str, Any], Any], Lines]
"""Returns the lines of a call: for its object or class, its arguments by name, and its result."""

Prepare: TypeAlias = Callable[[dict[str, Any]], object]
"""Changes the arguments before the call."""

Maker: TypeAlias = Callable[[RankRecording, Any], Any]
"""Makes the wrapper of a function, whose first parameter is an object or a class, for the recording of a rank."""


def recorded(
    parameters: Sequence[str],
    describe: Callable[[RankRecording], Describe],
    prepare: Callable[[RankRecording], Prepare] | None = None,
) -> Maker:
    """Return the maker of wrappers for calls with these parameters."""

    def make(recording: RankRecording, original: Any) -> Any:
        log, now, is_foreign = recording.log, recording.log.now, recording.is_foreign
        lines_of, change = describe(recording), None if prepare is None else prepare(recording)
        name = original.__name__

        def call(self: Any, *args: Any, **keywords: Any) -> Any:
            if is_foreign(name) or len(args) > len(parameters):  # MPI reports the wrong number of arguments
                return original(self, *args, **keywords)
            given = dict(zip(parameters, args, strict=False))
            if keywords:
                given.update(keywords)
            if change is None:
                start = now()
                result = original(self, *args, **keywords)
            else:
                change(given)
                start = now()
                result = original(self, **given)
            end = now()
            lines = lines_of(self, given, result)
            if lines:
                log.events(start, end, log.site(1), lines)
            else:
                log.skip(start, end, log.site(1))
            return result

        return call

    return make


def with_status(recording: RankRecording) -> Prepare:
    """Pass a status to calls without one; all such calls share it."""
    own = recording.mpi.Status()

    def prepare(given: dict[str, Any]) -> None:
        if given.get("status") is None:
            given["status"] = own

    return prepare


def with_statuses(recording: RankRecording) -> Prepare:
    """Pass a list to calls without statuses, and requests as a sequence, since they are read twice."""

    def prepare(given: dict[str, Any]) -> None:
        if given.get("statuses") is None:
            given["statuses"] = []
        in_sequence(given)

    return prepare


def with_requests(recording: RankRecording) -> Prepare:
    """Pass requests as a sequence, and a status."""
    add_status = with_status(recording)

    def prepare(given: dict[str, Any]) -> None:
        add_status(given)
        in_sequence(given)

    return prepare


def in_sequence(given: dict[str, Any]) -> None:
    """Make a sequence of the argument `requests`, unless it is wrong, which MPI reports."""
    requests: Any = given.get("requests")
    if not isinstance(requests, list | tuple) and hasattr(requests, "__iter__"):
        given["requests"] = list(requests)


def with_sizes(recording: RankRecording) -> Prepare:
    """Forget the sizes of earlier pickles."""
    return lambda given: recording.pickles.clear()


def with_sizes_and_status(recording: RankRecording) -> Prepare:
    """Both."""
    add_status = with_status(recording)

    def prepare(given: dict[str, Any]) -> None:
        recording.pickles.clear()
        add_status(given)

    return prepare


def nothing(recording: RankRecording) -> Describe:
    """The call has no effect in a replay."""
    return lambda self, given, result: ()
