"""Colours and keys of a split: data of any kind, what ranks must have alike, and how an algorithm for splits is handed them.

Numbers, strings, bytes and tuples of these are taken as they are. Anything else crosses from rank to rank as a pickle, as
it would between processes, and is compared where it arrives: a class of a script is another one on every rank.
"""

from __future__ import annotations

import pickle
import struct
from collections.abc import Callable
from enum import Enum
from itertools import combinations
from operator import index
from reprlib import repr as shown
from typing import Any, Final, NamedTuple, NoReturn

import numpy as np

from fakempi.error_classes import ERR_ARG, ERR_NOT_SAME
from fakempi.errors import MPITypeError, MPIValueError
from fakempi.mpi.base.complain import call_site, complaint
from fakempi.mpi.base.meeting import Meeting

PLAIN: Final = (int, float, str, bytes, type(None))


class Pickled(NamedTuple):
    """A value of a type that is none of ours."""

    data: bytes


class Form(Enum):
    """How an algorithm is handed colours, or keys: by their type, which all ranks must have alike."""

    WHOLE = "a whole number"
    FLOAT = "a float"
    TEXT = "a string"
    BYTES = "bytes"
    TUPLE = "a tuple"
    OTHER = "an object"


_FORMS: Final = {int: Form.WHOLE, float: Form.FLOAT, str: Form.TEXT, bytes: Form.BYTES, tuple: Form.TUPLE}


class Forms(NamedTuple):
    """Of colours and of keys, the same on all ranks."""

    color: Form = Form.WHOLE
    key: Form = Form.WHOLE

    @property
    def whole(self) -> bool:
        """Whether both are handed over as numbers of 8 bytes."""
        return {self.color, self.key} <= {Form.WHOLE, Form.FLOAT}

    @property
    def compare(self) -> tuple[Callable[[Any, Any], int] | None, Callable[[Any, Any], int] | None]:
        """The functions that compare colours and keys, where they are not numbers, strings or bytes."""
        by_order = self.key in (Form.TUPLE, Form.OTHER)
        return _compare_colours if self.color is Form.OTHER else None, _compare_keys if by_order else None


def plain(what: str, value: Any) -> Any:
    """A colour or a key (`what`) as a plain value, or pickled; refuse what equals nothing or cannot travel."""
    if type(value) in (int, str, bytes):
        return value
    value = _plain(value)
    if _has_nan(value):
        words = f"{what} {shown(value)} is not a number: it equals nothing and has no order."
        raise complaint(ERR_ARG, words, MPIValueError)
    if value is None and what == "key":
        raise complaint(ERR_ARG, "key None has no order.", MPITypeError)
    if _is_plain(value):
        return value
    try:
        if what == "colour":
            hash(value)
        return Pickled(pickle.dumps(value))
    except Exception as error:  # whatever the type's own methods raise
        words = f"{what} {shown(value)} of type {type(value).__name__} cannot be one: {error}."
        raise complaint(ERR_ARG, words, MPITypeError) from None


def loaded(value: Any) -> Any:
    """What was given, as the running rank sees it."""
    return pickle.loads(value.data) if isinstance(value, Pickled) else value


def check_alike(meeting: Meeting, color: Any, key: Any, *, asked: bool) -> None:
    """Complain if this cannot be compared with what the first one brought, or, for an algorithm, has another form."""
    if color is None:  # it is left out, and its key is no key
        return
    for what, mine in (("colour", color), ("key", key)):
        if what not in meeting.said:
            meeting.say(what, mine)
            continue
        first, site, name = meeting.said[what]
        if type(mine) is type(first) and type(mine) in PLAIN:
            continue
        own, other, form = loaded(mine), loaded(first), form_of(mine)
        comparable = _comparable(what, own, other)
        if comparable and (form is form_of(first) or not asked):
            continue
        here, there = f"{what} {shown(own)} here ({call_site()})", f"{what} {shown(other)} on {name} ({site})"
        words = f"{here} cannot be compared with {there}."
        if comparable:
            words = f"{here} is {form.value}, but {there} is {form_of(first).value}: an algorithm for splits takes one type."
        raise complaint(ERR_NOT_SAME, words, MPITypeError)


