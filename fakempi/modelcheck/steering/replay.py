"""Runs that follow a schedule token."""

from __future__ import annotations

from typing import Any

from fakempi.errors import MPIValueError, ScheduleError
from fakempi.errors.classes import ERR_ARG
from fakempi.errors.plurals import counted
from fakempi.modelcheck.steering.choices import Choices, Option
from fakempi.modelcheck.steering.token import read


class Replay(Choices):
    """Take the options that a token names, and the first option after its end.

    A token that ends in a question mark applies to every program: indices that are too large wrap around, and surplus
    decisions are ignored. Such tokens can be generated without knowing the program's choices.
    """

    def __init__(self, token: str) -> None:
        self.lenient = isinstance(token, str) and token.endswith("?")
        mode, self.decisions = read(token[:-1] if self.lenient else token)
        super().__init__(mode)
        self.token, self.at = token, 0

    def chosen(self, options: list[Option]) -> int | None:
        """Return the token's next decision. A single option is not a choice."""
        if len(options) == 1:
            return 0
        self.at += 1
        if self.at > len(self.decisions):
            return 0
        index = self.decisions[self.at - 1]
        if index < len(options) or self.lenient:
            return index % len(options)
        there = "; ".join(f"{i}: {option.describe()}" for i, option in enumerate(options))
        self._reject(f"decision {self.at} is {index}, but there are only {len(options)} options ({there}).")
        return None

    def end(self) -> None:
        """Check that no decision other than 0 is left over."""
        for at, decision in enumerate(self.decisions[self.at :], self.at + 1):
            if decision and not self.lenient:
                count = counted(self.at, "decision")
                self._reject(f"decision {at} is {decision}, but the program ended after {count}.")

    def _reject(self, reason: str) -> None:
        error = ScheduleError(f"schedule {self.token!r} does not fit the program: {reason}")
        if self.loop.ending:
            raise error
        self.universe.end(error)


def steering(schedule: Any, seed: Any, cpu_scale: float) -> Choices:
    """Return the choices of a run, after checking that no other option decides the order of events."""
    for name, given in (("seed", seed is not None), ("cpu_scale", bool(cpu_scale))):
        if given:
            raise MPIValueError(ERR_ARG, f"run: schedule= fixes the order of events, so {name} cannot be given as well.")
    return schedule if isinstance(schedule, Choices) else Replay(schedule)
