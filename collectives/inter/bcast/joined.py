"""Broadcast between groups by one broadcast of the root and the other group together.

The root and the q leaves are a communicator of q + 1 ranks (`between.joined`), and `bcast` runs on it. If that one cuts its
message into segments, they are of sqrt(m S / (ceil(log2 (q+1)) - 1)) bytes, where S = `startup_bytes` is t_s / t_w: the
best for the circulant graph. Sends wait for their receives: buffered ones overtake each other, and take up to half as long
again. The ranks beside the root (PROC_NULL) send nothing, receive nothing and return at once.

    p = 4 leaves b_0 .. b_3, root a_1 (a_0 and a_2 have no part), circulant, two segments
              start    1st      2nd      3rd      4th
    a_1       01       01       01       01       01
    b_0       ..       ..       .1       01       01
    b_1       ..       ..       ..       .1       01
    b_2       ..       0.       0.       0.       01
    b_3       ..       ..       0.       0.       01

Rounds   bcast's on q+1 ranks    Sent per rank   bcast's, A nothing but the root    Scratch   bcast's
Time     bcast's; circulant about m t_w + h t_s + 2 sqrt(h m t_w t_s) with h = ceil(log2 (q+1)) - 1
Fits     any p and q; what `bcast` fits; startup_bytes > 0
Best     always, in this model: within 1.5 of the lower bound m t_w once m is 20 h t_s / t_w, and no more start-ups than
         a binomial tree for short messages
Source   ours; circulant: Träff, Optimal Broadcast Schedules in Logarithmic Time, 2024, arXiv:2407.18004
"""

from __future__ import annotations

from typing import Any

from collectives.between.groups import Part, Placed
from collectives.between.joined import (
    STARTUP_BYTES,
    Joined,
    in_a_tree,
    joined_claims,
    numbers,
    positive_startups_only,
    segment_bytes,
)
from collectives.between.rooted import check_root, sides
from collectives.catalogue.algorithm import Algorithm, Case, Claims
from collectives.intra.bcast import circulant
from collectives.tools.blocks import required
from collectives.tools.protocol import Buffer, Comm, Intercomm
from collectives.tools.unbuffered import Unbuffered

BCAST = circulant.ALGORITHM


def bcast_joined(
    inter: Intercomm,
    local: Comm,
    buf: Buffer | None,
    *,
    root: Part | int,
    bcast: Algorithm = BCAST,
    startup_bytes: int = STARTUP_BYTES,
    tag: int = 0,
) -> None:
    """Leave the root's `buf` in the `buf` of everybody in the other group."""
    check_root(inter, local, root)
    p, q = sides(inter, root)
    ALGORITHM.check(Case(p, q=q, parameters={"bcast": bcast, "startup_bytes": startup_bytes}))
    if root is Part.PROC_NULL:
        return
    buf = required(buf, "the root of a bcast" if isinstance(root, Part) else "a rank that receives a broadcast")
    comm = Unbuffered(Joined(inter, local, root))
    bcast.run(comm, buf, root=q, tag=tag, **_segments(bcast, buf.nbytes, q, startup_bytes))


def _segments(bcast: Algorithm, nbytes: int, leaves: int, startup_bytes: int) -> dict[str, Any]:
    """How a broadcast that cuts its message is to cut it."""
    if "segment_bytes" not in bcast.parameters:
        return {}
    return {"segment_bytes": segment_bytes(nbytes, in_a_tree(leaves), startup_bytes)}


def _part(case: Case) -> Placed:
    bcast, startup_bytes = (ALGORITHM.parameter(case, name) for name in ("bcast", "startup_bytes"))
    cut = _segments(bcast, case.m, case.q, startup_bytes)
    return bcast, Case(case.q + 1, case.m, root=case.q, itemsize=case.itemsize, parameters=cut), numbers(case)


CLAIMS = joined_claims(_part)


def fits(case: Case) -> str | None:
    return positive_startups_only(case) or CLAIMS["fits"](case)


ALGORITHM = Algorithm(
    operation="bcast",
    name="joined",
    kind="inter",
    run=bcast_joined,
    parameters={"bcast": BCAST, "startup_bytes": STARTUP_BYTES},
    **(CLAIMS | Claims(fits=fits)),
)
