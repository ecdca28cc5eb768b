"""Repeated calls with a root: the root and all other ranks share one recipe, so that their arguments need no comparison.

The key consists of facts that are equal on all ranks: the size and type of a block, and the root. Each call checks that the
root's larger buffer consists of blocks of that type, one per rank.
"""

from __future__ import annotations

from types import FrameType
from typing import Any

from numpy import ndarray

from fakempi.mpi.buffers.address_constants import IN_PLACE
from fakempi.mpi.buffers.phantom import Phantom
from fakempi.mpi.buffers.raw import flat
from fakempi.mpi.buffers.typing import AnySpec
from fakempi.mpi.collective.cached_calls import CachedCalls, Key, overlap
from fakempi.mpi.collective.calls import Plan
from fakempi.mpi.operations.op import Op


class CachedRootedCalls(CachedCalls):
    """Calls with a root that reuse the recipe of an earlier call."""

    __slots__ = ()

    def _cached_bcast(self, frame: FrameType, call: str, buf: AnySpec, root: int) -> None:
        key = _key(frame, call, buf, root)
        recipe = self._find_recipe(key)
        if recipe is None:
            self._run_and_store(key, frame, self._plan_bcast(buf, root), buf)
        else:
            self._run_recipe(recipe, _as_bytes(buf))

    def _cached_rooted(self, frame: FrameType, call: str, own: AnySpec, whole: AnySpec, root: int) -> None:
        """Run a gather or a scatter: `own` is the buffer of this rank's block, `whole` the root's buffer of all blocks."""
        is_root = type(root) is int and root == self._rank
        key = _key(frame, call, whole, root, self._n_peers) if is_root else _key(frame, call, own, root)
        recipe = self._find_recipe(key)
        if recipe is None or (is_root and not _is_block(own, whole, self._n_peers)):
            self._run_and_store(key, frame, self._plan_rooted(call, own, whole, root), whole if is_root else own)
        elif recipe.operation == "gather":
            self._run_recipe(recipe, _as_bytes(own), _as_bytes(whole) if is_root else None)
        else:
            self._run_recipe(recipe, _as_bytes(whole) if is_root else None, _as_bytes(own))

    def _cached_reduce_to_root(self, frame: FrameType, sendbuf: Any, recvbuf: Any, op: Op, root: int) -> None:
        is_root = type(root) is int and root == self._rank
        operation = op._operation if type(op) is Op else None
        key = None if operation is None else _key(frame, ("Reduce", id(operation)), recvbuf if is_root else sendbuf, root)
        recipe = self._find_recipe(key)
        if recipe is None or (is_root and not _is_block(sendbuf, recvbuf, 1)):
            plan = self._plan_reduce(sendbuf, recvbuf, op, root)
            self._run_and_store(key, frame, plan, recvbuf if is_root else sendbuf, operation)
        else:
            out = None if sendbuf is IN_PLACE else sendbuf.reshape(-1)
            self._run_recipe(recipe, out, recvbuf.reshape(-1) if is_root else None)

    def _run_and_store(
        self, key: Key | None, frame: FrameType, plan: Plan, buf: AnySpec | None = None, operation: object = None
    ) -> None:
        """Run a plan and store its recipe. The key may contain the addresses of the buffer's dtype and of the operation."""
        if key is not None:
            self._store_recipe(key, frame, (getattr(buf, "dtype", None), operation), plan)
        plan()


def _key(frame: FrameType, call: object, buf: object, root: object, blocks: int = 1) -> Key | None:
    """Return the key of a call with a buffer of `blocks` blocks; None if its arguments are not supported here."""
    if type(buf) is ndarray:
        if not buf.flags.carray:
            return None
        type_key = id(buf.dtype)
    elif type(buf) is Phantom:
        type_key = -buf.itemsize
    else:
        return None
    count, rest = divmod(buf.size, blocks)
    if rest or not count or type(root) is not int:
        return None
    return call, id(frame.f_code), frame.f_lasti, type_key, count, root


def _is_block(own: Any, whole: Any, blocks: int) -> bool:
    """Return whether the root's own block has the type and size of a block of its large buffer and does not overlap it."""
    if own is IN_PLACE:
        return True
    if type(own) is not type(whole) or own.size * blocks != whole.size:
        return False
    if type(own) is Phantom:
        return bool(own.itemsize == whole.itemsize)
    return own.dtype is whole.dtype and own.flags.carray and not overlap(own, whole)


def _as_bytes(buf: Any) -> Any:
    """Return the bytes of a buffer, as algorithms see data that they move; None for IN_PLACE."""
    return flat(buf) if type(buf) is ndarray else None if buf is IN_PLACE else Phantom(buf.nbytes)
