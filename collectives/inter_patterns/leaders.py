"""Allgather between groups by leaders: every rank sends to rank 0 of the other group, which broadcasts in its group."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from collectives.catalogue.algorithm import Algorithm, Case, Claims
from collectives.catalogue.schedule import Seconds, message
from collectives.inter_patterns.groups import GroupPart, in_both_groups, parameter_of, scratch_in, sent_in, unsupported
from collectives.tools.blocks import Layout
from collectives.tools.messages import is_empty, send, wait_all
from collectives.tools.protocol import Buffer, Comm, Intercomm


def by_leaders(
    inter: Intercomm, local: Comm, sendbuf: Buffer, recvbuf: Buffer, layout: Layout, bcast: Algorithm, tag: int
) -> None:
    """Leave all blocks of the other group, which has the given layout, in `recvbuf` on every rank."""
    layout.check_size(recvbuf)
    if local.Get_rank() == 0:
        ranks = [rank for rank in range(layout.p) if layout.size(rank)]
        requests = [inter.Irecv(layout.block(recvbuf, rank), rank, tag) for rank in ranks]
        if not is_empty(sendbuf):
            requests.append(inter.Isend(sendbuf, 0, tag))
        wait_all(requests)
    else:
        send(inter, sendbuf, 0, tag)
    bcast.run(local, layout.block(recvbuf, 0, layout.p), root=0, tag=tag)


# Claims --------------------------------------------------------------------------------------------------------------


def leader_claims(defaults: Mapping[str, Any]) -> Claims:
    """The claims; `defaults` are the algorithm's parameters.

    The order in which a leader receives depends on timing, so there is no schedule.
    """
    return Claims(
        schedule=None,
        why_unsupported=lambda case: unsupported(parts(defaults, case)),
        scratch=lambda case, rank: scratch_in(parts(defaults, case), rank),
        closed_rounds=partial(known_rounds, defaults),
        closed_sent=partial(bytes_sent, defaults),
        closed_time=partial(known_time, defaults),
    )


def parts(defaults: Mapping[str, Any], case: Case) -> list[GroupPart]:
    """The broadcasts of A and of B."""
    bcast = parameter_of(case, defaults, "bcast")
    total_a, total_b = (sum(sizes) for sizes in _sizes(case))
    return in_both_groups(bcast, case, (total_b, total_a))


def bytes_sent(defaults: Mapping[str, Any], case: Case, rank: int) -> int | None:
    """Bytes of the rank's block, plus the bytes of the broadcast."""
    a, b = _sizes(case)
    within = sent_in(parts(defaults, case), rank)
    return None if within is None else within + [*a, *b][rank]


def known_time(defaults: Mapping[str, Any], case: Case, t_s: Seconds, t_w: Seconds) -> Seconds | None:
    """The time, if it does not depend on the order in which the leaders receive blocks that are ready at the same time.

    A leader begins its broadcast when it has all blocks. The other ranks of its group join when their own block is sent,
    at the latest when the other leader has all blocks. All ranks of the group of the later leader are therefore ready when
    it begins, and its group finishes last if its broadcast is not the shorter one.
    """
    sizes_a, sizes_b = _sizes(case)
    begin_a, begin_b = (sum(message(nbytes, t_s, t_w) for nbytes in sizes) for sizes in (sizes_b, sizes_a))
    bcast_a, bcast_b = (bcast.time(group, t_s, t_w) for bcast, group, _ in parts(defaults, case))
    if bcast_a is None or bcast_b is None:
        return None
    if begin_a >= begin_b and bcast_a >= bcast_b:
        return begin_a + bcast_a
    return begin_b + bcast_b if begin_b >= begin_a and bcast_b >= bcast_a else None


def known_rounds(defaults: Mapping[str, Any], case: Case) -> int | None:
    """`known_time` with messages that cost 1 each."""
    rounds = known_time(defaults, case, 1, 0)
    return None if rounds is None else int(rounds)


def _sizes(case: Case) -> tuple[list[int], list[int]]:
    a, b = ([g.layout.size(rank) * g.itemsize for rank in range(g.p)] for g in case.groups)
    return a, b
