"""Makes the wrapper of a call: it takes the times, calls the original, and adds the lines that describe the call."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from fakempi.extensions.recorder.rank_recording import RankRecording

Lines: TypeAlias = Sequence[tuple[str, str]]
"""Kinds of events, and the words after their times. Without any, the call has no effect in a replay."""

Describe: TypeAlias = Callable[..., Lines]
"""Returns the lines of a call: for its object or class, its result, and its arguments, which it takes as the call does."""

Arguments: TypeAlias = tuple[tuple[Any, ...], dict[str, Any]]
Prepare: TypeAlias = Callable[[tuple[Any, ...], dict[str, Any]], Arguments]
"""Returns the arguments with which the call is made."""

Maker: TypeAlias = Callable[[RankRecording, Any], Any]
"""Makes the wrapper of a function, whose first parameter is an object or a class, for the recording of a rank."""


def recorded(
    describe: Callable[[RankRecording], Describe], prepare: Callable[[RankRecording], Prepare] | None = None
) -> Maker:
    """Return the maker of wrappers for a call."""

    def make(recording: RankRecording, original: Any) -> Any:
        log, now, is_foreign = recording.log, recording.log.now, recording.is_foreign
        lines_of, change = describe(recording), None if prepare is None else prepare(recording)
        name = original.__name__

        def call(self: Any, *args: Any, **keywords: Any) -> Any:
            if is_foreign(name):
                return original(self, *args, **keywords)
            if change is not None:
                args, keywords = change(args, keywords)
            start = now()
            result = original(self, *args, **keywords)
            end = now()
            lines = lines_of(self, result, *args, **keywords)
            if lines:
                log.events(start, end, log.site(1), lines)
            else:
                log.skip(start, end, log.site(1))
            return result

        return call

    return make


def with_status(place: int) -> Callable[[RankRecording], Prepare]:
    """Pass a status to calls without one, which is the parameter at this place; all such calls share it."""

    def prepare(recording: RankRecording) -> Prepare:
        own = recording.mpi.Status()

        def add(args: tuple[Any, ...], keywords: dict[str, Any]) -> Arguments:
            if len(args) <= place:
                if keywords.get("status") is None:
                    keywords["status"] = own
            elif args[place] is None:
                args = (*args[:place], own, *args[place + 1 :])
            return args, keywords

        return add

    return prepare


def with_statuses(recording: RankRecording) -> Prepare:
    """Pass a list to calls without statuses, and requests as a sequence."""

    def prepare(args: tuple[Any, ...], keywords: dict[str, Any]) -> Arguments:
        args, keywords = _in_sequence(args, keywords)
        if len(args) < 2:
            if keywords.get("statuses") is None:
                keywords["statuses"] = []
        elif args[1] is None:
            args = (args[0], [], *args[2:])
        return args, keywords

    return prepare


def with_requests(recording: RankRecording) -> Prepare:
    """Pass requests as a sequence, and a status."""
    add_status = with_status(1)(recording)
    return lambda args, keywords: add_status(*_in_sequence(args, keywords))


def in_sequence(recording: RankRecording) -> Prepare:
    """Pass requests as a sequence."""
    return _in_sequence


def _in_sequence(args: tuple[Any, ...], keywords: dict[str, Any]) -> Arguments:
    """Make a sequence of the requests, which are read twice, unless they are wrong, which MPI reports."""
    requests: Any = args[0] if args else keywords.get("requests")
    if isinstance(requests, list | tuple) or not hasattr(requests, "__iter__"):
        return args, keywords
    if args:
        return (list(requests), *args[1:]), keywords
    return args, {**keywords, "requests": list(requests)}


def with_sizes(recording: RankRecording) -> Prepare:
    """Forget the sizes of earlier pickles."""

    def prepare(args: tuple[Any, ...], keywords: dict[str, Any]) -> Arguments:
        recording.pickles.clear()
        return args, keywords

    return prepare


def with_sizes_and_status(place: int) -> Callable[[RankRecording], Prepare]:
    """Both."""

    def prepare(recording: RankRecording) -> Prepare:
        forget_sizes, add_status = with_sizes(recording), with_status(place)(recording)
        return lambda args, keywords: add_status(*forget_sizes(args, keywords))

    return prepare


def nothing(recording: RankRecording) -> Describe:
    """The call has no effect in a replay."""
    return lambda self, result, *args, **keywords: ()
