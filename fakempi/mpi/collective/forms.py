"""The buffers of blocking calls that programs repeat: contiguous arrays and phantoms, without counts.

A program repeats a call from the same line, with buffers of the same types and sizes. Each rank compares its arguments
with those of the call that was planned (`FirstArguments`), and receives the arrays for the algorithm. Other arguments, and
buffers that overlap, have no recipe; a plan checks and reports them.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy import ndarray

from fakempi.mpi.buffers.address_constants import IN_PLACE
from fakempi.mpi.buffers.phantom import Phantom
from fakempi.mpi.buffers.raw import flat
from fakempi.mpi.operations.op import Op

_PLAIN = (ndarray, Phantom)


class Form(NamedTuple):
    """The buffers of one operation: a rank's own buffer, and on some ranks another one."""

    others: str = "all"  # the ranks that have another buffer: "all", "root" or "none"; "given" if the arrays are given
    blocks: bool = False  # whether the root's other buffer has a block of each rank
    combines: bool = False  # whether data are combined: then the algorithm receives elements, otherwise bytes
    reverse: bool = False  # whether the other buffer is what ranks send

    def first(self, one: Any, other: Any, op: Any, root: Any, rank: int, ranks: int) -> Any:
        """Return the arguments of a call, with which other calls are compared; None if they are not supported."""
        others, buffer = self.others, other if one is IN_PLACE else one
        if others == "given":
            settings = one[2].settings if one else None
            return None if settings is not None else FirstGivenArrays(op, None if root is None else root.rank)
        if type(buffer) not in _PLAIN or (others == "all" and type(other) not in _PLAIN) or not buffer.size:
            return None
        kind: Any = {"all": FirstArguments, "root": FirstWithRoot, "none": FirstInBroadcast}[others]
        if type(one) is Phantom or (one is IN_PLACE and others == "all"):
            kind = FirstInPlace if one is IN_PLACE else FirstPhantoms
        first = kind(self, one, other, op, root, ranks)
        return None if first.arrays(one, other, op, root, rank, False) is None else first


class FirstArguments:
    """The arguments of the call that was planned: two arrays.

    `arrays` compares the arguments of a rank with them. It returns the arrays for the algorithm, or None if the arguments
    differ. With `elements` it does not convert them to bytes, which takes a quarter of the time.
    """

    __slots__ = ("_combines", "_form", "_op", "_operation", "_other_size", "_root", "_size", "_type", "moves")

    def __init__(self, form: Form, one: Any, other: Any, op: Any, root: Any, ranks: int) -> None:
        self._form, self._combines, self._root, self._operation = form, form.combines, root, getattr(op, "_operation", None)
        self._op = self if type(op) is Op and not op.is_predefined else op  # the program may free others
        array, blocks = other if one is IN_PLACE else one, ranks if form.blocks else 1
        self._type = array.dtype
        self._size = array.size // blocks if one is IN_PLACE else array.size
        self._other_size = other.size if form.others == "all" else self._size * blocks
        self.moves: Any = None if form.combines else self._type  # the dtype of data that the algorithm moves as bytes

    def arrays(self, one: Any, other: Any, op: Any, root: Any, rank: int, elements: bool) -> Any:
        """Compare both buffers."""
        kind = self._type
        if (
            type(one) is not ndarray or type(other) is not ndarray or one.dtype is not kind or other.dtype is not kind
            or one.size != self._size or other.size != self._other_size or not one.flags.carray or not other.flags.carray
            or (op is not self._op and not self._is_same(op))
        ):  # fmt: skip
            return None
        owner = other.base
        if one.base is None and (owner is None or (type(owner) is ndarray and owner.base is None)):
            if one is other or one is owner:  # `may_overlap`, inlined for the most frequent cases
                return None
        elif may_overlap(one, other):
            return None
        if elements or self._combines:
            return (one, other) if one.ndim == 1 == other.ndim else (one.reshape(-1), other.reshape(-1))
        return flat(one), flat(other)

    def _is_same(self, op: Any) -> bool:
        """Return whether an operation is that of the first call, if the program has created it."""
        return type(op) is Op and op._operation is self._operation is not None

    def _arranged(self, mine: Any, other: Any) -> tuple[Any, ...]:
        """Return arrays in the order in which the algorithm receives them."""
        form = self._form
        return (mine,) if form.others == "none" else (other, mine) if form.reverse else (mine, other)


