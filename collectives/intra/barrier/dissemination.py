"""Barrier by dissemination: news of an arrival travels twice as far in every round.

In round k = 0 .. ceil(log2 p) - 1 rank r sends an empty message to r + 2^k and receives one from r - 2^k (mod p).
Whom it has heard of, itself included, is then the 2^(k+1) ranks up to r, and at last everybody.

    p = 4     start      k = 0      k = 1
    rank 0    0...       0..3       0123
    rank 1    .1..       01..       0123
    rank 2    ..2.       .12.       0123
    rank 3    ...3       ..23       0123

Rounds   ceil(log2 p)    Sent per rank   0 bytes    Scratch   none
Time     ceil(log2 p) t_s
Fits     any p
Best     always, in this model: no barrier has fewer rounds
Source   Hensgen, Finkel, Manber, Two algorithms for barrier synchronization, International Journal of Parallel
         Programming 17 (1988), doi:10.1007/BF01379320
"""

from __future__ import annotations

from collections.abc import Iterator

from collectives.catalogue.algorithm import Algorithm, Case
from collectives.catalogue.closed_forms import nothing, startups_alone
from collectives.catalogue.schedule import Round, Transfer
from collectives.tools.messages import TOKEN
from collectives.tools.numbers import ceil_log2
from collectives.tools.protocol import Comm


def barrier_dissemination(comm: Comm, *, tag: int = 0) -> None:
    """Return when every rank has called."""
    p, rank = comm.Get_size(), comm.Get_rank()
    for k in range(ceil_log2(p)):
        distance = 1 << k
        comm.Sendrecv(TOKEN, (rank + distance) % p, tag, TOKEN, (rank - distance) % p, tag)


def schedule(case: Case) -> Iterator[Round]:
    for k in range(ceil_log2(case.p)):
        yield [Transfer(r, (r + (1 << k)) % case.p, 0) for r in range(case.p)]


ALGORITHM = Algorithm(
    operation="barrier",
    name="dissemination",
    run=barrier_dissemination,
    schedule=schedule,
    closed_sent=nothing,
    **startups_alone(ceil_log2),
)
