"""An accord: the living members of a communicator agree on something, whoever dies meanwhile.

It takes two rounds of a tree of empty messages after the last one has come, which are not sent: they take no ports.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from fakempi.mpi.base.waiting import Completion, Reason
from fakempi.mpi.failures.trouble import Trouble

Conclude = Callable[[dict[int, Any], list[int]], Any]
"""Draws the conclusion from what each has brought, by process, and from who is alive."""


class Accord(Reason):
    """Who has come so far, and what each has brought."""

    __slots__ = ("came", "conclude", "key", "trouble", "values")

    def __init__(self, trouble: Trouble, key: Any, conclude: Conclude) -> None:
        self.trouble, self.key, self.conclude = trouble, key, conclude
        self.values: dict[int, Any] = {}
        self.came: list[Completion] = []

    def _living(self) -> list[int]:
        dead = set(self.trouble.failed)
        return [number for side in self.trouble.context.sides for number in side.members if number not in dead]

    def join(self, number: int, value: Any, arrival: Completion) -> None:
        """A process comes."""
        self.values[number] = value
        arrival.why = self
        self.came.append(arrival)
        self.look()

    def look(self) -> None:
        """If all who live have come, that is it."""
        living = self._living()
        if not all(number in self.values for number in living):
            return
        del self.trouble.accords[self.key]
        universe = self.trouble.context.universe
        rounds = 2 * (len(living) - 1).bit_length()
        end = universe.loop.now
        if rounds:
            end = end + rounds * universe.wire.price(living[0], living[1], 0)[2]
        result = self.conclude(self.values, living)
        for arrival in self.came:
            arrival.result = result
            arrival.complete(end)

    def _away(self) -> list[int]:
        return [number for number in self._living() if number not in self.values]

    def in_words(self) -> str:
        """Who has not come."""
        return f"waits for {self.trouble.context.universe.names.words(self._away(), 6)}"

    def awaits(self) -> tuple[int, ...]:
        """The first of them."""
        return tuple(self._away()[:1])


def join(trouble: Trouble, number: int, about: str, value: Any, conclude: Conclude, arrival: Completion) -> None:
    """Come to a communicator's next accord about something."""
    call = trouble.calls[about, number] = trouble.calls.get((about, number), 0) + 1
    key = about, call
    accord = trouble.accords.get(key)
    if accord is None:
        accord = trouble.accords[key] = Accord(trouble, key, conclude)
    accord.join(number, value, arrival)
