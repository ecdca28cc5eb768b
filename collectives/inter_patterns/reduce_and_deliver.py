"""Reduce in pieces, then send the pieces to their owners in the other group: reduce_scatter(_block) by an even cut.

Each group reduces its operands in nearly equal pieces, one per rank. A rank then sends its piece to the ranks of the
other group whose blocks it overlaps, in the order of `inter_patterns.even_cut`. A reduce_scatter first needs the other
group's block sizes: the leaders, rank 0 of each group, exchange all block sizes and broadcast them in their groups.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from collectives.catalogue.algorithm import Algorithm, Case, Claims
from collectives.catalogue.schedule import OTHER_DATA, Rounds, Transfer
from collectives.inter_patterns.even_cut import exchange_runs, exchange_runs_schedule, unknown_order
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
from collectives.inter_patterns.leader_scatter import COUNT
from collectives.inter_patterns.leaders_exchange import unequal_totals
from collectives.inter_patterns.posted import posted
from collectives.inter_patterns.reduce_in_pieces import own_piece, reduce_scatter_parts
from collectives.tools.blocks import Layout, scratch
from collectives.tools.messages import exchange
from collectives.tools.protocol import Buffer, Comm, Intercomm, Op


def learn_blocks(inter: Intercomm, local: Comm, own_blocks: Layout, bcast: Algorithm, tag: int) -> Layout:
    """Return the layout of the other group's blocks; ValueError if its total size differs from that of `own_blocks`."""
    other_sizes = scratch(COUNT, inter.Get_remote_size())
    if local.Get_rank() == 0:
        sizes = scratch(COUNT, own_blocks.p)
        sizes[:] = [own_blocks.size(rank) for rank in range(own_blocks.p)]
        exchange(inter, sizes, 0, other_sizes, 0, tag)
    bcast.run(local, other_sizes, root=0, tag=tag)
    own_total, other_total = own_blocks.size(0, own_blocks.p), int(other_sizes.sum())
    if own_total != other_total:
        raise ValueError(
            f"the blocks of this group have {own_total} elements in total, but those of the other group {other_total}: "
            "both totals must equal the operand size"
        )
    return Layout.of(other_sizes)


def reduce_and_deliver(
    inter: Intercomm,
    local: Comm,
    sendbuf: Buffer,
    recvbuf: Buffer,
    own_blocks: Layout,
    other_blocks: Layout,
    op: Op,
    reduce_scatter: Algorithm,
    order: str,
    tag: int,
) -> None:
    """Leave the rank's block of the other group's result in `recvbuf`; `own_blocks` are those of the local group."""
    piece, start = own_piece(local, sendbuf, op, reduce_scatter, tag)
    pieces = Layout.nearly_equal(sendbuf.size, other_blocks.p)
    exchange_runs(inter, piece, start, other_blocks, recvbuf, own_blocks.start(inter.Get_rank()), pieces, order, tag)


# Claims --------------------------------------------------------------------------------------------------------------


def delivery_claims(defaults: Mapping[str, Any]) -> Claims:
    """The claims; `defaults` are the algorithm's parameters.

    If they contain a `bcast`, the block sizes are exchanged first.
    """
    return Claims(
        schedule=partial(plan, defaults),
        why_unsupported=partial(fit, defaults),
        scratch=partial(bytes_held, defaults),
        closed_sent=partial(bytes_sent, defaults),
        closed_combined=lambda case: None,
    )


def plan(defaults: Mapping[str, Any], case: Case) -> Rounds | None:
    """The schedule: block sizes, reductions in pieces, and the exchange of all pieces."""
    a, b = (group.layout for group in case.groups)
    total = a.size(0, case.p)
    pieces = Layout.nearly_equal(total, case.p), Layout.nearly_equal(total, case.q)
    across = exchange_runs_schedule(case, (pieces[0], b), (pieces[1], a), parameter_of(case, defaults, "receive_order"))
    both = Transfer(0, case.p, 8 * case.p, start=OTHER_DATA), Transfer(case.p, 0, 8 * case.q, start=OTHER_DATA)
    leaders = [both] if "bcast" in defaults else []
    sizes, reduced = concurrent(_size_broadcasts(defaults, case)), concurrent(_reduced(defaults, case))
    return sequential(posted(sequential(leaders, sizes, reduced), synchronous=True), across)


def fit(defaults: Mapping[str, Any], case: Case) -> str | None:
    """`why_unsupported`: both groups' blocks must have the same total size."""
    order = parameter_of(case, defaults, "receive_order")
    return (
        unequal_totals(case)
        or unknown_order(order)
        or unsupported([*_size_broadcasts(defaults, case), *_reduced(defaults, case)])
    )


def bytes_sent(defaults: Mapping[str, Any], case: Case, rank: int) -> int | None:
    """Bytes of the piece of a rank, on leaders also of the block sizes, plus the bytes of the parts."""
    in_a, own = group_and_rank(case, rank)
    within = sent_in([*_size_broadcasts(defaults, case), *_reduced(defaults, case)], rank)
    sizes = 8 * (case.p if in_a else case.q) if "bcast" in defaults and own == 0 else 0
    return None if within is None else within + sizes + _piece(case, rank)


def bytes_held(defaults: Mapping[str, Any], case: Case, rank: int) -> int:
    """Scratch: the rank's piece, the other group's block sizes, on leaders also the local ones, and that of the parts."""
    in_a, own = group_and_rank(case, rank)
    held = scratch_in([*_size_broadcasts(defaults, case), *_reduced(defaults, case)], rank) + _piece(case, rank)
    if "bcast" not in defaults:
        return held
    own_ranks, other_ranks = (case.p, case.q) if in_a else (case.q, case.p)
    return held + 8 * (other_ranks + (own_ranks if own == 0 else 0))


def _piece(case: Case, rank: int) -> int:
    in_a, own = group_and_rank(case, rank)
    total = case.groups[0].layout.size(0, case.p)
    return Layout.nearly_equal(total, case.p if in_a else case.q).size(own) * case.itemsize


def _size_broadcasts(defaults: Mapping[str, Any], case: Case) -> list[GroupPart]:
    """The leaders' broadcasts of the other group's block sizes."""
    if "bcast" not in defaults:
        return []
    bcast, (in_a, in_b) = parameter_of(case, defaults, "bcast"), process_numbers(case)
    return [(bcast, Case(case.p, 8 * case.q, itemsize=8), in_a), (bcast, Case(case.q, 8 * case.p, itemsize=8), in_b)]


def _reduced(defaults: Mapping[str, Any], case: Case) -> list[GroupPart]:
    total = case.groups[0].layout.size(0, case.p)
    return reduce_scatter_parts(case, (total, total), parameter_of(case, defaults, "reduce_scatter"))
