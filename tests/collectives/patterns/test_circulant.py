"""The circulant schedules have the properties that Träff proves, for every p up to 70 and some up to 1,025."""

from __future__ import annotations

from collectives import Case, find
from collectives.patterns.circulant import baseblock, receive_blocks, send_blocks, skips
from collectives.tools.numbers import ceil_log2
from tests.helpers.loops import for_each


@for_each("p", [*range(2, 71), 127, 128, 129, 1025])
def test_conditions(p: int) -> None:
    """Sends and receives agree; q different blocks; no rank sends a block that it does not have."""
    q, steps = ceil_log2(p), skips(p)
    assert send_blocks(0, p) == tuple(range(q))
    for r in range(1, p):
        base, receives = baseblock(r, p), receive_blocks(r, p)
        assert sorted(receives) == sorted({*range(-q, 0), base} - {base - q})
        for k, block in enumerate(send_blocks(r, p)):
            target = (r + steps[k]) % p
            if target:
                assert block == receive_blocks(target, p)[k]
                assert block == base - q or block in receives[:k]


@for_each("p", [*range(2, 71), 127, 128, 129])
def test_n_blocks_arrive_in_the_fewest_rounds(p: int) -> None:
    """In n - 1 + ceil(log2 p) rounds every rank has every block, each received once, sent only by ranks that have it."""
    algorithm = find("bcast", "circulant")
    for n in (1, 2, 3, 7, 16):
        case = Case(p, n, parameters={"segment_bytes": 1})
        rounds = [list(transfers) for transfers in algorithm.schedule_for(case) or ()]
        assert len(rounds) == n - 1 + ceil_log2(p)
        received = [0] * p
        for transfers in rounds:
            for transfer in transfers:
                received[transfer.dest] += transfer.nbytes
        assert received == [0] + [n] * (p - 1)
        assert _follow_blocks(p, n) == [set(range(n))] * p


def _follow_blocks(p: int, n: int) -> list[set[int]]:
    """The blocks that each rank has at the end, computed from the schedules."""
    q, steps = ceil_log2(p), skips(p)
    has = [set(range(n))] + [set[int]() for _ in range(1, p)]
    early = -(n - 1) % q
    for i in range(early, early + n - 1 + q):
        k, shift = i % q, i // q * q - early
        arrivals = []
        for r in range(1, p):
            block = min(receive_blocks(r, p)[k] + shift, n - 1)
            if block >= 0:
                assert block in has[(r - steps[k]) % p]
                assert block not in has[r]
                arrivals.append((r, block))
        for r, block in arrivals:
            has[r].add(block)
    return has
