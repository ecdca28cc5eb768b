"""Repeated collective calls: reuse the recipe of an earlier call from the same line.

Programs repeat calls: from the same line, on the same communicator, with buffers of the same type and size. The results of
preparing such a call that depend only on these facts form a `Recipe`: the name and line of the call, the facts for call
matching, the algorithm. The communicator stores it for all its ranks. Conditions that depend on the rank or may change
between two calls are checked each time: the handle is valid and is used by its own rank, the buffers do not overlap, and
all ranks agree. Equal recipes imply equal arguments. A call with other buffers (see `_key`) has no recipe and is planned
each time.
"""

from __future__ import annotations

from collections.abc import Callable
from types import FrameType
from typing import Any

import numpy as np
from numpy import ndarray

from fakempi.mpi.base.call_matching import TAGS, register_repeated_call
from fakempi.mpi.base.call_site import is_ours
from fakempi.mpi.base.context import Side
from fakempi.mpi.buffers.address_constants import IN_PLACE
from fakempi.mpi.buffers.phantom import Phantom
from fakempi.mpi.buffers.raw import flat
from fakempi.mpi.collective.call import CollectiveCall
from fakempi.mpi.collective.calls import CACHE_SIZE, Plan
from fakempi.mpi.collective.plans import CollectivePlans
from fakempi.mpi.collective.recipe import Recipe
from fakempi.mpi.interfaces.arrays import Dtype
from fakempi.mpi.operations.op import Op

Key = tuple[object, ...]
"""The facts that a recipe depends on: the name and line of the call, the buffers' types and sizes, the operation."""

Planner = Callable[..., Plan]
"""A function that makes a plan from the arguments of the call."""


class CachedCalls(CollectivePlans):
    """Calls without a root that reuse the recipe of an earlier call."""

    __slots__ = ()

    def _cached_barrier(self, frame: FrameType, call: str) -> None:
        key = call, id(frame.f_code), frame.f_lasti
        recipe = None if self._side is None else self._side.recipes.get(key)  # `_find_recipe`, inlined: saves 5 %
        if recipe is None:
            work = self._plan_barrier()
            self._store_recipe(key, frame, None, work)
            work()
        else:
            self._run_recipe(recipe)

    def _cached_move(self, frame: FrameType, call: str, sendbuf: Any, recvbuf: Any, plan: Planner) -> None:
        """Run a call that moves data; the algorithm receives its buffers as bytes."""
        key = _key(frame, call, sendbuf, recvbuf, None)
        recipe = None if key is None or self._side is None else self._side.recipes.get(key)
        if recipe is None or overlap(sendbuf, recvbuf):
            work = plan(sendbuf, recvbuf, objects=call.islower())
            if key is not None:
                self._store_recipe(key, frame, recvbuf.dtype, work)
            work()
        elif type(recvbuf) is Phantom:
            self._run_recipe(recipe, Phantom(sendbuf.nbytes), Phantom(recvbuf.nbytes))
        else:
            self._run_recipe(recipe, flat(sendbuf), flat(recvbuf))

    def _cached_reduce(self, frame: FrameType, call: str, sendbuf: Any, recvbuf: Any, op: Op) -> None:
        """Run a call that combines data; the algorithm receives its buffers as elements."""
        key = _key(frame, call, sendbuf, recvbuf, op)
        recipe = None if key is None or self._side is None else self._side.recipes.get(key)
        if recipe is None or overlap(sendbuf, recvbuf):
            if call == "Reduce_scatter_block":
                work = self._plan_reduce_scatter_block(sendbuf, recvbuf, op)
            else:
                work = self._plan_full_reduction(call.lower(), sendbuf, recvbuf, op)
            if key is not None:
                self._store_recipe(key, frame, (recvbuf.dtype, op._operation), work)
            work()
        elif recvbuf.ndim == 1 and type(sendbuf) is ndarray and sendbuf.ndim == 1:
            self._run_recipe(recipe, sendbuf, recvbuf)
        else:
            self._run_recipe(recipe, None if sendbuf is IN_PLACE else sendbuf.reshape(-1), recvbuf.reshape(-1))

    def _find_recipe(self, key: Key | None) -> Recipe | None:
        """Return the recipe that an earlier call with this key has stored; None if there is no recipe, or no key."""
        return None if key is None or self._side is None else self._side.recipes.get(key)

    def _store_recipe(self, key: Key, frame: FrameType, keyed_objects: object, plan: Plan) -> None:
        """Store the recipe of a call, if calls from the same line may reuse it.

        The recipe keeps the frame's code and `keyed_objects` alive, because the key contains their addresses.
        """
        if not isinstance(plan, CollectiveCall) or not plan.is_repeatable or is_ours(frame) or self._side is None:
            return
        recipe = plan.recipe
        recipe.keepalive = frame.f_code, keyed_objects
        if len(self._side.recipes) >= CACHE_SIZE:
            self._side.recipes.clear()
        self._side.recipes[key] = recipe

    def _run_recipe(self, recipe: Recipe, *arrays: object) -> None:
        """Register a repeated call for call matching, and run it by its recipe."""
        side: Side = self._side
        process, rank, context = self._process, self._rank, side.context
        running = self._loop.running
        if process.finalized or running is None or running.acts_for is not process:
            self._local()
            self._check_caller()
        if context.fault_state is not None:
            self._check_faults(collective=True)
        calls = side.calls
        calls[rank] = call = calls.get(rank, 0) + 1
        entry = context.open_calls.get(call)
        if entry is None or entry.recipe is not recipe or entry.missing == 1:
            entry = register_repeated_call(context.open_calls, call, rank, self._n_peers, recipe)
        else:  # `register_repeated_call`, inlined: nearly all calls take this branch
            entry.places[rank] = recipe.place
            entry.missing -= 1
        if recipe.lists:
            arrays += recipe.lists
        if entry is not None and (enter := entry.enter) is not None:
            enter(self, self._collective_handles, call % TAGS, arrays)
            return
        comms, tag, universe, program = self._collective_handles, call % TAGS, process.universe, recipe.program
        if universe.recorder is not None:
            region: Any = recipe.region(self, recipe.nbytes)
            region.run(recipe.run, comms or self._collective_comms(), entry, tag, arrays)
            return
        fused: Any = universe.fused  # the rest is `Recipe.run`, inlined: a frame less for each rank that waits
        if program is None or entry is None or not fused.enter(self, comms, entry, program, recipe.op, tag, arrays):
            recipe.run_code(comms or self._collective_comms(), tag, arrays)


