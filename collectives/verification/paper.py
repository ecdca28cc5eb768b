"""What is claimed of a case: by the schedule and by closed forms, and whether the two agree."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import chain, islice
from typing import NamedTuple

from collectives.catalogue.algorithm import Algorithm
from collectives.catalogue.case import Case
from collectives.catalogue.schedule import Round, Seconds, Served, Streams, elapsed, longest_chain

BY_SCHEDULE, CLOSED_FORM = "the schedule", "the closed form"

ROUNDS = 100_000
"""More than any schedule of a small case has: one that has as many does not end."""


class Claim(NamedTuple):
    """A number, and what says it."""

    value: Seconds
    by: str


class Paper:
    """An algorithm's claims on one case; the schedule is written down once."""

    def __init__(self, algorithm: Algorithm, case: Case) -> None:
        self.algorithm, self.case = algorithm, case
        plan = algorithm.plan(case)
        self.plan: list[Round] | None = None if plan is None else list(islice(plan, ROUNDS))
        if self.plan is not None and len(self.plan) == ROUNDS:
            raise ValueError(f"it has {ROUNDS:,} rounds or more")
        self._messages: Counter[int] = Counter()
        self._bytes: Counter[int] = Counter()
        for transfer in chain.from_iterable(self.plan or ()):
            self._messages[transfer.source] += 1
            self._bytes[transfer.source] += transfer.nbytes

    def time(self, t_s: Seconds, t_w: Seconds, c: Seconds = 0) -> Iterator[Claim]:
        """Modelled time until the last rank is done."""
        if self.algorithm.closed_time is not None:
            closed = self.algorithm.closed_time(self.case, t_s, t_w)
            combined = self.algorithm.closed_combined(self.case) if c else 0
            if closed is not None and combined is not None:
                yield Claim(closed + c * combined, CLOSED_FORM)
        if self.plan is not None:
            yield Claim(elapsed(self.plan, self.case.ranks, t_s, t_w, c), BY_SCHEDULE)

    def rounds(self) -> Iterator[Claim]:
        """Messages on the longest chain of messages that wait for each other."""
        if self.algorithm.closed_rounds is not None:
            closed = self.algorithm.closed_rounds(self.case)
            yield from () if closed is None else [Claim(closed, CLOSED_FORM)]
        if self.plan is not None:
            yield Claim(longest_chain(self.plan, self.case.ranks), BY_SCHEDULE)

    def sent(self, rank: int) -> Iterator[Claim]:
        """Bytes that a rank sends."""
        if self.algorithm.closed_sent is not None:
            closed = self.algorithm.closed_sent(self.case, rank)
            yield from () if closed is None else [Claim(closed, CLOSED_FORM)]
        if self.plan is not None:
            yield Claim(self._bytes[rank], BY_SCHEDULE)

    def messages(self, rank: int) -> Iterator[Claim]:
        """Messages that a rank sends."""
        if self.plan is not None:
            yield Claim(self._messages[rank], BY_SCHEDULE)


def disagreement(algorithm: Algorithm, case: Case) -> str | None:
    """Where a closed form says something else than the schedule: exactly, in Fractions, with free combining and without."""
    paper, ranks = Paper(algorithm, case), range(case.ranks)
    t_s, t_w, c = Fraction(7, 3), Fraction(2, 5), Fraction(3, 7)
    told = {
        "time": paper.time(t_s, t_w),
        "time with combining": paper.time(t_s, t_w, c),
        "rounds": paper.rounds(),
        **{f"bytes sent by rank {rank}": paper.sent(rank) for rank in ranks},
    }
    for what, claims in told.items():
        values = list(claims)
        if len({claim.value for claim in values}) > 1:
            return f"{what}: " + ", ".join(f"{claim.by} says {claim.value}" for claim in values)
    return None


def breach(plan: Sequence[Round], ranks: int) -> str | None:
    """Where a schedule does not keep to the model: in a round a rank sends and receives at most once, never to itself."""
    for number, transfers in enumerate(plan, 1):
        for t in transfers:
            if t.source == t.dest or not (0 <= t.source < ranks and 0 <= t.dest < ranks):
                return f"round {number} of the schedule has a message from {t.source} to {t.dest}, on {ranks} ranks"
        if isinstance(transfers, Streams):
            if sorted((t.source, t.dest) for t in transfers) != sorted(transfers.received):
                return f"round {number} of the schedule receives other messages than it sends"
            continue
        ends = [("receives", Counter(t.dest for t in transfers))]
        if not isinstance(transfers, Served):
            ends.append(("sends", Counter(t.source for t in transfers)))
        for does, counted in ends:
            for rank, times in counted.items():
                if times > 1:
                    return f"in round {number} of the schedule rank {rank} {does} {times} times, and may once"
    return None


def unheard(plan: Sequence[Round], ranks: int) -> str | None:
    """Of a barrier's schedule: who goes on without having heard of whom."""
    heard = [{r} for r in range(ranks)]
    for transfers in plan:
        before = [set(known) for known in heard]
        for transfer in transfers:
            heard[transfer.dest] |= before[transfer.source]
    for rank, known in enumerate(heard):
        for other in sorted(set(range(ranks)) - known):
            return f"by the schedule rank {rank} goes on without having heard of rank {other}"
    return None
