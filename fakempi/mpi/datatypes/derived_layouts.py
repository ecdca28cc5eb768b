"""Layouts of derived types, computed from the layouts of their components.

A layout is immutable and depends only on its arguments, and programs create the same few types repeatedly, on every rank. So
recent layouts are cached, unless they are large: a cached struct of three members takes 2 us, a new one 17 us.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache, wraps
from typing import Any, Concatenate, ParamSpec

import numpy as np

from fakempi.mpi.base import constants as c
from fakempi.mpi.datatypes import typemap
from fakempi.mpi.datatypes.layout import TypeLayout
from fakempi.mpi.datatypes.typemap import MAX_SEPARATE_PIECES

CACHE_SIZE = 1024
Rest = ParamSpec("Rest")
# Along one axis: (first index, number of blocks, stride of blocks, indices in a block).
AxisBlocks = tuple[int, int, int, int]


def _cached(
    make: Callable[Concatenate[TypeLayout, Rest], TypeLayout],
) -> Callable[Concatenate[TypeLayout, Rest], TypeLayout]:
    """Return a function that caches its recent results for small layouts."""
    find: Any = lru_cache(CACHE_SIZE)(make)

    @wraps(make)
    def cached(old: TypeLayout, /, *args: Rest.args, **kwargs: Rest.kwargs) -> TypeLayout:
        layout: TypeLayout = (find if old.cacheable else make)(old, *args, **kwargs)
        return layout

    return cached


@_cached
def bounded(old: TypeLayout, lb: int, extent: int) -> TypeLayout:
    """The same bytes with other bounds."""
    return TypeLayout(old.pieces, old.size, lb, extent)


@_cached
def rows(old: TypeLayout, times: int, length: int, step: int) -> TypeLayout:
    """`times` blocks of `length` elements, `step` bytes apart."""
    block = length * old.size
    row = typemap.repeat(old.pieces, old.size, length, old.extent)
    pieces = typemap.repeat(row, block, times, step)
    lb = extent = 0
    if times and length:
        low, high = _block_bounds(old, length, 0)
        far = (times - 1) * step
        lb = low + min(0, far)
        extent = high + max(0, far) - lb
    return TypeLayout(pieces, times * block, lb, extent)


@_cached
def array(old: TypeLayout, sizes: tuple[int, ...], chosen: tuple[tuple[AxisBlocks, ...], ...], order: int) -> TypeLayout:
    """Return the layout of the chosen indices of every axis, with the extent of the whole array."""
    axes = range(len(sizes))
    pieces, size, stride = old.pieces, old.size, old.extent
    for axis in reversed(axes) if order == c.ORDER_C else axes:
        parts = []
        for first, times, step, length in chosen[axis]:
            row = typemap.repeat(pieces, size, length, stride)
            block = typemap.repeat(row, size * length, times, step * stride)
            parts.append((first * stride, block, size * length * times))
        pieces, size = typemap.concatenate(parts), sum(part[2] for part in parts)
        stride *= sizes[axis]
    return TypeLayout(pieces if size else (), size, 0, stride)


def blocks(old: TypeLayout, lengths: Sequence[int], where: Sequence[int], unit: int) -> TypeLayout:
    """A block of `lengths[i]` elements at `where[i]`, in units of `unit` bytes."""
    few = len(lengths) <= MAX_SEPARATE_PIECES
    return _few_blocks(old, tuple(lengths), tuple(where), unit) if few else _blocks(old, lengths, where, unit)


def _blocks(old: TypeLayout, lengths: Sequence[int], where: Sequence[int], unit: int) -> TypeLayout:
    counts, starts = np.array(lengths, np.int64), np.array(where, np.int64) * unit
    pieces = typemap.blocks(old.pieces, old.size, old.extent, counts, starts)
    nonempty, lb, extent = counts > 0, 0, 0
    if nonempty.any():
        far = (counts - 1) * old.extent
        lb = int((starts + np.minimum(far, 0))[nonempty].min()) + old.lb
        extent = int((starts + np.maximum(far, 0))[nonempty].max()) + old.lb + old.extent - lb
    return TypeLayout(pieces, int(counts.sum()) * old.size, lb, extent)


_few_blocks = _cached(_blocks)


def members(olds: Sequence[TypeLayout], lengths: Sequence[int], where: Sequence[int], align: int) -> TypeLayout:
    """A block of `lengths[i]` elements of `olds[i]` at byte `where[i]`; the extent is rounded up to the alignment."""
    cacheable = len(olds) <= MAX_SEPARATE_PIECES and all([old.cacheable for old in olds])
    return (_few_members if cacheable else _members)(tuple(olds), tuple(lengths), tuple(where), align)


def _members(olds: tuple[TypeLayout, ...], lengths: tuple[int, ...], where: tuple[int, ...], align: int) -> TypeLayout:
    rows = [(old, n, at) for old, n, at in zip(olds, lengths, where, strict=True) if n]
    pieces = typemap.concatenate(
        [(at, typemap.repeat(old.pieces, old.size, n, old.extent), n * old.size) for old, n, at in rows]
    )
    bounds = [_block_bounds(*row) for row in rows] or [(0, 0)]
    lb, ub = min([low for low, _ in bounds]), max([high for _, high in bounds])
    extent = -(-(ub - lb) // align) * align
    return TypeLayout(pieces, sum([n * old.size for old, n, _ in rows]), lb, extent)


_few_members = lru_cache(CACHE_SIZE)(_members)


def _block_bounds(old: TypeLayout, length: int, at: int) -> tuple[int, int]:
    """Return lb and ub of a block of elements."""
    far = (length - 1) * old.extent
    return at + old.lb + min(0, far), at + old.lb + old.extent + max(0, far)
