"""What all collective calls do: check what they are given, enter the roll, choose an algorithm, have plans carried out."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy import ndarray

from fakempi.error_classes import ERR_ARG, ERR_BUFFER, ERR_COUNT, ERR_ROOT, ERR_TYPE
from fakempi.errors import MPIError, MPITypeError, MPIValueError
from fakempi.mpi.base.agreement import PREPARED, TAGS, Kinds, Starts, Traffic, enrol, starts_of, tell_of_types
from fakempi.mpi.base.child import start_child
from fakempi.mpi.base.complain import complaint, integer, public_call, public_call_name, site_of
from fakempi.mpi.base.constants import PROC_NULL, ROOT
from fakempi.mpi.base.context import Side
from fakempi.mpi.base.region import recorded
from fakempi.mpi.buffers.flat import Flat, FlatVector
from fakempi.mpi.buffers.overlap import any_share_bytes, tell_of_overlap
from fakempi.mpi.buffers.places import InPlaceType
from fakempi.mpi.buffers.raw import address_of
from fakempi.mpi.buffers.specification import buffer_in, is_in_place
from fakempi.mpi.collective.parcels import Combining, Courier, OnParcels, sizes_first
from fakempi.mpi.collective.recipe import Recipe, with_recipe
from fakempi.mpi.operations.op import Op
from fakempi.mpi.point.handle import CommState
from fakempi.mpi.point.persistent import Prequest
from fakempi.mpi.point.request import Request

Plan = Callable[[], Any]

REMEMBERED = 1024
"""Choices that a communicator keeps at hand; then it starts anew. Programs have few different calls, or any number."""

_COUNTS_AT_ROOT = {"gatherv": "linear", "scatterv": "linear"}
"""On a communicator only the root knows the counts; all algorithms but these want all ranks to know them."""


class Root(NamedTuple):
    """The root of a call, as this rank sees it, and what the roll is told of it."""

    rank: Any  # among those that this rank sends to; between two groups None where it is this rank itself
    here: bool
    has_block: bool  # whether this rank gives or takes a block of its own: of two groups, not if it is in the root's
    group: Side
    agreed: dict[str, Any]

    @property
    def idle(self) -> bool:
        """Beside the root of another group there is nothing to do."""
        return not (self.here or self.has_block)


class CollectiveCalls(CommState):
    """The common part of the plans."""

    __slots__ = ()

    # -- how a plan is carried out --------------------------------------------------------------------------------

    def _launch(self, plan: Plan) -> Request:
        """Have a child task carry the plan out."""
        return Request._of(self, start_child(self._process, self._context, plan), plan)

    def _prepared(self, plan: Plan) -> Prequest:
        """A request that has a child task carry the plan out at each start."""
        process, rank, call = self._process, self._rank, public_call_name()
        side = self._local()
        starts: Starts = side.context.meetings.setdefault(starts_of(side.calls[rank] % TAGS), Starts(call))
        place = side.context.place(side, rank)

        def start() -> Any:
            starts.count(place)
            return start_child(process, side.context, plan, call)

        return Prequest._prepared(self, plan, start)

    # -- entering a call ------------------------------------------------------------------------------------------

    def _choose(
        self,
        operation: str,
        nbytes: int,
        agreed: dict[str, Any],
        *,
        other: int | None = None,
        root: Root | None = None,
        op: Op | Combining | None = None,
        bound: Any = None,
        count: int = 0,
        in_place: bool = False,
        traffic: Traffic | None = None,
        objects: bool = False,
        sizes: Sequence[int] | None = None,
        kinds: Kinds | None = None,
    ) -> Callable[..., Any]:
        """Enter the call in the roll and choose the algorithm: a function of the buffers.

        Between two groups `nbytes` is what this one sends, and `other` what the other one does, if that is not the same.
        `sizes` are bytes of all blocks, where these differ and all ranks know them.
        With `objects` it is about pickles; of those that an operation combines each rank knows the size of its own alone.
        """
        combining, shown = objects and op is not None, nbytes
        nbytes = 0 if combining else nbytes
        if root is not None:
            agreed = {**root.agreed, **agreed}
        twins, tag, call, entry = self._enter_call(agreed, traffic, kinds)
        side: Any = self._side
        first: bool = side is side.context.sides[0]
        leads = first if root is None else root.group is side
        law = (None, None) if op is None else (op.Is_commutative(), op.is_predefined)
        asked = (operation, nbytes, other, leads, *law, count, in_place, objects, None if sizes is None else tuple(sizes))
        choice = side.choices.get(asked)
        if choice is None:
            if len(side.choices) >= REMEMBERED:
                side.choices.clear()
            choice = side.choices[asked] = self._decide(*asked)
        options: dict[str, Any] = {"tag": tag}
        if root is not None:
            options["root"] = root.rank
        if op is not None:
            options["op"] = bound
        if self._there is not side:
            options["first"] = first
        if combining:
            twins, choice = tuple(map(Courier, twins)), self._on_parcels(choice, asked)
        run: Callable[..., Any] = choice.on(twins, **options)
        recipe = None
        if side is self._there and (combining or bound is op):
            kept, by = (OnParcels(choice), None) if combining else (choice, op)
            recipe = Recipe(call, agreed, kinds, kept, by, options.get("root"), traffic, operation, nbytes)
        seen = self._recorded_root(root)
        run = recorded(self, run, operation, algorithm=choice.algorithm.name, nbytes=shown, root=seen)
        return with_recipe(self, run, entry, recipe, operation, nbytes, count, sizes)

    def _decide(
        self, operation: str, nbytes: int, other: int | None, leads: bool, commutative: bool | None, predefined: bool | None,
        count: int, in_place: bool, objects: bool, sizes: Sequence[int] | None,
    ) -> Any:  # fmt: skip
        """The choice of an algorithm. Of two groups, that `leads` which has the root, or else the first one."""
        side, universe = self._local(), self._process.universe
        facts: dict[str, Any] = {"p": self._reach, "nbytes": nbytes}
        if self._between:
            own, theirs = (len(side.members), nbytes), (self._reach, nbytes if other is None else other)
            (p, m), (q, m_b) = (own, theirs) if leads else (theirs, own)
            facts = {"kind": "inter", "p": p, "nbytes": m, "q": q, "nbytes_b": m_b}
        else:
            if universe.has_nodes:
                facts["nodes"] = universe.placement(side)
            if operation in universe.weighs:
                facts["costs"] = universe.send_costs(side, nbytes)
            if sizes is not None:
                facts["sizes"] = universe.sizes(sizes)
        if commutative is not None:
            facts.update(commutative=commutative, predefined_op=predefined)
        try:
            choice = universe.choose(operation=operation, count=count, in_place=in_place, objects=objects, **facts)
        except MPIError as error:
            raise complaint(error.ierr, str(error), type(error)) from None
        name = choice.algorithm.name
        fits = name if self._between else _COUNTS_AT_ROOT.get(operation, name)
        if name != fits:
            words = f"{operation}: {name} was asked for, but only the root knows the counts; {fits} fits."
            raise complaint(ERR_ARG, words, MPIValueError)
        return choice

    def _recorded_root(self, root: Root | None) -> int | None:
        """The root, for the trace, if it is one of this group."""
        return None if root is None or self._between else root.rank

    def _on_parcels(self, choice: Any, asked: tuple[Any, ...]) -> Any:
        """The choice for parcels; where texts have nothing of this rank's own in them, it is remembered as well."""
        if self._process.universe.recorder is not None or self._process.pickle is not None:
            return choice.with_parts(self._part_on_parcels)
        choices, asked = self._local().choices, ("parcels", *asked)
        if asked not in choices:
            choices[asked] = choice.with_parts(self._part_on_parcels)
        return choices[asked]

    def _part_on_parcels(self, part: Any) -> Callable[..., Any]:
        """The text of an algorithm that another one consists of, for parcels, as a region inside that of the call."""
        run = sizes_first(part.run, self._process.pickle) if part.operation == "bcast" else part.run
        return recorded(self, run, part.operation, algorithm=part.name)

    def _enter_call(
        self, agreed: dict[str, Any], traffic: Traffic | None = None, kinds: Kinds | None = None
    ) -> tuple[tuple[Any, ...], int, str, Any]:
        """Enter a call in the roll; returns the twins to work on, the tag of their messages, its name and its entry."""
        side, rank, size = self._local(), self._rank, self._reach
        self._check_caller()
        there, context = self._there, side.context
        if context.trouble is not None:
            self._check_trouble(together=True)
        side.calls[rank] = call = side.calls.get(rank, 0) + 1
        if there is not side:
            rank, size = context.place(side, rank), size + len(side.members)
            traffic = traffic and traffic.moved(context.place(there, 0))  # type: ignore[arg-type]
        entry = context.meetings.get(call)
        name = enrol(context.meetings, call, rank, size, agreed, traffic, sys._getframe(2), kinds)
        tag = call % TAGS + (PREPARED if name.endswith("_init") else 0)
        return self._twins(), tag, name, entry or context.meetings.get(call)

    def _stand_by(self, root: Root) -> Plan:
        """The part of a rank beside the root of another group: to say so."""
        self._enter_call(root.agreed)
        return lambda: None

    # -- one group or two -----------------------------------------------------------------------------------------

    def _everybody(self) -> int:
        """How many ranks this one exchanges blocks with; complains if the communicator is null."""
        self._check_alive()
        return self._reach

    def _check_root(self, root: int) -> Root:
        """The root's part and this rank's."""
        p, root = self._everybody(), integer("root", root)
        side, there = self._local(), self._there
        if there is side:
            if not 0 <= root < p:
                self._raise(complaint(ERR_ROOT, f"root {root} is not in 0..{p - 1}."))
            return Root(root, self._rank == root, True, side, {"root": root})
        beside, here = root == PROC_NULL, root == ROOT
        if not (beside or here or 0 <= root < p):
            words = f"root {root} is neither ROOT, PROC_NULL nor in 0..{p - 1}, the ranks of the remote group."
            self._raise(complaint(ERR_ROOT, words))
        group: Any = side if beside or here else there
        who = self._rank_in_words(group, self._rank if group is side else root)
        agreed = {"the root's group": self._group_in_words(group), f"the part of {who}": "PROC_NULL" if beside else "ROOT"}
        if not beside:
            agreed = {"the root": who, **agreed}
        return Root(None if here else root, here, group is there, group, agreed)

    def _both_ways(self, what: str, mine: Any, theirs: Any) -> dict[str, Any]:
        """What all must agree on that each group has its own of."""
        return {**self._said_of(what, self._side, mine), **self._said_of(what, self._there, theirs)}

    def _said_of(self, what: str, side: Any, value: Any) -> dict[str, Any]:
        """What all must agree on, said of the one group, or of one of two."""
        return {f"{what} from {self._group_in_words(side)}" if self._between else what: value}

    def _types_of(self, out: Flat | FlatVector | None, into: Flat | FlatVector | None = None) -> Kinds:
        """The types of what goes out and comes in; within one group these are the same, and one of them is enough."""
        if not self._between:
            kind = (into or out).signature if into or out else None  # type: ignore[union-attr]
            return {} if kind is None else {0: kind}
        mine = self._local().context.sides.index(self._local())
        both = {mine: out and out.signature, 1 - mine: into and into.signature}
        return {side: kind for side, kind in both.items() if kind is not None}

    def _in_place(self, buffer: Any) -> bool:
        """Whether a buffer is IN_PLACE, which is not for two groups: what comes in is not what goes out."""
        if type(buffer) is ndarray:
            return False
        if not self._between:
            return is_in_place(buffer)
        if isinstance(buffer_in(buffer), InPlaceType):
            self._raise(complaint(ERR_BUFFER, "IN_PLACE is not for intercommunicators: a buffer is needed."))
        return False

    def _rank_in_words(self, side: Any, rank: int) -> str:
        return str(self._process.universe.names.name(side.members[rank]))

    def _group_in_words(self, side: Any) -> str:
        return f"the group of {self._rank_in_words(side, 0)}"

    # -- checks ---------------------------------------------------------------------------------------------------

    def _check_sizes(self, whose: str, one: int, other: str, two: int) -> None:
        if one != two:
            raise complaint(ERR_COUNT, f"{whose} {one} bytes, but {other} has {two}.", MPIValueError)

    def _check_equal(self, whose: str, one: int, other: str, two: int) -> None:
        if one != two:
            raise complaint(ERR_COUNT, f"{whose} {one}, but {other} {two} elements.", MPIValueError)

    def _check_pair(
        self, one: Flat | FlatVector | None, other: Flat | FlatVector, whose: str, nbytes: int, name: str = "sendbuf",
        *, alike: bool = True,
    ) -> None:  # fmt: skip
        """A buffer must have the size of a block of the other, lie elsewhere, and be a phantom only if that is one.

        Between two groups what comes in has a size and a type of its own; within one it has unless they are to be `alike`.
        """
        if one is None:
            return
        if not self._between:
            self._check_sizes(whose, nbytes, name, one.nbytes)
        if not one.nbytes or not other.nbytes:
            return
        if one.hollow != other.hollow:
            words = f"one buffer is a phantom of {(one if one.hollow else other).nbytes} bytes, the other is not."
            raise complaint(ERR_BUFFER, words, MPIValueError)
        if not one.hollow and np.may_share_memory(one.memory, other.memory):
            if address_of(one.array) == address_of(other.array):
                instead = "" if self._between else "; IN_PLACE is for that"
                self._raise(complaint(ERR_BUFFER, f"sendbuf and recvbuf are the same memory{instead}."))
            if any_share_bytes(one.parts, other.parts):
                tell_of_overlap("sendbuf and recvbuf overlap")
        if alike and nbytes and not self._between:
            self._compare_types(one, other, name)

    @staticmethod
    def _compare_types(one: Flat | FlatVector, other: Flat | FlatVector, name: str) -> None:
        """What a rank sends to itself it must receive as the same."""
        mine, theirs = one.signature, other.signature
        if mine is not theirs and mine is not None and theirs is not None and not mine.agrees(theirs):
            call, frame = public_call(sys._getframe(1))
            other_name = "recvbuf" if name == "sendbuf" else "sendbuf"
            tell_of_types(f"{name} has {mine.name}, but {other_name} {theirs.name}", (), call, site_of(frame))

    def _check_operands(self, out: Flat | None, into: Flat, count: int | None = None) -> None:
        """What is reduced and what becomes of it: of one datatype, of one size (or `count` of them), and apart."""
        if out is None:
            return
        have = out.count if count is None else count
        if have != into.count:
            raise complaint(ERR_COUNT, f"sendbuf has {have} elements, but recvbuf {into.count}.", MPIValueError)
        if out.datatype is into.datatype:
            alike = True
        elif out.told and into.told:
            alike = out.datatype == into.datatype
        else:
            alike = out.datatype._size == into.datatype._size
        if not alike:
            one, other = out.kind_in_words(), into.kind_in_words()
            words = f"sendbuf is of {one}, recvbuf of {'another ' * (one == other)}{other}: they must be of one datatype."
            raise complaint(ERR_TYPE, words, MPIValueError)
        self._check_pair(out, into, "", out.nbytes)

    def _check_counts(self, recvcounts: Any, p: int, mine: int | None) -> list[int]:
        """The counts of a reduce_scatter; without any, all ranks tell each other the size of their buffers."""
        if recvcounts is None:
            if mine is None or self._between:
                where = "in place" if mine is None else "on an intercommunicator"
                raise complaint(ERR_COUNT, f"{where}, recvcounts are needed.", MPITypeError)
            counts = np.empty(p, np.int64)
            self._allgather_of_counts(np.array([mine], np.int64), counts)
            return [int(count) for count in counts]
        found = [integer(f"item {i} of recvcounts", count) for i, count in enumerate(recvcounts)]
        if len(found) != p:
            raise complaint(ERR_COUNT, f"expecting {p} items, got {len(found)}.", MPIValueError)
        for i, count in enumerate(found):
            if count < 0:
                raise complaint(ERR_COUNT, f"item {i} of recvcounts is {count}, which is negative.", MPIValueError)
        return found

    def _allgather_of_counts(self, mine: Any, counts: Any) -> None:
        self._choose("allgather", mine.nbytes, {"recvcounts": "left out"})(mine, counts)

    def _bind(self, op: Op, data: Flat) -> tuple[Any, dict[str, Any]]:
        """The operation on elements of a datatype, and what all must agree on; complains if the two do not fit."""
        if not isinstance(op, Op):
            raise complaint(ERR_ARG, f"expected an Op, not {type(op).__name__}.", MPITypeError)
        agreed = {
            "the operation": op._name_for_people(),
            "the size in bytes": data.nbytes,
            "the buffer": "a phantom" if data.hollow else "memory",
            "the kind of element": data.array.dtype,
        }
        try:
            if not data.told:  # a phantom, which does not say what it consists of
                op._alive()
                return op, agreed
            return op._on(data.datatype), agreed
        except MPIError as error:
            self._raise(error)


def using(plan: Any, reads: Sequence[Any], writes: Sequence[Any]) -> Plan:
    """The plan, which says which buffers it reads and which ones it writes."""
    plan.uses = reads, writes
    return plan  # type: ignore[no-any-return]


def items(objects: Any, size: int) -> list[Any]:
    """One object for each of so many ranks; None is None for each."""
    found = [None] * size if objects is None else list(objects)
    if len(found) != size:
        raise complaint(ERR_COUNT, f"expecting {size} items, got {len(found)}.", MPIValueError)
    return found
