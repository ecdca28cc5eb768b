"""A collective call of a rank, from its arguments to its result: the one object behind every collective call.

A method of the communicator describes the call: facts, buffers, root, operation. `CollectiveCall` then agrees with the other
ranks, chooses the algorithm, and is ready to run. A blocking call runs it, a child task runs that of a nonblocking call, and
each start of a persistent call runs it again. A blocking call that is repeated on the same line reuses the `Recipe`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from fakempi.errors import MPIValueError
from fakempi.errors.classes import ERR_ARG
from fakempi.mpi.base.call_matching import PERSISTENT
from fakempi.mpi.base.mpi_errors import mpi_error
from fakempi.mpi.collective.call_facts import CallFacts, Declaration, ElementOp, Root
from fakempi.mpi.collective.fused_case import FusedCase, why_emulated
from fakempi.mpi.collective.object_arrays import ChoiceForObjects
from fakempi.mpi.collective.operands import Operands, Uses
from fakempi.mpi.collective.recipe import Recipe, Start
from fakempi.mpi.collective.synchronizing import barrier_before


class CollectiveCall:
    """A call that is ready to run: calling it loads the buffers, runs the algorithm and stores the result."""

    __slots__ = (
        "_barrier", "_bound_op", "_comm", "_comms", "_declared", "_entry", "_facts", "_name", "_nbytes", "_operands",
        "_region", "_root", "_tag", "recipe",
    )  # fmt: skip

    def __init__(
        self, comm: Any, facts: CallFacts, declared: Declaration, operands: Operands | None = None,
        root: Root | None = None, bound_op: ElementOp | None = None, nbytes: int | None = None,
    ) -> None:  # fmt: skip
        """Describe a call, agree on it, and choose its algorithm. `nbytes`, for the trace, may differ from the fact."""
        self._comms: tuple[Any, ...]
        self._tag: int
        self._entry: Any  # a CallEntry or, for a persistent call, the next Start; None if the call cannot be simulated
        self._barrier: Callable[[], object] | None
        self.recipe: Recipe
        self._comm, self._operands, self._root, self._bound_op = comm, operands or Operands(), root, bound_op
        self._nbytes = facts.nbytes if nbytes is None else nbytes
        if comm._is_inter:
            leads = comm._is_first if root is None else root.group is comm._side
            facts = replace(facts, leads=leads)
        self._facts = facts
        self._declared = declared if root is None else declared._replace(agreed={**root.agreed, **declared.agreed})
        self._agree()
        self._choose()

    @property
    def uses(self) -> Uses:
        """The buffers that the call reads, and those that it writes."""
        return self._operands.uses

    def __call__(self) -> None:
        """Run the call on the program's buffers."""
        self.run(*self._operands.load())
        self._operands.store()

    def run(self, *arrays: object) -> None:
        """Run the algorithm on arrays, in a region of the trace if there is one."""
        if self._region is None:
            self._run(*arrays)
        else:
            self._region.run(self._run, *arrays)

    def _run(self, *arrays: object) -> None:
        entry = self._entry
        if entry.__class__ is Start:  # the n-th starts of all ranks are one call
            self._entry = entry.next = entry.next or Start(entry.call)
        comms = self._comms  # the program may have freed its handle of the communicator
        self.recipe.run(comms[0], comms, entry, self._tag, arrays, self._barrier)

    # -- steps ----------------------------------------------------------------------------------------------------

    def _agree(self) -> None:
        """Register the call, and compare it with the calls of the other ranks."""
        comm = self._comm
        self._comms, self._tag, self._name, self._entry = comm._enter_call(*self._declared)
        self._barrier = barrier_before(
            comm, self._tag, self._entry, self._name, self._facts, self._nbytes, self._declared.traffic
        )

    def _choose(self) -> None:
        """Choose the algorithm, and prepare to simulate its schedule or to run its code."""
        comm, facts, root, entry = self._comm, self._facts, self._root, self._entry
        choice, options = comm._choice(facts), {}
        plain = choice
        if root is not None:
            options["root"] = root.rank
            if isinstance(root.rank, int) and (only := choice.algorithm.root) not in (None, root.rank):
                name = choice.algorithm.name
                sentence = f"{facts.operation}: {name} was requested, but it has root {only}, not {root.rank}."
                raise mpi_error(ERR_ARG, sentence, MPIValueError)
        if comm._is_inter:
            options["first"] = comm._is_first
        if facts.combines_objects:
            choice = comm._choice_for_objects(choice, facts)
        elif self._bound_op is not None:
            options["op"] = self._bound_op.bound
        fused = comm._process.universe.fused
        program = None if fused is None or entry is None else fused.program(self._fused_case(plain))
        algorithm = ChoiceForObjects(choice) if facts.combines_objects else choice
        self.recipe = Recipe(self._name, self._declared, facts.operation, facts.nbytes, algorithm, options, program)
        self.recipe.lists = self._operands.lists or ()
        self._region = self.recipe.region(comm, self._nbytes, None if root is None or comm._is_inter else root.rank)
        if entry is not None:
            self.recipe.place = entry.registered.get(comm._rank, "")
            if self.is_repeatable and self._declared.traffic is None and len(entry.registered) == 1:
                entry.recipe = self.recipe  # equal recipes need no comparison
        if program is None:
            self._entry = None
        elif self._tag >= PERSISTENT:
            self._entry = entry.fused = entry.fused or Start(entry.call)

    def _fused_case(self, choice: Any) -> FusedCase:
        """Return the description of the call for the simulation of its schedule."""
        comm, facts, root = self._comm, self._facts, self._root
        is_native = self._bound_op is None or self._bound_op.is_native
        why = why_emulated(
            facts.operation, choice.algorithm.name, between=comm._is_inter, combining=facts.combines_objects, bound=is_native
        )
        itemsize = facts.nbytes // facts.count if facts.count else 1
        case = FusedCase(
            choice, facts.operation, comm._n_peers, facts.nbytes, itemsize, facts.sizes, None if root is None else root.rank,
            facts.commutative is not False, facts.in_place, why_not=why, objects=facts.combines_objects,
        )  # fmt: skip
        if not comm._is_inter:
            return case
        theirs = comm._n_peers, facts.nbytes if facts.other is None else facts.other
        number = None if root is None else comm._rank if root.is_this_rank else root.rank
        own = len(comm._side.members), facts.nbytes
        return case.between_groups(own, theirs, number, facts.count, leads=facts.leads, first=comm._is_first)

    @property
    def is_repeatable(self) -> bool:
        """Whether a call with the same arguments may reuse the recipe, which then applies to all ranks."""
        comm, universe = self._comm, self._comm._process.universe
        if comm._is_inter or self._operands.lists is None or universe.is_singleton or self._barrier is not None:
            return False
        if self._bound_op is not None and not (self._bound_op.is_native or self._facts.combines_objects):
            return False
        # The trace records roots and sizes of each call.
        return universe.recorder is None or not (self._root or self._declared.traffic or self._facts.combines_objects)
