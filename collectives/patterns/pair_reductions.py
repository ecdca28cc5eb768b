"""Reduce-scatter by pairwise exchange: shared code of reduce_scatter and reduce_scatter_block.

With `partners="tournament"` (`patterns.pairs.rounds`), a rank has one partner in each round. It sends the partner the
partner's block of its operand, receives its own block of the partner's operand, and combines it with its partial result.
With `partners="spread"`, rank r sends to r+i and receives from r-i (mod p) in round i = 1 .. p-1. Operands are not combined
in rank order, so the op must be commutative.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, Literal, TypeAlias

from collectives.catalogue.algorithm import Case, Claims
from collectives.catalogue.closed_forms import all_but_own
from collectives.catalogue.conditions import all_of, commutative_only, one_of
from collectives.catalogue.schedule import Round, Transfer, without_empty
from collectives.patterns.pairs.rounds import pair_rounds, partner
from collectives.patterns.reductions import combine, equal_block_claims
from collectives.tools.blocks import Layout, load, spare_memory
from collectives.tools.messages import exchange
from collectives.tools.protocol import Buffer, Comm, Op

Partners: TypeAlias = Literal["tournament", "spread"]
"""Exchange with one partner per round, or send to r+i and receive from r-i."""


def scatter_pairs(
    comm: Comm,
    sendbuf: Buffer | None,
    recvbuf: Buffer,
    layout: Layout,
    op: Op,
    tag: int,
    *,
    partners: Partners = "tournament",
) -> None:
    """Leave the result of the rank's block at the start of `recvbuf`."""
    p, rank = comm.Get_size(), comm.Get_rank()
    data = recvbuf if sendbuf is None else sendbuf
    held = result = recvbuf[0 : layout.size(rank)]
    if sendbuf is None:
        # Preceding blocks have not been sent yet, so combine the rank's block at its place, and move it at the end.
        held = layout.block(recvbuf, rank)
    else:
        load(held, layout.block(sendbuf, rank))
    spare = spare_memory(recvbuf, held.size if p > 1 else 0)
    for i in range(_rounds(p, partners)):
        to, source = _partners(rank, i, p, partners)
        if to is not None and source is not None:
            exchange(comm, layout.block(data, to), to, spare, source, tag)
            combine(op, spare, held)
    load(result, held if sendbuf is None else None)


def _rounds(p: int, partners: Partners) -> int:
    return p - 1 if partners == "spread" else pair_rounds(p)


def _partners(rank: int, i: int, p: int, partners: Partners) -> tuple[int | None, int | None]:
    """The rank to which `rank` sends in round i, and the rank from which it receives; (None, None) if it is idle."""
    if partners == "spread":
        return (rank + i + 1) % p, (rank - i - 1) % p
    other = partner(rank, i, p)
    return other, other


def _chosen_partners(case: Case) -> Partners:
    partners: Partners = case.parameters.get("partners", "tournament")
    return partners


def scatter_pairs_schedule(case: Case) -> Iterator[Round]:
    p, layout = case.p, case.layout
    for i in range(_rounds(p, _chosen_partners(case))):
        pairs = ((r, _partners(r, i, p, _chosen_partners(case))[1]) for r in range(p))
        sizes = [(r, other, layout.size(r) * case.itemsize) for r, other in pairs if other is not None]
        yield without_empty(
            Transfer(other, r, nbytes, nbytes, layout.start(r) * case.itemsize) for r, other, nbytes in sizes
        )


def scatter_pairs_scratch(case: Case, rank: int) -> int:
    """One block, for received data."""
    return case.layout.size(rank) * case.itemsize if case.p > 1 else 0


def scatter_pairs_rounds(case: Case) -> int | None:
    """The number of rounds if no block is empty, 0 if all blocks are empty, None otherwise."""
    smallest = min(case.layout.size(r) for r in range(case.p))
    if smallest:
        return _rounds(case.p, _chosen_partners(case))
    return None if case.layout.largest else 0


def _rounds_of(case: Case) -> int:
    # An idle rank cannot start its next round early: its partner of the next round is still busy in this one.
    return _rounds(case.p, _chosen_partners(case))


PAIRWISE_CLAIMS: Final = equal_block_claims(_rounds_of, _rounds_of) | Claims(
    schedule=scatter_pairs_schedule,
    scratch=scatter_pairs_scratch,
    why_unsupported=all_of(one_of("partners", "tournament", "spread"), commutative_only),
    closed_rounds=scatter_pairs_rounds,
    closed_sent=all_but_own,
)
"""The claims of reduce_scatter and reduce_scatter_block with this code."""
