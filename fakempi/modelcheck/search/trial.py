"""One run of the search: its choices, and its result or exception."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from fakempi.errors import RunError
from fakempi.modelcheck.steering.choices import Choices
from fakempi.modelcheck.steering.token import write


class StopRun(BaseException):
    """End a run whose continuation is explored elsewhere, or that does not repeat its path."""


class TrialRun:
    """A run: its choices, and its result or exception."""

    def __init__(self, choices: Choices, run: Callable[[Choices], Any]) -> None:
        self.choices = choices
        self.result: Any = None
        self.error: RunError | None = None
        self.ended_early = False
        try:
            self.result = run(choices)
        except RunError as error:
            self.error = error
        except StopRun:
            self.ended_early = True

    @property
    def cut_off(self) -> bool:
        """Whether the run was ended while ranks could continue, and its continuation is not explored elsewhere."""
        return self.choices.cut_off and not self.ended_early

    @property
    def decisions(self) -> list[int]:
        """The choices with several options, up to the first failure of a rank."""
        steps = self.choices.steps[: self.choices.at_failure]
        return [step.taken_index for step in steps if len(step.options) > 1]

    @property
    def token(self) -> str:
        """The schedule as text."""
        return write(self.choices.mode, self.decisions)
