"""Has a run follow a schedule that somebody has written down."""

from __future__ import annotations

from typing import Any

from fakempi.choices.choices import Choices, Option
from fakempi.choices.token import read
from fakempi.error_classes import ERR_ARG
from fakempi.errors import MPIValueError, ScheduleError


class Replay(Choices):
    """What a token says is chosen; where it says nothing any more, the first of what is there.

    One that ends in a question mark fits every program: numbers that are too large count on from 0, and what is left over is
    not needed. So they can be drawn before it is known what there is to decide.
    """

    def __init__(self, token: str) -> None:
        self.loosely = isinstance(token, str) and token.endswith("?")
        buffering, self.decisions = read(token[:-1] if self.loosely else token)
        super().__init__(buffering)
        self.token, self.at = token, 0

    def chosen(self, options: list[Option]) -> int | None:
        """As it is written. A single option is no choice."""
        if len(options) == 1:
            return 0
        self.at += 1
        if self.at > len(self.decisions):
            return 0
        index = self.decisions[self.at - 1]
        if index < len(options) or self.loosely:
            return index % len(options)
        there = "; ".join(f"{i}: {option.words()}" for i, option in enumerate(options))
        self._refuse(f"decision {self.at} is {index}, and there are only {len(options)} options ({there}).")
        return None

    def end(self) -> None:
        """All that was written must have been needed, but for zeros."""
        for at, left in enumerate(self.decisions[self.at :], self.at + 1):
            if left and not self.loosely:
                self._refuse(f"decision {at} is {left}, but the program came to its end after {self.at}.")

    def _refuse(self, why: str) -> None:
        error = ScheduleError(f"decisions {self.token!r} do not fit the program: {why}")
        if self.loop.ending:
            raise error
        self.universe.end(error)


def steering(decisions: Any, seed: Any, computing: float) -> Choices:
    """Who makes the choices of a run; what else would is refused beside it."""
    for name, given in (("seed", seed is not None), ("computing", bool(computing))):
        if given:
            raise MPIValueError(ERR_ARG, f"run: decisions fix the schedule, so there is no place for {name}.")
    return decisions if isinstance(decisions, Choices) else Replay(decisions)
