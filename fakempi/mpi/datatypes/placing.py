"""Layouts of derived types, from the layouts of the types that these are made of.

A layout is immutable and follows from its arguments alone, and programs make the same few types again and again, on every
rank. So the latest are kept, unless they are large: a struct of three is found in 2 us, and worked out in 17.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache, wraps
from typing import Any, Concatenate, ParamSpec

import numpy as np

from fakempi.mpi.base import constants as c
from fakempi.mpi.datatypes import typemap
from fakempi.mpi.datatypes.layout import Layout
from fakempi.mpi.datatypes.typemap import FEW

KEPT = 1024
Rest = ParamSpec("Rest")
# Along one axis: (first index, how many blocks, from block to block, indices in a block).
Stretch = tuple[int, int, int, int]


def _kept(make: Callable[Concatenate[Layout, Rest], Layout]) -> Callable[Concatenate[Layout, Rest], Layout]:
    """A function that keeps the latest layouts it has made of light ones."""
    find: Any = lru_cache(KEPT)(make)

    @wraps(make)
    def kept(old: Layout, /, *args: Rest.args, **kwargs: Rest.kwargs) -> Layout:
        found: Layout = (find if old.light else make)(old, *args, **kwargs)
        return found

    return kept


@_kept
def bounded(old: Layout, lb: int, extent: int) -> Layout:
    """The same bytes with other bounds."""
    return Layout(old.pieces, old.size, lb, extent)


@_kept
def rows(old: Layout, times: int, length: int, step: int) -> Layout:
    """`times` blocks of `length` elements, `step` bytes apart."""
    block = length * old.size
    row = typemap.repeat(old.pieces, old.size, length, old.extent)
    made = typemap.repeat(row, block, times, step)
    lb = extent = 0
    if times and length:
        low, high = _block_bounds(old, length, 0)
        far = (times - 1) * step
        lb = low + min(0, far)
        extent = high + max(0, far) - lb
    return Layout(made, times * block, lb, extent)


@_kept
def array(old: Layout, sizes: tuple[int, ...], chosen: tuple[tuple[Stretch, ...], ...], order: int) -> Layout:
    """What is chosen of every axis of an array, as large as the whole array."""
    axes = range(len(sizes))
    made, size, stride = old.pieces, old.size, old.extent
    for axis in reversed(axes) if order == c.ORDER_C else axes:
        parts = []
        for first, times, step, length in chosen[axis]:
            row = typemap.repeat(made, size, length, stride)
            block = typemap.repeat(row, size * length, times, step * stride)
            parts.append((first * stride, block, size * length * times))
        made, size = typemap.concatenate(parts), sum(part[2] for part in parts)
        stride *= sizes[axis]
    return Layout(made if size else (), size, 0, stride)


def blocks(old: Layout, lengths: Sequence[int], where: Sequence[int], unit: int) -> Layout:
    """A block of `lengths[i]` elements at `where[i]`, which is counted in units of so many bytes."""
    few = len(lengths) <= FEW
    return _few_blocks(old, tuple(lengths), tuple(where), unit) if few else _blocks(old, lengths, where, unit)


def _blocks(old: Layout, lengths: Sequence[int], where: Sequence[int], unit: int) -> Layout:
    counts, starts = np.array(lengths, np.int64), np.array(where, np.int64) * unit
    made = typemap.blocks(old.pieces, old.size, old.extent, counts, starts)
    kept, lb, extent = counts > 0, 0, 0
    if kept.any():
        far = (counts - 1) * old.extent
        lb = int((starts + np.minimum(far, 0))[kept].min()) + old.lb
        extent = int((starts + np.maximum(far, 0))[kept].max()) + old.lb + old.extent - lb
    return Layout(made, int(counts.sum()) * old.size, lb, extent)


_few_blocks = _kept(_blocks)


def members(olds: Sequence[Layout], lengths: Sequence[int], where: Sequence[int], align: int) -> Layout:
    """A block of `lengths[i]` elements of `olds[i]` at byte `where[i]`; the extent is rounded up to the alignment."""
    light = len(olds) <= FEW and all([old.light for old in olds])
    return (_few_members if light else _members)(tuple(olds), tuple(lengths), tuple(where), align)


def _members(olds: tuple[Layout, ...], lengths: tuple[int, ...], where: tuple[int, ...], align: int) -> Layout:
    rows = [(old, n, at) for old, n, at in zip(olds, lengths, where, strict=True) if n]
    made = typemap.concatenate(
        [(at, typemap.repeat(old.pieces, old.size, n, old.extent), n * old.size) for old, n, at in rows]
    )
    bounds = [_block_bounds(*row) for row in rows] or [(0, 0)]
    lb, ub = min([low for low, _ in bounds]), max([high for _, high in bounds])
    extent = -(-(ub - lb) // align) * align
    return Layout(made, sum([n * old.size for old, n, _ in rows]), lb, extent)


_few_members = lru_cache(KEPT)(_members)


def _block_bounds(old: Layout, length: int, at: int) -> tuple[int, int]:
    """lb and ub of a block of elements."""
    far = (length - 1) * old.extent
    return at + old.lb + min(0, far), at + old.lb + old.extent + max(0, far)
