"""Random schedules, for searches whose budget does not cover the tree."""

from __future__ import annotations

from random import Random
from typing import Any

from fakempi.core.network.envelope import Envelope
from fakempi.modelcheck.steering.choices import Choices, Option
from fakempi.modelcheck.steering.token import LibraryMode


class RandomChoices(Choices):
    """Random choices: uniform over the options, or by priorities that change at random steps (PCT)."""

    continues_after_failure = True

    def __init__(self, mode: LibraryMode, seed: str) -> None:
        super().__init__(mode)
        self.random = Random(seed)
        self.priorities: dict[Any, float] = {}
        self.by_priority = self.random.random() < 0.5
        self.change_points = {self.random.randrange(1, 50) for _ in range(2)}

    def chosen(self, options: list[Option]) -> int | None:
        """Return a random option; the same one for the same seed."""
        allowed = [i for i in range(len(options)) if i not in self.excluded]
        if not self.by_priority:
            return self.random.choice(allowed)
        best = max(allowed, key=lambda i: self._priority(options[i]))
        if len(self.steps) in self.change_points:
            self.priorities[self._priority_key(options[best])] = -len(self.steps)
        return best

    def _priority_key(self, option: Option) -> Any:
        return option.value.out.number if isinstance(option.value, Envelope) else (option.point.key[0], str(option.value))

    def _priority(self, option: Option) -> float:
        return self.priorities.setdefault(self._priority_key(option), self.random.random())
