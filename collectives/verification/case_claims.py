"""The claims of an algorithm for one case, from its schedule and its closed forms, and whether these agree."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import chain, islice
from typing import NamedTuple

from collectives.catalogue.algorithm import Algorithm
from collectives.catalogue.case import Case
from collectives.catalogue.schedule import LinearPhase, Round, Seconds, Streams, elapsed, longest_chain

SCHEDULE, CLOSED_FORM = "the schedule", "the closed form"

MAX_ROUNDS = 100_000
"""A schedule with more rounds is regarded as infinite: those of the small cases that are verified have far fewer."""


class Claim(NamedTuple):
    """A claimed number and its source."""

    value: Seconds
    source: str


class CaseClaims:
    """The claims of an algorithm for one case; the schedule is evaluated once."""

    def __init__(self, algorithm: Algorithm, case: Case) -> None:
        self.algorithm, self.case = algorithm, case
        schedule = algorithm.schedule_for(case)
        self.schedule: list[Round] | None = None if schedule is None else list(islice(schedule, MAX_ROUNDS))
        if self.schedule is not None and len(self.schedule) == MAX_ROUNDS:
            raise ValueError(f"it has {MAX_ROUNDS:,} rounds or more")
        self._messages: Counter[int] = Counter()
        self._bytes: Counter[int] = Counter()
        for transfer in chain.from_iterable(self.schedule or ()):
            self._messages[transfer.source] += 1
            self._bytes[transfer.source] += transfer.nbytes

    def time(self, t_s: Seconds, t_w: Seconds, c: Seconds = 0) -> Iterator[Claim]:
        """Modeled time until the last rank finishes."""
        if self.algorithm.closed_time is not None:
            closed = self.algorithm.closed_time(self.case, t_s, t_w)
            combined = self.algorithm.closed_combined(self.case) if c else 0
            if closed is not None and combined is not None:
                yield Claim(closed + c * combined, CLOSED_FORM)
        if self.schedule is not None:
            yield Claim(elapsed(self.schedule, self.case.ranks, t_s, t_w, c), SCHEDULE)

    def rounds(self) -> Iterator[Claim]:
        """Length of the longest chain of dependent messages."""
        if self.algorithm.closed_rounds is not None:
            closed = self.algorithm.closed_rounds(self.case)
            yield from () if closed is None else [Claim(closed, CLOSED_FORM)]
        if self.schedule is not None:
            yield Claim(longest_chain(self.schedule, self.case.ranks), SCHEDULE)

    def sent(self, rank: int) -> Iterator[Claim]:
        """Bytes that a rank sends."""
        if self.algorithm.closed_sent is not None:
            closed = self.algorithm.closed_sent(self.case, rank)
            yield from () if closed is None else [Claim(closed, CLOSED_FORM)]
        if self.schedule is not None:
            yield Claim(self._bytes[rank], SCHEDULE)

    def messages(self, rank: int) -> Iterator[Claim]:
        """Messages that a rank sends."""
        if self.schedule is not None:
            yield Claim(self._messages[rank], SCHEDULE)


def disagreement(algorithm: Algorithm, case: Case) -> str | None:
    """Describe the first closed form that differs from the schedule, or return None.

    The comparison is exact (in Fractions), with and without a cost of combining.
    """
    claims, ranks = CaseClaims(algorithm, case), range(case.ranks)
    t_s, t_w, c = Fraction(7, 3), Fraction(2, 5), Fraction(3, 7)
    by_quantity = {
        "time": claims.time(t_s, t_w),
        "time with combining": claims.time(t_s, t_w, c),
        "rounds": [*claims.rounds(), *claims.time(1, 0)],  # `Algorithm.rounds` is the time if each message costs 1
        **{f"bytes sent by rank {rank}": claims.sent(rank) for rank in ranks},
    }
    for quantity, claimed in by_quantity.items():
        values = list(claimed)
        if len({claim.value for claim in values}) > 1:
            return f"{quantity}: " + ", ".join(f"{claim.source} claims {claim.value}" for claim in values)
    return None


def model_violation(schedule: Sequence[Round], ranks: int) -> str | None:
    """Describe the first violation of the model, or return None.

    In a round every rank sends at most one message and receives at most one, and no rank sends to itself.
    """
    for number, transfers in enumerate(schedule, 1):
        for t in transfers:
            if t.source == t.dest or not (0 <= t.source < ranks and 0 <= t.dest < ranks):
                return f"schedule round {number}: a message from rank {t.source} to rank {t.dest} is invalid for p = {ranks}"
        if isinstance(transfers, Streams):
            if sorted((t.source, t.dest) for t in transfers) != sorted(transfers.received):
                return f"schedule round {number}: the messages received differ from the messages sent"
            continue
        received, sent = Counter(t.dest for t in transfers), Counter(t.source for t in transfers)
        if isinstance(transfers, LinearPhase):
            for t in transfers:
                if sent[t.source] > 1 and received[t.dest] > 1:
                    both = f"rank {t.source} sends {sent[t.source]} messages and rank {t.dest} receives {received[t.dest]}"
                    return f"schedule round {number}: {both}; a LinearPhase has one of them between two ranks"
            continue
        for verb, counted in (("receives", received), ("sends", sent)):
            for rank, times in counted.items():
                if times > 1:
                    return f"schedule round {number}: rank {rank} {verb} {times} messages; the single-port model allows 1"
    return None


def missing_dependency(schedule: Sequence[Round], ranks: int) -> str | None:
    """Describe a rank that, by the schedule of a barrier, may leave before another rank has entered; None if none."""
    depends_on = [{r} for r in range(ranks)]
    for transfers in schedule:
        before = [set(known) for known in depends_on]
        for transfer in transfers:
            depends_on[transfer.dest] |= before[transfer.source]
    for rank, known in enumerate(depends_on):
        for other in sorted(set(range(ranks)) - known):
            return f"by the schedule, rank {rank} leaves the barrier without any message that depends on rank {other}"
    return None
