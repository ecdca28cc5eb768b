"""Collectives on a chain, in O(log N) rounds: allgather, barrier, bcast, gather, reduce, scatter.

Allgather, barrier, bcast and reduce are double scans of ceil(log2 N) rounds. Gather and scatter use a tree (`tree`) of
ceil(log2 N) levels; a scatter first builds the tree. On each level a process may send two messages in sequence, as in a
round of a scan. Values are numpy arrays of one shape and type on all ranks; `pack` and `unpack` convert picklable objects
to arrays of one length. `allreduce` is in `scan`.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias, TypeVar

import numpy as np

from collectives.chain.chain import Chain
from collectives.chain.scan import HEADER, Array, Combine, ScanMessage, allreduce, run_rounds
from collectives.chain.tree import Subtree, TreeShape, build_tree, send_down

T = TypeVar("T")
Slices: TypeAlias = tuple[slice, slice, slice, slice]
"""The parts sent to the right and to the left, and the parts received from the left and from the right."""


def barrier(chain: Chain) -> None:
    """Return after all processes have entered."""
    empty = ScanMessage(np.empty(0, np.uint8)), ScanMessage(np.empty(0, np.uint8))
    run_rounds(chain, *empty, None, None)


def exchange_parts(chain: Chain, data: Array, slices: Callable[[int], Slices]) -> None:
    """Run the rounds of a double scan that exchange parts of `data`, an array of bytes: `slices(i)` in round i."""
    comm, tag, left, right, i = chain.comm, chain.tag, chain.left, chain.right, 0

    def message(address: int, part: slice) -> Array:
        buffer = np.empty(HEADER + part.stop - part.start, np.uint8)
        buffer[:HEADER].view(np.int64)[0] = address
        buffer[HEADER:] = data[part]
        return buffer

    while left >= 0 or right >= 0:
        to_right, to_left, from_left, from_right = slices(i)
        into_left = np.empty(HEADER + from_left.stop - from_left.start, np.uint8)
        into_right = np.empty(HEADER + from_right.stop - from_right.start, np.uint8)
        if left < 0:
            comm.Send(message(left, to_right), right, tag)
            comm.Recv(into_right, right, tag)
        elif right < 0:
            comm.Recv(into_left, left, tag)
            comm.Send(message(right, to_left), left, tag)
        else:
            comm.Sendrecv(message(left, to_right), right, tag, into_left, left, tag)
            comm.Sendrecv(message(right, to_left), left, tag, into_right, right, tag)
        if left >= 0:
            data[from_left] = into_left[HEADER:]
            left = int(into_left[:HEADER].view(np.int64)[0])
        if right >= 0:
            data[from_right] = into_right[HEADER:]
            right = int(into_right[:HEADER].view(np.int64)[0])
        i += 1


def bcast(chain: Chain, value: Array, root: int = 0) -> Array:
    """Return the root's value on every rank; other ranks pass a value of the same shape and type."""
    _check_root(chain, root)
    value = np.array(value, order="C")
    data = value.reshape(-1).view(np.uint8)
    distance = chain.rank - root

    def slices(i: int) -> Slices:
        """Processes closer to the root than 2^i have the value and send it away from the root; others send only headers."""
        step = 1 << i
        distances = (distance, -distance, distance - step, -distance - step)
        to_right, to_left, from_left, from_right = (slice(0, data.size if 0 <= each < step else 0) for each in distances)
        return to_right, to_left, from_left, from_right

    exchange_parts(chain, data, slices)
    return value


def allgather(chain: Chain, value: Array) -> Array:
    """Return the values of all ranks on every rank: row r is from rank r."""
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

    exchange_parts(chain, table.reshape(-1).view(np.uint8), slices)
    return table


def reduce(chain: Chain, value: Array, combine: Combine, root: int = 0) -> Array | None:
    """Return all values combined in rank order at the root, and None on other ranks; runs an allreduce."""
    _check_root(chain, root)
    total = allreduce(chain, value, combine)
    return total if chain.rank == root else None


def gather(chain: Chain, value: Array, root: int = 0) -> Array | None:
    """Return the values of all ranks in rank order at the root, and None on other ranks; uses one tree per side."""
    _check_root(chain, root)
    value = np.asarray(value, order="C")
    own = value.reshape(-1).view(np.uint8)
    parts: list[tuple[int, Any]] = [(chain.rank, own)]

    def payload() -> Any:
        return np.concatenate([block for _, block in sorted(parts, key=lambda part: part[0])])

    def on_child(child: Subtree, block: Any) -> None:
        parts.append((child.first, block))

    tree = build_tree(chain, TreeShape(chain.size, root), own.size, payload, on_child)
    return payload().view(value.dtype).reshape(chain.size, *value.shape) if tree.roots else None


def scatter(chain: Chain, values: Array | None, value: Array, root: int = 0) -> Array:
    """Return row r of the root's `values` on rank r; every rank passes a `value` with the shape and type of a row."""
    _check_root(chain, root)
    example, block = np.asarray(value), None
    if chain.rank == root:
        rows = np.asarray(values, example.dtype, order="C")
        if rows.shape != (chain.size, *example.shape):
            needed = (chain.size, *example.shape)
            raise ValueError(
                f"scatter: the root's values have shape {rows.shape}, but {chain.size} ranks and elements of shape "
                f"{example.shape} need shape {needed}"
            )
        block = rows.reshape(-1).view(np.uint8)
    tree = build_tree(chain, TreeShape(chain.size, root))
    own = send_down(chain, tree, example.nbytes, block)
    return own.copy().view(example.dtype).reshape(example.shape)


def _check_root(chain: Chain, root: int) -> None:
    if not 0 <= root < chain.size:
        raise ValueError(f"root {root} is not a rank of the chain: use 0 to {chain.size - 1}")


def largest(chain: Chain, *numbers: int) -> list[int]:
    """Return the elementwise maximum of the numbers of all ranks, on every rank."""
    return [int(number) for number in allreduce(chain, np.array(numbers, np.int64), np.maximum)]


def pack(chain: Chain, value: Any) -> Array:
    """Return a pickled object as an array of bytes, padded to the largest length of all ranks; runs one allreduce."""
    pickled = pickle.dumps(value)
    (width,) = largest(chain, len(pickled))
    return np.frombuffer(pickled.ljust(width, b"\0"), np.uint8)


def unpack(array: Array) -> Any:
    """Return the object in a packed array; pickle ignores the padding."""
    return pickle.loads(array.tobytes())


def addresses(chain: Chain) -> list[int]:
    """Return the addresses of all processes in rank order; the list needs O(N) memory on each process."""
    return [int(number) for number in allgather(chain, np.array([chain.address], np.int64))[:, 0]]


def to_communicator(chain: Chain, create: Callable[[Sequence[int]], T]) -> T:
    """Return a communicator of the processes of a chain, which `create` makes from their addresses in rank order.

    With mpi4py: `to_communicator(chain, lambda ranks: comm.Create_group(comm.Get_group().Incl(ranks)))`.
    """
    return create(addresses(chain))
