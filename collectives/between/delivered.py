"""Reduce in pieces, then straight to the owners over there: the common text of reduce_scatter(_block) by an even cut.

Each group reduces its operands in nearly equal pieces, one a rank. What a rank then has it sends to those ranks of the other
group whose blocks these elements are in, in the order of `between.even_cut`. A reduce_scatter must learn those blocks first:
the leaders, rank 0 of each group, exchange all block sizes and tell their groups.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from collectives.between.even_cut import exchange_runs, runs_on_paper, unknown_order
from collectives.between.groups import Placed, beside, in_a_row, misfit, numbers, place, scratch_in, sent_in, setting
from collectives.between.leaders_exchange import unequal
from collectives.between.reduced_across import WORD
from collectives.between.reduced_pieces import own_piece, pieces_on_paper
from collectives.catalogue.algorithm import Algorithm, Case, Claims
from collectives.catalogue.schedule import Schedule, Transfer
from collectives.tools.blocks import Layout, scratch
from collectives.tools.messages import exchange
from collectives.tools.protocol import Buffer, Comm, Intercomm, Op


def learn_blocks(inter: Intercomm, local: Comm, mine: Layout, bcast: Algorithm, tag: int) -> Layout:
    """The blocks of the other group, which must be as much in all."""
    theirs = scratch(WORD, inter.Get_remote_size())
    if local.Get_rank() == 0:
        told = scratch(WORD, mine.p)
        told[:] = [mine.size(rank) for rank in range(mine.p)]
        exchange(inter, told, 0, theirs, 0, tag)
    bcast.run(local, theirs, root=0, tag=tag)
    own, other = mine.size(0, mine.p), int(theirs.sum())
    if own != other:
        raise ValueError(
            f"the blocks of this group are {own} elements in all, but those of the other group {other}: "
            "every operand must have exactly as many"
        )
    return Layout.of(theirs)


def reduce_and_deliver(
    inter: Intercomm,
    local: Comm,
    sendbuf: Buffer,
    recvbuf: Buffer,
    mine: Layout,
    theirs: Layout,
    op: Op,
    reduce_scatter: Algorithm,
    order: str,
    tag: int,
) -> None:
    """Leave in `recvbuf` the rank's block of the other group's combination; `mine` are the own group's blocks."""
    piece, start = own_piece(local, sendbuf, op, reduce_scatter, tag)
    pieces = Layout.nearly_equal(sendbuf.size, theirs.p)
    exchange_runs(inter, piece, start, theirs, recvbuf, mine.start(inter.Get_rank()), pieces, order, tag)


# On paper ------------------------------------------------------------------------------------------------------------


def delivery_claims(defaults: Mapping[str, Any]) -> Claims:
    """The claims; `defaults` are the algorithm's parameters. If there is a `bcast` among them, blocks are learnt first."""
    return Claims(
        schedule=partial(plan, defaults),
        fits=partial(fit, defaults),
        scratch=partial(bytes_held, defaults),
        closed_sent=partial(bytes_sent, defaults),
        closed_combined=lambda case: None,
    )


def plan(defaults: Mapping[str, Any], case: Case) -> Schedule | None:
    """Block sizes, reductions in pieces, and all pieces across at once."""
    a, b = (group.layout for group in case.groups)
    total = a.size(0, case.p)
    pieces = Layout.nearly_equal(total, case.p), Layout.nearly_equal(total, case.q)
    across = runs_on_paper(case, (pieces[0], b), (pieces[1], a), setting(case, defaults, "receive_order"))
    leaders = [[Transfer(0, case.p, 8 * case.p), Transfer(case.p, 0, 8 * case.q)]] if "bcast" in defaults else []
    return in_a_row(leaders, beside(_told(defaults, case)), beside(_reduced(defaults, case)), across)


def fit(defaults: Mapping[str, Any], case: Case) -> str | None:
    """`fits`: both groups' blocks must be as much in all."""
    order = setting(case, defaults, "receive_order")
    return unequal(case) or unknown_order(order) or misfit([*_told(defaults, case), *_reduced(defaults, case)])


def bytes_sent(defaults: Mapping[str, Any], case: Case, rank: int) -> int | None:
    """The own piece; leaders the block sizes, too; and what the parts send."""
    in_a, own = place(case, rank)
    within = sent_in([*_told(defaults, case), *_reduced(defaults, case)], rank)
    sizes = 8 * (case.p if in_a else case.q) if "bcast" in defaults and own == 0 else 0
    return None if within is None else within + sizes + _piece(case, rank)


def bytes_held(defaults: Mapping[str, Any], case: Case, rank: int) -> int:
    """The own piece; the other group's block sizes; at leaders those of the own group, too; and what the parts hold."""
    in_a, own = place(case, rank)
    held = scratch_in([*_told(defaults, case), *_reduced(defaults, case)], rank) + _piece(case, rank)
    if "bcast" not in defaults:
        return held
    mine, theirs = (case.p, case.q) if in_a else (case.q, case.p)
    return held + 8 * (theirs + (mine if own == 0 else 0))


def _piece(case: Case, rank: int) -> int:
    in_a, own = place(case, rank)
    total = case.groups[0].layout.size(0, case.p)
    return Layout.nearly_equal(total, case.p if in_a else case.q).size(own) * case.itemsize


def _told(defaults: Mapping[str, Any], case: Case) -> list[Placed]:
    """What leaders pass on: the other group's block sizes."""
    if "bcast" not in defaults:
        return []
    bcast, (in_a, in_b) = setting(case, defaults, "bcast"), numbers(case)
    return [(bcast, Case(case.p, 8 * case.q, itemsize=8), in_a), (bcast, Case(case.q, 8 * case.p, itemsize=8), in_b)]


def _reduced(defaults: Mapping[str, Any], case: Case) -> list[Placed]:
    total = case.groups[0].layout.size(0, case.p)
    return pieces_on_paper(case, (total, total), setting(case, defaults, "reduce_scatter"))
