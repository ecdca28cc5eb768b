"""Abstract values: what is known about a value without running the program.

A value *depends on the rank* if ranks of a communicator may have different values. `RankDependence` has the communicators
and the reason. The dependence of a list's length is separate from that of its contents: slices of equal length have
different contents.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any

from fakempi.apps.lint.analysis import formulas
from fakempi.apps.lint.analysis.formulas import Formula

WORLD = "MPI.COMM_WORLD"
SELF = "MPI.COMM_SELF"
BY_NAME = "?"
"""Identity of the unknown communicator to which a parameter called `rank` belongs."""
ANY = "*"
"""Identity for values that differ between all processes, such as the time."""
PART = "part:"
"""Start of the identity of a communicator that Split or a similar call created: its ranks may be a part of all ranks."""

SAME = "same"
"""Kind of the results of collective calls that are the same on all ranks."""

Ids = frozenset[str]
"""Identities of communicators: where each was created, or the name of a parameter. A duplicate has the same identity."""


@dataclass(frozen=True, slots=True)
class RankDependence:
    """Why a value differs between ranks: the communicators whose rank it depends on, the reason and its line."""

    ids: Ids
    reason: str
    line: int
    even: bool = False
    """Whether the value is a linear function of the rank; the difference of two of them may be the same on all ranks."""

    def concerns(self, comm: Ids) -> bool:
        """Return whether ranks of a communicator may have different values."""
        if SELF in comm or not comm:
            return False
        if self.ids & comm:
            return True
        return bool(self.ids & {BY_NAME, ANY}) and not any(each.startswith(PART) for each in comm)


@dataclass(frozen=True, slots=True)
class AbstractValue:
    """A value: its kind if known, on what it depends, and its formula if it is a function of rank and size."""

    kind: str = ""
    ids: Ids = frozenset()
    depends: RankDependence | None = None
    length: RankDependence | None = None
    formula: Formula | None = None
    definition: Any = None
    """The function, class or instance of this file that the value is, or the name of a module."""
    items: tuple[AbstractValue, ...] | None = field(default=None)

    def under(self, why: RankDependence) -> AbstractValue:
        """Return the value under a condition that differs between ranks: value and length depend on the condition, too."""
        return replace(self, depends=merged((why, self.depends)), length=merged((why, self.length)))


UNKNOWN = AbstractValue()


def merged(parts: Iterable[RankDependence | None], even: bool = False) -> RankDependence | None:
    """Return the dependence of a value that is computed from several; `even` if the computation is linear."""
    found = [part for part in parts if part is not None]
    if not found:
        return None
    ids = frozenset().union(*(part.ids for part in found))
    return RankDependence(ids, found[0].reason, found[0].line, even and all(part.even for part in found))


def joined(one: AbstractValue, other: AbstractValue) -> AbstractValue:
    """Return the value of a variable that is `one` after one branch and `other` after another."""
    if one == other:
        return one
    for rank, fallback in ((one, other), (other, one)):
        if rank.formula in (formulas.RANK, formulas.SIZE) and fallback.kind == "number" and fallback.depends is None:
            return rank  # the other value is for programs without MPI: `except ImportError: rank = 0`
    kind = one.kind if one.kind == other.kind else ""
    if {one.kind, other.kind} == {"comm", ""} or {one.kind, other.kind} == {"comm", "none"}:
        kind = "comm"
    same = one.definition is other.definition
    return AbstractValue(
        kind, one.ids | other.ids, merged((one.depends, other.depends)), merged((one.length, other.length)),
        definition=one.definition if same else None,
    )  # fmt: skip


def joined_variables(one: dict[str, AbstractValue], other: dict[str, AbstractValue]) -> dict[str, AbstractValue]:
    """Return the variables after a branch. A variable that one side does not have is used only where the other side ran."""
    return {
        name: joined(one[name], other[name]) if name in one and name in other else one.get(name) or other[name]
        for name in {**one, **other}
    }


def differing(
    one: dict[str, AbstractValue], other: dict[str, AbstractValue], why: RankDependence
) -> dict[str, AbstractValue]:
    """Return the variables after a branch that depends on the rank: variables that it changes differ between ranks."""
    after = joined_variables(one, other)
    for name, value in after.items():
        sides = one.get(name, UNKNOWN), other.get(name, UNKNOWN)
        if any(side.kind == SAME for side in sides):
            continue  # one side broadcasts the variable, the other one receives it
        if one.get(name) != other.get(name) and value.kind not in ("comm", "function", "class", "module"):
            after[name] = replace(value, depends=merged((why, value.depends)), length=_length(one, other, name, why, value))
    return after


def _length(
    one: dict[str, AbstractValue], other: dict[str, AbstractValue], name: str, why: RankDependence, value: AbstractValue
) -> RankDependence | None:
    """Return on what the length depends: on the branch only if both are known, since placeholders have equal lengths."""
    lengths = {
        None if each.items is None else len(each.items) for each in (one.get(name, UNKNOWN), other.get(name, UNKNOWN))
    }
    return merged((why, value.length)) if len(lengths) == 2 and None not in lengths else value.length
