"""Claims of two-phase accesses, for a file without holes whose blocks are dealt out in turn.

In a case m is the bytes of each rank and itemsize the bytes of a block: of rank r's m / itemsize blocks, number j is block
j p + r of the file. `time` is of the messages alone, as on a file that costs nothing; `time_with_file` has the file too.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from collectives.catalogue.algorithm import Case, Claims
from collectives.catalogue.schedule import Round, Schedule, Seconds, Transfer, without_empty
from collectives.tools.blocks import Layout
from collectives.tools.numbers import ceil_div, ceil_log2


def fits(case: Case) -> str | None:
    aggregators, buffer_bytes = case.parameters.get("aggregators", 1), case.parameters.get("buffer_bytes", 1)
    if not 1 <= aggregators <= case.p:
        return f"aggregators = {aggregators} is not in 1 .. p = {case.p}"
    return None if buffer_bytes > 0 else f"buffer_bytes = {buffer_bytes} is not positive"


class Dealt(NamedTuple):
    """A case in figures: aggregators and their domains, and what ranks have of a part of the file."""

    p: int
    block: int
    domains: Layout
    buffer_bytes: int
    aggregators: list[int]

    @classmethod
    def of(cls, case: Case) -> Dealt:
        many = case.parameters.get("aggregators", 1)
        places = Layout.nearly_equal(case.p, many)
        ranks = [places.start(i) for i in range(many)] if case.m else []
        domains = Layout.nearly_equal(case.p * case.m, many)
        return cls(case.p, case.itemsize, domains, case.parameters.get("buffer_bytes", 16 << 20), ranks)

    def windows(self, i: int) -> list[tuple[int, int]]:
        """What of the file an aggregator accesses, round by round; in the end perhaps nothing."""
        low, high = self.domains.start(i), self.domains.start(i + 1)
        starts = (low + number * self.buffer_bytes for number in range(self.rounds))
        return [(min(start, high), min(start + self.buffer_bytes, high)) for start in starts]

    @property
    def rounds(self) -> int:
        """Windows of the largest domain."""
        return ceil_div(self.domains.largest, self.buffer_bytes)

    def below(self, rank: int, place: int) -> int:
        """Bytes of a rank before a place of the file."""
        turns, rest = divmod(place, self.p * self.block)
        return turns * self.block + min(max(rest - rank * self.block, 0), self.block)

    def runs(self, rank: int, low: int, high: int) -> int:
        """Blocks of a rank that are there, whole or in part."""
        turn, first = self.p * self.block, rank * self.block
        begun = max(ceil_div(high - first, turn), 0)
        over = max((low - first - self.block) // turn + 1, 0)
        return max(begun - over, 0)


def schedule(case: Case, write: bool) -> Schedule:
    dealt, p = Dealt.of(case), case.p
    yield from _told_to_all(p, 16)
    yield from _steps(dealt, lambda i, rank: 8, True)
    yield from _steps(dealt, lambda i, rank: 16 * dealt.runs(rank, dealt.domains.start(i), dealt.domains.start(i + 1)), True)
    for number in range(dealt.rounds):

        def of_window(i: int, rank: int, number: int = number) -> int:
            low, high = dealt.windows(i)[number]
            return dealt.below(rank, high) - dealt.below(rank, low)

        yield from _steps(dealt, of_window, write)
    yield from _told_to_all(p, 8)


def _told_to_all(p: int, nbytes: int) -> Schedule:
    """Each round everybody tells somebody twice as far away."""
    for k in range(ceil_log2(p)):
        yield [Transfer(rank, (rank + (1 << k)) % p, nbytes) for rank in range(p)]


def _steps(dealt: Dealt, size: Callable[[int, int], int], to_them: bool) -> Schedule:
    """A message between each rank and each aggregator, from those who are k ranks before the others in step k."""
    for step in range(1, dealt.p):
        yield _step(dealt, size, step if to_them else -step)


def _step(dealt: Dealt, size: Callable[[int, int], int], step: int) -> Round:
    pairs = ((i, it, (it - step) % dealt.p) for i, it in enumerate(dealt.aggregators))
    if step > 0:
        return without_empty(Transfer(rank, it, size(i, rank)) for i, it, rank in pairs)
    return without_empty(Transfer(it, rank, size(i, rank)) for i, it, rank in pairs)


def scratch(case: Case, rank: int) -> int:
    dealt, p = Dealt.of(case), case.p
    whole = 24 if p > 1 else 0
    if rank not in dealt.aggregators:
        return whole
    i = dealt.aggregators.index(rank)
    low, high = dealt.domains.start(i), dealt.domains.start(i + 1)
    others = [other for other in range(p) if other != rank]
    told = sum(8 + 16 * dealt.runs(other, low, high) for other in others)
    mine = dealt.below(rank, high) - dealt.below(rank, low)
    return whole + told + 2 * (high - low) - mine


def even(case: Case) -> bool:
    """Whether all windows are equal, and are whole turns: closed forms are for these."""
    dealt = Dealt.of(case)
    domain, rest = divmod(case.p * case.m, max(len(dealt.aggregators), 1))
    window = dealt.buffer_bytes if dealt.rounds > 1 else domain
    return not rest and not (window and domain % window) and not window % (case.p * case.itemsize)


def closed_time(case: Case, t_s: Seconds, t_w: Seconds) -> Seconds | None:
    if not even(case):
        return None
    dealt, p = Dealt.of(case), case.p
    time = ceil_log2(p) * (2 * t_s + 24 * t_w)
    if not case.m:
        return time
    aggregators, rounds = len(dealt.aggregators), dealt.rounds
    runs = case.m // case.itemsize // aggregators
    time += (p - 1) * (2 * t_s + (8 + 16 * runs) * t_w)
    return time + (p - 1) * (rounds * t_s + case.m // aggregators * t_w)


def accesses(case: Case) -> int:
    """How often the file is accessed: once for each window that is not empty."""
    dealt = Dealt.of(case)
    return sum(low < high for i in range(len(dealt.aggregators)) for low, high in dealt.windows(i))


def time_with_file(case: Case, t_s: Seconds, t_w: Seconds, f_s: Seconds, f_w: Seconds, ports: int = 1) -> Seconds | None:
    """The time with a file server of so many ports, where an access of k bytes takes f_s + k f_w; None where it is unknown.

    With several windows the aggregators must not wait for each other, or they come to the next one at different times.
    """
    messages, dealt = closed_time(case, t_s, t_w), Dealt.of(case)
    if messages is None or not case.m or (dealt.rounds > 1 and len(dealt.aggregators) > ports):
        return messages if not case.m else None
    window = case.p * case.m // len(dealt.aggregators) // dealt.rounds
    return messages + dealt.rounds * ceil_div(len(dealt.aggregators), ports) * (f_s + window * f_w)


def claims(write: bool) -> Claims:
    """Of writing, or of reading."""
    return Claims(schedule=lambda case: schedule(case, write), scratch=scratch, fits=fits, closed_time=closed_time)
