"""Values between the process that judges and the one that runs a student's program, as JSON: reading it runs no code.

What has no form here travels as its text, and equals nothing.
"""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

MOST_TEXT = 200
"""Characters of what has no form."""


class Odd:
    """Something that a program has returned and that nobody expects: all that is known is how it was printed."""

    __slots__ = ("text",)
    __hash__ = object.__hash__

    def __init__(self, text: str) -> None:
        self.text = text

    def __eq__(self, other: object) -> bool:
        return False

    def __repr__(self) -> str:
        return self.text


def encode(value: Any) -> Any:
    """A value as JSON holds it; lists stay lists, and all that JSON has no word for is a record with its kind."""
    try:
        return _encode(value)
    except RecursionError:
        return {"kind": "odd", "text": f"a {type(value).__name__} that contains itself"}


def _encode(value: Any) -> Any:
    if value is None or type(value) in (bool, int, float, str):
        return value
    if type(value) is list:
        return [_encode(one) for one in value]
    if type(value) in (tuple, set, frozenset):
        return {"kind": "tuple" if type(value) is tuple else "set", "items": [_encode(one) for one in value]}
    if isinstance(value, dict):
        return {"kind": "dict", "items": [[_encode(key), _encode(one)] for key, one in value.items()]}
    if isinstance(value, bytes | bytearray):
        return {"kind": "bytes", "data": b64encode(value).decode()}
    if isinstance(value, Fraction):
        return {"kind": "fraction", "items": [value.numerator, value.denominator]}
    if isinstance(value, np.generic) and value.dtype.kind in "biufS":
        return _encode(value.item())
    if isinstance(value, np.ndarray) and value.dtype.kind in "biufc":
        data = b64encode(value.tobytes()).decode()
        return {"kind": "array", "type": value.dtype.str, "shape": list(value.shape), "data": data}
    return {"kind": "odd", "text": f"{type(value).__name__} {_text(value)}"[:MOST_TEXT]}


def _text(value: Any) -> str:
    try:
        return repr(value)
    except Exception:
        return "that cannot say what it is"


def decode(value: Any) -> Any:
    """The value again. What is no such record raises ValueError, TypeError or KeyError."""
    if isinstance(value, list):
        return [decode(one) for one in value]
    if not isinstance(value, dict):
        return value
    kind = value["kind"]
    if kind in ("tuple", "set"):
        items = [decode(one) for one in value["items"]]
        return tuple(items) if kind == "tuple" else set(items)
    if kind == "dict":
        return {decode(key): decode(one) for key, one in value["items"]}
    if kind == "bytes":
        return b64decode(value["data"])
    if kind == "fraction":
        return Fraction(*value["items"])
    if kind == "array":
        flat = np.frombuffer(b64decode(value["data"]), np.dtype(str(value["type"])))
        return flat.reshape(value["shape"]).copy()
    return Odd(str(value["text"]))


def same(one: Any, other: Any) -> bool:
    """Whether two values are equal, item by item; a list is as good as a tuple or an array of the same items."""
    if isinstance(one, np.ndarray) or isinstance(other, np.ndarray):
        try:
            return bool(np.array_equal(np.asarray(one), np.asarray(other)))
        except (ValueError, TypeError):
            return False
    if _is_row(one) and _is_row(other):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    return bool(one == other)


def _is_row(value: Any) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str | bytes)


def in_words(value: Any, most: int = 60) -> str:
    """A value as a sentence has it: short, and arrays as lists."""
    text = repr(_plain(value))
    return text if len(text) <= most else f"{text[: most - 1]}…"


def _plain(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return value.tolist()
    return type(value)(map(_plain, value)) if isinstance(value, list | tuple) else value
