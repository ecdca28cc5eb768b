"""A dynamic dependency graph without cycles: a step of a program can only be reached after the steps on which it depends.

Each step has a number, its `order`, larger than the orders of all steps that it depends on. A new dependency on a step
of smaller order therefore closes no cycle, and needs no search. This is the most frequent case. Otherwise the steps between
the two orders are searched from both ends, and those of the smaller side get new orders (dynamic topological sorting,
after Pearce and Kelly).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise
from typing import Any

MAX_COMPARED = 8
"""The number of dependencies of a step that `join` compares, to avoid a redundant step."""


class ProgramStep:
    """A point in the program of a task, which is reached when all steps on which it depends have ended."""

    __slots__ = ("ended", "event", "followers", "matched_by", "needs", "order", "pending")

    def __init__(self, order: float, needs: list[ProgramStep], event: Any) -> None:
        self.order = order
        self.needs = needs
        self.event = event  # a record of what happens at this step, if the caller needs one
        self.matched_by: ProgramStep | None = None  # of the `needs`, the one that `settle` has added
        self.followers: list[ProgramStep] = []  # steps that depend on this one
        self.pending = len(needs)  # dependencies that have not ended, and one more until the step is settled
        self.ended = False


Neighbors = Callable[[ProgramStep], list[ProgramStep]]


class Dependencies:
    """All steps that have not ended."""

    def __init__(self) -> None:
        self.steps: dict[ProgramStep, None] = {}
        self._last = 0.0  # the largest order so far

    def add(
        self, needs: Iterable[ProgramStep | None], event: Any = None, *, settled: bool = True,
        matched_by: ProgramStep | None = None,
    ) -> ProgramStep:
        """Add a step that depends on all of `needs`; unless it is settled, it stays open until `settle` is called."""
        live = [need for need in dict.fromkeys(needs) if need is not None and not need.ended]
        self._last += 1
        step = ProgramStep(self._last, live, event)
        step.matched_by = matched_by
        for need in live:
            need.followers.append(step)
        if not settled:
            step.pending += 1
        self.steps[step] = None
        self._end(step)
        return step

    def join(self, first: ProgramStep | None, second: ProgramStep | None) -> ProgramStep | None:
        """Return a step that depends on both, which may be one of the two; None if both have ended."""
        if second is None or second.ended or first is second:
            return first if first is not None and not first.ended else None
        if first is None or first.ended or first in second.needs[:MAX_COMPARED]:
            return second
        return first if second in first.needs[:MAX_COMPARED] else self.add((first, second))

    def settle(self, step: ProgramStep, need: ProgramStep | None) -> list[Any]:
        """Make an open step depend on one more step, and on nothing else from then on.

        If that would close a cycle, the dependency is not added. Return the events of those steps of the cycle whose
        dependency on the next step was added by `settle`; an empty list if there is no cycle.
        """
        waiting: list[Any] = []
        if need is not None and not need.ended:
            step.matched_by = need
            cycle = self._order(step, need)
            if cycle is None:
                step.needs.append(need)
                need.followers.append(step)
                step.pending += 1
            else:
                pairs = zip(cycle, [*cycle[1:], cycle[0]], strict=True)
                waiting = [earlier.event for earlier, following in pairs if earlier.matched_by is following]
        step.pending -= 1
        self._end(step)
        return waiting

    @staticmethod
    def before(step: ProgramStep) -> Iterator[ProgramStep]:
        """Return a step and all steps that it depends on."""
        seen, ahead = {step}, [step]
        while ahead:
            current = ahead.pop()
            yield current
            for need in current.needs:
                if not need.ended and need not in seen:
                    seen.add(need)
                    ahead.append(need)

    def forget(self) -> None:
        """Regard all steps as ended."""
        for step in self.steps:
            _close(step)
        self.steps.clear()

    def _end(self, step: ProgramStep) -> None:
        """If a step is reached, mark it and the steps that can be reached now as ended."""
        ended = [step]
        while ended:
            step = ended.pop()
            if step.pending or step.ended:
                continue
            followers = step.followers
            _close(step)
            del self.steps[step]
            for follower in followers:
                if not follower.ended:
                    follower.pending -= 1
                    ended.append(follower)

    def _order(self, step: ProgramStep, need: ProgramStep) -> list[ProgramStep] | None:
        """Give `need` a smaller order than `step`; return the cycle if that is impossible."""
        if need is step:
            return [step]
        while need.order >= step.order:
            below, above = _Search(need), _Search(step)  # what `need` depends on, and what depends on `step`
            while True:
                done = below.advance(lambda visited: visited.needs, lambda order: order >= step.order)
                if step in below.visited:
                    return self._path(need, step)
                if done:
                    moved, orders = below.visited, below.outside(lambda visited: visited.needs)
                    low, high = max(orders, default=step.order - 1 - len(moved)), step.order
                    break
                done = above.advance(lambda visited: visited.followers, lambda order: order <= need.order)
                if need in above.visited:
                    return self._path(need, step)
                if done:
                    moved, orders = above.visited, above.outside(lambda visited: visited.followers)
                    low, high = need.order, min(orders, default=need.order + 1 + len(moved))
                    break
            if not self._move(sorted(moved, key=_order_of), low, high):
                for order, visited in enumerate(sorted(self.steps, key=_order_of)):
                    visited.order = float(order)
                self._last = float(len(self.steps))
        return None

    def _move(self, steps: list[ProgramStep], low: float, high: float) -> bool:
        """Give steps orders between two others; False if there is no room."""
        gap = (high - low) / (len(steps) + 1)
        orders = [low + gap * (i + 1) for i in range(len(steps))]
        if any(one >= two for one, two in pairwise([low, *orders, high])):
            return False
        for step, order in zip(steps, orders, strict=True):
            step.order = order
        self._last = max(self._last, orders[-1])
        return True

    @staticmethod
    def _path(start: ProgramStep, end: ProgramStep) -> list[ProgramStep] | None:
        """Return the steps from one to another that it depends on, in this order; None if there is no such path."""
        after: dict[ProgramStep, ProgramStep | None] = {start: None}
        ahead = [start]
        while ahead:
            current = ahead.pop()
            if current is end:
                path: list[ProgramStep] = []
                back: ProgramStep | None = current
                while back is not None:
                    path.append(back)
                    back = after[back]
                return path[::-1]
            for need in current.needs:
                if need.order >= end.order and not need.ended and need not in after:
                    after[need] = current
                    ahead.append(need)
        return None


class _Search:
    """A search from one step that advances by one step at a time."""

    __slots__ = ("_ahead", "visited")

    def __init__(self, start: ProgramStep) -> None:
        self.visited: dict[ProgramStep, None] = {start: None}
        self._ahead = [start]

    def advance(self, neighbors: Neighbors, within: Callable[[float], bool]) -> bool:
        """Visit the neighbors of one step; True if none is left to visit."""
        for other in neighbors(self._ahead.pop()):
            if not other.ended and within(other.order) and other not in self.visited:
                self.visited[other] = None
                self._ahead.append(other)
        return not self._ahead

    def outside(self, neighbors: Neighbors) -> list[float]:
        """Return the orders of the neighbors of visited steps that were not visited themselves."""
        return [
            other.order
            for step in self.visited
            for other in neighbors(step)
            if not other.ended and other not in self.visited
        ]


def _close(step: ProgramStep) -> None:
    """Mark a step as ended, and drop its references to others."""
    step.ended = True
    step.needs, step.followers, step.matched_by, step.event = [], [], None, None


def _order_of(step: ProgramStep) -> float:
    return step.order
