"""GroupSide: a case between two groups, as one rank sees it.

The input of rank i of A is `contents(i)`, the input of rank j of B is `contents(100 + j)`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from collectives.catalogue.case import Case
from collectives.inter_patterns.groups import RootRole
from collectives.verification.calls import blank, contents
from collectives.verification.reductions import combination, operand


@dataclass(frozen=True)
class GroupSide:
    """A case between two groups as one rank sees it, with the contents of its buffers."""

    case: Case
    in_a: bool
    rank: int

    @property
    def own(self) -> Case:
        return self.case.groups[0 if self.in_a else 1]

    @property
    def other(self) -> Case:
        return self.case.groups[1 if self.in_a else 0]

    @property
    def number(self) -> int:
        return self.rank + (0 if self.in_a else 100)

    @property
    def others(self) -> range:
        """The numbers of the ranks of the other group."""
        first = 100 if self.in_a else 0
        return range(first, first + self.other.p)

    @property
    def root(self) -> RootRole | int:
        if not self.in_a:
            return self.case.root
        return RootRole.ROOT if self.rank == self.case.root else RootRole.PROC_NULL

    def contents(self, number: int, size: int) -> Any:
        """Return the input of a rank."""
        return contents(number, size, self.case.itemsize)

    def operand(self, size: int) -> Any:
        """Return this rank's operand of a reduction."""
        return operand(self.case, self.number, size)

    def combination(self, size: int) -> Any:
        """Return the other group's operands, combined."""
        return combination(self.case, self.others, size)

    def blank(self, size: int) -> Any:
        return blank(size, self.case.itemsize)

    def join(self, blocks: Sequence[Any]) -> Any:
        return np.concatenate(blocks)

    def copy(self, buffer: Any) -> Any:
        return buffer.copy()
