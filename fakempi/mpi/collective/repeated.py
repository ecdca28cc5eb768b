"""Blocking calls: by the recipe of an earlier call from the same line, or by a plan.

The communicator stores a `Recipe` for all its ranks, by the line and the name of the call. A call whose arguments are like
those of the call with the recipe (`forms`, `count_forms`) reuses it; any other call is planned (`plans`). Conditions that
depend on the rank or may change between two calls are checked each time: the handle is valid and is used by its own rank,
the buffers do not overlap, and all ranks agree. Equal recipes imply equal arguments.
"""

from __future__ import annotations

from types import FrameType
from typing import Any

from fakempi.mpi.base.call_matching import TAGS, register_repeated_call
from fakempi.mpi.base.call_site import is_ours, place_of
from fakempi.mpi.collective.call import CollectiveCall
from fakempi.mpi.collective.calls import CACHE_SIZE, Plan
from fakempi.mpi.collective.count_forms import (
    describe_allgatherv,
    describe_alltoallv,
    describe_gatherv,
    describe_scatterv,
)
from fakempi.mpi.collective.forms import Form
from fakempi.mpi.collective.plans import OBJECT_REDUCTIONS, CollectivePlans
from fakempi.mpi.collective.recipe import Recipe

FORMS = {
    **dict.fromkeys(("Allgather", "allgather", "Alltoall", "alltoall"), Form()),  # calls that move objects have such parts
    **dict.fromkeys(("Bcast", "bcast", "bcastv"), Form(others="none")),
    **dict.fromkeys(("Gather", "gather"), Form(others="root", blocks=True)),
    **dict.fromkeys(("Scatter", "scatter"), Form(others="root", blocks=True, reverse=True)),
    **dict.fromkeys(("Allreduce", "Reduce_scatter_block", "Scan", "Exscan"), Form(combines=True)),
    "Reduce": Form(others="root", combines=True),
    **dict.fromkeys(("Barrier", "barrier", *OBJECT_REDUCTIONS), Form(others="given")),
}
DESCRIBE = {
    **dict.fromkeys(("Allgatherv", "allgatherv"), describe_allgatherv),
    **dict.fromkeys(("Alltoallv", "alltoallv"), describe_alltoallv),
    **dict.fromkeys(("Gatherv", "gatherv"), describe_gatherv),
    **dict.fromkeys(("Scatterv", "scatterv"), describe_scatterv),
}

MOST_RECIPES = 64
"""The most recipes of one line that are compared with a call. To compare more takes as long as a plan."""


class RepeatedCalls(CollectivePlans):
    """The method by which blocking calls run."""

    __slots__ = ()

    def _call(self, frame: FrameType, name: str, one: Any = (), other: Any = None, op: Any = None, root: Any = None) -> None:
        """Make a call from a line of the program. `one` is the rank's own buffer, `other` that of a result or of a root."""
        side, rank = self._side, self._rank
        if side is None:
            self._check_alive()
        number = side.calls[rank] + 1
        entry: Any = side.context.open_calls.get(number)
        # describe the buffers: in most cases, they are like those of the ranks before
        arrays, waiting = None, None if entry is None else entry.waiting
        if (
            entry is not None and (recipe := entry.recipe) is not None and recipe.instruction == frame.f_lasti
            and recipe.code is frame.f_code and recipe.name is name
        ):  # fmt: skip
            arrays = recipe.first.arrays(one, other, op, root, rank, waiting is not None)
        if arrays is None:
            for recipe in side.recipes.get((name, id(frame.f_code), frame.f_lasti), ()):
                arrays = recipe.first.arrays(one, other, op, root, rank, False)
                if arrays is not None:
                    break
            else:
                recipe, arrays = self._find_recipe(frame, name, one, other, op, root)
                if recipe is None:
                    return
            if waiting is not None and entry.recipe is recipe:
                arrays = waiting.as_elements(arrays)
        # agree
        process, running = self._process, self._loop.running
        if (
            running is None or running.acts_for is not process or process.finalized or side.context.fault_state is not None
        ):  # fmt: skip
            self._check_call()
        side.calls[rank] = number
        if entry is None or entry.recipe is not recipe:
            entry = register_repeated_call(side.context.open_calls, number, rank, self._n_peers, recipe)
        elif waiting is None:  # equal recipes imply equal arguments
            entry.register(rank, recipe.place)
        elif waiting.enter(rank, arrays):  # with the ranks that wait: most ranks of a fused call
            return
        # run and record
        if process.universe.recorder is None:
            recipe.run(self, self._collective_handles, entry, number % TAGS, arrays)
        else:
            recipe.run_in_region(self, entry, number % TAGS, arrays)

    def _find_recipe(
        self, frame: FrameType, name: str, one: Any, other: Any, op: Any, root: Any
    ) -> tuple[Recipe | None, Any]:
        """Return the recipe of a call with counts, and its arrays. Plan any other call, store its recipe, and run it."""
        side, form = self._side, FORMS.get(name)
        key: tuple[object, ...] = name, id(frame.f_code), frame.f_lasti
        described: Any = None
        if form is None and self._peer_side is side:  # calls on an intercommunicator have no recipes
            described = DESCRIBE[name](one, other, op, root, self._rank, self._n_peers)
        if described is not None:
            facts, arrays = described
            key = *key, facts
            for recipe in side.recipes.get(key, ()):
                return recipe, arrays + recipe.lists
        call = self._planned(frame, name, one, other, op, root)
        if isinstance(call, CollectiveCall) and call.is_repeatable and not is_ours(frame):
            first = None if form is None else form.first(one, other, op, root, self._rank, self._n_peers)
            if described is not None or first is not None:
                call.recipe.name, call.recipe.code, call.recipe.first = name, frame.f_code, first
                call.recipe.instruction = -1 if first is None else frame.f_lasti
                if len(side.recipes) >= CACHE_SIZE:
                    side.recipes.clear()
                side.recipes[key] = [call.recipe, *side.recipes.get(key, ())[:MOST_RECIPES]]
        call()
        return None, None

    def _check_call(self) -> None:
        """Raise an error if the handle is null or is not that of the running rank, or if a rank has failed."""
        self._local()
        self._check_caller()
        if self._context.fault_state is not None:
            self._check_faults(collective=True)

    def _planned(self, frame: FrameType, name: str, one: Any, other: Any, op: Any, root: Any) -> Plan:
        """Return the plan of a call. Call matching does not have to search the stack for its name and line."""
        process = self._process
        if not is_ours(frame):
            process.called = name.removesuffix("v") if name.islower() else name, place_of(frame)
        try:
            return self._plan(name, one, other, op, root)
        finally:
            process.called = None
