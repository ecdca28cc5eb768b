"""Interprets a file: its module level, then each function for unknown arguments."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass, field

from fakempi.apps.lint.analysis import mpi_calls
from fakempi.apps.lint.analysis.definitions import ActiveCall, FileClass, FileFunction, FileInstance
from fakempi.apps.lint.analysis.events import Event, FunctionEvents, MpiCall
from fakempi.apps.lint.analysis.rank_values import AbstractValue, joined
from fakempi.apps.lint.analysis.statements import StatementExecutor

DIRECT = mpi_calls.METHODS | {"exit", "_exit", "abort", "quit"}
"""Names in functions that make MPI calls or end the program."""
USES = re.compile(rf"\bmpi|_mpi|mpi\b|comm\.(rank|size|{'|'.join(sorted(mpi_calls.METHODS))})\b", re.IGNORECASE)
"""Words of files with calls on communicators; `mpi` alone is a part of `compile`."""


@dataclass(slots=True)
class FileAnalysis:
    """A file's syntax tree, what its functions do, and its calls of MPI."""

    tree: ast.Module
    functions: list[FunctionEvents] = field(default_factory=list)
    calls: dict[ast.Call, MpiCall] = field(default_factory=dict)


def analyzed(text: str, file: str = "<text>") -> FileAnalysis:
    """Return the analysis of a program; SyntaxError if it has no syntax tree."""
    tree = ast.parse(text, file)
    analysis = FileAnalysis(tree)
    if USES.search(text) is not None:  # other files need no analysis
        Interpreter(analysis).interpret()
    return analysis


class Interpreter(StatementExecutor):
    """Interprets one file."""

    def __init__(self, analysis: FileAnalysis) -> None:
        super().__init__(imports_of(analysis.tree))
        self.analysis = analysis
        self.active: list[FileFunction] = []
        self.communicating = communicating_names(analysis.tree)

    def communicates(self, function: FileFunction) -> bool:
        """Return whether a function may make MPI calls, directly or through functions of the file."""
        return function.node.name in self.communicating or (function.node.name == "__init__" and function.owner is not None)

    def interpret(self) -> None:
        """Interpret module level, and then every function and method."""
        tree = self.analysis.tree
        events: list[Event] = []
        self.now = ActiveCall(self.module, {}, events)
        self.run_body(tree.body)
        self.analysis.functions.append(FunctionEvents("the module", tree, events))
        values = [value.definition for value in self.module.values()]
        for each in values:
            if isinstance(each, FileFunction):
                self._function(each)
            elif isinstance(each, FileClass):
                self._class(each)
        self.analysis.calls = self.mpi_calls

    def _class(self, of: FileClass) -> None:
        """Interpret the methods of a class twice: the first time to learn its attributes, `__init__` first."""
        methods = sorted(of.methods.values(), key=lambda method: method.node.name not in ("__init__", "setUp", "setUpClass"))
        functions, calls = list(self.analysis.functions), dict(self.mpi_calls)
        for method in methods:
            self._method(of, method)
        self.analysis.functions, self.mpi_calls = functions, calls
        for method in methods:
            self._method(of, method)

    def _method(self, of: FileClass, method: FileFunction) -> None:
        instance = FileInstance(of)
        receiver = AbstractValue("instance", definition=instance)
        takes_self = "staticmethod" not in method.decorators
        self._function(method, [receiver] if takes_self else [], f"{of.node.name}.{method.node.name}")
        for name, value in instance.attributes.items():  # as the method leaves them, after collective calls
            of.attributes[name] = joined(of.attributes[name], value) if name in of.attributes else value

    def _function(self, function: FileFunction, arguments: list[AbstractValue] | None = None, name: str = "") -> None:
        events: list[Event] = []
        self.now = ActiveCall({}, {}, events)
        self.steps = 0
        variables = self.parameters(function, arguments or [], {})
        self.interpret_function(function, variables, events)
        self.analysis.functions.append(FunctionEvents(name or function.node.name, function.node, events))


def communicating_names(tree: ast.Module) -> set[str]:
    """Return the names of functions that may make MPI calls. Functions of equal names are taken together."""
    calls: dict[str, set[str]] = {}
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            names = {each.attr if isinstance(each, ast.Attribute) else each.id
                     for each in ast.walk(node) if isinstance(each, (ast.Attribute, ast.Name))}  # fmt: skip
            calls.setdefault(node.name, set()).update(names)
    found = {name for name, used in calls.items() if used & DIRECT}
    while more := {name for name, used in calls.items() if name not in found and used & found}:
        found |= more
    return found


def imports_of(tree: ast.Module) -> dict[str, str]:
    """Return the full names of all imported names, also of those that functions import."""
    found: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for each in node.names:
                found[each.asname or each.name.split(".")[0]] = each.name if each.asname else each.name.split(".")[0]
        elif isinstance(node, ast.ImportFrom):
            for each in node.names:
                found[each.asname or each.name] = f"{node.module or ''}.{each.name}".lstrip(".")
    return found