def _key(frame: FrameType, call: str, sendbuf: Any, recvbuf: Any, op: Op | None) -> Key | None:
    """Return the key of a call; None if a call with such arguments cannot be repeated by a recipe."""
    kind = type(recvbuf)
    if kind is ndarray:
        if not recvbuf.flags.carray:
            return None
        dtype: Dtype = recvbuf.dtype
        if type(sendbuf) is ndarray:
            if sendbuf.dtype is not dtype or not sendbuf.flags.carray:
                return None
            send_size = sendbuf.size
        elif sendbuf is IN_PLACE and op is not None:
            send_size = -1
        else:
            return None
        type_key = id(dtype)
    elif kind is Phantom and type(sendbuf) is Phantom and sendbuf.itemsize == recvbuf.itemsize:
        send_size, type_key = sendbuf.size, -recvbuf.itemsize
    else:
        return None
    size = recvbuf.size
    if not size or not send_size:
        return None
    if op is None:
        return call, id(frame.f_code), frame.f_lasti, type_key, send_size, size
    if type(op) is not Op or op._operation is None:
        return None
    return call, id(frame.f_code), frame.f_lasti, type_key, send_size, size, id(op._operation)


def overlap(sendbuf: Any, recvbuf: Any) -> bool:
    """Return whether two buffers may share memory.

    Two different arrays that own their memory do not share it. Neither does a view of one with a view of the other.
    """
    if type(sendbuf) is not ndarray:
        return False
    send_owner, recv_owner = sendbuf.base, recvbuf.base
    if send_owner is None is recv_owner:
        return sendbuf is recvbuf
    send_owner, recv_owner = sendbuf if send_owner is None else send_owner, recvbuf if recv_owner is None else recv_owner
    if (
        send_owner is not recv_owner
        and type(send_owner) is type(recv_owner) is ndarray
        and send_owner.base is None is recv_owner.base
    ):
        return False  # takes half the time of numpy's check
    return np.may_share_memory(sendbuf, recvbuf)
