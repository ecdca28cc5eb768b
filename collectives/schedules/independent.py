"""Remove dependencies that only timing has caused: compare two recordings, and keep the dependencies that both have.

An algorithm whose sends and receives are independent waits for the message that ends first (Waitany), so the order of its
steps depends on timing. It is recorded twice: sends complete first in one recording, receives complete first in the other. A
dependency that occurs in only one recording is a result of its order.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace

from collectives.catalogue.algorithm import UnsupportedCaseError
from collectives.schedules.step import Step

Sets = list[int]
"""For each step a set of steps, as the bits of a number."""


def common_order(steps: Sequence[Step], others: Sequence[Step]) -> list[Step]:
    """Return the steps of a recording with the dependencies that the other recording also has.

    Raises UnsupportedCaseError if the recordings have different steps.
    """
    keys, other_keys = list(_step_keys(steps)), list(_step_keys(others))
    if {*keys} != {*other_keys}:
        raise UnsupportedCaseError("an algorithm whose messages depend on timing cannot be recorded")
    number = {key: index for index, key in enumerate(keys)}
    numbers = [number[key] for key in other_keys]
    ended = _common(_ended_before(steps), _ended_before(others), numbers)
    earlier = [(1 << index) - 1 for index in range(len(steps))]
    started = _common(earlier, earlier, numbers)
    return [
        replace(
            step,
            after=tuple(_bits(ended[index] & ~_union(ended, ended[index]))),
            after_start=tuple(_bits(started[index] & ~ended[index] & ~_union(started, started[index]))),
        )
        for index, step in enumerate(steps)
    ]


def _step_keys(steps: Sequence[Step]) -> Iterator[tuple[Step, int]]:
    """Yield a key of each step, to find it in the other recording: its action, and the number of equal steps before it."""
    seen: Counter[Step] = Counter()
    for step in steps:
        action = replace(step, after=(), after_start=())
        yield action, seen[action]
        seen[action] += 1


def _ended_before(steps: Sequence[Step]) -> Sets:
    """Return for each step the steps that end before it starts."""
    found: Sets = []
    for step in steps:
        direct = sum(1 << index for index in step.after)
        found.append(direct | _union(found, direct) | _union(found, sum(1 << index for index in step.after_start)))
    return found


def _common(sets: Sets, others: Sets, numbers: Sequence[int]) -> Sets:
    """Return for each step the intersection of its two sets; step i in `others` is step numbers[i] in `sets`."""
    found = list(sets)
    for index, other in enumerate(others):
        found[numbers[index]] &= sum(1 << numbers[each] for each in _bits(other))
    return found


def _union(sets: Sets, indices: int) -> int:
    """Return the union of the sets at these indices, which are the bits of a number."""
    union = 0
    for index in _bits(indices):
        union |= sets[index]
    return union


def _bits(number: int) -> Iterator[int]:
    """Yield the positions of the bits that are set."""
    while number:
        lowest = number & -number
        yield lowest.bit_length() - 1
        number ^= lowest
