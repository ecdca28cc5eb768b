"""Broadcast by a binomial tree: in every round, each rank that has the message sends it to another rank.

With v = rank - root (mod p), rank v receives from v without its lowest bit 2^k, then sends to v + 2^(k-1), ..., v + 2,
v + 1 where these exist; the root starts with the highest power of two below p.

    p = 4     start   1st     2nd
    v = 0     x       x       x
    v = 1     .       .       x
    v = 2     .       x       x
    v = 3     .       .       x

Rounds   ceil(log2 p)    Sent per rank   m bytes to each child    Scratch   none
Time     ceil(log2 p) (t_s + m t_w)
Fits     any p
Best     short messages: no broadcast has fewer rounds
Source   Johnsson, Ho, Optimum broadcasting and personalized communication in hypercubes, IEEE Transactions on
         Computers 38 (1989), doi:10.1109/12.29465
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from collectives.catalogue.algorithm import Case
from collectives.catalogue.array_round import ArrayRound
from collectives.catalogue.closed_forms import one_message_per_round
from collectives.catalogue.declaration import algorithm
from collectives.catalogue.schedule import Round
from collectives.patterns.trees import children, level, parent
from collectives.tools.messages import receive, send
from collectives.tools.numbers import ceil_log2
from collectives.tools.protocol import Buffer, Comm


def schedule(case: Case) -> Iterator[Round]:
    p, root = case.p, case.root
    if case.m:
        for k in reversed(range(ceil_log2(p))):
            v = np.array(level(k, p))
            yield ArrayRound((root + v - (1 << k)) % p, (root + v) % p, case.m)


def closed_sent(case: Case, rank: int) -> int:
    return len(children((rank - case.root) % case.p, case.p)) * case.m


@algorithm(schedule=schedule, closed_sent=closed_sent, closed_time=one_message_per_round(ceil_log2))
def bcast_binomial(comm: Comm, buf: Buffer, *, root: int = 0, tag: int = 0) -> None:
    """Copy the root's `buf` to `buf` on every rank."""
    p, rank = comm.Get_size(), comm.Get_rank()
    v = (rank - root) % p
    if v > 0:
        receive(comm, buf, (root + parent(v)) % p, tag)
    for child in reversed(children(v, p)):
        send(comm, buf, (root + child) % p, tag)
