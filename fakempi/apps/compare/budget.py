"""A limit on the number of messages that one time may take to compute, so that every table is finished.

The limit counts messages of schedules rather than seconds, so the same algorithms are skipped on every machine.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from collectives import Algorithm, Case
from collectives.catalogue.array_round import ArrayRound
from collectives.catalogue.schedule import Round, Rounds

RANKS_PER_MESSAGE = 64
"""A round in an array takes as long as this fraction of its ranks, however few messages it has, and counts as so many.

An allreduce of 8 bytes by `k_ring` on 65,536 ranks has only 4 messages in a round, but 131,070 rounds.
"""


class TooManyMessages(Exception):
    """A schedule is longer than the limit; the argument is the number of messages counted so far."""

    @property
    def count(self) -> int:
        """A lower bound on the number of messages."""
        return int(self.args[0])


def limited(algorithm: Algorithm, case: Case, limit: int) -> tuple[Algorithm, Case]:
    """Return the algorithm and the case with schedules that raise `TooManyMessages` after `limit` messages.

    A claim is a formula, or it is computed from the schedule of the algorithm or of its parts.
    """
    every = {**algorithm.parameters, **case.parameters}
    parts = {name: _limited(value, limit) for name, value in every.items() if isinstance(value, Algorithm)}
    return _limited(algorithm, limit), replace(case, parameters={**case.parameters, **parts})


def count_messages(algorithm: Algorithm, case: Case, limit: int) -> int:
    """Return the number of messages of an algorithm, by its schedule; counting stops above `limit`.

    Without a schedule, every rank sends a message to every other rank, which holds for all such algorithms of the catalogue.
    """
    if algorithm.kind not in ("intra", "inter"):
        return 0  # splits and sorts send few messages
    try:
        plan = _limited(algorithm, limit).plan(case)
        if plan is None:
            return 2 * case.p * case.q if case.q else case.p * (case.p - 1)
        return sum(map(len, plan))
    except TooManyMessages as stop:
        return stop.count


def _limited(algorithm: Algorithm, limit: int) -> Algorithm:
    def schedule(case: Case) -> Rounds | None:
        plan = algorithm.plan(case)
        return None if plan is None else _counted(plan, limit, case.ranks // RANKS_PER_MESSAGE)

    return replace(algorithm, schedule=schedule) if algorithm.schedule else algorithm


def _counted(plan: Rounds, limit: int, fewest: int) -> Iterator[Round]:
    count = 0
    for transfers in plan:
        count += max(len(transfers), fewest if isinstance(transfers, ArrayRound) else 0)
        if count > limit:
            raise TooManyMessages(count)
        yield transfers
