"""Broadcast between groups by one broadcast of the root and the other group together.

The root and the q leaves form a communicator of q + 1 ranks (`inter_patterns.joined`), and `bcast` runs on it. If that
broadcast is segmented, its segments have sqrt(m S / (ceil(log2 (q+1)) - 1)) bytes, where S = `startup_bytes` is t_s /
t_w: the best size for the circulant graph. All sends are synchronous: with buffered sends, messages overtake each
other, and the broadcast takes up to 1.5 times as long. The other ranks of the root's group pass PROC_NULL and return
immediately.

    p = 4, q = 4: leaves b_0 .. b_3, root a_1 (a_0, a_2, a_3 idle), circulant, two segments
              start    1st      2nd      3rd      4th
    a_1       01       01       01       01       01
    b_0       ..       ..       .1       01       01
    b_1       ..       ..       ..       .1       01
    b_2       ..       0.       0.       0.       01
    b_3       ..       ..       0.       0.       01

Rounds   bcast on q+1 ranks    Sent per rank   bcast; in A only the root    Scratch   bcast
Time     that of bcast; circulant about m t_w + h t_s + 2 sqrt(h m t_w t_s) with h = ceil(log2 (q+1)) - 1
Fits     any p and q; cases that `bcast` supports; startup_bytes > 0
Best     all cases, in this model: at most 1.5 times the lower bound m t_w if m >= 20 h t_s / t_w, and no more
         start-ups than a binomial tree for short messages
Source   fakempi; circulant: Träff, Optimal Broadcast Schedules in Logarithmic Time, 2024, arXiv:2407.18004
"""

from __future__ import annotations

from typing import Any

from collectives.catalogue.algorithm import Algorithm, Case
from collectives.catalogue.declaration import algorithm
from collectives.inter_patterns.groups import GroupPart, RootRole
from collectives.inter_patterns.joined import (
    STARTUP_BYTES,
    Joined,
    joined_claims,
    positive_startups_only,
    process_numbers,
    segment_bytes,
    tree_hops,
)
from collectives.inter_patterns.rooted import check_root, group_sizes
from collectives.intra.bcast.circulant import bcast_circulant
from collectives.tools.blocks import required
from collectives.tools.protocol import Buffer, Comm, Intercomm
from collectives.tools.unbuffered import SynchronousComm


def _segments(bcast: Algorithm, nbytes: int, leaves: int, startup_bytes: int) -> dict[str, Any]:
    """Return the parameter `segment_bytes` of a segmented broadcast; no parameters for other broadcasts."""
    if "segment_bytes" not in bcast.parameters:
        return {}
    return {"segment_bytes": segment_bytes(nbytes, tree_hops(leaves), startup_bytes)}


def _part(case: Case) -> GroupPart:
    bcast, startup_bytes = (bcast_joined.parameter(case, name) for name in ("bcast", "startup_bytes"))
    cut = _segments(bcast, case.m, case.q, startup_bytes)
    return bcast, Case(case.q + 1, case.m, root=case.q, itemsize=case.itemsize, parameters=cut), process_numbers(case)


@algorithm(**joined_claims(_part, positive_startups_only, synchronous=True))
def bcast_joined(
    inter: Intercomm,
    local: Comm,
    buf: Buffer | None,
    *,
    root: RootRole | int,
    bcast: Algorithm = bcast_circulant,
    startup_bytes: int = STARTUP_BYTES,
    tag: int = 0,
) -> None:
    """Copy the root's `buf` to `buf` on every rank of the other group."""
    check_root(inter, local, root)
    _p, q = group_sizes(inter, root)
    if root is RootRole.PROC_NULL:
        return
    buf = required(buf, "the root of a bcast" if isinstance(root, RootRole) else "a rank that receives a broadcast")
    comm = SynchronousComm(Joined(inter, local, root))
    bcast.run(comm, buf, root=q, tag=tag, **_segments(bcast, buf.nbytes, q, startup_bytes))
