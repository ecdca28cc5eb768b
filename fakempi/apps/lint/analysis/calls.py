"""Evaluates calls. Calls of functions of the file are followed; a few functions of Python and numpy are known."""

from __future__ import annotations

import ast
from dataclasses import replace
from functools import reduce
from typing import Any

from fakempi.apps.lint.analysis import formulas, known_names
from fakempi.apps.lint.analysis.comm_calls import CommEvaluator
from fakempi.apps.lint.analysis.definitions import ActiveCall, BoundMethod, FileClass, FileFunction, FileInstance
from fakempi.apps.lint.analysis.events import LocalCall, OtherCall, PathEnd
from fakempi.apps.lint.analysis.rank_values import ANY, UNKNOWN, AbstractValue, RankDependence, joined, merged

DEEPEST = 5
"""Maximum depth of followed calls."""
STEPS = 30_000
"""Maximum number of evaluated expressions for a function; later calls in it are not followed."""
EXITS = {"sys.exit", "exit", "quit", "os._exit", "os.abort"}
PLAIN = {
    "plain", "text", "bytes", "number", "numbers", "list", "tuple", "dict", "set", "array", "range", "chunks", "request",
}  # fmt: skip
"""Kinds of values whose methods make no collective calls."""
KEEP_LENGTH = {"list", "tuple", "sorted", "reversed", "enumerate", "zip", "map", "set"}


