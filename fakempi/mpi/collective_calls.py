"""What all collective calls do: check what they are given, enter the roll, choose an algorithm, have plans carried out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from fakempi.error_classes import ERR_ARG, ERR_BUFFER, ERR_COUNT, ERR_ROOT, ERR_TYPE
from fakempi.errors import MPIError, MPITypeError, MPIValueError
from fakempi.mpi.child import start_child
from fakempi.mpi.comm_state import CommState
from fakempi.mpi.complain import complaint, public_call_name
from fakempi.mpi.flat import Flat, FlatVector
from fakempi.mpi.op import Op
from fakempi.mpi.persistent import Prequest
from fakempi.mpi.raw import address_of
from fakempi.mpi.request import Request
from fakempi.mpi.roll import PREPARED, TAGS, Traffic, enrol, starts_of
from fakempi.mpi.span import integer

Plan = Callable[[], Any]

_COUNTS_AT_ROOT = {"gatherv": "linear", "scatterv": "linear"}
"""On a communicator only the root knows the counts; all algorithms but these want all ranks to know them."""


class CollectiveCalls(CommState):
    """The common part of the plans."""

    __slots__ = ()

    # -- how a plan is carried out --------------------------------------------------------------------------------

    def _launch(self, plan: Plan) -> Request:
        """Have a child task carry the plan out."""
        return Request._of(self, start_child(self._process, plan))

    def _prepared(self, plan: Plan) -> Prequest:
        """A request that has a child task carry the plan out at each start."""
        process, rank, call = self._process, self._rank, public_call_name()
        side = self._local()
        starts: dict[int, int] = side.context.meetings.setdefault(starts_of(side.calls[rank] % TAGS), {})

        def start() -> Any:
            starts[rank] = starts.get(rank, 0) + 1
            return start_child(process, plan, call)

        return Prequest._prepared(self, None, start)

    # -- entering a call ------------------------------------------------------------------------------------------

    def _choose(
        self,
        operation: str,
        nbytes: int,
        agreed: dict[str, Any],
        *,
        op: Op | None = None,
        count: int = 0,
        in_place: bool = False,
        traffic: Traffic | None = None,
    ) -> Callable[..., Any]:
        """Enter the call in the roll and choose the algorithm: a function of the buffers."""
        twin, tag = self._enter_call(agreed, traffic)
        try:
            choice = self._process.universe.choose(
                operation,
                self._reach,
                nbytes,
                count,
                commutative=op is None or op.Is_commutative(),
                predefined_op=op is None or op.is_predefined,
                in_place=in_place,
            )
        except MPIError as error:
            raise complaint(error.ierr, str(error), type(error)) from None
        algorithm, parameters = choice.algorithm, choice.parameters
        fits = _COUNTS_AT_ROOT.get(operation, algorithm.name)
        if algorithm.name != fits:
            words = f"{operation}: {algorithm.name} was asked for, but only the root knows the counts; {fits} fits."
            raise complaint(ERR_ARG, words, MPIValueError)
        return lambda *buffers, **options: algorithm.run(twin, *buffers, tag=tag, **options, **parameters)

    def _enter_call(self, agreed: dict[str, Any], traffic: Traffic | None = None) -> tuple[Any, int]:
        """Enter a call in the roll; returns the twin to work on, and the tag of its messages."""
        side, rank = self._local(), self._rank
        side.calls[rank] = call = side.calls.get(rank, 0) + 1
        name = enrol(side.context.meetings, call, rank, self._reach, agreed, traffic)
        return self._twin(), call % TAGS + (PREPARED if name.endswith("_init") else 0)

    # -- checks ---------------------------------------------------------------------------------------------------

    def _everybody(self) -> int:
        """How many ranks take part; complains if the communicator is null."""
        self._check_alive()
        if self._there is not self._side:
            words = "collective calls on intercommunicators are not emulated yet."
            raise NotImplementedError(f"{public_call_name()} on rank {self._process.rank}: {words}")
        return self._reach

    def _check_root(self, root: int) -> tuple[int, int]:
        """The root as an integer, and how many ranks there are."""
        p, root = self._everybody(), integer("root", root)
        if not 0 <= root < p:
            self._raise(complaint(ERR_ROOT, f"root {root} is not in 0..{p - 1}."))
        return root, p

    def _check_sizes(self, whose: str, one: int, other: str, two: int) -> None:
        if one != two:
            raise complaint(ERR_COUNT, f"{whose} {one} bytes, but {other} has {two}.", MPIValueError)

    def _check_equal(self, whose: str, one: int, other: str, two: int) -> None:
        if one != two:
            raise complaint(ERR_COUNT, f"{whose} {one}, but {other} {two} elements.", MPIValueError)

    def _check_pair(
        self, one: Flat | FlatVector | None, other: Flat | FlatVector, whose: str, nbytes: int, name: str = "sendbuf"
    ) -> None:
        """A buffer must have the size of a block of the other, lie elsewhere, and be a phantom only if that is one."""
        if one is None:
            return
        self._check_sizes(whose, nbytes, name, one.nbytes)
        if not one.nbytes or not other.nbytes:
            return
        if one.hollow != other.hollow:
            words = f"one buffer is a phantom of {(one if one.hollow else other).nbytes} bytes, the other is not."
            raise complaint(ERR_BUFFER, words, MPIValueError)
        near = not one.hollow and np.may_share_memory(one.array, other.array)
        if near and address_of(one.array) == address_of(other.array):
            self._raise(complaint(ERR_BUFFER, "sendbuf and recvbuf are the same memory; IN_PLACE is for that."))

    def _check_operands(self, out: Flat | None, into: Flat, count: int | None = None) -> None:
        """What is reduced and what becomes of it: of one datatype, of one size (or `count` of them), and apart."""
        if out is None:
            return
        have = out.count if count is None else count
        if have != into.count:
            raise complaint(ERR_COUNT, f"sendbuf has {have} elements, but recvbuf {into.count}.", MPIValueError)
        alike = out.datatype._size == into.datatype._size if not (out.told and into.told) else out.datatype == into.datatype
        if not alike:
            one, other = out.kind_in_words(), into.kind_in_words()
            words = f"sendbuf is of {one}, recvbuf of {'another ' * (one == other)}{other}: they must be of one datatype."
            raise complaint(ERR_TYPE, words, MPIValueError)
        self._check_pair(out, into, "", out.nbytes)

    def _check_counts(self, recvcounts: Any, p: int, mine: int | None) -> list[int]:
        """The counts of a reduce_scatter; without any, all ranks tell each other the size of their buffers."""
        if recvcounts is None:
            if mine is None:
                raise complaint(ERR_COUNT, "in place, recvcounts are needed.", MPITypeError)
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


def items(objects: Any, size: int) -> list[Any]:
    """One object for each of so many ranks; None is None for each."""
    found = [None] * size if objects is None else list(objects)
    if len(found) != size:
        raise complaint(ERR_COUNT, f"expecting {size} items, got {len(found)}.", MPIValueError)
    return found
