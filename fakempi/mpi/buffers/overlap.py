"""Memory that is used twice in one call: what is sent and received at once, or received to twice. The data would be wrong.

Payloads are compared byte by byte: a column of a matrix and the one beside it are apart, though they lie between each other.
What two datatypes at some distance do is worked out once.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt
from numpy import ndarray

from fakempi.mpi.base.complain import public_call, site_of
from fakempi.mpi.base.current import current_process
from fakempi.mpi.buffers.raw import address_of
from fakempi.mpi.buffers.span import Span
from fakempi.mpi.datatypes.layout import Layout
from fakempi.mpi.datatypes.typemap import repeat, written_out

Payload = Any
"""An array or a span; whatever else there is has no memory."""

MOST = 1 << 20
"""Runs of bytes beyond which nobody looks."""

Runs = tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]
"""Where each run of bytes starts, and where it ends."""

_NONE: Runs = (np.empty(0, np.int64), np.empty(0, np.int64))


def tell_of_overlap(sentence: str) -> None:
    """The running rank uses some memory twice in the call it is in; in the world of one, too."""
    process = current_process()
    if process is not None:
        call, frame = public_call(sys._getframe(1))
        place = site_of(frame)
        process.universe.found("buffer-overlap", process.number, sentence, call=call, place=place, at_once=True)


def check_places(span: Span) -> None:
    """Tell of a datatype that is received to and has bytes twice."""
    if is_crowded((span,)):
        words = span.datatype._definition.describe()
        tell_of_overlap(f"{span.count} of {words} have bytes in common, so what is received to them overlaps")


def share_bytes(one: Payload, other: Payload) -> bool:
    """Whether two payloads have a byte in common."""
    if type(one) is ndarray and type(other) is ndarray:
        return np.may_share_memory(one, other)  # by their bounds, which is exact where there are no holes
    if not _have_memory(one, other) or not np.may_share_memory(_memory(one), _memory(other)):
        return False
    distance = _address(other) - _address(one)
    return _meet(*_form(one), *_form(other), distance)


def any_share_bytes(ones: Sequence[Payload], others: Sequence[Payload]) -> bool:
    """The same for payloads of which there may be several on either side."""
    if len(ones) == len(others) == 1:
        return share_bytes(ones[0], others[0])
    return _runs_meet(_all_runs(ones), _all_runs(others))


def is_crowded(payloads: Iterable[Payload]) -> bool:
    """Whether two of the payloads, or one of them by itself, have a byte twice."""
    found = [payload for payload in payloads if payload.nbytes]
    if len(found) == 1:
        return type(found[0]) is Span and _crowded(*_form(found[0]))
    return _runs_crowded(_all_runs(found))


def _have_memory(*payloads: Payload) -> bool:
    return all(type(one) in (ndarray, Span) and one.nbytes and type(_memory(one)) is ndarray for one in payloads)


def _memory(payload: Payload) -> Any:
    return payload.memory if type(payload) is Span else payload


def _address(payload: Payload) -> int:
    """Where the first element begins."""
    return address_of(_memory(payload)) + (payload.offset if type(payload) is Span else 0)


def _form(payload: Payload) -> tuple[Layout | int, int]:
    """What the runs of bytes hang on: a layout and how many elements; or bytes in a row."""
    return (payload.datatype._definition.layout, payload.count) if type(payload) is Span else (payload.nbytes, 1)


@lru_cache(256)
def _runs(form: Layout | int, count: int) -> Runs:
    """The runs of bytes of a form, from its beginning on; none where there are too many."""
    if isinstance(form, int):
        return np.array([0], np.int64), np.array([form], np.int64)
    pieces = form.pieces
    if sum(piece.runs() for piece in pieces) * count > MOST:
        return _NONE
    starts, lengths = written_out(repeat(pieces, form.size, count, form.extent)) if form.size and count else _NONE
    return starts, starts + lengths


@lru_cache(1024)
def _meet(one: Layout | int, times: int, other: Layout | int, other_times: int, distance: int) -> bool:
    (starts, ends) = _runs(other, other_times)
    return _runs_meet(_runs(one, times), (starts + distance, ends + distance))


@lru_cache(256)
def _crowded(form: Layout | int, count: int) -> bool:
    return _runs_crowded(_runs(form, count))


def _all_runs(payloads: Iterable[Payload]) -> Runs:
    """The runs of bytes of all payloads that have memory, by address."""
    found = []
    for one in payloads:
        if _have_memory(one):
            starts, ends = _runs(*_form(one))
            at = _address(one)
            found.append((starts + at, ends + at))
    return (np.concatenate([one[0] for one in found]), np.concatenate([one[1] for one in found])) if found else _NONE


def _runs_meet(one: Runs, other: Runs) -> bool:
    """Whether any run of the one has bytes of a run of the other."""
    if not len(one[0]) or not len(other[0]):
        return False
    order = np.argsort(one[0], kind="stable")
    starts, ends = one[0][order], np.maximum.accumulate(one[1][order])
    before = np.searchsorted(starts, other[1], "left")  # so many runs start before it ends
    return bool(((before > 0) & (ends[np.maximum(before - 1, 0)] > other[0])).any())


def _runs_crowded(runs: Runs) -> bool:
    """Whether two of the runs have a byte in common."""
    order = np.argsort(runs[0], kind="stable")
    starts, ends = runs[0][order], np.maximum.accumulate(runs[1][order])
    return bool((starts[1:] < ends[:-1]).any())
