"""Memory that one call uses twice: sent and received at once, or received into twice. The data would be wrong.

Payloads are compared byte by byte: two adjacent columns of a matrix do not overlap, although their bounds do. The result for
two datatypes at a given distance is cached.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import TypeGuard

import numpy as np
import numpy.typing as npt
from numpy import ndarray

from fakempi.mpi.base.call_site import call_and_place
from fakempi.mpi.base.current import current_process
from fakempi.mpi.buffers.raw import Memory, address_of
from fakempi.mpi.buffers.span import Payload, Span
from fakempi.mpi.datatypes.layout import TypeLayout
from fakempi.mpi.datatypes.typemap import all_runs, repeat
from fakempi.mpi.interfaces.arrays import Array

MAX_RUNS = 1 << 20
"""Payloads with more runs of bytes are not compared."""

Runs = tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]
"""Contiguous runs of bytes: where each starts, and where it ends."""

_NO_RUNS: Runs = (np.empty(0, np.int64), np.empty(0, np.int64))


def report_overlap(sentence: str) -> None:
    """Report that the running rank uses some memory twice in its current call; also in a singleton."""
    process = current_process()
    if process is not None:
        call, place = call_and_place()
        process.universe.report("buffer-overlap", process.number, sentence, call=call, place=place, wrong_data=True)


def check_self_overlap(span: Span) -> None:
    """Report elements to receive into that overlap each other."""
    if have_overlap((span,)):
        datatype = span.datatype._definition.describe()
        report_overlap(f"count {span.count} of {datatype} overlaps itself, so some bytes are received twice")


def share_bytes(one: Payload, other: Payload) -> bool:
    """Whether two payloads have a byte in common."""
    if type(one) is ndarray and type(other) is ndarray:
        return np.may_share_memory(one, other)  # compares bounds, which is exact without holes
    if not _has_memory(one) or not _has_memory(other) or not np.may_share_memory(_memory(one), _memory(other)):
        return False
    distance = _address(other) - _address(one)
    return _layouts_overlap(*_layout(one), *_layout(other), distance)


def any_share_bytes(ones: Sequence[Payload], others: Sequence[Payload]) -> bool:
    """Whether a payload of the first list has a byte in common with a payload of the second."""
    if len(ones) == len(others) == 1:
        return share_bytes(ones[0], others[0])
    return _runs_overlap(_all_runs(ones), _all_runs(others))


def have_overlap(payloads: Iterable[Payload]) -> bool:
    """Whether two of the payloads have a byte in common, or two elements of one of them."""
    nonempty = [payload for payload in payloads if payload.nbytes]
    if len(nonempty) == 1:
        only = nonempty[0]
        return type(only) is Span and _overlaps_itself(*_layout(only))
    return _runs_overlap_themselves(_all_runs(nonempty))


def _has_memory(payload: Payload) -> TypeGuard[Array | Span]:
    return type(payload) in (ndarray, Span) and bool(payload.nbytes) and type(_memory(payload)) is ndarray


def _memory(payload: Payload) -> Array | Memory:
    return payload.memory if type(payload) is Span else payload


def _address(payload: Array | Span) -> int:
    """The address of the first element."""
    return address_of(_memory(payload)) + (payload.offset if type(payload) is Span else 0)  # type: ignore[arg-type]  # phantoms are not compared


def _layout(payload: Array | Span) -> tuple[TypeLayout | int, int]:
    """A layout and a number of elements, or a number of contiguous bytes and 1: the key of the caches."""
    return (payload.datatype._definition.layout, payload.count) if type(payload) is Span else (payload.nbytes, 1)


@lru_cache(256)
def _runs(layout: TypeLayout | int, count: int) -> Runs:
    """The runs of bytes of elements, relative to the first element; none if there are too many."""
    if isinstance(layout, int):
        return np.array([0], np.int64), np.array([layout], np.int64)
    pieces = layout.pieces
    if sum(piece.runs() for piece in pieces) * count > MAX_RUNS:
        return _NO_RUNS
    starts, lengths = all_runs(repeat(pieces, layout.size, count, layout.extent)) if layout.size and count else _NO_RUNS
    return starts, starts + lengths


@lru_cache(1024)
def _layouts_overlap(one: TypeLayout | int, count: int, other: TypeLayout | int, other_count: int, distance: int) -> bool:
    starts, ends = _runs(other, other_count)
    return _runs_overlap(_runs(one, count), (starts + distance, ends + distance))


@lru_cache(256)
def _overlaps_itself(layout: TypeLayout | int, count: int) -> bool:
    return _runs_overlap_themselves(_runs(layout, count))


def _all_runs(payloads: Iterable[Payload]) -> Runs:
    """The runs of bytes of all payloads that have memory, by address."""
    runs = []
    for payload in payloads:
        if _has_memory(payload):
            starts, ends = _runs(*_layout(payload))
            address = _address(payload)
            runs.append((starts + address, ends + address))
    return (np.concatenate([pair[0] for pair in runs]), np.concatenate([pair[1] for pair in runs])) if runs else _NO_RUNS


def _runs_overlap(one: Runs, other: Runs) -> bool:
    """Whether a run of one side has a byte in common with a run of the other side."""
    if not len(one[0]) or not len(other[0]):
        return False
    order = np.argsort(one[0], kind="stable")
    starts, ends = one[0][order], np.maximum.accumulate(one[1][order])
    before = np.searchsorted(starts, other[1], "left")  # the number of runs that start before the other run ends
    return bool(((before > 0) & (ends[np.maximum(before - 1, 0)] > other[0])).any())


def _runs_overlap_themselves(runs: Runs) -> bool:
    """Whether two of the runs have a byte in common."""
    order = np.argsort(runs[0], kind="stable")
    starts, ends = runs[0][order], np.maximum.accumulate(runs[1][order])
    return bool((starts[1:] < ends[:-1]).any())
