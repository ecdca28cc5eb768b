"""The result of a script on one number of ranks, and the verdict on several numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from fakempi.core.rank_numbers import on_ranks

Kind: TypeAlias = Literal["clean", "so far", "refused", "fails", "not run"]
"""How a number ended: no failure in all or in some schedules, rejected by the program, a failure, or no run."""

CLEAN, FAILS, SO_FAR = 0, 1, 4


@dataclass(frozen=True)
class NumberResult:
    """The result on one number of ranks: its kind, a text for its line, and the real time in seconds."""

    nprocs: int
    kind: Kind
    text: str
    seconds: float = 0.0

    def line(self, width: int) -> str:
        """Return the line of this number; `width` is the number of digits of the largest one."""
        noun = "rank " if self.nprocs == 1 else "ranks"
        time = "" if self.kind == "not run" else f" ({self.seconds:.1f} s)"
        return f"{self.nprocs:>{width}} {noun}  {self.text}{time}"


def verdict(results: Sequence[NumberResult], requested: Sequence[int], clean: str = "clean") -> str:
    """Return a line on all numbers, by their kind; `clean` is the word for a number without a failure."""
    of: dict[str, list[int]] = {}
    for result in results:
        of.setdefault(result.kind, []).append(result.nprocs)
    words = {"fails": "fails", "clean": clean, "so far": "clean so far", "refused": "refused by the program"}
    parts = [f"{word} on {on_ranks(of[kind])}" for kind, word in words.items() if kind in of]
    rest = requested[len(results) :]
    if skipped := sorted([*of.get("not run", ()), *rest]):
        hint = " (--all runs them)" if "fails" in of and rest else ""
        parts.append(f"not run on {on_ranks(skipped)}{hint}")
    return "; ".join(parts)


def exit_code(results: Sequence[NumberResult]) -> int:
    """Return 1 if a number fails; 0 if all that the program accepts are clean, and there is one; otherwise 4."""
    kinds = {result.kind for result in results}
    if "fails" in kinds:
        return FAILS
    return CLEAN if kinds <= {"clean", "refused"} and "clean" in kinds else SO_FAR
