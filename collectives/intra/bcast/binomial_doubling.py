"""Broadcast by a binomial tree with doubling distances: each rank that has the message sends to near ranks first.

With v = rank - root (mod p), in round k = 0 .. ceil(log2 p) - 1 the ranks v < 2^k send the message to v + 2^k where these
exist. So rank v receives from v without its highest bit, then sends to v + 2^k, v + 2^(k+1), ..., where 2^k is the lowest
power of two above v. In binomial the distances halve, and a subtree is a run of ranks; here it is not.

    p = 4     start   k = 0   k = 1
    v = 0     x       x       x
    v = 1     .       x       x
    v = 2     .       .       x
    v = 3     .       .       x

Rounds   ceil(log2 p)    Sent per rank   m bytes to each child    Scratch   none
Time     ceil(log2 p) (t_s + m t_w)
Fits     any p
Best     short messages, as binomial, which sends fewer messages between nodes of 2^j consecutive ranks (root 0)
Source   Open MPI, ompi/mca/coll/base/coll_base_topo.c: build_bmtree, used by bcast_intra_binomial; the two orders are
         compared by De Sensi et al., Bine Trees, SC 2025, arXiv:2508.17311
"""

from __future__ import annotations

from collections.abc import Iterator

from collectives.catalogue.algorithm import Case
from collectives.catalogue.closed_forms import one_message_per_round
from collectives.catalogue.declaration import algorithm
from collectives.catalogue.schedule import Round, Transfer
from collectives.tools.messages import receive, send
from collectives.tools.numbers import ceil_log2
from collectives.tools.protocol import Buffer, Comm


def parent(v: int) -> int:
    """The parent of relative rank v > 0: v without its highest bit.

    >>> [parent(v) for v in range(1, 8)]
    [0, 0, 1, 0, 1, 2, 3]
    """
    return v - (1 << v.bit_length() - 1)


def children(v: int, p: int) -> list[int]:
    """The children of relative rank v, the nearest first.

    >>> children(0, 6), children(1, 6), children(2, 6)
    ([1, 2, 4], [3, 5], [])
    """
    return [v + (1 << k) for k in range(v.bit_length(), ceil_log2(p)) if v + (1 << k) < p]


def schedule(case: Case) -> Iterator[Round]:
    p, root = case.p, case.root
    for k in range(ceil_log2(p) if case.m else 0):
        reached = range(1 << k, min(2 << k, p))
        yield [Transfer((root + parent(v)) % p, (root + v) % p, case.m) for v in reached]


def closed_sent(case: Case, rank: int) -> int:
    return len(children((rank - case.root) % case.p, case.p)) * case.m


@algorithm(schedule=schedule, closed_sent=closed_sent, closed_time=one_message_per_round(ceil_log2))
def bcast_binomial_doubling(comm: Comm, buf: Buffer, *, root: int = 0, tag: int = 0) -> None:
    """Copy the root's `buf` to `buf` on every rank."""
    p, rank = comm.Get_size(), comm.Get_rank()
    v = (rank - root) % p
    if v > 0:
        receive(comm, buf, (root + parent(v)) % p, tag)
    for child in children(v, p):
        send(comm, buf, (root + child) % p, tag)
