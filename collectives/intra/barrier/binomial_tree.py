"""Barrier by a binomial tree: arrivals move up the tree to rank 0, the release moves down the same tree.

Rank r receives an empty message from each child, smallest subtree first, and sends one to its parent (r without its
lowest bit). Then it waits for a message from its parent and forwards it to its children, largest subtree first.

    p = 4     up             down
    rank 0    <1     <2      >2     >1
    rank 1    >0                    <0
    rank 2    <3     >0      <0     >3
    rank 3    >2                    <2

Rounds   2 ceil(log2 p)    Sent per rank   0 bytes    Scratch   none
Time     2 ceil(log2 p) t_s
Fits     any p
Best     few messages: 2 (p-1) in total, where dissemination sends p ceil(log2 p)
Source   Mellor-Crummey, Scott, Algorithms for scalable synchronization on shared-memory multiprocessors, ACM
         Transactions on Computer Systems 9 (1991), doi:10.1145/103727.103729 (tree barriers; here the tree is binomial)
"""

from __future__ import annotations

from collections.abc import Iterator

from collectives.catalogue.algorithm import Case
from collectives.catalogue.closed_forms import empty_messages, no_bytes
from collectives.catalogue.declaration import algorithm
from collectives.catalogue.schedule import Round, Transfer
from collectives.patterns.trees import children, level, parent
from collectives.tools.messages import TOKEN
from collectives.tools.numbers import ceil_log2
from collectives.tools.protocol import Comm


def schedule(case: Case) -> Iterator[Round]:
    levels = range(ceil_log2(case.p))
    for k in levels:
        yield [Transfer(r, parent(r), 0) for r in level(k, case.p)]
    for k in reversed(levels):
        yield [Transfer(parent(r), r, 0) for r in level(k, case.p)]


@algorithm(schedule=schedule, closed_sent=no_bytes, closed_time=empty_messages(lambda p: 2 * ceil_log2(p)))
def barrier_binomial_tree(comm: Comm, *, tag: int = 0) -> None:
    """Return when every rank has entered the barrier."""
    p, rank = comm.Get_size(), comm.Get_rank()
    below = children(rank, p)
    for child in below:
        comm.Recv(TOKEN, child, tag)
    if rank > 0:
        comm.Send(TOKEN, parent(rank), tag)
        comm.Recv(TOKEN, parent(rank), tag)
    for child in reversed(below):
        comm.Send(TOKEN, child, tag)
