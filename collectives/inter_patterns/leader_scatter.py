"""Reduce in both groups, then each leader scatters to the other group: shared code of reduce_scatter(_block).

The leaders, rank 0 of each group, exchange the block sizes of their groups before the reduce. After the reduce they
broadcast the total size of the other group's blocks in their group. If it differs from the total of its own blocks, every
rank raises ValueError, so no rank waits for a block that is never sent. Then each leader sends its group's result to the
ranks of the other group, block by block.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Final

import numpy as np

from collectives.catalogue.algorithm import Algorithm, Case, Claims
from collectives.catalogue.schedule import OTHER_DATA, Rounds, Seconds, Served, Transfer, message
from collectives.inter_patterns.groups import (
    GroupPart,
    concurrent,
    group_and_rank,
    parameter_of,
    process_numbers,
    scratch_in,
    sent_in,
    sequential,
    unsupported,
)
from collectives.tools.blocks import Layout, scratch
from collectives.tools.messages import exchange, receive, wait_all
from collectives.tools.protocol import Buffer, Comm, Intercomm, Op

COUNT: Final[Any] = np.empty(0, np.int64)


def reduce_and_scatter_across(
    inter: Intercomm,
    local: Comm,
    sendbuf: Buffer,
    recvbuf: Buffer,
    counts: Sequence[int],
    others: int,
    op: Op,
    reduce: Algorithm,
    bcast: Algorithm,
    tag: int,
) -> None:
    """Leave the rank's block of the other group's result in `recvbuf`.

    `counts` are the block sizes of this group, which a leader sends, and `others` is the number of sizes that it
    receives: one for each rank, or a single one if all are equal.
    """
    leads, q = local.Get_rank() == 0, inter.Get_remote_size()
    whole, outgoing = None, Layout.of(())
    other_total = scratch(COUNT, 1)
    if leads:
        mine, theirs = scratch(COUNT, len(counts)), scratch(COUNT, others)
        mine[:] = counts
        exchange(inter, mine, 0, theirs, 0, tag)
        outgoing = Layout.of(theirs if others == q else [theirs[0]] * q)
        other_total[0] = outgoing.size(0, q)
        whole = scratch(sendbuf, sendbuf.size)
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


def leader_scatter_claims(operation: str, defaults: Mapping[str, Any]) -> Claims:
    """The claims; `defaults` are the algorithm's parameters.

    The leaders of a reduce_scatter exchange all block sizes, those of a reduce_scatter_block one.
    """
    return Claims(
        schedule=partial(plan, operation, defaults),
        why_unsupported=partial(fit, defaults),
        scratch=partial(bytes_held, operation, defaults),
        closed_sent=partial(bytes_sent, operation, defaults),
        closed_time=partial(even_time, operation, defaults),
        closed_combined=partial(even_combined, operation, defaults),
    )


def parts(defaults: Mapping[str, Any], case: Case) -> list[GroupPart]:
    """The two reduces and the two broadcasts of total sizes."""
    reduce, bcast = parameter_of(case, defaults, "reduce"), parameter_of(case, defaults, "bcast")
    both = list(zip(case.groups, process_numbers(case), strict=True))
    reduces: list[GroupPart] = [
        (reduce, Case(g.p, _total(g), itemsize=g.itemsize, commutative=case.commutative), ranks) for g, ranks in both
    ]
    return [*reduces, *((bcast, Case(g.p, 8, itemsize=8), ranks) for g, ranks in both)]


def fit(defaults: Mapping[str, Any], case: Case) -> str | None:
    """`why_unsupported`: both groups' blocks must have the same total size."""
    a, b = map(_total, case.groups)
    if a != b:
        return f"the total sizes of the groups' blocks differ: {a} bytes in A, {b} bytes in B"
    return unsupported(parts(defaults, case))


def plan(operation: str, defaults: Mapping[str, Any], case: Case) -> Rounds | None:
    """The schedule: block sizes, reduces, broadcasts of total sizes, and two scatters at once."""
    p, (to_b, to_a) = case.p, _sizes_sent(operation, case)
    a, b = (_blocks(g) for g in case.groups)
    scatters = [Transfer(0, p + j, nbytes) for j, nbytes in enumerate(b) if nbytes]
    scatters += [Transfer(p, i, nbytes) for i, nbytes in enumerate(a) if nbytes]
    sizes = [[Transfer(0, p, 8 * to_b, start=OTHER_DATA), Transfer(p, 0, 8 * to_a, start=OTHER_DATA)]]
    return sequential(sizes, concurrent(parts(defaults, case)), [Served(scatters)])


def bytes_sent(operation: str, defaults: Mapping[str, Any], case: Case, rank: int) -> int | None:
    """A leader sends block sizes and the whole result in addition to the bytes of its parts."""
    within = sent_in(parts(defaults, case), rank)
    in_a, own = group_and_rank(case, rank)
    if within is None or own:
        return within
    sizes = _sizes_sent(operation, case)[0 if in_a else 1]
    return within + 8 * sizes + _total(case.groups[0])


def bytes_held(operation: str, defaults: Mapping[str, Any], case: Case, rank: int) -> int:
    """The other group's total; a leader also holds block sizes and the whole result."""
    held = 8 + scratch_in(parts(defaults, case), rank)
    return held if group_and_rank(case, rank)[1] else held + 8 * sum(_sizes_sent(operation, case)) + _total(case.groups[0])


def even_time(operation: str, defaults: Mapping[str, Any], case: Case, t_s: Seconds, t_w: Seconds) -> Seconds | None:
    """Time for two groups of equal size with binomial trees: the leaders always finish last, and both do the same."""
    names = [parameter_of(case, defaults, name).name for name in ("reduce", "bcast")]
    if case.p != case.q or names != ["binomial", "binomial"]:
        return None
    (reduce, own, _), _, (bcast, word, _), _ = parts(defaults, case)
    trees = [reduce.time(own, t_s, t_w), bcast.time(word, t_s, t_w)]
    scatters = max(sum(message(nbytes, t_s, t_w) for nbytes in _blocks(g)) for g in case.groups)
    return (
        message(8 * _sizes_sent(operation, case)[0], t_s, t_w) + sum(time for time in trees if time is not None) + scatters
    )


def even_combined(operation: str, defaults: Mapping[str, Any], case: Case) -> int | None:
    """Bytes combined on the path of `even_time`."""
    if even_time(operation, defaults, case, 1, 1) is None:
        return None
    reduce, own, _ = parts(defaults, case)[0]
    return reduce.closed_combined(own)


def _blocks(group: Case) -> list[int]:
    return [group.layout.size(rank) * group.itemsize for rank in range(group.p)]


def _total(group: Case) -> int:
    return group.layout.size(0, group.p) * group.itemsize


def _sizes_sent(operation: str, case: Case) -> tuple[int, int]:
    """Number of block sizes that A's leader sends, and B's."""
    return (case.p, case.q) if operation == "reduce_scatter" else (1, 1)
