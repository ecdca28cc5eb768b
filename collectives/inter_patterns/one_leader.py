"""One leader communicates with the whole larger group: shared code of reduce_scatter(_block) by one leader.

The smaller group reduces to its rank 0, its leader. The larger group's operands move up a chain to the leader while it
sends that group's blocks (`inter_patterns.chain_and_star`). Then the leader scatters the received result in its own
group. If block sizes differ, rank 0 of the larger group first sends them to the leader. If the groups have equal size,
the one with `first=False` has the leader.
"""

from __future__ import annotations

from functools import partial

from collectives.catalogue.algorithm import Algorithm, Case, Claims
from collectives.catalogue.family import chosen
from collectives.catalogue.schedule import OTHER_DATA, Rounds, Transfer
from collectives.inter_patterns.chain_and_star import RoundPlan, chain_and_star_schedule, run_leaf, run_root
from collectives.inter_patterns.full_duplex import nearly_equal_sizes
from collectives.inter_patterns.groups import (
    UNDECIDED,
    GroupPart,
    ReduceScatterCall,
    RootRole,
    process_numbers,
    schedule_of,
    scratch_in,
    unsupported,
    with_process_numbers,
)
from collectives.inter_patterns.joined import STARTUP_BYTES, Joined, positive_startups_only
from collectives.inter_patterns.leader_scatter import COUNT
from collectives.inter_patterns.leaders_exchange import total_bytes, unequal_totals
from collectives.intra.reduce.binomial import reduce_binomial
from collectives.intra.scatterv.binomial import scatterv_binomial
from collectives.tools.blocks import Layout, spare_memory
from collectives.tools.messages import receive, send
from collectives.tools.unbuffered import SynchronousComm


def a_is_larger(case: Case) -> bool | None:
    """Whether the leader is in B; in a call, A is the calling rank's group.

    None if the groups have equal size and `first` is not given.
    """
    return case.p > case.q if case.p != case.q else case.parameters.get("first")


def by_one_leader(
    call: ReduceScatterCall,
    *,
    reduce: Algorithm = reduce_binomial,
    scatterv: Algorithm = scatterv_binomial,
    startup_bytes: int = STARTUP_BYTES,
    first: bool | None = None,
) -> None:
    """Leave the rank's block of the other group's result in `recvbuf`.

    `counts` are the block sizes of this group; None if all blocks of a group are equal, so that no sizes have to be sent.
    """
    if a_is_larger(Case(call.inter.Get_size(), q=call.inter.Get_remote_size(), parameters={"first": first})):
        _follow(call, startup_bytes)
    else:
        _lead(call, reduce, scatterv, startup_bytes)


def _follow(call: ReduceScatterCall, startup_bytes: int) -> None:
    """The part of a rank of the larger group."""
    inter, local, own, block, counts, op, tag = call
    if local.Get_rank() == 0 and counts is not None:
        sizes = spare_memory(COUNT, len(counts))
        sizes[:] = counts
        send(inter, sizes, 0, tag)
    slots = RoundPlan.of(local.Get_size(), own.size, own.itemsize, startup_bytes)
    run_leaf(SynchronousComm(Joined(inter, local, 0)), own, block, slots, op, tag)


def _lead(call: ReduceScatterCall, reduce: Algorithm, scatterv: Algorithm, startup_bytes: int) -> None:
    """The part of a rank of the smaller group."""
    inter, local, sendbuf, recvbuf, counts, op, tag = call
    q, own_result, other_result = inter.Get_remote_size(), None, None
    if local.Get_rank() == 0:
        own_result, other_result = (spare_memory(sendbuf, sendbuf.size) for _ in range(2))
    reduce.run(local, sendbuf, own_result, op=op, root=0, tag=tag)
    if own_result is not None and other_result is not None:
        if counts is None:
            blocks = Layout.equal(own_result.size, q)
        else:
            sizes = spare_memory(COUNT, q)
            receive(inter, sizes, 0, tag)
            blocks = Layout.of(sizes)
        slots = RoundPlan.of(q, own_result.size, own_result.itemsize, startup_bytes)
        run_root(SynchronousComm(Joined(inter, local, RootRole.ROOT)), own_result, blocks, other_result, slots, tag)
    counts = nearly_equal_sizes(sendbuf.size, local.Get_size()) if counts is None else counts
    scatterv.run(local, other_result, recvbuf, counts, root=0, tag=tag)


# Claims --------------------------------------------------------------------------------------------------------------


def one_leader_claims(*, sends_sizes: bool) -> Claims:
    """The claims; `sends_sizes` is whether block sizes are sent."""
    return Claims(
        schedule=partial(_schedule, sends_sizes),
        why_unsupported=fit,
        scratch=partial(bytes_held, sends_sizes),
        closed_combined=lambda case: None,
    )


def fit(case: Case) -> str | None:
    """`why_unsupported`: equal total sizes, a leader, and parts that fit."""
    if reason := unequal_totals(case) or positive_startups_only(case):
        return reason
    return UNDECIDED.format(p=case.p) if a_is_larger(case) is None else unsupported(_parts(case))


def _schedule(sends_sizes: bool, case: Case) -> Rounds | None:
    """The schedule: the reduce, the sizes, the chain and star, and the scatter."""
    reduced, scattered = _parts(case)
    slots, in_smaller, in_larger = _slots(case)
    blocks = case.groups[0 if a_is_larger(case) else 1].layout
    sizes = [Transfer(in_larger[0], in_smaller[0], 8 * len(in_larger), start=OTHER_DATA)] if sends_sizes else []
    both = chain_and_star_schedule(slots, blocks, case.itemsize)
    return schedule_of([reduced, sizes, partial(with_process_numbers, both, [*in_larger, in_smaller[0]]), scattered])


def bytes_held(sends_sizes: bool, case: Case, rank: int) -> int:
    """The leader holds two operands, the others two segments; the sender and receiver of block sizes hold these too."""
    slots, in_smaller, in_larger = _slots(case)
    held = scratch_in(_parts(case), rank)
    if rank == in_smaller[0]:
        held += 2 * total_bytes(case)[0]
    if rank in in_larger[:-1]:
        held += 2 * slots.segments.size(0) * case.itemsize
    return held + (8 * len(in_larger) if sends_sizes and rank in (in_smaller[0], in_larger[0]) else 0)


def _slots(case: Case) -> tuple[RoundPlan, range, range]:
    """The slots, and the process numbers of the smaller and of the larger group."""
    in_larger, in_smaller = process_numbers(case) if a_is_larger(case) else process_numbers(case)[::-1]
    total, startup_bytes = total_bytes(case)[0] // case.itemsize, chosen(by_one_leader, case)["startup_bytes"]
    return RoundPlan.of(len(in_larger), total, case.itemsize, startup_bytes), in_smaller, in_larger


def _parts(case: Case) -> list[GroupPart]:
    """The parts within the smaller group."""
    smaller, ranks = case.groups[1 if a_is_larger(case) else 0], _slots(case)[1]
    counts = tuple(map(smaller.layout.size, range(smaller.p)))
    operand = Case(smaller.p, total_bytes(case)[0], itemsize=case.itemsize, commutative=case.commutative)
    chosen_parts = chosen(by_one_leader, case)
    return [
        (chosen_parts["reduce"], operand, ranks),
        (chosen_parts["scatterv"], Case(smaller.p, counts=counts, itemsize=case.itemsize), ranks),
    ]
