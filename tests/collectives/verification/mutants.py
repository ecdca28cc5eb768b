"""Mutants: algorithms with one mistake each, and the same algorithms without the mistake."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from collectives import Algorithm, Case, UnsupportedCaseError, find
from collectives.catalogue.conditions import commutative_only
from collectives.catalogue.schedule import Round, Transfer
from collectives.tools.blocks import Layout, spare_memory
from collectives.tools.messages import exchange, receive, send


class Mutant(NamedTuple):
    """A wrong algorithm, the correct one, the kind of fault, and the smallest number of ranks that shows it."""

    wrong: Algorithm
    correct: Algorithm
    kind: str
    p: int


def bcast(comm: Any, buf: Any, *, root: int = 0, tag: int = 0, leave_out: Any = None, wrong_root: int | None = None) -> None:
    """A star: the root sends to every rank, except to those for which `leave_out(v, p)` is true."""
    p, rank, root = comm.Get_size(), comm.Get_rank(), root if wrong_root is None else wrong_root
    others = [v for v in range(1, p) if not (leave_out and leave_out(v, p))]
    if rank == root:
        for v in others:
            send(comm, buf, (root + v) % p, tag)
    elif (rank - root) % p in others:
        receive(comm, buf, root, tag)


def star(case: Case) -> Iterator[Round]:
    for v in range(1, case.p if case.m else 1):
        yield [Transfer(case.root, (case.root + v) % case.p, case.m)]


STAR = Algorithm("bcast", "star", bcast, star, closed_rounds=lambda case: case.p - 1 if case.m else 0)


def allgather(comm: Any, sendbuf: Any, recvbuf: Any, *, tag: int = 0, step: Any = exchange) -> None:
    """A ring with a replaceable step."""
    p, rank = comm.Get_size(), comm.Get_rank()
    layout = Layout.equal(recvbuf.size, p)
    layout.put(recvbuf, rank, sendbuf)
    for k in range(p - 1):
        blocks = (layout.block(recvbuf, (rank - k - i) % p) for i in (0, 1))
        step(comm, next(blocks), (rank + 1) % p, next(blocks), (rank - 1) % p, tag)


RING = replace(find("allgather", "ring"), name="own_ring", run=allgather)


def one_by_one(comm: Any, outgoing: Any, dest: int, incoming: Any, source: int, tag: int) -> None:
    """Send, then receive: deadlocks without buffering."""
    send(comm, outgoing, dest, tag)
    receive(comm, incoming, source, tag)


def in_turn(comm: Any, outgoing: Any, dest: int, incoming: Any, source: int, tag: int) -> None:
    """Odd ranks receive first: correct without buffering, but slower than an exchange."""
    if comm.Get_rank() % 2:
        receive(comm, kept := spare_memory(incoming, incoming.size), source, tag)
        send(comm, outgoing, dest, tag)
        incoming[0 : incoming.size] = kept
    else:
        one_by_one(comm, outgoing, dest, incoming, source, tag)


def a_byte_more(comm: Any, sendbuf: Any, recvbuf: Any, *, tag: int = 0) -> None:
    allgather(comm, sendbuf, recvbuf, tag=tag)
    p, rank, extra = comm.Get_size(), comm.Get_rank(), np.zeros(1, np.uint8)
    if p > 2:
        exchange(comm, extra, (rank + 1) % p, extra.copy(), (rank - 1) % p, tag)


def touched(comm: Any, sendbuf: Any, recvbuf: Any, *, tag: int = 0) -> None:
    allgather(comm, sendbuf, recvbuf, tag=tag)
    if sendbuf is not None and sendbuf.size and comm.Get_size() > 1:
        sendbuf[0] = 7


def no_empty_blocks(comm: Any, sendbuf: Any, recvbuf: Any, counts: Any, *, tag: int = 0) -> None:
    """Corrupt the result if a block other than the first is empty."""
    find("allgatherv", "ring").run(comm, sendbuf, recvbuf, counts, tag=tag)
    for rank, count in enumerate(counts):
        if rank and not count and sum(counts):
            recvbuf[0] = 255


def left_behind(comm: Any, buf: Any, *, root: int = 0, tag: int = 0) -> None:
    bcast(comm, buf, root=root, tag=tag)
    if comm.Get_rank() == root and comm.Get_size() > 1:
        comm.Isend(buf, (root + 1) % comm.Get_size(), tag + 1)


def polling(comm: Any, buf: Any, *, root: int = 0, tag: int = 0) -> None:
    while comm.Get_size() > 2 and not comm.Iprobe():
        pass
    bcast(comm, buf, root=root, tag=tag)


def raising(comm: Any, buf: Any, *, root: int = 0, tag: int = 0) -> None:
    bcast(comm, buf, root=root, tag=tag)
    if comm.Get_size() == 4:
        raise RuntimeError("four is too many")


def leaving(comm: Any, buf: Any, *, root: int = 0, tag: int = 0) -> None:
    bcast(comm, buf, root=root, tag=tag)
    if comm.Get_rank() == 2:
        raise SystemExit


def allreduce(comm: Any, sendbuf: Any, recvbuf: Any, *, op: Any, tag: int = 0, flip: bool = False) -> None:
    """Reduce to rank 0, in rank order or in the opposite order, and broadcast."""
    p, rank = comm.Get_size(), comm.Get_rank()
    if sendbuf is not None:
        recvbuf[0 : recvbuf.size] = sendbuf
    if rank:
        send(comm, recvbuf, 0, tag)
    for other in range(1, p if rank == 0 else 1):
        received = spare_memory(recvbuf, recvbuf.size)
        receive(comm, received, other, tag)
        if received.size and flip:
            op.Reduce_local(received, recvbuf)
        elif received.size:
            op.Reduce_local(recvbuf, received)
            recvbuf[0 : recvbuf.size] = received
    bcast(comm, recvbuf, tag=tag)


def to_one_and_back(case: Case) -> Iterator[Round]:
    for v in range(1, case.p if case.m else 1):
        yield [Transfer(v, 0, case.m, case.m)]
    yield from star(case)


def one_vector_each(case: Case, rank: int) -> int:
    return 0 if rank else (case.p - 1) * case.m


SUM = Algorithm("allreduce", "to_one", allreduce, to_one_and_back, one_vector_each, in_order=True)


def even_only(comm: Any, buf: Any, *, root: int = 0, tag: int = 0) -> None:
    if comm.Get_size() % 2:
        raise UnsupportedCaseError("an odd number")
    bcast(comm, buf, root=root, tag=tag)


def flipped(*args: Any, **options: Any) -> None:
    allreduce(*args, flip=True, **options)


def with_step(step: Any) -> Any:
    def run(*args: Any, **options: Any) -> None:
        allgather(*args, **options, step=step)

    return run


def bcast_with(**mistake: Any) -> Any:
    def run(*args: Any, **options: Any) -> None:
        bcast(*args, **{**options, **mistake})

    return run


def divided(case: Case) -> int:
    return 1 // (case.p - 3)


def odd(case: Case) -> str | None:
    return "p is odd" if case.p % 2 else None


GATHERV = replace(find("allgatherv", "ring"), name="own_ring")

MUTANTS = {
    "omits the last rank if p is not a power of two": Mutant(
        replace(STAR, run=bcast_with(leave_out=lambda v, p: p & (p - 1) and v == p - 1)), STAR, "result", 3
    ),
    "always uses root 0": Mutant(replace(STAR, run=bcast_with(wrong_root=0)), STAR, "result", 2),
    "claims one startup too many": Mutant(
        replace(RING, closed_time=lambda case, t_s, t_w: case.p * t_s + (case.p - 1) * case.m * t_w if case.m else 0),
        RING,
        "time",
        1,
    ),
    "sends a byte too many": Mutant(replace(RING, run=a_byte_more), RING, "bytes", 3),
    "serializes an exchange": Mutant(replace(RING, run=with_step(in_turn)), RING, "time", 2),
    "relies on buffering": Mutant(replace(RING, run=with_step(one_by_one)), RING, "deadlock", 2),
    "is wrong with empty blocks": Mutant(replace(GATHERV, run=no_empty_blocks), GATHERV, "result", 2),
    "changes what it sends": Mutant(replace(RING, run=touched), RING, "input", 2),
    "combines in the wrong order": Mutant(replace(SUM, run=flipped), SUM, "result", 2),
    "allocates memory that it does not claim": Mutant(replace(SUM, scratch=lambda case, rank: 0), SUM, "scratch", 2),
    "raises UnsupportedCaseError although fits accepts": Mutant(
        replace(STAR, run=even_only), replace(STAR, run=even_only, why_unsupported=odd), "fits", 1
    ),
    "runs although fits rejects": Mutant(replace(STAR, why_unsupported=odd), STAR, "fits", 1),
    "claims in_order but rejects noncommutative ops": Mutant(replace(SUM, why_unsupported=commutative_only), SUM, "fits", 1),
    "claims too few rounds": Mutant(
        replace(STAR, closed_rounds=lambda case: min(case.p - 1, 2) * (case.m > 0)), STAR, "rounds", 4
    ),
    "has a schedule with a rank that sends twice": Mutant(
        replace(STAR, schedule=lambda case: [[t for r in star(case) for t in r]]), STAR, "schedule", 3
    ),
    "has a claim that raises": Mutant(replace(STAR, closed_rounds=divided), STAR, "claims", 3),
    "leaves a message unreceived": Mutant(replace(STAR, run=left_behind), STAR, "unreceived", 2),
    "polls without end": Mutant(replace(STAR, run=polling), STAR, "livelock", 3),
    "raises": Mutant(replace(STAR, run=raising), STAR, "error", 4),
    "exits": Mutant(replace(STAR, run=leaving), STAR, "error", 3),
}
