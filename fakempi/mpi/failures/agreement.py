"""Agreement: the surviving members of a communicator agree on a value, even if members die during the call (Agree, Shrink).

After the last of n survivors has called, the agreement takes 2 ceil(log2 n) times the latency of an empty message: up and
down a binomial tree. These messages are modeled by their latency only: they use no ports.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any

from fakempi.mpi.base.waiting import Completion, Reason
from fakempi.mpi.failures.fault_state import FaultState

Conclude = Callable[[dict[int, Any], list[int]], Any]
"""Computes the result from the values {process: value} and the list of survivors."""


class Agreement(Reason):
    """The processes that have called so far, and the value of each."""

    __slots__ = ("arrivals", "conclude", "fault_state", "key", "values")

    def __init__(self, fault_state: FaultState, key: Hashable, conclude: Conclude) -> None:
        self.fault_state, self.key, self.conclude = fault_state, key, conclude
        self.values: dict[int, Any] = {}
        self.arrivals: list[Completion] = []

    def _survivors(self) -> list[int]:
        dead = set(self.fault_state.failed)
        return [number for side in self.fault_state.context.sides for number in side.members if number not in dead]

    def join(self, number: int, value: object, arrival: Completion) -> None:
        """Add a process with its value."""
        self.values[number] = value
        arrival.why = self
        self.arrivals.append(arrival)
        self.check()

    def check(self) -> None:
        """Complete the agreement if all survivors have called."""
        survivors = self._survivors()
        if not all(number in self.values for number in survivors):
            return
        del self.fault_state.agreements[self.key]
        universe = self.fault_state.context.universe
        rounds = 2 * (len(survivors) - 1).bit_length()
        end = universe.loop.now
        if rounds:
            end = end + rounds * universe.network.price(survivors[0], survivors[1], 0)[2]
        result = self.conclude(self.values, survivors)
        for arrival in self.arrivals:
            arrival.result = result
            arrival.complete(end)

    def _missing(self) -> list[int]:
        return [number for number in self._survivors() if number not in self.values]

    def describe(self) -> str:
        """Name the survivors that have not called."""
        return f"waits for {self.fault_state.context.universe.names.text(self._missing(), 6)}"

    def awaits(self) -> tuple[int, ...]:
        """Return the first survivor that has not called."""
        return tuple(self._missing()[:1])


def join_agreement(
    fault_state: FaultState, number: int, kind: str, value: object, conclude: Conclude, arrival: Completion
) -> None:
    """Enter a communicator's next agreement of a kind: Agree or Shrink."""
    call = fault_state.calls[kind, number] = fault_state.calls.get((kind, number), 0) + 1
    key = kind, call
    agreement = fault_state.agreements.get(key)
    if agreement is None:
        agreement = fault_state.agreements[key] = Agreement(fault_state, key, conclude)
    agreement.join(number, value, arrival)
