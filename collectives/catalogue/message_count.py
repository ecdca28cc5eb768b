"""The number of messages of an algorithm, from its schedule, before they are simulated, recorded or sent."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from collectives.catalogue.algorithm import Algorithm, Case
from collectives.catalogue.array_round import ArrayRound
from collectives.catalogue.schedule import Round, Rounds

RANKS_PER_MESSAGE = 64
"""A round in an array takes as long as this fraction of its ranks, however few messages it has, and counts as so many.

An allreduce of 8 bytes by `k_ring` on 65,536 ranks has only 4 messages in a round, but 131,070 rounds.
"""

EQUAL_ROUNDS = 32
"""After as many rounds of one length, the others are expected to have that length too: `scan/recursive_doubling` has 16
equal rounds on 65,537 ranks, and a shorter one."""


class TooManyMessages(Exception):
    """A schedule is longer than the limit; the argument is the number of messages counted or expected."""

    @property
    def count(self) -> int:
        """The number of messages, or a lower bound."""
        return int(self.args[0])


def count_messages(algorithm: Algorithm, case: Case, limit: int) -> int:
    """Return the number of messages of an algorithm, by its schedule; counting stops above `limit`.

    Without a schedule, every rank sends a message to every other rank, which holds for all such algorithms of the catalogue.
    """
    if algorithm.kind not in ("intra", "inter"):
        return 0  # splits and sorts send few messages
    try:
        plan = with_limited_schedule(algorithm, limit).schedule_for(case)
        if plan is None:
            return 2 * case.p * case.q if case.q else case.p * (case.p - 1)
        return sum(map(len, plan))
    except TooManyMessages as stop:
        return stop.count


def messages_above(algorithm: Algorithm, case: Case, most: int) -> int:
    """Return the number of messages, or a lower bound, if it is more than `most`; otherwise 0.

    The result is 0 if the schedule raises an error, which is reported when the schedule or the algorithm is used.
    """
    try:
        count = count_messages(algorithm, case, most)
    except Exception:
        return 0
    return count if count > most else 0


def with_limited_schedule(algorithm: Algorithm, limit: int) -> Algorithm:
    """Return the algorithm with a schedule that raises `TooManyMessages` after `limit` messages."""

    def schedule(case: Case) -> Rounds | None:
        plan = algorithm.schedule_for(case)
        return None if plan is None else _counted(plan, limit, algorithm, case)

    return replace(algorithm, schedule=schedule) if algorithm.schedule else algorithm


def _counted(plan: Rounds, limit: int, algorithm: Algorithm, case: Case) -> Iterator[Round]:
    count, fewest, lengths = 0, max(1, case.ranks // RANKS_PER_MESSAGE), list[int]()
    for transfers in plan:  # it may have rounds without messages, and no end
        lengths.append(max(len(transfers), fewest if isinstance(transfers, ArrayRound) else 1))
        count += lengths[-1]
        expected = expected_messages(algorithm, case, lengths) if len(lengths) == EQUAL_ROUNDS else 0
        if max(count, expected) > limit:
            raise TooManyMessages(max(count, expected))
        yield transfers


def expected_messages(algorithm: Algorithm, case: Case, lengths: Sequence[int]) -> int:
    """Return the number of messages if all rounds are as long as the first ones; 0 if these are few, or differ.

    A ring of 65,536 ranks has 4 billion messages in equal rounds: counting them would take minutes.
    """
    if len(lengths) < EQUAL_ROUNDS or len(set(lengths)) > 1:
        return 0
    closed_forms = replace(algorithm, schedule=lambda case: None)  # without them, the number of rounds is not known yet
    return (closed_forms.rounds(case) or 0) * lengths[0]
