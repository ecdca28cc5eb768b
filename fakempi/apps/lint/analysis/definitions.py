"""Functions, classes and instances that a file defines, and the variables of a call."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice

from fakempi.apps.lint.analysis.events import Event
from fakempi.apps.lint.analysis.rank_values import AbstractValue, RankDependence

Function = ast.FunctionDef | ast.AsyncFunctionDef
Variables = dict[str, AbstractValue]


SMALL = 60
"""Functions with at most this number of nodes are followed for their value, even if they make no MPI calls."""


@dataclass(eq=False)
class FileFunction:
    """A function of the file, the variables of the functions around it, and its class if it is a method."""

    node: Function
    enclosing: Variables
    owner: FileClass | None = None

    @cached_property
    def decorators(self) -> set[str]:
        """Return the names of the decorators, without those of their modules."""
        return {ast.unparse(each).split("(")[0].split(".")[-1] for each in self.node.decorator_list}

    @cached_property
    def is_small(self) -> bool:
        """Return whether the function has few nodes."""
        return sum(1 for _ in islice(ast.walk(self.node), SMALL + 1)) <= SMALL

    @cached_property
    def runs_later(self) -> bool:
        """Return whether the function is a coroutine or a generator, whose body does not run where it is called."""
        yields = (ast.Yield, ast.YieldFrom)
        return isinstance(self.node, ast.AsyncFunctionDef) or any(isinstance(each, yields) for each in ast.walk(self.node))


@dataclass(slots=True, eq=False)
class FileClass:
    """A class of the file. `attributes` joins those of all instances, and is used where the instance is not known."""

    node: ast.ClassDef
    bases: list[FileClass] = field(default_factory=list)
    methods: dict[str, FileFunction] = field(default_factory=dict)
    attributes: Variables = field(default_factory=dict)

    def method(self, name: str) -> FileFunction | None:
        """Return a method, also of a base class of the file."""
        if name in self.methods:
            return self.methods[name]
        return next((found for base in self.bases if (found := base.method(name))), None)

    def attribute(self, name: str) -> AbstractValue | None:
        """Return an attribute, also of a base class of the file."""
        if name in self.attributes:
            return self.attributes[name]
        return next((found for base in self.bases if (found := base.attribute(name))), None)


@dataclass(slots=True, eq=False)
class FileInstance:
    """An instance of a class of the file, with its attributes."""

    of: FileClass
    attributes: Variables = field(default_factory=dict)


@dataclass(slots=True, eq=False)
class BoundMethod:
    """A method and the value of its first argument."""

    function: FileFunction
    receiver: AbstractValue


@dataclass(slots=True)
class ActiveCall:
    """The state of a function while its body is interpreted."""

    variables: Variables
    enclosing: Variables
    events: list[Event]
    owner: FileClass | None = None
    conditions: list[RankDependence | None] = field(default_factory=list)
    """The dependences of the conditions around the statement; None where a condition is the same on all ranks."""
    returned: list[AbstractValue] = field(default_factory=list)
    return_depends: RankDependence | None = None
    global_names: set[str] = field(default_factory=set)
