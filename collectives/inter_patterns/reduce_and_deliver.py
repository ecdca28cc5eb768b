"""Reduce in pieces, then send the pieces to their owners in the other group: reduce_scatter(_block) by an even cut.

Each group reduces its operands in nearly equal pieces, one per rank. A rank then sends its piece to the ranks of the
other group whose blocks it overlaps, in the order of `inter_patterns.even_cut`. A reduce_scatter first needs the other
group's block sizes: the leaders, rank 0 of each group, exchange all block sizes and broadcast them in their groups.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

from collectives.catalogue.algorithm import Algorithm, Case, Claims
from collectives.catalogue.conditions import all_of
from collectives.catalogue.family import chosen, defaults_of
from collectives.catalogue.schedule import OTHER_DATA, Round, Transfer
from collectives.inter_patterns.even_cut import exchange_runs, exchange_runs_schedule, unknown_order
from collectives.inter_patterns.groups import ReduceScatterCall, Step, group_and_rank, in_both_groups, part_claims
from collectives.inter_patterns.leader_scatter import COUNT
from collectives.inter_patterns.leaders_exchange import unequal_totals
from collectives.inter_patterns.reduce_in_pieces import REDUCE_SCATTER, own_piece, reduce_scatter_parts
from collectives.intra.bcast.binomial import bcast_binomial
from collectives.tools.blocks import Layout, spare_memory
from collectives.tools.messages import exchange
from collectives.tools.protocol import Buffer, Comm, Intercomm, Op
from collectives.tools.unbuffered import SynchronousComm, UnbufferedBetween


def learn_blocks(inter: Intercomm, local: Comm, own_blocks: Layout, bcast: Algorithm, tag: int) -> Layout:
    """Return the layout of the other group's blocks; ValueError if its total size differs from that of `own_blocks`."""
    other_sizes = spare_memory(COUNT, inter.Get_remote_size())
    if local.Get_rank() == 0:
        sizes = spare_memory(COUNT, own_blocks.p)
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


def deliver_any(
    call: ReduceScatterCall,
    *,
    reduce_scatter: Algorithm = REDUCE_SCATTER,
    bcast: Algorithm = bcast_binomial,
    receive_order: str = "multi_target",
) -> None:
    """Leave the rank's block of the other group's result in `recvbuf`; `counts` are the block sizes of this group."""
    inter, local, sendbuf, recvbuf, counts, op, tag = call
    own_blocks = Layout.of_ranks(counts, local.Get_size())
    inter, local = UnbufferedBetween(inter), SynchronousComm(local)
    other_blocks = learn_blocks(inter, local, own_blocks, bcast, tag)
    _deliver(inter, local, sendbuf, recvbuf, own_blocks, other_blocks, op, reduce_scatter, receive_order, tag)


def deliver_equal(
    call: ReduceScatterCall, *, reduce_scatter: Algorithm = REDUCE_SCATTER, receive_order: str = "multi_target"
) -> None:
    """Leave the rank's block of the other group's result in `recvbuf`; the blocks of a group are equal."""
    inter, local, sendbuf, recvbuf, _, op, tag = call
    own_blocks, other_blocks = (Layout.equal(sendbuf.size, p) for p in (inter.Get_size(), inter.Get_remote_size()))
    inter, local = UnbufferedBetween(inter), SynchronousComm(local)
    _deliver(inter, local, sendbuf, recvbuf, own_blocks, other_blocks, op, reduce_scatter, receive_order, tag)


def _deliver(
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
    piece, start = own_piece(local, sendbuf, op, reduce_scatter, tag)
    pieces = Layout.nearly_equal(sendbuf.size, other_blocks.p)
    exchange_runs(inter, piece, start, other_blocks, recvbuf, own_blocks.start(inter.Get_rank()), pieces, order, tag)


# Claims --------------------------------------------------------------------------------------------------------------


def delivery_claims(code: Callable[..., None]) -> Claims:
    """The claims of `deliver_any` and `deliver_equal`; if there is a `bcast`, the block sizes are exchanged first."""
    sized = "bcast" in defaults_of(code)

    def held(case: Case, rank: int) -> int:
        own, other = _ranks(case, rank)
        return _piece(case, rank) + (8 * (other + (own if rank in (0, case.p) else 0)) if sized else 0)

    return part_claims(
        partial(_steps, code),
        sent=_piece,
        held=held,
        why_unsupported=all_of(unequal_totals, unknown_order),
        reduces=True,
        synchronous=True,
    )


def _steps(code: Callable[..., None], case: Case) -> list[Step]:
    """Block sizes and their broadcasts, reductions in pieces, and the exchange of all pieces."""
    steps: list[Step] = []
    if "bcast" in defaults_of(code):
        steps = [[Transfer(0, case.p, 8 * case.p, start=OTHER_DATA), Transfer(case.p, 0, 8 * case.q, start=OTHER_DATA)]]
        steps += in_both_groups(chosen(code, case)["bcast"], case, (8 * case.q, 8 * case.p), itemsize=8)
    total = case.groups[0].layout.size(0, case.p)
    reduced = reduce_scatter_parts(case, (total, total), chosen(code, case)["reduce_scatter"])
    return [*steps, *reduced, partial(_exchange, code, case)]


def _exchange(code: Callable[..., None], case: Case) -> Iterator[Round]:
    a, b = (group.layout for group in case.groups)
    pieces = (Layout.nearly_equal(a.size(0, case.p), p) for p in (case.p, case.q))
    a_to_b, b_to_a = zip(pieces, (b, a), strict=True)
    return exchange_runs_schedule(case, a_to_b, b_to_a, chosen(code, case)["receive_order"])


def _ranks(case: Case, rank: int) -> tuple[int, int]:
    """The numbers of ranks in the group of a process and in the other group."""
    return (case.p, case.q) if rank < case.p else (case.q, case.p)


def _piece(case: Case, rank: int) -> int:
    total = case.groups[0].layout.size(0, case.p)
    return Layout.nearly_equal(total, _ranks(case, rank)[0]).size(group_and_rank(case, rank)[1]) * case.itemsize
