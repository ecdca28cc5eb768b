"""Collectives on a chain, in O(log N) rounds: allgather, barrier, bcast, gather, reduce, scatter.

Allgather, barrier, bcast and reduce are double scans, of ceil(log2 N) rounds. Gather and scatter go up and down a tree
(`tree`) that has as many levels, a scatter after one more way up to find it; on each level a process may have two
messages one after the other, as in a round of a scan. Values are numpy arrays, of one shape and type on all ranks;
`pack` and `unpack` make arrays of one length of anything that can be pickled. `allreduce` is in `scan`.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias, TypeVar

import numpy as np

from collectives.chain.chain import Chain
from collectives.chain.scan import HEADER, Array, Combine, Letter, allreduce, walk
from collectives.chain.tree import Branch, Places, grow, spread

T = TypeVar("T")
Slices: TypeAlias = tuple[slice, slice, slice, slice]
"""What is sent to the right and to the left, and what comes from the left and from the right."""


def barrier(chain: Chain) -> None:
    """Nobody leaves before all have come."""
    nothing = Letter(np.empty(0, np.uint8)), Letter(np.empty(0, np.uint8))
    walk(chain, *nothing, None, None)


def flood(chain: Chain, data: Array, slices: Callable[[int], Slices]) -> None:
    """The rounds of a double scan in which parts of `data`, an array of bytes, are passed on; both sides know which."""
    comm, tag, left, right, i = chain.comm, chain.tag, chain.left, chain.right, 0

    def sent(passed_on: int, part: slice) -> Array:
        message = np.empty(HEADER + part.stop - part.start, np.uint8)
        message[:HEADER].view(np.int64)[0] = passed_on
        message[HEADER:] = data[part]
        return message

    while left >= 0 or right >= 0:
        to_right, to_left, from_left, from_right = slices(i)
        left_news = np.empty(HEADER + from_left.stop - from_left.start, np.uint8)
        right_news = np.empty(HEADER + from_right.stop - from_right.start, np.uint8)
        if left < 0:
            comm.Send(sent(left, to_right), right, tag)
            comm.Recv(right_news, right, tag)
        elif right < 0:
            comm.Recv(left_news, left, tag)
            comm.Send(sent(right, to_left), left, tag)
        else:
            comm.Sendrecv(sent(left, to_right), right, tag, left_news, left, tag)
            comm.Sendrecv(sent(right, to_left), left, tag, right_news, right, tag)
        if left >= 0:
            data[from_left] = left_news[HEADER:]
            left = int(left_news[:HEADER].view(np.int64)[0])
        if right >= 0:
            data[from_right] = right_news[HEADER:]
            right = int(right_news[:HEADER].view(np.int64)[0])
        i += 1


def bcast(chain: Chain, value: Array, root: int = 0) -> Array:
    """The root's value, on every rank; of the others' only shape and type matter. Only who has it sends it."""
    _check_root(chain, root)
    value = np.array(value, order="C")
    data = value.reshape(-1).view(np.uint8)
    place = chain.rank - root

    def slices(i: int) -> Slices:
        """Those closer to the root than 2^i have the value, and pass it on away from the root."""
        step = 1 << i
        distances = (place, -place, place - step, -place - step)
        to_right, to_left, from_left, from_right = (
            slice(0, data.size if 0 <= distance < step else 0) for distance in distances
        )
        return to_right, to_left, from_left, from_right

    flood(chain, data, slices)
    return value


def allgather(chain: Chain, value: Array) -> Array:
    """Everybody's values in order of rank: row r is rank r's. What came from the left goes to the right, and so on."""
    value = np.asarray(value)
    rank, size, width = chain.rank, chain.size, value.nbytes
    table = np.empty((size, *value.shape), value.dtype)
    table[rank] = value

    def rows(first: int, end: int) -> slice:
        return slice(max(0, first) * width, max(0, min(size, end), first) * width)

    def slices(i: int) -> Slices:
        step = 1 << i
        return (
            rows(rank - step + 1, rank + 1),
            rows(rank, rank + step),
            rows(rank - 2 * step + 1, rank - step + 1),
            rows(rank + step, rank + 2 * step),
        )

    flood(chain, table.reshape(-1).view(np.uint8), slices)
    return table


def reduce(chain: Chain, value: Array, combine: Combine, root: int = 0) -> Array | None:
    """All values combined in order of rank, at the root; a double scan gives it to all, and the others drop it."""
    _check_root(chain, root)
    total = allreduce(chain, value, combine)
    return total if chain.rank == root else None


def gather(chain: Chain, value: Array, root: int = 0) -> Array | None:
    """Everybody's values in order of rank, at the root; a tree on either side of it."""
    _check_root(chain, root)
    value = np.asarray(value, order="C")
    own = value.reshape(-1).view(np.uint8)
    parts: list[tuple[int, Any]] = [(chain.rank, own)]

    def give() -> Any:
        return np.concatenate([block for _, block in sorted(parts, key=lambda part: part[0])])

    def take(child: Branch, block: Any) -> None:
        parts.append((child.first, block))

    tree = grow(chain, Places(chain.size, root), own.size, give, take)
    return give().view(value.dtype).reshape(chain.size, *value.shape) if tree.roots else None


def scatter(chain: Chain, values: Array | None, value: Array, root: int = 0) -> Array:
    """Row r of the root's `values` to rank r; `value` is an example, for shape and type, on every rank."""
    _check_root(chain, root)
    example, block = np.asarray(value), None
    if chain.rank == root:
        rows = np.asarray(values, example.dtype, order="C")
        if rows.shape != (chain.size, *example.shape):
            words = f"a chain of {chain.size} and values like {example.shape} need {(chain.size, *example.shape)}"
            raise ValueError(f"scatter: the root has values of shape {rows.shape}, but {words}")
        block = rows.reshape(-1).view(np.uint8)
    tree = grow(chain, Places(chain.size, root))
    own = spread(chain, tree, example.nbytes, block)
    return own.copy().view(example.dtype).reshape(example.shape)


def _check_root(chain: Chain, root: int) -> None:
    if not 0 <= root < chain.size:
        raise ValueError(f"root {root} is not in 0..{chain.size - 1}, the ranks of the chain")


def largest(chain: Chain, *numbers: int) -> list[int]:
    """The largest of everybody's first numbers, of everybody's second numbers, and so on."""
    return [int(one) for one in allreduce(chain, np.array(numbers, np.int64), np.maximum)]


def pack(chain: Chain, value: Any) -> Array:
    """Anything that can be pickled as an array of bytes, of one length on all ranks, which one allreduce finds."""
    pickled = pickle.dumps(value)
    (width,) = largest(chain, len(pickled))
    return np.frombuffer(pickled.ljust(width, b"\0"), np.uint8)


def unpack(array: Array) -> Any:
    """What was packed; a pickle knows its end."""
    return pickle.loads(array.tobytes())


def addresses(chain: Chain) -> list[int]:
    """Everybody's address in order of rank: the one thing here that grows with the chain."""
    return [int(one) for one in allgather(chain, np.array([chain.address], np.int64))[:, 0]]


def make(chain: Chain, create: Callable[[Sequence[int]], T]) -> T:
    """Turn a chain into a communicator: `create` gets everybody's address in the chain's communicator.

    With mpi4py: `make(chain, lambda ranks: comm.Create_group(comm.Get_group().Incl(ranks)))`.
    """
    return create(addresses(chain))
