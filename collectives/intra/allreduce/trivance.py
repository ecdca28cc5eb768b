"""Allreduce by Trivance: exchanges with two ranks at once, one in each direction, at distances that are powers of three.

The message is cut into p nearly equal pieces. In the round of distance 3^k, k = 0 .. ceil(log3 p) - 1, rank r exchanges with
r + 3^k and r - 3^k (mod p) at the same time: each sends the pieces that the other one keeps, and combines both messages
with its own pieces. The same rounds in reverse order exchange the results, so the longest messages go to neighbors. If p
is not a power of three, a piece that would arrive twice is sent once (`plans.shifted_plans`). Each piece is completed
on one rank, so all ranks receive the same result. The paper also has a variant that exchanges whole vectors in half the
rounds. It is not implemented, because each rank would combine the operands in a different order, so floating-point results
would differ between ranks. `ports` = 2 sends both messages of a round at the same time, which needs two ports; `ports` = 1
sends one after the other.

    p = 4     start    1st      2nd         3rd      4th         (operands in each piece, then pieces of the result)
    rank 0    1111     12.1     4...        01.3     0123        1st and 4th: distance 1; 2nd and 3rd: 3, both directions
    rank 1    1111     112.     .4..        012.     0123
    rank 2    1111     .112     ..4.        .123     0123
    rank 3    1111     2.11     ...4        0.23     0123

Rounds   4 log3 p for powers of three    Sent per rank   about 2 m bytes
         Scratch   about 4/3 m bytes; 8/3 m with two ports
Time     4 log3 p t_s + (p-1)/p m (2 t_w + c); for p a power of three that divides m, otherwise computed from the
         schedule, with at most 4 ceil(log3 p) start-ups; no claim for ports = 2, where the order of messages varies
Fits     any p; commutative ops; ports is 1 or 2
Bits     equal on all ranks; depend on p, position
Best     processes with two ports on a ring or torus: 2 ceil(log3 p) exchanges instead of 2 log2 p
Source   Jürß, Addanki, Schmid, Trivance: Latency-Optimal AllReduce by Shortcutting Multiport Networks, 2026,
         arXiv:2602.17254 (derived from the abstract; the variant for long messages, on one ring)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import groupby
from typing import TypeVar

from collectives.catalogue.algorithm import Case
from collectives.catalogue.conditions import commutative_only
from collectives.catalogue.declaration import algorithm
from collectives.patterns.plans.block_plans import BlockExchange, join_blocks, packed, space_for, total, unpack
from collectives.patterns.plans.plan_claims import CasePlan, allreduce_by, allreduce_claims
from collectives.patterns.plans.shifted_plans import shifted_steps, trivance_plan, trivance_shifts
from collectives.tools.blocks import Layout, load, spare_memory
from collectives.tools.messages import is_empty, wait_all
from collectives.tools.protocol import Buffer, Comm, Op

T = TypeVar("T")


def _exchange_all(
    comm: Comm,
    dests: Sequence[int],
    outgoing: Sequence[Buffer],
    sources: Sequence[int],
    incoming: Sequence[Buffer],
    tag: int,
) -> None:
    """Send and receive one or two messages at the same time."""
    requests = [comm.Irecv(block, s, tag) for block, s in zip(incoming, sources, strict=True) if not is_empty(block)]
    requests += [comm.Isend(block, d, tag) for block, d in zip(outgoing, dests, strict=True) if not is_empty(block)]
    wait_all(requests)


def _groups(p: int, rank: int) -> list[list[BlockExchange]]:
    """The steps of a rank in the allgather, grouped by distance: the steps of a group happen at the same time."""
    shifts = trivance_shifts(p)
    steps = zip(shifts, shifted_steps(shifts, rank, p), strict=True)
    return [[step for _, step in group] for _, group in groupby(steps, key=lambda pair: abs(pair[0].skip))]


def _longest(pieces: Layout, groups: Sequence[Sequence[BlockExchange]]) -> int:
    """Elements of the longest message."""
    messages = (blocks for pair in groups for step in pair for blocks in (step.sent, step.received))
    return max((total(pieces, blocks) for blocks in messages), default=0)


PLAN = CasePlan.of(trivance_plan)
ONE_PORT = allreduce_claims(PLAN)


def _with_one_port(claim: Callable[..., T | None]) -> Callable[..., T | None]:
    """The claim for ports = 1; none for two ports."""
    return lambda case, *rest: claim(case, *rest) if case.parameters.get("ports", 1) == 1 else None


def scratch(case: Case, rank: int) -> int:
    if case.parameters.get("ports", 1) == 1:
        return ONE_PORT["scratch"](case, rank)
    pieces = Layout.nearly_equal(case.elements, case.p)
    return 4 * _longest(pieces, _groups(case.p, rank)) * case.itemsize if case.p > 1 else 0


def why_unsupported(case: Case) -> str | None:
    ports = case.parameters.get("ports", 1)
    return commutative_only(case) or (None if ports in (1, 2) else f"ports = {ports} is not 1 or 2")


def closed_sent(case: Case, rank: int) -> int:
    pieces = Layout.nearly_equal(case.elements, case.p)
    messages = [blocks for step in PLAN.steps_of(case, rank) for blocks in (step.sent, step.received)]
    return sum(total(pieces, blocks) for blocks in messages) * case.itemsize


@algorithm(
    schedule=_with_one_port(ONE_PORT["schedule"]),  # type: ignore[arg-type]  # the claims of a TypedDict are optional
    scratch=scratch,
    why_unsupported=why_unsupported,
    closed_sent=closed_sent,
    closed_time=_with_one_port(ONE_PORT["closed_time"]),
    closed_combined=_with_one_port(ONE_PORT["closed_combined"]),
)
def allreduce_trivance(comm: Comm, sendbuf: Buffer | None, recvbuf: Buffer, *, op: Op, ports: int = 1, tag: int = 0) -> None:
    """Leave the result in `recvbuf` on every rank; if `sendbuf` is None, `recvbuf` holds the operand."""
    p, rank = comm.Get_size(), comm.Get_rank()
    if ports == 1:
        allreduce_by(comm, sendbuf, recvbuf, shifted_steps(trivance_shifts(p), rank, p), op, tag)
        return
    load(recvbuf, sendbuf)
    pieces = Layout.nearly_equal(recvbuf.size, p)
    groups = _groups(p, rank)
    spares = [spare_memory(recvbuf, _longest(pieces, groups)) for _ in range(4 if p > 1 else 0)]
    for pair in reversed(groups):
        outgoing = [packed(recvbuf, pieces, step.received, spare) for step, spare in zip(pair, spares, strict=False)]
        incoming = [spare[0 : total(pieces, step.sent)] for step, spare in zip(pair, spares[2:], strict=False)]
        _exchange_all(comm, [step.source for step in pair], outgoing, [step.dest for step in pair], incoming, tag)
        for step, message in zip(pair, incoming, strict=True):
            join_blocks(op, recvbuf, pieces, step.sent, message, other_is_left=step.dest < rank)
    for pair in groups:
        outgoing = [packed(recvbuf, pieces, step.sent, spare) for step, spare in zip(pair, spares, strict=False)]
        places = [space_for(recvbuf, pieces, step.received, spare) for step, spare in zip(pair, spares[2:], strict=False)]
        incoming = [space for space, _ in places]
        _exchange_all(comm, [step.dest for step in pair], outgoing, [step.source for step in pair], incoming, tag)
        for space, runs in places:
            unpack(space, recvbuf, pieces, runs)
