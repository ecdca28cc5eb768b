"""Reduce in both groups, then deal out across: the common text of reduce_scatter(_block) between groups.

The leaders, rank 0 of each group, exchange the block sizes of their groups before they take part in the reduce. After
it they tell their group what the other group's blocks are in all: if that is not what its own blocks are, everybody
raises, and nobody waits for a block that does not come. Then each leader sends its group's combination to the ranks of
the other group, block by block.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Final

import numpy as np

from collectives.between.groups import Placed, beside, in_a_row, misfit, numbers, place, scratch_in, sent_in, setting
from collectives.catalogue.algorithm import Algorithm, Case, Claims
from collectives.catalogue.schedule import Schedule, Seconds, Served, Transfer, message
from collectives.tools.blocks import Layout, scratch
from collectives.tools.messages import exchange, receive, wait_all
from collectives.tools.protocol import Buffer, Comm, Intercomm, Op

WORD: Final[Any] = np.empty(0, np.int64)


def reduce_and_deal(
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
    """Leave in `recvbuf` the rank's block of the other group's combination.

    `counts` is what a leader tells of the own group's blocks, and `others` how many numbers it is told in turn: one for
    each rank, or a single one if all are equal.
    """
    leads, q = local.Get_rank() == 0, inter.Get_remote_size()
    whole, dealt = None, Layout.of(())
    verdict = scratch(WORD, 1)
    if leads:
        mine, theirs = scratch(WORD, len(counts)), scratch(WORD, others)
        mine[:] = counts
        exchange(inter, mine, 0, theirs, 0, tag)
        dealt = Layout.of(theirs if others == q else [theirs[0]] * q)
        verdict[0] = dealt.size(0, q)
        whole = scratch(sendbuf, sendbuf.size)
    reduce.run(local, sendbuf, whole, op=op, root=0, tag=tag)
    bcast.run(local, verdict, root=0, tag=tag)
    if verdict[0] != sendbuf.size:
        raise ValueError(
            f"the blocks of this group are {sendbuf.size} elements in all, but those of the other group {verdict[0]}: "
            "every operand must have exactly as many"
        )
    if whole is None:
        receive(inter, recvbuf, 0, tag)
        return
    ranks = [rank for rank in range(q) if dealt.size(rank)]
    requests = [inter.Irecv(recvbuf, 0, tag)] if recvbuf.size else []
    wait_all([*requests, *(inter.Isend(dealt.block(whole, rank), rank, tag) for rank in ranks)])


# On paper ------------------------------------------------------------------------------------------------------------


def dealing_claims(operation: str, defaults: Mapping[str, Any]) -> Claims:
    """The claims; `defaults` are the algorithm's parameters. A reduce_scatter tells all block sizes, the other one."""
    return Claims(
        schedule=partial(plan, operation, defaults),
        fits=partial(fit, defaults),
        scratch=partial(bytes_held, operation, defaults),
        closed_sent=partial(bytes_sent, operation, defaults),
        closed_time=partial(even_time, operation, defaults),
        closed_combined=partial(even_combined, operation, defaults),
    )


def parts(defaults: Mapping[str, Any], case: Case) -> list[Placed]:
    """The two reduces and the two verdicts."""
    reduce, bcast = setting(case, defaults, "reduce"), setting(case, defaults, "bcast")
    both = list(zip(case.groups, numbers(case), strict=True))
    reduces: list[Placed] = [
        (reduce, Case(g.p, _total(g), itemsize=g.itemsize, commutative=case.commutative), ranks) for g, ranks in both
    ]
    return [*reduces, *((bcast, Case(g.p, 8, itemsize=8), ranks) for g, ranks in both)]


def fit(defaults: Mapping[str, Any], case: Case) -> str | None:
    """`fits`: both groups' blocks must be as much in all."""
    a, b = map(_total, case.groups)
    if a != b:
        return f"the blocks of the groups are not as much in all, {a} bytes in A and {b} in B"
    return misfit(parts(defaults, case))


def plan(operation: str, defaults: Mapping[str, Any], case: Case) -> Schedule | None:
    """Block sizes, reduces, verdicts, and two scatters at once."""
    p, (to_b, to_a) = case.p, _told(operation, case)
    a, b = (_blocks(g) for g in case.groups)
    deals = [Transfer(0, p + j, nbytes) for j, nbytes in enumerate(b) if nbytes]
    deals += [Transfer(p, i, nbytes) for i, nbytes in enumerate(a) if nbytes]
    sizes = [[Transfer(0, p, 8 * to_b), Transfer(p, 0, 8 * to_a)]]
    return in_a_row(sizes, beside(parts(defaults, case)), [Served(deals)])


def bytes_sent(operation: str, defaults: Mapping[str, Any], case: Case, rank: int) -> int | None:
    """A leader sends block sizes and the whole combination beside what its parts send."""
    within = sent_in(parts(defaults, case), rank)
    in_a, own = place(case, rank)
    if within is None or own:
        return within
    told = _told(operation, case)[0 if in_a else 1]
    return within + 8 * told + _total(case.groups[0])


def bytes_held(operation: str, defaults: Mapping[str, Any], case: Case, rank: int) -> int:
    """The verdict; a leader holds block sizes and the whole combination too."""
    held = 8 + scratch_in(parts(defaults, case), rank)
    return held if place(case, rank)[1] else held + 8 * sum(_told(operation, case)) + _total(case.groups[0])


def even_time(operation: str, defaults: Mapping[str, Any], case: Case, t_s: Seconds, t_w: Seconds) -> Seconds | None:
    """Two groups of one size, with trees for both parts: the leaders are the last everywhere, and do the same."""
    names = [setting(case, defaults, name).name for name in ("reduce", "bcast")]
    if case.p != case.q or names != ["binomial", "binomial"]:
        return None
    (reduce, own, _), _, (bcast, word, _), _ = parts(defaults, case)
    trees = [reduce.time(own, t_s, t_w), bcast.time(word, t_s, t_w)]
    deals = max(sum(message(nbytes, t_s, t_w) for nbytes in _blocks(g)) for g in case.groups)
    return message(8 * _told(operation, case)[0], t_s, t_w) + sum(time for time in trees if time is not None) + deals


def even_combined(operation: str, defaults: Mapping[str, Any], case: Case) -> int | None:
    """What is combined on that path."""
    if even_time(operation, defaults, case, 1, 1) is None:
        return None
    reduce, own, _ = parts(defaults, case)[0]
    return reduce.closed_combined(own)


def _blocks(group: Case) -> list[int]:
    return [group.layout.size(rank) * group.itemsize for rank in range(group.p)]


def _total(group: Case) -> int:
    return group.layout.size(0, group.p) * group.itemsize


def _told(operation: str, case: Case) -> tuple[int, int]:
    """How many block sizes A's leader tells, and B's."""
    return (case.p, case.q) if operation == "reduce_scatter" else (1, 1)
