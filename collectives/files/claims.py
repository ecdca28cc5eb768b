"""Claims of two-phase access, for a file without holes whose blocks are assigned to the ranks round robin.

In a case, m is the number of bytes of each rank and itemsize the number of bytes of a block: block j of rank r is block
j p + r of the file. `time` is the time of the messages, without the file; `time_with_file` includes the file.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from collectives.catalogue.algorithm import Case, Claims
from collectives.catalogue.schedule import Round, Rounds, Seconds, Transfer, without_empty
from collectives.tools.blocks import Layout
from collectives.tools.numbers import ceil_div, ceil_log2


def why_unsupported(case: Case) -> str | None:
    aggregators, buffer_bytes = case.parameters.get("aggregators", 1), case.parameters.get("buffer_bytes", 1)
    if not 1 <= aggregators <= case.p:
        return f"aggregators = {aggregators} is not between 1 and p = {case.p}"
    return None if buffer_bytes > 0 else f"buffer_bytes = {buffer_bytes} is not positive"


class RoundRobin(NamedTuple):
    """The aggregators and their domains for a case, and the blocks of each rank in a range of the file."""

    p: int
    block: int
    domains: Layout
    buffer_bytes: int
    aggregators: list[int]

    @classmethod
    def of(cls, case: Case) -> RoundRobin:
        count = case.parameters.get("aggregators", 1)
        ranks_of = Layout.nearly_equal(case.p, count)
        ranks = [ranks_of.start(i) for i in range(count)] if case.m else []
        domains = Layout.nearly_equal(case.p * case.m, count)
        return cls(case.p, case.itemsize, domains, case.parameters.get("buffer_bytes", 16 << 20), ranks)

    def windows(self, i: int) -> list[tuple[int, int]]:
        """Return the ranges of the file that an aggregator accesses, by round; the last ones may be empty."""
        low, high = self.domains.start(i), self.domains.start(i + 1)
        starts = (low + number * self.buffer_bytes for number in range(self.rounds))
        return [(min(start, high), min(start + self.buffer_bytes, high)) for start in starts]

    @property
    def rounds(self) -> int:
        """Number of windows of the largest domain."""
        return ceil_div(self.domains.largest, self.buffer_bytes)

    def below(self, rank: int, offset: int) -> int:
        """Return the number of bytes of a rank before an offset of the file."""
        cycles, rest = divmod(offset, self.p * self.block)
        return cycles * self.block + min(max(rest - rank * self.block, 0), self.block)

    def runs(self, rank: int, low: int, high: int) -> int:
        """Return the number of blocks of a rank that overlap a range."""
        cycle, first = self.p * self.block, rank * self.block
        started = max(ceil_div(high - first, cycle), 0)
        ended = max((low - first - self.block) // cycle + 1, 0)
        return max(started - ended, 0)


def schedule(case: Case, write: bool) -> Rounds:
    layout, p = RoundRobin.of(case), case.p
    yield from _dissemination(p, 16)
    yield from _steps(layout, lambda i, rank: 8, True)
    domains = layout.domains
    yield from _steps(layout, lambda i, rank: 16 * layout.runs(rank, domains.start(i), domains.start(i + 1)), True)
    for number in range(layout.rounds):

        def of_window(i: int, rank: int, number: int = number) -> int:
            low, high = layout.windows(i)[number]
            return layout.below(rank, high) - layout.below(rank, low)

        yield from _steps(layout, of_window, write)
    yield from _dissemination(p, 8)


def _dissemination(p: int, nbytes: int) -> Rounds:
    """Rounds of a dissemination: in round k every rank sends to the rank at distance 2^k."""
    for k in range(ceil_log2(p)):
        yield [Transfer(rank, (rank + (1 << k)) % p, nbytes) for rank in range(p)]


def _steps(layout: RoundRobin, size: Callable[[int, int], int], to_aggregators: bool) -> Rounds:
    """Rounds with a message between each rank and each aggregator; step k has the pairs at distance k."""
    for step in range(1, layout.p):
        yield _step(layout, size, step if to_aggregators else -step)


def _step(layout: RoundRobin, size: Callable[[int, int], int], step: int) -> Round:
    pairs = ((i, it, (it - step) % layout.p) for i, it in enumerate(layout.aggregators))
    if step > 0:
        return without_empty(Transfer(rank, it, size(i, rank)) for i, it, rank in pairs)
    return without_empty(Transfer(it, rank, size(i, rank)) for i, it, rank in pairs)


def scratch(case: Case, rank: int) -> int:
    layout, p = RoundRobin.of(case), case.p
    agreement = 24 if p > 1 else 0
    if rank not in layout.aggregators:
        return agreement
    i = layout.aggregators.index(rank)
    low, high = layout.domains.start(i), layout.domains.start(i + 1)
    others = [other for other in range(p) if other != rank]
    requests = sum(8 + 16 * layout.runs(other, low, high) for other in others)
    mine = layout.below(rank, high) - layout.below(rank, low)
    return agreement + requests + 2 * (high - low) - mine


def has_closed_form(case: Case) -> bool:
    """Return whether all windows are equal and have the same number of blocks of each rank."""
    layout = RoundRobin.of(case)
    domain, rest = divmod(case.p * case.m, max(len(layout.aggregators), 1))
    window = layout.buffer_bytes if layout.rounds > 1 else domain
    return not rest and not (window and domain % window) and not window % (case.p * case.itemsize)


def closed_time(case: Case, t_s: Seconds, t_w: Seconds) -> Seconds | None:
    if not has_closed_form(case):
        return None
    layout, p = RoundRobin.of(case), case.p
    time = ceil_log2(p) * (2 * t_s + 24 * t_w)
    if not case.m:
        return time
    aggregators, rounds = len(layout.aggregators), layout.rounds
    runs = case.m // case.itemsize // aggregators
    time += (p - 1) * (2 * t_s + (8 + 16 * runs) * t_w)
    return time + (p - 1) * (rounds * t_s + case.m // aggregators * t_w)


def accesses(case: Case) -> int:
    """Return the number of accesses to the file: one per non-empty window."""
    layout = RoundRobin.of(case)
    return sum(low < high for i in range(len(layout.aggregators)) for low, high in layout.windows(i))


def time_with_file(case: Case, t_s: Seconds, t_w: Seconds, f_s: Seconds, f_w: Seconds, ports: int = 1) -> Seconds | None:
    """Return the time with a file server of `ports` ports, where an access of k bytes takes f_s + k f_w; None if unknown.

    It is unknown if there are several windows and more aggregators than ports, because aggregators then start the next
    window at different times.
    """
    messages, layout = closed_time(case, t_s, t_w), RoundRobin.of(case)
    if messages is None or not case.m or (layout.rounds > 1 and len(layout.aggregators) > ports):
        return messages if not case.m else None
    window = case.p * case.m // len(layout.aggregators) // layout.rounds
    return messages + layout.rounds * ceil_div(len(layout.aggregators), ports) * (f_s + window * f_w)


def claims(write: bool) -> Claims:
    """Return the claims of writing, or of reading."""
    return Claims(
        schedule=lambda case: schedule(case, write),
        scratch=scratch,
        why_unsupported=why_unsupported,
        closed_time=closed_time,
    )
