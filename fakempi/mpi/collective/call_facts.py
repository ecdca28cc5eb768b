"""The facts about a collective call: what determines its algorithm, what all ranks must agree on, root and operation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from fakempi.mpi.base.call_matching import Traffic, TypeSignatures
from fakempi.mpi.base.context import Side
from fakempi.mpi.collective.object_arrays import ObjectOp
from fakempi.mpi.operations.op import Op


@dataclass(frozen=True, slots=True)
class CallFacts:
    """The facts that determine the algorithm of a call; equal on all ranks of a group.

    Between two groups, `nbytes` is what this group sends, and `other` what the other group sends, if that differs.
    `sizes` are the bytes of all blocks, if they differ and all ranks know them.
    With `objects` the data are pickles; in a reduction of objects each rank knows the size of its own object only.
    """

    operation: str
    nbytes: int = 0
    other: int | None = None
    count: int = 0
    sizes: tuple[int, ...] | None = None
    in_place: bool = False
    objects: bool = False
    commutative: bool | None = None  # None in a call that combines nothing
    predefined: bool | None = None
    leads: bool = True  # this group has the root or, without a root, is the first group

    @property
    def combines_objects(self) -> bool:
        """Whether the call is a reduction of objects."""
        return self.objects and self.commutative is not None


class Declaration(NamedTuple):
    """The arguments that call matching compares: facts by description, bytes to and from each rank, types of data."""

    agreed: Mapping[str, object]
    traffic: Traffic | None = None
    types: TypeSignatures | None = None


class Root(NamedTuple):
    """The root of a call as this rank sees it, and the facts about it that ranks must agree on."""

    rank: Any  # in the group that this rank sends to; on an intercommunicator None if it is this rank
    is_this_rank: bool
    has_block: bool  # whether this rank sends or receives a block; on an intercommunicator not in the root's group
    group: Side
    agreed: Mapping[str, object]

    @property
    def idle(self) -> bool:
        """Whether this rank passes PROC_NULL: it is in the root's group of an intercommunicator, and has nothing to do."""
        return not (self.is_this_rank or self.has_block)


class ElementOp(NamedTuple):
    """The operation of a reduction, and the same operation on the elements of its buffers."""

    op: Op | ObjectOp
    bound: object

    @property
    def is_native(self) -> bool:
        """Whether the operation and the datatype need no conversion of elements."""
        return self.bound is self.op

    def facts(self, operation: str, nbytes: int, **others: Any) -> CallFacts:
        """Return the facts about a call with this operation."""
        op = self.op
        return CallFacts(operation, nbytes, commutative=op.Is_commutative(), predefined=op.is_predefined, **others)
