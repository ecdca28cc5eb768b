"""Barrier by dissemination: the number of ranks that a rank knows to have arrived doubles in every round.

In round k = 0 .. ceil(log2 p) - 1 rank r sends an empty message to r + 2^k and receives one from r - 2^k (mod p). After
round k rank r knows that the 2^(k+1) ranks up to r have arrived. After the last round it knows that all ranks have arrived.

    p = 4     start      k = 0      k = 1
    rank 0    0...       0..3       0123
    rank 1    .1..       01..       0123
    rank 2    ..2.       .12.       0123
    rank 3    ...3       ..23       0123

Rounds   ceil(log2 p)    Sent per rank   0 bytes    Scratch   none
Time     ceil(log2 p) t_s
Fits     any p
Best     all cases, in this model: no barrier has fewer rounds
Source   Hensgen, Finkel, Manber, Two algorithms for barrier synchronization, International Journal of Parallel
         Programming 17 (1988), doi:10.1007/BF01379320
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from collectives.catalogue.algorithm import Case
from collectives.catalogue.array_round import ArrayRound
from collectives.catalogue.closed_forms import empty_messages, no_bytes
from collectives.catalogue.declaration import algorithm
from collectives.catalogue.schedule import Round
from collectives.tools.messages import TOKEN
from collectives.tools.numbers import ceil_log2
from collectives.tools.protocol import Comm


def schedule(case: Case) -> Iterator[Round]:
    ranks = np.arange(case.p)
    for k in range(ceil_log2(case.p)):
        yield ArrayRound(ranks, (ranks + (1 << k)) % case.p, 0)


@algorithm(schedule=schedule, closed_sent=no_bytes, closed_time=empty_messages(ceil_log2))
def barrier_dissemination(comm: Comm, *, tag: int = 0) -> None:
    """Return when every rank has entered the barrier."""
    p, rank = comm.Get_size(), comm.Get_rank()
    for k in range(ceil_log2(p)):
        distance = 1 << k
        comm.Sendrecv(TOKEN, (rank + distance) % p, tag, TOKEN, (rank - distance) % p, tag)
