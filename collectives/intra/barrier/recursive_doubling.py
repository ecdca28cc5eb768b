"""Barrier by recursive doubling: pairs synchronize, then pairs of pairs, and so on.

Let d = floor(log2 p). First, each rank r >= 2^d sends an empty message to rank r - 2^d. In round k = 0 .. d-1 each rank
below 2^d exchanges empty messages with the rank whose number differs in bit k. At the end, each rank r >= 2^d receives an
empty message from rank r - 2^d, which releases it.

    p = 4     start      k = 0      k = 1         p = 5: rank 4 reports to 0 first,
    rank 0    0...       01..       0123                 and is finally released by 0
    rank 1    .1..       01..       0123
    rank 2    ..2.       ..23       0123
    rank 3    ...3       ..23       0123

Rounds   log2 p, or floor(log2 p) + 2    Sent per rank   0 bytes    Scratch   none
Time     log2 p t_s; (floor(log2 p) + 2) t_s if p is not a power of two
Fits     any p
Best     p a power of two, with symmetric partners; otherwise dissemination saves a round
Source   Thakur, Rabenseifner, Gropp, Optimization of Collective Communication Operations in MPICH, International
         Journal of High Performance Computing Applications 19 (2005), doi:10.1177/1094342005051521
"""

from __future__ import annotations

from collections.abc import Iterator

from collectives.catalogue.algorithm import Case
from collectives.catalogue.closed_forms import empty_messages, no_bytes
from collectives.catalogue.declaration import algorithm
from collectives.catalogue.schedule import Round, Transfer
from collectives.tools.messages import TOKEN
from collectives.tools.numbers import floor_log2, is_power_of_two
from collectives.tools.protocol import Comm


def schedule(case: Case) -> Iterator[Round]:
    core = 1 << floor_log2(case.p)
    yield [Transfer(r, r - core, 0) for r in range(core, case.p)]
    for k in range(floor_log2(case.p)):
        yield [Transfer(r, r ^ (1 << k), 0) for r in range(core)]
    yield [Transfer(r - core, r, 0) for r in range(core, case.p)]


def rounds(p: int) -> int:
    return floor_log2(p) + (0 if is_power_of_two(p) else 2)


@algorithm(schedule=schedule, closed_sent=no_bytes, closed_time=empty_messages(rounds))
def barrier_recursive_doubling(comm: Comm, *, tag: int = 0) -> None:
    """Return when every rank has entered the barrier."""
    p, rank = comm.Get_size(), comm.Get_rank()
    d = floor_log2(p)
    core = 1 << d
    if rank >= core:
        comm.Send(TOKEN, rank - core, tag)
        comm.Recv(TOKEN, rank - core, tag)
        return
    if rank + core < p:
        comm.Recv(TOKEN, rank + core, tag)
    for k in range(d):
        partner = rank ^ (1 << k)
        comm.Sendrecv(TOKEN, partner, tag, TOKEN, partner, tag)
    if rank + core < p:
        comm.Send(TOKEN, rank + core, tag)
