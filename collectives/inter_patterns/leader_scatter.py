"""Reduce in both groups, then each leader scatters to the other group: shared code of reduce_scatter(_block).

The leaders, rank 0 of each group, exchange the block sizes of their groups before the reduce. After the reduce they
broadcast the total size of the other group's blocks in their group. If it differs from the total of its own blocks, every
rank raises ValueError, so no rank waits for a block that is never sent. Then each leader sends its group's result to the
ranks of the other group, block by block.
"""

from __future__ import annotations

from functools import partial
from typing import Any, Final

import numpy as np

from collectives.catalogue.algorithm import Algorithm, Case, Claims
from collectives.catalogue.family import chosen
from collectives.catalogue.schedule import OTHER_DATA, LinearPhase, Seconds, Transfer, message, without_empty
from collectives.inter_patterns.groups import (
    GroupPart,
    ReduceScatterCall,
    Step,
    group_and_rank,
    in_both_groups,
    part_claims,
)
from collectives.inter_patterns.leaders_exchange import total_bytes, unequal_totals
from collectives.intra.bcast.binomial import bcast_binomial
from collectives.intra.reduce.binomial import reduce_binomial
from collectives.tools.blocks import Layout, spare_memory
from collectives.tools.messages import exchange, receive, wait_all

COUNT: Final[Any] = np.empty(0, np.int64)


def reduce_and_scatter_across(
    call: ReduceScatterCall, *, reduce: Algorithm = reduce_binomial, bcast: Algorithm = bcast_binomial
) -> None:
    """Leave the rank's block of the other group's result in `recvbuf`.

    `counts` are the block sizes of this group, which a leader sends; None if they are equal, so that it sends only one.
    """
    inter, local, sendbuf, recvbuf, counts, op, tag = call
    leads, q = local.Get_rank() == 0, inter.Get_remote_size()
    sizes, others = ([sendbuf.size // local.Get_size()], 1) if counts is None else (counts, q)
    whole, outgoing = None, Layout.of(())
    other_total = spare_memory(COUNT, 1)
    if leads:
        mine, theirs = spare_memory(COUNT, len(sizes)), spare_memory(COUNT, others)
        mine[:] = sizes
        exchange(inter, mine, 0, theirs, 0, tag)
        outgoing = Layout.of([theirs[0]] * q if counts is None else theirs)
        other_total[0] = outgoing.size(0, q)
        whole = spare_memory(sendbuf, sendbuf.size)
    reduce.run(local, sendbuf, whole, op=op, root=0, tag=tag)
    bcast.run(local, other_total, root=0, tag=tag)
    if other_total[0] != sendbuf.size:
        raise ValueError(
            f"the operand has {sendbuf.size} elements, but the blocks of the other group have {other_total[0]} in total: "
            "both must be equal"
        )
    if whole is None:
        receive(inter, recvbuf, 0, tag)
        return
    ranks = [rank for rank in range(q) if outgoing.size(rank)]
    requests = [inter.Irecv(recvbuf, 0, tag)] if recvbuf.size else []
    wait_all([*requests, *(inter.Isend(outgoing.block(whole, rank), rank, tag) for rank in ranks)])


# Claims --------------------------------------------------------------------------------------------------------------


def leader_scatter_claims(*, all_sizes: bool) -> Claims:
    """The claims; `all_sizes` is whether the leaders exchange all block sizes, or one."""
    claims = part_claims(
        partial(_steps, all_sizes),
        sent=_bytes_scattered,
        held=partial(bytes_held, all_sizes),
        why_unsupported=unequal_totals,
    )
    return claims | Claims(closed_time=partial(even_time, all_sizes), closed_combined=partial(even_combined, all_sizes))


def parts(case: Case) -> list[GroupPart]:
    """The two reduces and the two broadcasts of total sizes."""
    reduce, bcast = chosen(reduce_and_scatter_across, case).values()
    reduces = in_both_groups(reduce, case, total_bytes(case), commutative=case.commutative)
    return [*reduces, *in_both_groups(bcast, case, (8, 8), itemsize=8)]


def _steps(all_sizes: bool, case: Case) -> list[Step]:
    """Block sizes, reduces, broadcasts of total sizes, and two scatters at once."""
    p, (to_b, to_a) = case.p, _sizes_sent(all_sizes, case)
    sizes = [Transfer(0, p, 8 * to_b, start=OTHER_DATA), Transfer(p, 0, 8 * to_a, start=OTHER_DATA)]
    return [sizes, *parts(case), partial(_scatters, case)]


def _scatters(case: Case) -> list[LinearPhase]:
    a, b = (_blocks(g) for g in case.groups)
    both = [*(Transfer(0, case.p + j, m) for j, m in enumerate(b)), *(Transfer(case.p, i, m) for i, m in enumerate(a))]
    return [LinearPhase(without_empty(both))]


def _bytes_scattered(case: Case, rank: int) -> int:
    return 0 if group_and_rank(case, rank)[1] else total_bytes(case)[0]


def bytes_held(all_sizes: bool, case: Case, rank: int) -> int:
    """The other group's total; a leader also holds block sizes and the whole result."""
    is_leader = rank in (0, case.p)
    return 8 + (8 * sum(_sizes_sent(all_sizes, case)) + total_bytes(case)[0] if is_leader else 0)


def even_time(all_sizes: bool, case: Case, t_s: Seconds, t_w: Seconds) -> Seconds | None:
    """Time for two groups of equal size with binomial trees: the leaders always finish last, and both do the same."""
    names = [part.name for part in chosen(reduce_and_scatter_across, case).values()]
    if case.p != case.q or names != ["binomial", "binomial"]:
        return None
    (reduce, own, _), _, (bcast, word, _), _ = parts(case)
    trees = [reduce.time(own, t_s, t_w), bcast.time(word, t_s, t_w)]
    scatters = max(sum(message(nbytes, t_s, t_w) for nbytes in _blocks(g)) for g in case.groups)
    return (
        message(8 * _sizes_sent(all_sizes, case)[0], t_s, t_w) + sum(time for time in trees if time is not None) + scatters
    )


def even_combined(all_sizes: bool, case: Case) -> int | None:
    """Bytes combined on the path of `even_time`."""
    if even_time(all_sizes, case, 1, 1) is None:
        return None
    reduce, own, _ = parts(case)[0]
    return reduce.closed_combined(own)


def _blocks(group: Case) -> list[int]:
    return [group.layout.size(rank) * group.itemsize for rank in range(group.p)]


def _sizes_sent(all_sizes: bool, case: Case) -> tuple[int, int]:
    """Number of block sizes that A's leader sends, and B's."""
    return (case.p, case.q) if all_sizes else (1, 1)
