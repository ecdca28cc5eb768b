"""Compares many random programs, and counts what was compared."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from tests.modelcheck.oracle.compare import Mode, Oracle, compared, compared_with, modes_of
from tests.modelcheck.oracle.generator import generated
from tests.modelcheck.oracle.interpreter import Invalid, TooLarge, check
from tests.modelcheck.oracle.program import Program
from tests.modelcheck.oracle.shrink import shrunk


class Campaign:
    """Programs of one seed, in these modes or in those that suit the program."""

    def __init__(self, seed: int, modes: Sequence[Mode] | None = None, **more: Any) -> None:
        self.seed, self.modes, self.more = seed, modes, more
        self.programs = self.skipped = self.problems = 0
        self.searches: Counter[str] = Counter()
        self.exhausted: Counter[str] = Counter()
        self.peeks = [0, 0]  # different results of reading a buffer too early: without data, and with data

    def compare(self, number: int) -> str | None:
        """A disagreement of a program, shrunk; None if there is none."""
        program = generated(self.seed, number)
        try:
            check(program)
            oracle = Oracle(program, **self.more)
            for mode in self.modes or modes_of(program, number):
                verdict = compared_with(oracle, mode)
                self.searches[mode.name] += 1
                self.exhausted[mode.name] += verdict.exhausted
                self.peeks = [sum(pair) for pair in zip(self.peeks, verdict.peeks, strict=True)]
                if verdict.problem is not None:
                    self.problems += 1
                    return described(program, mode, **self.more)
        except (Invalid, TooLarge):
            self.skipped += 1
            return None
        self.programs += 1
        return None

    def __str__(self) -> str:
        modes = ", ".join(f"{name} {self.exhausted[name]}/{self.searches[name]}" for name in self.searches)
        return (
            f"{self.programs} programs agree, {self.problems} disagree, {self.skipped} skipped "
            f"(exhausted searches: {modes}; buffers read too early: {self.peeks[0]} without and {self.peeks[1]} with data)"
        )


def described(program: Program, mode: Mode, **more: Any) -> str:
    """A disagreement in words, with the smallest program that has the same kind of disagreement."""
    kind = compared(program, mode, **more).kind
    small = shrunk(program, lambda one: compared(one, mode, **more).kind == kind)
    return f"mode {mode.name}\n{small!r}\n{compared(small, mode, **more).problem}"
