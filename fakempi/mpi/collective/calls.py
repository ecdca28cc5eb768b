"""Common part of all collective calls: checks of arguments, call matching, choice of the algorithm."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy import ndarray

from fakempi.errors import MPIError, MPITypeError, MPIValueError
from fakempi.errors.classes import ERR_ARG, ERR_BUFFER, ERR_COUNT, ERR_ROOT, ERR_TYPE
from fakempi.mpi.base.call_matching import (
    PERSISTENT,
    TAGS,
    Traffic,
    TypeSignatures,
    register_call,
    report_type_mismatch,
    starts_of,
)
from fakempi.mpi.base.call_site import call_and_place, public_call_name
from fakempi.mpi.base.child import start_child
from fakempi.mpi.base.constants import PROC_NULL, ROOT
from fakempi.mpi.base.context import Side
from fakempi.mpi.base.mpi_errors import integer, integer_items, mpi_error, range_error, shown
from fakempi.mpi.base.region import recorded
from fakempi.mpi.base.waiting import Completion
from fakempi.mpi.buffers.address_constants import InPlaceType
from fakempi.mpi.buffers.flat import Flat, FlatVector
from fakempi.mpi.buffers.overlap import any_share_bytes, report_overlap
from fakempi.mpi.buffers.raw import address_of
from fakempi.mpi.buffers.specification import buffer_in, is_in_place
from fakempi.mpi.collective.call import CollectiveCall
from fakempi.mpi.collective.call_facts import CallFacts, Declaration, ElementOp, Root
from fakempi.mpi.collective.object_arrays import bcast_elements
from fakempi.mpi.collective.selection import Selection
from fakempi.mpi.collective.synchronizing import barrier_before
from fakempi.mpi.interfaces.arrays import Array
from fakempi.mpi.operations.op import Op
from fakempi.mpi.point.handle import CommState
from fakempi.mpi.point.persistent import Prequest
from fakempi.mpi.point.request import Request

Plan = Callable[[], object]

CACHE_SIZE = 1024
"""Upper limit of the choices, and of the recipes, that a communicator stores; then it clears them."""

_COUNTS_AT_ROOT = {"gatherv": "linear", "scatterv": "linear"}
"""Algorithms that need the counts at the root only; on a communicator no other rank has them."""


class CollectiveCalls(CommState):
    """The methods that all plans use."""

    __slots__ = ()

    # -- running a plan -------------------------------------------------------------------------------------------

    def _launch(self, plan: Plan) -> Request:
        """Run the plan in a child task."""
        return Request._of(self, start_child(self._process, self._context, plan), plan)

    def _prepared(self, plan: Plan) -> Prequest:
        """Return a request that runs the plan in a child task at each start."""
        process, rank, call = self._process, self._rank, public_call_name()
        side = self._local()
        starts = starts_of(side.context.open_calls, side.calls[rank] % TAGS, call)
        slot = side.context.slot(side, rank)

        def start() -> Completion:
            starts.count(slot)
            return start_child(process, side.context, plan, call)

        return Prequest._prepared(self, plan, start)

    # -- preparing a call -----------------------------------------------------------------------------------------

    @property
    def _is_first(self) -> bool:
        """Whether this rank's group is the first side of the context."""
        return self._side is self._side.context.sides[0]

    def _choice(self, facts: CallFacts) -> Any:
        """Return the choice of an algorithm for a call, stored for calls with the same facts."""
        choices = self._local().choices
        choice = choices.get(facts)
        if choice is None:
            if len(choices) >= CACHE_SIZE:
                choices.clear()
            choice = choices[facts] = self._decide(facts)
        return choice

    def _decide(self, facts: CallFacts) -> Any:
        """Choose an algorithm."""
        side, universe, operation = self._local(), self._process.universe, facts.operation
        selection = universe.state(Selection)
        known: dict[str, Any] = {"p": self._n_peers, "nbytes": facts.nbytes}
        if self._is_inter:
            own = len(side.members), facts.nbytes
            theirs = self._n_peers, facts.nbytes if facts.other is None else facts.other
            (p, m), (q, m_b) = (own, theirs) if facts.leads else (theirs, own)
            known = {"kind": "inter", "p": p, "nbytes": m, "q": q, "nbytes_b": m_b}
        else:
            if universe.has_nodes:
                known["nodes"] = selection.placement(side)
            if selection.needs_send_costs(operation):
                known["costs"] = selection.send_costs(side, facts.nbytes)
            if facts.sizes is not None:
                known["sizes"] = selection.sizes(facts.sizes)
        if facts.commutative is not None:
            known.update(commutative=facts.commutative, predefined_op=facts.predefined)
        known.update(count=facts.count, in_place=facts.in_place, objects=facts.objects)
        try:
            choice = selection.choose(operation=operation, **known)
        except MPIError as error:
            raise mpi_error(error.ierr, str(error), type(error)) from None
        name = choice.algorithm.name
        if name != (usable := name if self._is_inter else _COUNTS_AT_ROOT.get(operation, name)):
            sentence = f"{operation}: {name} was requested, but it needs all counts on every rank; use {usable}."
            raise mpi_error(ERR_ARG, sentence, MPIValueError)
        return choice

    def _choice_for_objects(self, choice: Any, facts: CallFacts) -> Any:
        """Return the choice for arrays of objects, stored unless it contains this rank's recorder or pickle settings."""
        if self._process.universe.recorder is not None or self._process.pickle is not None:
            return choice.for_objects(self._part_for_objects)
        known, key = self._local().choices, ("objects", facts)
        if key not in known:
            known[key] = choice.for_objects(self._part_for_objects)
        return known[key]

    def _part_for_objects(self, part: Any) -> Callable[..., object]:
        """Return a part of an algorithm, for arrays of objects, as a region inside that of the call."""
        run = bcast_elements(part.run, self._process.pickle) if part.operation == "bcast" else part.run
        return recorded(self, run, part.operation, algorithm=part.name)

    def _enter_call(
        self, agreed: Mapping[str, object], traffic: Traffic | None = None, types: TypeSignatures | None = None
    ) -> tuple[tuple[Any, ...], int, str, Any]:
        """Register a call; return its collective communicators, the tag of its messages, its name and its entry."""
        side, rank, size = self._local(), self._rank, self._n_peers
        self._check_caller()
        there, context = self._peer_side, side.context
        if context.fault_state is not None:
            self._check_faults(collective=True)
        side.calls[rank] = call = side.calls[rank] + 1
        if there is not side:
            rank, size = context.slot(side, rank), size + len(side.members)
            traffic = traffic and traffic.moved(context.slot(there, 0))
        entry = context.open_calls.get(call)
        called = self._process.called
        name = register_call(context.open_calls, call, rank, size, agreed, traffic, types, called)
        tag = call % TAGS + (PERSISTENT if name.endswith("_init") else 0)
        return self._collective_comms(), tag, name, entry or context.open_calls.get(call)

    def _plan_idle(self, root: Root) -> Plan:
        """Return the plan of a rank that passes PROC_NULL: it registers the call and does nothing."""
        _, tag, call, entry = self._enter_call(root.agreed)
        return barrier_before(self, tag, entry, call, CallFacts(""), 0, None) or _do_nothing

    # -- one group or two -----------------------------------------------------------------------------------------

    def _peer_count(self) -> int:
        """Return the number of ranks that this one exchanges blocks with; raise an error on a null communicator."""
        self._check_alive()
        return self._n_peers

    def _check_root(self, root: int) -> Root:
        """Check the argument `root`; return the roles of the root and of this rank."""
        p, root = self._peer_count(), integer("root", root, 0)
        side, there = self._local(), self._peer_side
        if there is side:
            if not 0 <= root < p:
                self._raise(range_error(ERR_ROOT, f"root {root} is not in 0..{p - 1}.", root))
            return Root(root, self._rank == root, True, side, {"root": root})
        idle, here = root == PROC_NULL, root == ROOT
        if not (idle or here or 0 <= root < p):
            sentence = f"root {root} is not ROOT, PROC_NULL or in 0..{p - 1}, the ranks of the remote group."
            self._raise(range_error(ERR_ROOT, sentence, root))
        group: Side = side if idle or here else there
        name = self._rank_text(group, self._rank if group is side else root)
        agreed = {"the root's group": self._group_text(group), f"the part of {name}": "PROC_NULL" if idle else "ROOT"}
        if not idle:
            agreed = {"the root": name, **agreed}
        return Root(None if here else root, here, group is there, group, agreed)

    def _fact_per_group(self, what: str, mine: object, theirs: object) -> dict[str, object]:
        """Return a fact that all ranks must agree on, one value per group."""
        return {**self._fact_about(what, self._side, mine), **self._fact_about(what, self._peer_side, theirs)}

    def _fact_about(self, what: str, side: Side, value: object) -> dict[str, object]:
        """Return a fact that all ranks must agree on, about one group."""
        return {f"{what} from {self._group_text(side)}" if self._is_inter else what: value}

    def _types_of(self, out: Flat | FlatVector | None, into: Flat | FlatVector | None = None) -> TypeSignatures:
        """Return the type signatures of the sent and of the received data; within one group they are equal: return one."""
        if not self._is_inter:
            kind = (into or out).signature if into or out else None  # type: ignore[union-attr]  # one of the two is not None
            return {} if kind is None else {0: kind}
        mine = self._local().context.sides.index(self._local())
        both = {mine: out.signature if out else None, 1 - mine: into.signature if into else None}
        return {side: kind for side, kind in both.items() if kind is not None}

    def _in_place(self, buffer: object) -> bool:
        """Return whether a buffer is IN_PLACE; raise an error for it on an intercommunicator."""
        if type(buffer) is ndarray:
            return False
        if not self._is_inter:
            return is_in_place(buffer)
        if isinstance(buffer_in(buffer), InPlaceType):
            self._raise(mpi_error(ERR_BUFFER, "IN_PLACE is not allowed on an intercommunicator; pass a buffer."))
        return False

    def _rank_text(self, side: Side, rank: int) -> str:
        return str(self._process.universe.names.name(side.members[rank]))

    def _group_text(self, side: Side) -> str:
        return f"the group of {self._rank_text(side, 0)}"

    # -- checks ---------------------------------------------------------------------------------------------------

    def _check_sizes(self, first: str, first_bytes: int, other: str, other_bytes: int) -> None:
        if first_bytes != other_bytes:
            raise mpi_error(ERR_COUNT, f"{first} {first_bytes} bytes, but {other} has {other_bytes}.", MPIValueError)

    def _check_equal(self, first: str, first_count: int, other: str, other_count: int) -> None:
        if first_count != other_count:
            raise mpi_error(ERR_COUNT, f"{first} {first_count}, but {other} {other_count} elements.", MPIValueError)

    def _check_pair(
        self, one: Flat | FlatVector | None, other: Flat | FlatVector, first: str, nbytes: int, name: str = "sendbuf",
        *, same_types: bool = True,
    ) -> None:  # fmt: skip
        """Check that a buffer has the size of a block of the other, does not overlap it, and is a phantom if that is one.

        Sizes and types are declared within one group only, and types only with `same_types`.
        """
        if one is None:
            return
        if not self._is_inter:
            self._check_sizes(first, nbytes, name, one.nbytes)
        if not one.nbytes or not other.nbytes:
            return
        if one.is_phantom != other.is_phantom:
            sentence = f"one buffer is a phantom of {(one if one.is_phantom else other).nbytes} bytes, the other is not."
            raise mpi_error(ERR_BUFFER, sentence, MPIValueError)
        if not one.is_phantom and np.may_share_memory(one.memory, other.memory):
            if address_of(one.array) == address_of(other.array):  # type: ignore[arg-type]  # not phantoms
                instead = "" if self._is_inter else "; use IN_PLACE"
                self._raise(mpi_error(ERR_BUFFER, f"sendbuf and recvbuf are the same memory{instead}."))
            if any_share_bytes(one.parts, other.parts):
                report_overlap("sendbuf and recvbuf overlap")
        if same_types and nbytes and not self._is_inter:
            self._compare_types(one, other, name)

    @staticmethod
    def _compare_types(one: Flat | FlatVector, other: Flat | FlatVector, name: str) -> None:
        """Check that the block that a rank sends to itself has the datatype of the block that it receives."""
        mine, theirs = one.signature, other.signature
        if mine is not theirs and mine is not None and theirs is not None and not mine.agrees(theirs):
            other_name = "recvbuf" if name == "sendbuf" else "sendbuf"
            report_type_mismatch(f"{name} has {mine.name}, but {other_name} {theirs.name}", (), *call_and_place())

    def _check_operands(self, out: Flat | None, into: Flat, count: int | None = None) -> None:
        """Check the buffers of a reduction: equal datatypes and sizes (or `count` elements), no overlap."""
        if out is None:
            return
        have = out.count if count is None else count
        if have != into.count:
            raise mpi_error(ERR_COUNT, f"sendbuf has {have} elements, but recvbuf {into.count}.", MPIValueError)
        if out.datatype is into.datatype:
            same_types = True
        elif out.typed and into.typed:
            same_types = out.datatype == into.datatype
        else:
            same_types = out.datatype._size == into.datatype._size
        if not same_types:
            one, other = out.type_text(), into.type_text()
            sentence = f"sendbuf is of {one}, recvbuf of {'another ' * (one == other)}{other}: they must be of one datatype."
            raise mpi_error(ERR_TYPE, sentence, MPIValueError)
        self._check_pair(out, into, "", out.nbytes)

    def _check_counts(self, recvcounts: Sequence[int] | None, p: int, mine: int | None) -> list[int]:
        """Return the counts of a reduce_scatter; if they are None, the ranks gather the sizes of their buffers."""
        if recvcounts is None:
            if mine is None or self._is_inter:
                where = "in place" if mine is None else "on an intercommunicator"
                raise mpi_error(ERR_COUNT, f"recvcounts are required {where}.", MPITypeError)
            counts = np.empty(p, np.int64)
            self._allgather_of_counts(np.array([mine], np.int64), counts)
            return [int(count) for count in counts]
        checked = integer_items("recvcounts", recvcounts, 64)
        if len(checked) != p:
            raise mpi_error(ERR_COUNT, f"expecting {p} items, got {len(checked)}.", MPIValueError)
        for i, count in enumerate(checked):
            if count < 0:
                raise mpi_error(ERR_COUNT, f"item {i} of recvcounts is {count}, which is negative.", MPIValueError)
        return checked

    def _allgather_of_counts(self, mine: Array, counts: Array) -> None:
        CollectiveCall(self, CallFacts("allgather", mine.nbytes), Declaration({"recvcounts": "left out"})).run(mine, counts)

    def _bind(self, op: Op, data: Flat) -> tuple[ElementOp, Declaration]:
        """Return the operation on elements of a datatype, and what to agree on; raise an error if they do not fit."""
        if not isinstance(op, Op):
            raise mpi_error(ERR_ARG, f"op is {shown(op)}, not an Op (MPI.SUM, Op.Create ...).", MPITypeError)
        agreed = {
            "the operation": op._display_name(),
            "the size in bytes": data.nbytes,
            "the buffer": "a phantom" if data.is_phantom else "memory",
            "the kind of element": data.array.dtype,
        }
        try:
            if not data.typed:  # a phantom without a datatype
                op._alive()
                return ElementOp(op, op), Declaration(agreed)
            return ElementOp(op, op._on(data.datatype)), Declaration(agreed)
        except MPIError as error:
            self._raise(error)


def _do_nothing() -> None:
    """The work of an idle rank."""
