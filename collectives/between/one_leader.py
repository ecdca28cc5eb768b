"""One leader deals with the whole larger group: the common text of reduce_scatter(_block) by one leader.

The smaller group reduces to its rank 0, its leader; the larger group's operands climb to the leader while it deals out that
group's blocks (`between.up_and_down`); then the leader scatters what it received in its own group. Where blocks differ in
size, rank 0 of the larger group first tells the leader their sizes. Of two groups of one size, the one that says
`first=False` has the leader.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from collectives.between.full_duplex import nearly_equal_sizes
from collectives.between.groups import (
    UNDECIDED,
    Part,
    Placed,
    beside,
    in_a_row,
    misfit,
    numbers,
    placed,
    scratch_in,
    setting,
)
from collectives.between.joined import Joined, positive_startups_only
from collectives.between.leaders_exchange import in_all, unequal
from collectives.between.reduced_across import WORD
from collectives.between.up_and_down import Slots, climb, deal, up_and_down
from collectives.catalogue.algorithm import Algorithm, Case, Claims
from collectives.catalogue.schedule import Schedule, Transfer
from collectives.tools.blocks import Layout, scratch
from collectives.tools.messages import receive, send
from collectives.tools.protocol import Buffer, Comm, Intercomm, Op
from collectives.tools.unbuffered import Unbuffered


def a_is_larger(case: Case) -> bool | None:
    """Whether the leader is in B; in a call, A is the own group. None if the groups have one size and nothing was said."""
    return case.p > case.q if case.p != case.q else case.parameters.get("first")


def by_one_leader(
    inter: Intercomm,
    local: Comm,
    sendbuf: Buffer,
    recvbuf: Buffer,
    counts: Sequence[int] | None,
    op: Op,
    reduce: Algorithm,
    scatterv: Algorithm,
    startup_bytes: int,
    first: bool | None,
    tag: int,
) -> None:
    """Leave in `recvbuf` the rank's block of the other group's combination.

    `counts` are the own group's blocks; None if all blocks of a group are equal, so that nobody has to be told.
    """
    if a_is_larger(Case(inter.Get_size(), q=inter.Get_remote_size(), parameters={"first": first})):
        _follow(inter, local, sendbuf, recvbuf, counts, startup_bytes, op, tag)
    else:
        _lead(inter, local, sendbuf, recvbuf, counts, op, reduce, scatterv, startup_bytes, tag)


def _follow(
    inter: Intercomm,
    local: Comm,
    own: Buffer,
    block: Buffer,
    counts: Sequence[int] | None,
    startup_bytes: int,
    op: Op,
    tag: int,
) -> None:
    """In the larger group."""
    if local.Get_rank() == 0 and counts is not None:
        sizes = scratch(WORD, len(counts))
        sizes[:] = counts
        send(inter, sizes, 0, tag)
    slots = Slots.of(local.Get_size(), own.size, own.itemsize, startup_bytes)
    climb(Unbuffered(Joined(inter, local, 0)), own, block, slots, op, tag)


def _lead(
    inter: Intercomm,
    local: Comm,
    sendbuf: Buffer,
    recvbuf: Buffer,
    counts: Sequence[int] | None,
    op: Op,
    reduce: Algorithm,
    scatterv: Algorithm,
    startup_bytes: int,
    tag: int,
) -> None:
    """In the smaller group."""
    q, whole, theirs = inter.Get_remote_size(), None, None
    if local.Get_rank() == 0:
        whole, theirs = (scratch(sendbuf, sendbuf.size) for _ in range(2))
    reduce.run(local, sendbuf, whole, op=op, root=0, tag=tag)
    if whole is not None and theirs is not None:
        if counts is None:
            blocks = Layout.equal(whole.size, q)
        else:
            sizes = scratch(WORD, q)
            receive(inter, sizes, 0, tag)
            blocks = Layout.of(sizes)
        slots = Slots.of(q, whole.size, whole.itemsize, startup_bytes)
        deal(Unbuffered(Joined(inter, local, Part.ROOT)), whole, blocks, theirs, slots, tag)
    counts = nearly_equal_sizes(sendbuf.size, local.Get_size()) if counts is None else counts
    scatterv.run(local, theirs, recvbuf, counts, root=0, tag=tag)


# On paper ------------------------------------------------------------------------------------------------------------


def one_leader_claims(defaults: Mapping[str, Any], *, asks: bool) -> Claims:
    """The claims; `defaults` are the algorithm's parameters."""
    return Claims(
        schedule=partial(plan, defaults, asks),
        fits=partial(fit, defaults),
        scratch=partial(bytes_held, defaults, asks),
        closed_combined=lambda case: None,
    )


def fit(defaults: Mapping[str, Any], case: Case) -> str | None:
    """`fits`: blocks as much in all, a leader, and what the parts fit."""
    if reason := unequal(case) or positive_startups_only(case):
        return reason
    return UNDECIDED.format(p=case.p) if a_is_larger(case) is None else misfit(_parts(defaults, case))


def plan(defaults: Mapping[str, Any], asks: bool, case: Case) -> Schedule | None:
    """The reduce, the sizes, up and down, and the scatter."""
    reduced, scattered = _parts(defaults, case)
    slots, in_few, in_many = _slots(defaults, case)
    blocks = case.groups[0 if a_is_larger(case) else 1].layout
    told = [[Transfer(in_many[0], in_few[0], 8 * len(in_many))]] if asks else []
    both = placed(up_and_down(slots, blocks, case.itemsize), [*in_many, in_few[0]])
    return in_a_row(beside([reduced]), told, both, beside([scattered]))


def bytes_held(defaults: Mapping[str, Any], asks: bool, case: Case, rank: int) -> int:
    """The leader holds two operands, the others two segments; who tells and who is told, block sizes."""
    slots, in_few, in_many = _slots(defaults, case)
    held = scratch_in(_parts(defaults, case), rank)
    if rank == in_few[0]:
        held += 2 * in_all(case)[0]
    if rank in in_many[:-1]:
        held += 2 * slots.segments.size(0) * case.itemsize
    return held + (8 * len(in_many) if asks and rank in (in_few[0], in_many[0]) else 0)


def _slots(defaults: Mapping[str, Any], case: Case) -> tuple[Slots, range, range]:
    """The slots, and the processes of the smaller and of the larger group."""
    in_many, in_few = numbers(case) if a_is_larger(case) else numbers(case)[::-1]
    total, startup_bytes = in_all(case)[0] // case.itemsize, setting(case, defaults, "startup_bytes")
    return Slots.of(len(in_many), total, case.itemsize, startup_bytes), in_few, in_many


def _parts(defaults: Mapping[str, Any], case: Case) -> list[Placed]:
    """What the smaller group does by itself."""
    few, ranks = case.groups[1 if a_is_larger(case) else 0], _slots(defaults, case)[1]
    counts = tuple(map(few.layout.size, range(few.p)))
    operand = Case(few.p, in_all(case)[0], itemsize=case.itemsize, commutative=case.commutative)
    return [
        (setting(case, defaults, "reduce"), operand, ranks),
        (setting(case, defaults, "scatterv"), Case(few.p, counts=counts, itemsize=case.itemsize), ranks),
    ]
