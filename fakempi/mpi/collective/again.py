"""The same call again: what was found out about a collective call is remembered, and not found out anew.

Programs make the same call again and again: from the same line, on the same communicator, with buffers of the same kind and
size. All that hangs on these alone (`Recipe`) is kept by the communicator, for all its ranks: the name of the call and its
place, what the roll is told, the algorithm. What hangs on the rank, or may change between two calls, is looked at each
time: whether the handle is alive and its own rank calls, whether the buffers lie apart, and whether all ranks agree, which
those with one recipe do. Whatever is unusual has no recipe, and is planned as ever.
"""

from __future__ import annotations

from collections.abc import Callable
from types import FrameType
from typing import Any

import numpy as np
from numpy import ndarray

from fakempi.mpi.base.agreement import TAGS, enrol_again
from fakempi.mpi.base.complain import is_ours
from fakempi.mpi.base.region import recorded
from fakempi.mpi.buffers.phantom import Phantom
from fakempi.mpi.buffers.places import IN_PLACE
from fakempi.mpi.buffers.raw import flat
from fakempi.mpi.collective.calls import REMEMBERED, Plan
from fakempi.mpi.collective.plans import CollectivePlans
from fakempi.mpi.collective.recipe import Recipe
from fakempi.mpi.operations.op import Op

Key = tuple[Any, ...]
"""What a recipe hangs on: the call and its place, the buffers' kind and sizes, the operation."""

Make = Callable[..., Plan]
"""A plan is made of what the program gave."""


class Again(CollectivePlans):
    """Calls that look first whether they have been made before."""

    __slots__ = ()

    def _barrier_again(self, frame: FrameType, call: str) -> None:
        key = call, id(frame.f_code), frame.f_lasti
        recipe = None if self._side is None else self._side.recipes.get(key)  # `_known`, inlined: 5 % of it
        if recipe is None:
            work = self._plan_barrier()
            self._remember(key, frame, None, work)
            work()
        else:
            self._follow(recipe)

    def _move_again(self, frame: FrameType, call: str, sendbuf: Any, recvbuf: Any, plan: Make) -> None:
        """Data are moved: algorithms see them as bytes."""
        key = _key(frame, call, sendbuf, recvbuf, None)
        recipe = None if key is None or self._side is None else self._side.recipes.get(key)
        if recipe is None or overlap(sendbuf, recvbuf):
            work = plan(sendbuf, recvbuf)
            if key is not None:
                self._remember(key, frame, recvbuf.dtype, work)
            work()
        elif type(recvbuf) is Phantom:
            self._follow(recipe, Phantom(sendbuf.nbytes), Phantom(recvbuf.nbytes))
        else:
            self._follow(recipe, flat(sendbuf), flat(recvbuf))

    def _reduce_again(self, frame: FrameType, call: str, sendbuf: Any, recvbuf: Any, op: Op, plan: Make) -> None:
        """Data are combined: algorithms see them as elements."""
        key = _key(frame, call, sendbuf, recvbuf, op)
        recipe = None if key is None or self._side is None else self._side.recipes.get(key)
        if recipe is None or overlap(sendbuf, recvbuf):
            work = plan(sendbuf, recvbuf, op)
            if key is not None:
                self._remember(key, frame, (recvbuf.dtype, op._operation), work)
            work()
        elif recvbuf.ndim == 1 and type(sendbuf) is ndarray and sendbuf.ndim == 1:
            self._follow(recipe, sendbuf, recvbuf)
        else:
            self._follow(recipe, None if sendbuf is IN_PLACE else sendbuf.reshape(-1), recvbuf.reshape(-1))

    def _known(self, key: Key | None) -> Any:
        """The recipe of a call; None if it was not made before, or cannot be known by its key."""
        return None if key is None or self._side is None else self._side.recipes.get(key)

    def _remember(self, key: Key, frame: FrameType, named: Any, plan: Plan) -> None:
        """Keep the recipe of a plan, if it has one; and what the key names by address, so that nothing else gets that."""
        recipe: Recipe | None = getattr(plan, "recipe", None)
        if recipe is None or is_ours(frame) or self._side is None:
            return
        recipe.named = frame.f_code, named
        if len(self._side.recipes) >= REMEMBERED:
            self._side.recipes.clear()
        self._side.recipes[key] = recipe

    def _follow(self, recipe: Recipe, *arrays: Any) -> None:
        """Enter the call in the roll, and carry it out."""
        side: Any = self._side
        process, rank, context = self._process, self._rank, side.context
        running = self._loop.running
        if process.finalized or running is None or running.acts_for is not process:
            self._local()
            self._check_caller()
        if context.trouble is not None:
            self._check_trouble(together=True)
        calls = side.calls
        calls[rank] = call = calls.get(rank, 0) + 1
        entry = context.meetings.get(call)
        if entry is None or entry.recipe is not recipe or entry.missing == 1:
            entry = enrol_again(context.meetings, call, rank, self._reach, recipe)
        else:  # the same, inlined: nearly everybody comes by here
            entry.places[rank] = recipe.site
            entry.missing -= 1
        if recipe.sizes:
            arrays += recipe.sizes
        sheet = recipe.sheet
        if sheet is not None and process.universe.paper.carry_out(self, entry, sheet, recipe.op, arrays):
            return
        options = {"tag": call % TAGS}
        if recipe.op is not None:
            options["op"] = recipe.op
        if recipe.root is not None:
            options["root"] = recipe.root
        work = recipe.choice.on(self._twins(), **options)
        recorder = process.universe.recorder
        if recorder is not None:
            recipe.seen = recipe.seen or recorder.call()
            name = recipe.choice.algorithm.name
            work = recorded(self, work, recipe.operation, algorithm=name, nbytes=recipe.nbytes, call=recipe.seen)
        work(*arrays)


def _key(frame: FrameType, call: str, sendbuf: Any, recvbuf: Any, op: Any) -> Key | None:
    """What the recipe of a call hangs on; None if there is something unusual about it."""
    kind = type(recvbuf)
    if kind is ndarray:
        if not recvbuf.flags.carray:
            return None
        dtype: Any = recvbuf.dtype
        if type(sendbuf) is ndarray:
            if sendbuf.dtype is not dtype or not sendbuf.flags.carray:
                return None
            given = sendbuf.size
        elif sendbuf is IN_PLACE and op is not None:
            given = -1
        else:
            return None
        sort = id(dtype)
    elif kind is Phantom and type(sendbuf) is Phantom and sendbuf.itemsize == recvbuf.itemsize:
        given, sort = sendbuf.size, -recvbuf.itemsize
    else:
        return None
    if not recvbuf.size or not given:
        return None
    if op is None:
        return call, id(frame.f_code), frame.f_lasti, sort, given, recvbuf.size
    if type(op) is not Op or op._operation is None:
        return None
    return call, id(frame.f_code), frame.f_lasti, sort, given, recvbuf.size, id(op._operation)


def overlap(sendbuf: Any, recvbuf: Any) -> bool:
    """Whether the two may have memory in common: arrays that own theirs have not, nor have parts of two such."""
    if type(sendbuf) is not ndarray:
        return False
    one, other = sendbuf.base, recvbuf.base
    if one is None is other:
        return sendbuf is recvbuf
    one, other = sendbuf if one is None else one, recvbuf if other is None else other
    if one is not other and type(one) is type(other) is ndarray and one.base is None is other.base:
        return False  # in half the time that numpy takes
    return np.may_share_memory(sendbuf, recvbuf)