class FirstInPlace(FirstArguments):
    """The same for a reduction with IN_PLACE."""

    __slots__ = ()

    def arrays(self, one: Any, other: Any, op: Any, root: Any, rank: int, elements: bool) -> Any:
        """Compare the buffer of the result."""
        if (
            one is not IN_PLACE or type(other) is not ndarray or other.dtype is not self._type or not self._combines
            or other.size != self._other_size or not other.flags.carray or (op is not self._op and not self._is_same(op))
        ):  # fmt: skip
            return None
        return None, other if other.ndim == 1 else other.reshape(-1)


class FirstInBroadcast(FirstArguments):
    """The same for a broadcast."""

    __slots__ = ()

    def arrays(self, one: Any, other: Any, op: Any, root: Any, rank: int, elements: bool) -> Any:
        """Compare the buffer."""
        if (
            type(one) is not ndarray or one.dtype is not self._type or one.size != self._size or type(root) is not int
            or root != self._root or not one.flags.carray
        ):  # fmt: skip
            return None
        return (flat(one) if not elements else one if one.ndim == 1 else one.reshape(-1),)


class FirstWithRoot(FirstArguments):
    """The same for a call whose root may have another buffer."""

    __slots__ = ()

    def arrays(self, one: Any, other: Any, op: Any, root: Any, rank: int, elements: bool) -> Any:
        """Compare this rank's buffer, and at the root the other one."""
        if type(root) is not int or root != self._root or (op is not self._op and not self._is_same(op)):
            return None
        as_bytes = not elements and not self._combines
        if type(one) is ndarray and one.dtype is self._type and one.size == self._size and one.flags.carray:
            mine = flat(one) if as_bytes else one if one.ndim == 1 else one.reshape(-1)
        elif root == rank and one is IN_PLACE:
            mine = None
        else:
            return None
        if root != rank:
            return (None, mine) if self._form.reverse else (mine, None)
        if (
            type(other) is not ndarray or other.dtype is not self._type or other.size != self._other_size
            or not other.flags.carray or (mine is not None and may_overlap(one, other))
        ):  # fmt: skip
            return None
        return self._arranged(mine, flat(other) if as_bytes else other.reshape(-1))


class FirstPhantoms(FirstArguments):
    """The same for phantoms. They never change, so the algorithm receives those of the first call."""

    __slots__ = ("_buffers", "_with_other", "_without")

    def __init__(self, form: Form, one: Any, other: Any, op: Any, root: Any, ranks: int) -> None:
        super().__init__(form, one, other, op, root, ranks)
        other = Phantom(self._other_size, one.itemsize)
        self._buffers, self.moves = (one, other), None
        arrays = (one, other) if form.combines else (Phantom(one.nbytes), Phantom(other.nbytes))
        self._with_other, self._without = self._arranged(*arrays), self._arranged(arrays[0], None)

    def arrays(self, one: Any, other: Any, op: Any, root: Any, rank: int, elements: bool) -> Any:
        """Compare one or two buffers."""
        mine, whole = self._buffers
        if type(one) is not Phantom or one != mine or root != self._root or (op is not self._op and not self._is_same(op)):
            return None
        if self._form.others == "none" or (self._form.others == "root" and root != rank):
            return self._without
        return self._with_other if type(other) is Phantom and other == whole else None


class FirstGivenArrays:
    """The same for a call to which the arrays are given."""

    __slots__ = ("_op", "_root")
    moves = None

    def __init__(self, op: str | None, root: Any) -> None:
        self._op, self._root = op, root

    def arrays(self, one: Any, other: Any, op: Any, root: Any, rank: int, elements: bool) -> Any:
        """Compare the name of the operation and the root."""
        if op != self._op or self._root != (None if root is None else root.rank):
            return None
        return None if one and one[2].settings is not None else one


def may_overlap(one: Any, other: Any) -> bool:
    """Return whether two arrays may share memory.

    Two different arrays that own their memory do not share it. Neither does a view of one with a view of the other.
    """
    owner, other_owner = one.base, other.base
    if owner is None:
        if other_owner is None:
            return one is other
        owner = one
    elif type(owner) is not ndarray or owner.base is not None:
        return np.may_share_memory(one, other)
    if other_owner is None:
        other_owner = other
    elif type(other_owner) is not ndarray or other_owner.base is not None:
        return np.may_share_memory(one, other)
    return owner is other_owner and np.may_share_memory(one, other)  # numpy's check takes twice the time of this one
