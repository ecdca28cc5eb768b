"""Bcast by k-nomial tree: a rank that has the message sends it to k-1 others, in smaller and smaller parts of the group.

Places are ranks relative to the root. For w = k^j, from the largest below p down to 1, a place that is a multiple of k w
sends to the places w, 2 w, ... (k-1) w above it, one after the other.

    p = 4, k = 4    start    1st    2nd    3rd
    rank 0          x        x      x      x
    rank 1          .        x      x      x
    rank 2          .        .      x      x
    rank 3          .        .      .      x

Rounds   at most (k-1) ceil(log_k p)    Sent per rank   m to each child    Scratch   none
Time     at most (k-1) ceil(log_k p) (t_s + m t_w); the exact time is computed from the schedule
Fits     any p; k > 1
Best     short messages where a rank can send several messages at once; with one port, k = 2 has the fewest rounds
Source   folklore
"""

from __future__ import annotations

from collections.abc import Iterator

from collectives import Case, algorithm
from collectives.catalogue.schedule import Round, Transfer, without_empty
from collectives.tools.messages import receive, send
from collectives.tools.protocol import Buffer, Comm


def widths(p: int, k: int) -> list[int]:
    """Powers of k below p, largest first."""
    powers = [1]
    while powers[-1] * k < p:
        powers.append(powers[-1] * k)
    return powers[::-1]


def schedule(case: Case) -> Iterator[Round]:
    p, k = case.p, bcast_my_knomial.parameter(case, "k")
    for w in widths(p, k):
        for above in range(w, k * w, w):
            pairs = [(place, place + above) for place in range(0, p, k * w) if place + above < p]
            yield without_empty([Transfer((case.root + a) % p, (case.root + b) % p, case.m) for a, b in pairs])


def why_unsupported(case: Case) -> str | None:
    k = case.parameters.get("k", 4)
    return None if k > 1 else f"k = {k} is less than 2"


@algorithm(schedule=schedule, why_unsupported=why_unsupported)
def bcast_my_knomial(comm: Comm, buf: Buffer, *, root: int = 0, k: int = 4, tag: int = 0) -> None:
    """Broadcast the root's message."""
    p = comm.Get_size()
    place = (comm.Get_rank() - root) % p
    for w in widths(p, k):
        if place % (k * w) == 0:
            for child in range(place + w, min(p, place + k * w), w):
                send(comm, buf, (root + child) % p, tag)
        elif place % w == 0:
            receive(comm, buf, (root + place - place % (k * w)) % p, tag)
