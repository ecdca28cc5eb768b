"""Return values as JSON, from the worker that runs a student's program to the grading process.

Decoding JSON runs no code of the student, unlike unpickling. A value of a type that is not supported is sent as a text,
its repr. It is decoded as an `Unencodable`, which is not equal to any value.
"""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

MAX_TEXT = 200
"""Maximum number of characters of the text of a value that is not supported."""


class Unencodable:
    """A value that could not be encoded; only its text is known."""

    __slots__ = ("text",)
    __hash__ = object.__hash__

    def __init__(self, text: str) -> None:
        self.text = text

    def __eq__(self, other: object) -> bool:
        return False

    def __repr__(self) -> str:
        return self.text


def encode(value: Any) -> Any:
    """Return a value as JSON; a value of a type that JSON lacks becomes an object with a `kind`."""
    try:
        return _encode(value)
    except RecursionError:
        return {"kind": "odd", "text": f"a {type(value).__name__} that contains itself"}


def _encode(value: Any) -> Any:
    if value is None or type(value) in (bool, int, float, str):
        return value
    if type(value) is list:
        return [_encode(item) for item in value]
    if type(value) in (tuple, set, frozenset):
        return {"kind": "tuple" if type(value) is tuple else "set", "items": [_encode(item) for item in value]}
    if isinstance(value, dict):
        return {"kind": "dict", "items": [[_encode(key), _encode(item)] for key, item in value.items()]}
    if isinstance(value, bytes | bytearray):
        return {"kind": "bytes", "data": b64encode(value).decode()}
    if isinstance(value, Fraction):
        return {"kind": "fraction", "items": [value.numerator, value.denominator]}
    if isinstance(value, np.generic) and value.dtype.kind in "biufS":
        return _encode(value.item())
    if isinstance(value, np.ndarray) and value.dtype.kind in "biufc":
        data = b64encode(value.tobytes()).decode()
        return {"kind": "array", "type": value.dtype.str, "shape": list(value.shape), "data": data}
    return {"kind": "odd", "text": f"{type(value).__name__} {_text(value)}"[:MAX_TEXT]}


def _text(value: Any) -> str:
    try:
        return repr(value)
    except Exception:
        return "whose repr() fails"


def decode(value: Any) -> Any:
    """Return the value that `encode` has encoded; raise ValueError, TypeError or KeyError if the JSON is invalid."""
    if isinstance(value, list):
        return [decode(item) for item in value]
    if not isinstance(value, dict):
        return value
    kind = value["kind"]
    if kind in ("tuple", "set"):
        items = [decode(item) for item in value["items"]]
        return tuple(items) if kind == "tuple" else set(items)
    if kind == "dict":
        return {decode(key): decode(item) for key, item in value["items"]}
    if kind == "bytes":
        return b64decode(value["data"])
    if kind == "fraction":
        return Fraction(*value["items"])
    if kind == "array":
        flat = np.frombuffer(b64decode(value["data"]), np.dtype(str(value["type"])))
        return flat.reshape(value["shape"]).copy()
    return Unencodable(str(value["text"]))


def same(value: Any, other: Any) -> bool:
    """Whether two values are equal, item by item; a list equals a tuple or an array of the same items."""
    if isinstance(value, np.ndarray) or isinstance(other, np.ndarray):
        try:
            return bool(np.array_equal(np.asarray(value), np.asarray(other)))
        except (ValueError, TypeError):
            return False
    if _is_sequence(value) and _is_sequence(other):
        return len(value) == len(other) and all(map(same, value, other))
    if isinstance(value, dict) and isinstance(other, dict):
        return value.keys() == other.keys() and all(same(value[key], other[key]) for key in value)
    return bool(value == other)


def _is_sequence(value: Any) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str | bytes)


def short_text(value: Any, max_length: int = 60) -> str:
    """Return the repr of a value, cut to `max_length` characters, with arrays as lists."""
    text = repr(_with_lists(value))
    return text if len(text) <= max_length else f"{text[: max_length - 1]}…"


def _with_lists(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return value.tolist()
    return type(value)(map(_with_lists, value)) if isinstance(value, list | tuple) else value
