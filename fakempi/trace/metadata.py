"""Check the metadata of a trace (`Columns.about`) against a schema.

A file may have any contents, and views rely on this schema.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fakempi.errors import TraceError

_WANT = {"words": str, "awaits": [int]}
_STUCK = {"rank": int, "call": str, "site": str, "since": float, "polls": bool, "wants": [_WANT]}
_ENDED = {
    "kind": str, "text": str, "headline": str, "time?": float, "cycle?": [int], "stuck?": [_STUCK],
    "misses?": [{"rank": int, "sender": int, "tag": int, "but": str}],
}  # fmt: skip
_SCHEDULE = {
    "token": str, "fails": bool, "why?": str,  # and the choice that decided the outcome, if there is one:
    "time?": float, "rank?": int, "words?": str, "message?": int,
}  # fmt: skip
SCHEMA = {
    "command?": str, "cost?": str, "date?": str, "versions?": {"*": str},
    "findings?": [{"text": str, "ranks": [int], "note": bool, "suppressed?": str}], "ended?": _ENDED, "schedule?": _SCHEDULE,
    "died?": [{"rank": int, "time": float}],
    "levels?": [{"name": str, "parts": [[int]]}],  # outermost first; pairs of a part and a count of ranks
}  # fmt: skip
"""Names with a question mark are optional; a star is any name. Other names are ignored."""

_KINDS = {int: "an integer", float: "a number", str: "a text", bool: "true or false"}


def check_about(about: Any, ranks: int, messages: int) -> None:
    """Raise TraceError if the metadata does not follow the schema, or refers to missing ranks or messages."""
    _check(about, SCHEMA, "the metadata")
    for record in (about.get("ended") or {}).get("stuck", ()):
        if not 0 <= record["rank"] < ranks:
            raise TraceError(f"blocked rank {record['rank']} does not exist: the ranks are 0 to {ranks - 1}")
    for record in about.get("died", ()):
        if not 0 <= record["rank"] < ranks:
            raise TraceError(f"rank {record['rank']}, which died, does not exist: the ranks are 0 to {ranks - 1}")
    for level in about.get("levels", []):
        pairs = level["parts"]
        if not all(len(pair) == 2 and min(pair) >= 0 for pair in pairs) or sum(pair[1] for pair in pairs) != ranks:
            raise TraceError(
                f"level {level['name']}: the parts are not pairs of a number and a count of ranks with a sum of {ranks}"
            )
    schedule = about.get("schedule") or {}
    if not 0 <= schedule.get("rank", 0) < ranks or not -1 <= schedule.get("message", -1) < messages:
        raise TraceError("the deciding choice of the schedule refers to a missing rank or message")


def _check(value: Any, schema: Any, where: str) -> None:
    if isinstance(schema, Mapping):
        if not isinstance(value, dict):
            raise TraceError(f"{where} is {_kind(value)}, not a table")
        for name, inner in schema.items():
            key, needed = name.rstrip("?"), not name.endswith("?")
            if name == "*":
                for item in value.values():
                    _check(item, inner, where)
            elif key in value:
                _check(value[key], inner, f"{key} in {where}")
            elif needed:
                raise TraceError(f"{where} has no {key}")
    elif isinstance(schema, list):
        if not isinstance(value, list):
            raise TraceError(f"{where} is {_kind(value)}, not a list")
        for item in value:
            _check(item, schema[0], where)
    elif not _has_type(value, schema):
        text = "null" if value is None else repr(str(value)[:40])
        raise TraceError(f"{where} is {text}, not {_KINDS[schema]}")


def _kind(value: Any) -> str:
    """Return the type of a value for a message; None is JSON's null."""
    return "null" if value is None else f"a {type(value).__name__}"


def _has_type(value: Any, kind: type) -> bool:
    """Return whether a value has a type. Floats accept ints; neither accepts bools, which would be masks as indices."""
    if kind is bool or isinstance(value, bool):
        return isinstance(value, kind) and kind is not int
    if kind is float:
        return isinstance(value, (int, float)) and 0 <= value <= 1e100
    return isinstance(value, kind) and not (isinstance(value, int) and abs(value) >= 2**53)
