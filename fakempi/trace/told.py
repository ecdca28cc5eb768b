"""What is told of a run beside what happened (`Columns.about`): what there may be, and whether it makes sense.

Files come from anywhere, and views take it that what is here has the shape that is written down here.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fakempi.errors import TraceError

_WANT = {"words": str, "awaits": [int]}
_STUCK = {"rank": int, "call": str, "site": str, "since": float, "polls": int, "wants": [_WANT]}
_ENDED = {
    "kind": str, "text": str, "headline": str, "time?": float, "cycle?": [int], "stuck?": [_STUCK],
    "misses?": [{"rank": int, "sender": int, "tag": int, "but": str}],
}  # fmt: skip
_SCHEDULE = {
    "decisions": str, "fails": bool, "why?": str,  # and, if a choice of it decided that, where that is in the trace:
    "time?": float, "rank?": int, "words?": str, "message?": int,
}  # fmt: skip
SHAPE = {
    "command?": str, "cost?": str, "date?": str, "versions?": {"*": str},
    "findings?": [{"text": str, "ranks": [int], "note": bool}], "ended?": _ENDED, "schedule?": _SCHEDULE,
}  # fmt: skip
"""Names with a question mark need not be there; a star is any name. More than this may be there, and nobody looks at it."""

_KINDS = {int: "a whole number", float: "a number", str: "a text", bool: "true or false"}


def check_about(about: Any, ranks: int, messages: int) -> None:
    """Refuse what views would stumble over."""
    _check(about, SHAPE, "what is told of the run")
    for one in (about.get("ended") or {}).get("stuck", ()):
        if not 0 <= one["rank"] < ranks:
            raise TraceError(f"rank {one['rank']} is told to wait, and the ranks are 0 to {ranks - 1}")
    schedule = about.get("schedule") or {}
    if not 0 <= schedule.get("rank", 0) < ranks or not -1 <= schedule.get("message", -1) < messages:
        raise TraceError("the choice that is told to decide is not in the trace")


def _check(told: Any, shape: Any, where: str) -> None:
    if isinstance(shape, Mapping):
        if not isinstance(told, dict):
            raise TraceError(f"{where} is a {type(told).__name__}, not a table")
        for name, inner in shape.items():
            key, needed = name.rstrip("?"), not name.endswith("?")
            if name == "*":
                for each in told.values():
                    _check(each, inner, where)
            elif told.get(key) is not None:
                _check(told[key], inner, f"{key} in {where}")
            elif needed:
                raise TraceError(f"{where} lacks {key}")
    elif isinstance(shape, list):
        if not isinstance(told, list):
            raise TraceError(f"{where} is a {type(told).__name__}, not a list")
        for each in told:
            _check(each, shape[0], where)
    elif not _is(told, shape):
        raise TraceError(f"{where} is {str(told)[:40]!r}, not {_KINDS[shape]}")


def _is(told: Any, kind: type) -> bool:
    """A time may be a whole number, a truth is none; one that was counted may be a truth."""
    if kind is float:
        return isinstance(told, (int, float)) and not isinstance(told, bool) and 0 <= told <= 1e100
    return isinstance(told, kind) and not (isinstance(told, int) and abs(told) >= 2**53)