class CallEvaluator(CommEvaluator):
    """Evaluates calls."""

    def run_body(self, body: list[ast.stmt]) -> bool:
        """Execute statements; return whether the last one can be reached."""
        raise NotImplementedError

    def _on_call(self, node: ast.Call) -> AbstractValue:
        function = node.func
        if isinstance(function, ast.Attribute):
            base = self.evaluate(function.value)
            if base.kind == "comm":
                return self.comm_call(node, base, function)
            if base.definition is None and (base.kind in PLAIN or function.attr in known_names.ARRAY_METHODS):
                return self._array_method(node, base, function)
        target = self.evaluate(function)
        if isinstance(target.definition, FileClass):
            return self._new_instance(node, target.definition)
        if isinstance(target.definition, (FileFunction, BoundMethod)):
            return self._follow(node, target.definition)
        arguments = self._arguments(node)
        name = target.definition if target.kind == "module" else function.id if isinstance(function, ast.Name) else ""
        return self._known_function(node, str(name), arguments)

    def _arguments(self, node: ast.Call) -> list[AbstractValue]:
        return [self.evaluate(each) for each in (*node.args, *(keyword.value for keyword in node.keywords))]

    def _array_method(self, node: ast.Call, base: AbstractValue, function: ast.Attribute) -> AbstractValue:
        values = self._arguments(node)
        if function.attr in ("append", "extend", "add") and isinstance(function.value, ast.Name):
            added = merged(value.depends for value in values)
            if added is not None and (old := self.look_up(function.value.id)) is not None:
                self.now.variables[function.value.id] = replace(old, depends=merged((old.depends, added)))
        kind = "plain" if base.kind in PLAIN else ""
        if base.kind in ("array", "text") and function.attr in ("copy", "strip", "lower", "upper", "join"):
            kind = base.kind
        return AbstractValue(kind, depends=base.depends, length=base.length)

    def _known_function(self, node: ast.Call, name: str, arguments: list[AbstractValue]) -> AbstractValue:
        top, _, last = name.rpartition(".")
        if name in EXITS:
            self.now.events.append(PathEnd(node, "abort" if name.startswith("os.") else "exit"))
            return UNKNOWN
        if name in known_names.CLOCKS or name.endswith((".MPI.Wtime", ".MPI.Get_processor_name")):
            why = RankDependence(frozenset({ANY}), f"`{ast.unparse(node)}` differs between ranks", node.lineno)
            return AbstractValue(depends=why)
        if name in known_names.PURE:
            return self._pure(name, arguments)
        if top.split(".")[0] in ("numpy", "math") and "random" not in name:
            return self._numeric(last, arguments)
        root = name.split(".")[0]
        mentions_mpi = any(value.kind == "comm" or isinstance(value.definition, FileInstance) for value in arguments)
        known = name in known_names.BUILTINS or root in known_names.WITHOUT_MPI
        attribute = node.func.attr if isinstance(node.func, ast.Attribute) else ""
        if mentions_mpi or not (known or attribute in known_names.ARRAY_METHODS):
            self.now.events.append(OtherCall(node, may_communicate=True))
            return UNKNOWN
        return AbstractValue("plain") if known and not mentions_mpi else UNKNOWN

    def _pure(self, name: str, values: list[AbstractValue]) -> AbstractValue:
        depends, length = merged(value.depends for value in values), merged(value.length for value in values)
        if name == "len":
            return AbstractValue("number", depends=length)
        if name == "range":
            first = values[0] if len(values) > 1 else UNKNOWN
            step = values[2] if len(values) > 2 else UNKNOWN
            last = values[1] if len(values) > 1 else values[0] if values else UNKNOWN
            formula = formulas.applied(lambda *bounds: range(*bounds), *(value.formula for value in values))
            counts = formulas.applied(len, formula)
            distance = None if formulas.same_on_all_ranks(counts) else self.distance(first, last, step)
            return AbstractValue("range", depends=depends, length=distance, formula=formula)
        if name in KEEP_LENGTH:
            kind = "numbers" if name in ("list", "sorted") and values and values[0].kind == "range" else name
            return AbstractValue(kind, depends=depends, length=length)
        formula = formulas.applied(formulas.FUNCTIONS.get(name), *(value.formula for value in values))
        return self.settled(
            AbstractValue(kind="text" if name == "str" else "", depends=depends, length=length, formula=formula)
        )

    def _numeric(self, name: str, values: list[AbstractValue]) -> AbstractValue:
        depends, length = merged(value.depends for value in values), merged(value.length for value in values)
        if name in known_names.CHUNKS:
            return AbstractValue("chunks", depends=depends, length=length)
        if name in ("zeros", "ones", "empty", "full"):
            return AbstractValue(
                "array", depends=merged(value.depends for value in values[1:]), length=depends and uneven(depends)
            )
        if name == "arange":
            last = values[1] if len(values) > 1 else UNKNOWN
            between = self.distance(values[0], last, UNKNOWN) if len(values) > 1 else depends and uneven(depends)
            return AbstractValue("array", depends=depends, length=between)
        return AbstractValue("array" if name in known_names.ARRAYS else "", depends=depends, length=length)

    def _new_instance(self, node: ast.Call, of: FileClass) -> AbstractValue:
        instance = AbstractValue("instance", definition=FileInstance(of))
        method = of.method("__init__")
        if method is not None:
            self._follow(node, BoundMethod(method, instance))
        else:
            self._arguments(node)
        return instance

    def call_method(self, method: BoundMethod, node: ast.AST) -> AbstractValue:
        """Return the value of a property."""
        call = ast.copy_location(ast.Call(ast.Name("property"), [], []), node)
        return self._follow(call, method)

    def _follow(self, node: ast.Call, target: FileFunction | BoundMethod) -> AbstractValue:
        function = target.function if isinstance(target, BoundMethod) else target
        arguments = [self.evaluate(each) for each in node.args]
        named = {each.arg or "": self.evaluate(each.value) for each in node.keywords}
        if isinstance(target, BoundMethod) and "staticmethod" not in function.decorators:
            arguments.insert(0, target.receiver)
        if not self.communicates(function) and not function.is_small:
            return UNKNOWN
        if len(self.active) >= DEEPEST or function in self.active or self.steps > STEPS or function.runs_later:
            self.now.events.append(OtherCall(node, may_communicate=True))
            return UNKNOWN
        call = LocalCall(node, function.node.name)
        variables = self.parameters(function, arguments, named, called=True)
        value = self.interpret_function(function, variables, call.body)
        if call.body:
            self.now.events.append(call)
            if isinstance(call.body[-1], PathEnd) and call.body[-1].how in ("abort", "exit"):
                self.now.events.append(PathEnd(node, call.body[-1].how))
        return value

    active: list[FileFunction]

    def interpret_function(
        self, function: FileFunction, variables: dict[str, AbstractValue], events: list[Any]
    ) -> AbstractValue:
        """Execute the body of a function with these variables, record its events, and return its value."""
        before = self.now
        self.now = ActiveCall(variables, function.enclosing, events, function.owner)
        self.active.append(function)
        try:
            if self.run_body(function.node.body):
                self.now.returned.append(AbstractValue("none"))
            return returned_value(self.now)
        finally:
            self.active.pop()
            self.now = before

    def communicates(self, function: FileFunction) -> bool:
        """Return whether a function may make MPI calls, directly or through functions of the file."""
        raise NotImplementedError

    def parameters(
        self, function: FileFunction, arguments: list[AbstractValue], named: dict[str, AbstractValue], called: bool = False
    ) -> dict[str, AbstractValue]:
        """Return the variables of a function at its beginning.

        They are arguments and, in a call, defaults; otherwise they are what names and annotations indicate.
        """
        spec = function.node.args
        names = [*spec.posonlyargs, *spec.args]
        defaults = dict(zip([each.arg for each in names[len(names) - len(spec.defaults) :]], spec.defaults, strict=True))
        defaults |= {each.arg: value for each, value in zip(spec.kwonlyargs, spec.kw_defaults, strict=True) if value}
        variables: dict[str, AbstractValue] = {}
        for position, each in enumerate([*names, *spec.kwonlyargs]):
            if position < len(arguments) and each in names:
                variables[each.arg] = arguments[position]
            elif each.arg in named:
                variables[each.arg] = named[each.arg]
            elif called and each.arg in defaults:
                variables[each.arg] = self.evaluate(defaults[each.arg])
            else:
                variables[each.arg] = self.unknown_parameter(function, each, defaults.get(each.arg))
        for rest in (spec.vararg, spec.kwarg):
            if rest is not None:
                variables[rest.arg] = UNKNOWN
        return variables

    def unknown_parameter(self, function: FileFunction, parameter: ast.arg, default: ast.expr | None) -> AbstractValue:
        """Return what the name, the annotation and the default of a parameter indicate."""
        annotation = ast.unparse(parameter.annotation) if parameter.annotation else ""
        if annotation.strip("'\"").endswith(("MPI.Comm", "MPI.Intracomm", "Intracomm")):
            return AbstractValue("comm", frozenset({f"{function.node.name}.{parameter.arg}"}))
        value = self.by_name(parameter.arg, parameter.lineno)
        if value.kind == "comm":
            return AbstractValue("comm", frozenset({f"{function.node.name}.{parameter.arg}"}))
        if default is not None and value is UNKNOWN and isinstance(default, ast.Attribute):
            return self.evaluate(default)
        return value


def uneven(depends: RankDependence) -> RankDependence:
    """Return the dependence of a value that is no linear function of the rank."""
    return replace(depends, even=False)


def returned_value(call: ActiveCall) -> AbstractValue:
    """Return the value of a call; it depends on the rank if a condition of a `return` does and the values differ."""
    if not call.returned:
        return UNKNOWN
    value, why = reduce(joined, call.returned), call.return_depends
    differ = any(other != call.returned[0] for other in call.returned)
    return value.under(why) if why is not None and differ and value.kind != "comm" else value
