"""Allgather between groups by leaders: everybody sends to the other group's rank 0, which broadcasts in its own."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from collectives.between.groups import Placed, misfit, numbers, scratch_in, sent_in, setting
from collectives.catalogue.algorithm import Algorithm, Case, Claims
from collectives.catalogue.schedule import Seconds, message
from collectives.tools.blocks import Layout
from collectives.tools.messages import is_empty, send, wait_all
from collectives.tools.protocol import Buffer, Comm, Intercomm


def by_leaders(
    inter: Intercomm, local: Comm, sendbuf: Buffer, recvbuf: Buffer, layout: Layout, bcast: Algorithm, tag: int
) -> None:
    """Leave all blocks of the other group, which has the given layout, in everybody's `recvbuf`."""
    layout.check_room(recvbuf)
    if local.Get_rank() == 0:
        ranks = [rank for rank in range(layout.p) if layout.size(rank)]
        requests = [inter.Irecv(layout.block(recvbuf, rank), rank, tag) for rank in ranks]
        if not is_empty(sendbuf):
            requests.append(inter.Isend(sendbuf, 0, tag))
        wait_all(requests)
    else:
        send(inter, sendbuf, 0, tag)
    bcast.run(local, layout.block(recvbuf, 0, layout.p), root=0, tag=tag)


# On paper ------------------------------------------------------------------------------------------------------------


def leader_claims(defaults: Mapping[str, Any]) -> Claims:
    """The claims; `defaults` are the algorithm's parameters. Who is served when depends on timing: no schedule."""
    return Claims(
        schedule=None,
        fits=lambda case: misfit(parts(defaults, case)),
        scratch=lambda case, rank: scratch_in(parts(defaults, case), rank),
        closed_rounds=partial(known_rounds, defaults),
        closed_sent=partial(bytes_sent, defaults),
        closed_time=partial(known_time, defaults),
    )


def parts(defaults: Mapping[str, Any], case: Case) -> list[Placed]:
    """The broadcasts of A and of B."""
    bcast = setting(case, defaults, "bcast")
    of_a, of_b = (sum(sizes) for sizes in _sizes(case))
    in_a, in_b = numbers(case)
    return [
        (bcast, Case(case.p, of_b, itemsize=case.itemsize), in_a),
        (bcast, Case(case.q, of_a, itemsize=case.itemsize), in_b),
    ]


def bytes_sent(defaults: Mapping[str, Any], case: Case, rank: int) -> int | None:
    """The own block, and what the broadcast sends."""
    a, b = _sizes(case)
    within = sent_in(parts(defaults, case), rank)
    return None if within is None else within + [*a, *b][rank]


def known_time(defaults: Mapping[str, Any], case: Case, t_s: Seconds, t_w: Seconds) -> Seconds | None:
    """The time, where it does not depend on the order in which the leaders take in blocks that are ready together.

    A leader begins its broadcast when it has all blocks, the others of its group join it when their own block is gone,
    at the latest when the other leader has all. So the later leader finds everybody there, and its group is done last
    if its broadcast is not the shorter one.
    """
    to_leader = (sum(message(nbytes, t_s, t_w) for nbytes in sizes) for sizes in reversed(_sizes(case)))
    both = parts(defaults, case)
    own, other = ((all_in, part[0].time(part[1], t_s, t_w)) for all_in, part in zip(to_leader, both, strict=True))
    if own[1] is None or other[1] is None:
        return None
    if own[0] >= other[0] and own[1] >= other[1]:
        return own[0] + own[1]
    return other[0] + other[1] if other[0] >= own[0] and other[1] >= own[1] else None


def known_rounds(defaults: Mapping[str, Any], case: Case) -> int | None:
    """The same for messages that cost 1 each."""
    rounds = known_time(defaults, case, 1, 0)
    return None if rounds is None else int(rounds)


def _sizes(case: Case) -> tuple[list[int], list[int]]:
    a, b = ([g.layout.size(rank) * g.itemsize for rank in range(g.p)] for g in case.groups)
    return a, b
