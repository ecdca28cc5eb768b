"""Claims of the algorithm of a schedule: the bytes that a rank sends, and its rounds if these are exact."""

from __future__ import annotations

from fractions import Fraction

from collectives.catalogue.algorithm import Case
from collectives.catalogue.schedule import Transfer
from collectives.schedules.running.fitting import Fitting
from collectives.schedules.running.rounds import rounds
from collectives.schedules.schedule import Schedule


class ScheduleClaims:
    """The claims of a schedule, for cases that it fits."""

    def __init__(self, schedule: Schedule, fitting: Fitting) -> None:
        self._schedule, self._fitting = schedule, fitting
        self._rounds: list[list[Transfer]] | None = None
        self._derived = False

    def schedule(self, case: Case) -> list[list[Transfer]] | None:
        """Return the rounds of a case; None if the schedule has none, has faults, or if the case has no sizes.

        A schedule with faults has no rounds: a simulation of its times would not reveal its wrong results.
        """
        scale = self._scale(case)
        if scale is None:
            return None
        if not self._derived:
            self._rounds = rounds(self._schedule)
            if self._rounds is not None and self._schedule.verify():
                self._rounds = None
            self._derived = True
        if self._rounds is None:
            return None

        def scaled(transfer: Transfer) -> Transfer:
            source, dest, *places = transfer
            sizes = (int(place * scale) for place in places)
            return Transfer(self._number(case, source), self._number(case, dest), *sizes)

        return [[scaled(transfer) for transfer in transfers] for transfers in self._rounds]

    def sent(self, case: Case, rank: int) -> int | None:
        """Return the bytes that a rank sends; None if the case has no sizes."""
        scale = self._scale(case)
        if scale is None:
            return None
        number = next(each for each in range(self._schedule.ranks) if self._number(case, each) == rank)
        return int(sum(step.nbytes for step in self._schedule.steps[number] if step.kind == "send") * scale)

    def _scale(self, case: Case) -> Fraction | None:
        if self._fitting.misfit(case):
            return None
        scale = self._fitting.scale_of(case)
        return scale if isinstance(scale, Fraction) else None

    def _number(self, case: Case, rank: int) -> int:
        """Return the number of a rank of the schedule in the case, which may have the two groups in the other order."""
        return (rank + case.p) % case.ranks if self._fitting.is_swapped(case) else rank
