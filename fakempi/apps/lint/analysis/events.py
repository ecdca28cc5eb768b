"""The events of a function as a tree: MPI calls, branches, loops and ends of paths, in the order in which they happen."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field

from fakempi.apps.lint.analysis.rank_values import AbstractValue, Ids, RankDependence


@dataclass(slots=True)
class MpiCall:
    """A call of a method of a communicator, with the values of its arguments by position and by name."""

    node: ast.Call
    operation: str
    ids: Ids
    comm: str
    positional: list[AbstractValue]
    named: dict[str, AbstractValue]

    def argument(self, position: int, name: str) -> tuple[ast.expr | None, AbstractValue | None]:
        """Return an argument and its value, which is passed by position or by name."""
        for keyword in self.node.keywords:
            if keyword.arg == name:
                return keyword.value, self.named[name]
        starred = any(isinstance(each, ast.Starred) for each in self.node.args)
        if not starred and position < len(self.node.args):
            return self.node.args[position], self.positional[position]
        return None, None


@dataclass(slots=True)
class BranchEvents:
    """An `if`, a conditional expression, `and` or `or`; both sides may be empty."""

    node: ast.AST
    test: ast.expr
    value: AbstractValue
    body: list[Event] = field(default_factory=list)
    orelse: list[Event] = field(default_factory=list)


@dataclass(slots=True)
class Repetition:
    """A loop or a comprehension; `depends` is not None if the number of passes differs between ranks."""

    node: ast.AST
    what: ast.expr
    depends: RankDependence | None
    body: list[Event] = field(default_factory=list)


@dataclass(slots=True)
class PathEnd:
    """A `return`, `raise`, `break` or `continue`, an `exit`, or an `abort` of all ranks."""

    node: ast.AST
    how: str


@dataclass(slots=True)
class TryEvents:
    """A `try` statement."""

    node: ast.Try
    body: list[Event] = field(default_factory=list)
    handlers: list[list[Event]] = field(default_factory=list)
    orelse: list[Event] = field(default_factory=list)
    final: list[Event] = field(default_factory=list)


@dataclass(slots=True)
class LocalCall:
    """A call of a function of the same file, with the events of its body for these arguments."""

    node: ast.Call
    name: str
    body: list[Event] = field(default_factory=list)


@dataclass(slots=True)
class OtherCall:
    """A call of a function that the analysis does not know. `may_communicate` if it may make collective calls."""

    node: ast.AST
    may_communicate: bool


Event = MpiCall | BranchEvents | Repetition | PathEnd | TryEvents | LocalCall | OtherCall


@dataclass(slots=True)
class FunctionEvents:
    """A function of the file, or its module level, and its events."""

    name: str
    node: ast.Module | ast.FunctionDef | ast.AsyncFunctionDef
    events: list[Event]