def forms_said(meeting: Meeting) -> Forms:
    """The forms of what the first one with a colour has brought; if nobody has a colour, any will do."""
    if not meeting.said:
        return Forms()
    return Forms(form_of(meeting.said["colour"][0]), form_of(meeting.said["key"][0]))


def form_of(value: Any) -> Form:
    """How an algorithm is handed a plain value."""
    return _FORMS.get(type(value), Form.OTHER)


def written_colour(color: Any) -> Any:
    """A colour for an algorithm: alike for those that are, in any order."""
    if isinstance(color, float):
        number: int = struct.unpack("<q", struct.pack("<d", color + 0.0))[0]  # -0.0 is 0.0; never MPI.UNDEFINED, a NaN
        return number
    if isinstance(color, tuple) and not isinstance(color, Pickled):
        return repr(_even(color)).encode()
    return _written("colour", color)


def written_key(key: Any) -> Any:
    """A key for an algorithm, in the same order."""
    if isinstance(key, float):
        number: int = struct.unpack("<q", struct.pack("<d", key + 0.0))[0]
        return number if number >= 0 else number ^ (1 << 63) - 1  # the larger the bits of a negative one, the smaller it is
    return _written("key", key)


def by_colour(values: dict[int, tuple[Any, Any]]) -> dict[Any, list[int]]:
    """Of {rank: (colour, key)}, the ranks of each colour (None left out) by key and then by rank."""
    groups: dict[Any, list[tuple[Any, int]]] = {}
    for rank in sorted(values):
        color, key = values[rank]
        if color is not None:
            groups.setdefault(loaded(color), []).append((loaded(key), rank))
    for group in groups.values():
        try:
            group.sort(key=lambda one: one[0])
        except TypeError:
            raise _unordered(group) from None
    return {color: [rank for _, rank in group] for color, group in groups.items()}


def _unordered(group: list[tuple[Any, int]]) -> MPITypeError:
    for (one, rank), (other, other_rank) in combinations(group, 2):
        if not _comparable("key", one, other):
            words = f"key {shown(one)} of rank {rank} cannot be compared with key {shown(other)} of rank {other_rank}"
            return MPITypeError(ERR_NOT_SAME, f"Split: {words}.")
    return MPITypeError(ERR_NOT_SAME, "Split: the keys have no order.")


def _plain(value: Any) -> Any:
    if isinstance(value, np.generic):
        value = value.item()
    if type(value) is tuple:
        return tuple(_plain(each) for each in value)
    if type(value) in PLAIN:
        return value
    try:
        return index(value)
    except TypeError:
        return value


def _is_plain(value: Any) -> bool:
    return all(map(_is_plain, value)) if type(value) is tuple else type(value) in PLAIN


def _has_nan(value: Any) -> bool:
    if type(value) is tuple:
        return any(map(_has_nan, value))
    try:
        return bool(value != value)
    except (TypeError, ValueError):  # an array's is an array
        return False


def _even(value: Any) -> Any:
    """With numbers that are equal written alike."""
    if isinstance(value, tuple):
        return tuple(map(_even, value))
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _written(what: str, value: Any) -> Any:
    if isinstance(value, int) and not -1 << 63 <= value < 1 << 63:
        words = f"{what} {shown(value)} does not fit in the 64 bits that an algorithm for splits has for whole numbers."
        raise complaint(ERR_ARG, words, MPIValueError)
    return loaded(value)


def _comparable(what: str, one: Any, other: Any) -> bool:
    """Whether there is an order; of two colours of one type nobody asks for one."""
    if what == "colour" and type(one) is type(other):
        return True
    try:
        return bool(one < other) or True
    except (TypeError, ValueError):
        return False


def _compare_colours(one: Any, other: Any) -> int:
    return 0 if one == other else _ordered(one, other, "colours") or _no_order("colours", one, other)


def _compare_keys(one: Any, other: Any) -> int:
    return _ordered(one, other, "keys")


def _ordered(one: Any, other: Any, what: str) -> int:
    try:
        return -1 if one < other else int(other < one)
    except TypeError:
        _no_order(what, one, other)


def _no_order(what: str, one: Any, other: Any) -> NoReturn:
    words = f"the {what} {shown(one)} and {shown(other)} have no order, which an algorithm for splits needs."
    raise complaint(ERR_ARG, words, MPITypeError) from None
