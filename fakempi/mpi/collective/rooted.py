"""Calls with a root, again: the same recipe for the root and for all others, so that nothing need be compared.

Its key is what all of them have: the size and kind of a block, and the root. What the root has besides, it has for all: that
must be so many blocks of that kind, which is looked at each time.
"""

from __future__ import annotations

from types import FrameType
from typing import Any

from numpy import ndarray

from fakempi.mpi.buffers.phantom import Phantom
from fakempi.mpi.buffers.places import IN_PLACE
from fakempi.mpi.buffers.raw import flat
from fakempi.mpi.collective.again import Again, Key, Make, overlap
from fakempi.mpi.collective.calls import Plan
from fakempi.mpi.operations.op import Op


class RootedAgain(Again):
    """Calls with a root that look first whether they have been made before."""

    __slots__ = ()

    def _bcast_again(self, frame: FrameType, call: str, buf: Any, root: int) -> None:
        key = _key(frame, call, buf, root)
        recipe = self._known(key)
        if recipe is None:
            self._for_the_first_time(key, frame, self._plan_bcast(buf, root), buf)
        else:
            self._follow(recipe, _as_bytes(buf))

    def _gather_again(self, frame: FrameType, call: str, sendbuf: Any, recvbuf: Any, root: int, plan: Make) -> None:
        here = type(root) is int and root == self._rank
        key = _key(frame, call, recvbuf, root, self._reach) if here else _key(frame, call, sendbuf, root)
        recipe = self._known(key)
        if recipe is None or (here and not _is_block(sendbuf, recvbuf, self._reach)):
            self._for_the_first_time(key, frame, plan(sendbuf, recvbuf, root), recvbuf if here else sendbuf)
        else:
            self._follow(recipe, _as_bytes(sendbuf), _as_bytes(recvbuf) if here else None)

    def _scatter_again(self, frame: FrameType, call: str, sendbuf: Any, recvbuf: Any, root: int, plan: Make) -> None:
        here = type(root) is int and root == self._rank
        key = _key(frame, call, sendbuf, root, self._reach) if here else _key(frame, call, recvbuf, root)
        recipe = self._known(key)
        if recipe is None or (here and not _is_block(recvbuf, sendbuf, self._reach)):
            self._for_the_first_time(key, frame, plan(sendbuf, recvbuf, root), sendbuf if here else recvbuf)
        else:
            self._follow(recipe, _as_bytes(sendbuf) if here else None, _as_bytes(recvbuf))

    def _reduce_to_root_again(self, frame: FrameType, sendbuf: Any, recvbuf: Any, op: Op, root: int) -> None:
        here = type(root) is int and root == self._rank
        operation = op._operation if type(op) is Op else None
        key = None if operation is None else _key(frame, ("Reduce", id(operation)), recvbuf if here else sendbuf, root)
        recipe = self._known(key)
        if recipe is None or (here and not _is_block(sendbuf, recvbuf, 1)):
            plan = self._plan_reduce(sendbuf, recvbuf, op, root)
            self._for_the_first_time(key, frame, plan, recvbuf if here else sendbuf, operation)
        else:
            out = None if sendbuf is IN_PLACE else sendbuf.reshape(-1)
            self._follow(recipe, out, recvbuf.reshape(-1) if here else None)

    def _for_the_first_time(
        self, key: Key | None, frame: FrameType, plan: Plan, buf: Any = None, operation: Any = None
    ) -> None:
        """Carry a plan out, and keep its recipe; its key may name the buffer's dtype, and the operation."""
        if key is not None:
            self._remember(key, frame, (getattr(buf, "dtype", None), operation), plan)
        plan()


def _key(frame: FrameType, call: Any, buf: Any, root: Any, blocks: int = 1) -> Key | None:
    """What the recipe of a call hangs on, by a buffer of so many blocks; None if there is something unusual about it."""
    if type(buf) is ndarray:
        if not buf.flags.carray:
            return None
        sort = id(buf.dtype)
    elif type(buf) is Phantom:
        sort = -buf.itemsize
    else:
        return None
    count, rest = divmod(buf.size, blocks)
    if rest or not count or type(root) is not int:
        return None
    return call, id(frame.f_code), frame.f_lasti, sort, count, root


def _is_block(own: Any, whole: Any, blocks: int) -> bool:
    """Whether what the root has for itself is like a block of what it has for all, and lies elsewhere."""
    if own is IN_PLACE:
        return True
    if type(own) is not type(whole) or own.size * blocks != whole.size:
        return False
    if type(own) is Phantom:
        return bool(own.itemsize == whole.itemsize)
    return own.dtype is whole.dtype and own.flags.carray and not overlap(own, whole)


def _as_bytes(buf: Any) -> Any:
    """As algorithms see data that they move; None if it is in place."""
    return flat(buf) if type(buf) is ndarray else None if buf is IN_PLACE else Phantom(buf.nbytes)
