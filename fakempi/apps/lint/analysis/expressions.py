"""Evaluates expressions to abstract values, and records the events of calls inside them."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from fakempi.apps.lint.analysis import formulas, mpi_calls
from fakempi.apps.lint.analysis.definitions import ActiveCall, BoundMethod, FileInstance, Variables
from fakempi.apps.lint.analysis.events import BranchEvents, Event, MpiCall
from fakempi.apps.lint.analysis.rank_values import (
    BY_NAME,
    SELF,
    UNKNOWN,
    WORLD,
    AbstractValue,
    RankDependence,
    joined,
    merged,
)  # fmt: skip

COMM = AbstractValue("comm", frozenset({WORLD}))


class ExpressionEvaluator:
    """Evaluates expressions other than calls and containers."""

    def __init__(self, imports: dict[str, str]) -> None:
        self.imports = imports
        self.module: Variables = {}
        self.now = ActiveCall(self.module, {}, [])
        self.mpi_calls: dict[ast.Call, MpiCall] = {}
        self.steps = 0

    def evaluate(self, node: ast.AST | None) -> AbstractValue:
        """Return the value of an expression."""
        if node is None:
            return UNKNOWN
        self.steps += 1
        handler = getattr(self, f"_on_{type(node).__name__.lower()}", None)
        if handler is not None:
            value = handler(node)
            assert isinstance(value, AbstractValue)
            return value
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.expr):
                self.evaluate(child)
        return UNKNOWN

    @contextmanager
    def recording(self, events: list[Event]) -> Iterator[list[Event]]:
        """Record events in a list of a branch or a loop."""
        before, self.now.events = self.now.events, events
        try:
            yield events
        finally:
            self.now.events = before

    def call_method(self, method: BoundMethod, node: ast.AST) -> AbstractValue:
        """Return the value of a property."""
        raise NotImplementedError

    def look_up(self, name: str) -> AbstractValue | None:
        """Return the value of a variable; None if the file does not assign it."""
        for variables in (self.now.variables, self.now.enclosing, self.module):
            if name in variables:
                return variables[name]
        return None

    def by_name(self, name: str, line: int) -> AbstractValue:
        """Return the value of a parameter or of an imported name, as far as the name indicates it."""
        if name in mpi_calls.COMMUNICATOR_NAMES:
            return AbstractValue("comm", frozenset({name}))
        if name in mpi_calls.RANK_NAMES:
            why = RankDependence(frozenset({BY_NAME}), f"`{name}` is the rank by its name", line, even=True)
            return AbstractValue(depends=why, formula=formulas.RANK)
        if name in mpi_calls.SIZE_NAMES:
            return AbstractValue(formula=formulas.SIZE)
        return UNKNOWN

    def rank_of(self, comm: AbstractValue, node: ast.AST) -> AbstractValue:
        """Return the rank in a communicator."""
        if comm.ids == {SELF}:
            return AbstractValue(formula=formulas.constant(0))
        line = getattr(node, "lineno", 0)
        why = RankDependence(comm.ids, f"`{ast.unparse(node)}` is the rank", line, even=True)
        return AbstractValue("number", depends=why, formula=formulas.RANK)

    def _on_name(self, node: ast.Name) -> AbstractValue:
        found = self.look_up(node.id)
        if found is not None:
            return found
        if node.id in self.imports:
            module = self.imports[node.id]
            if module == "mpi4py.MPI.COMM_WORLD":
                return COMM
            if "." in module:
                guessed = self.by_name(module.rpartition(".")[2], node.lineno)
                if guessed is not UNKNOWN:
                    return guessed
            return AbstractValue("module", definition=module)
        return self.by_name(node.id, node.lineno)

    def _on_constant(self, node: ast.Constant) -> AbstractValue:
        kinds = {bool: "number", int: "number", float: "number", str: "text", bytes: "bytes", type(None): "none"}
        return AbstractValue(kinds.get(type(node.value), ""), formula=formulas.constant(node.value))

    def _on_joinedstr(self, node: ast.JoinedStr) -> AbstractValue:
        parts = [self.evaluate(each.value) for each in node.values if isinstance(each, ast.FormattedValue)]
        return AbstractValue("text", depends=merged(part.depends for part in parts))

    def _on_attribute(self, node: ast.Attribute) -> AbstractValue:
        base, name = self.evaluate(node.value), node.attr
        if base.kind == "module":
            return self._of_module(f"{base.definition}.{name}", node)
        if base.kind == "comm":
            if name in ("rank", "size"):
                return self.rank_of(base, node) if name == "rank" else AbstractValue("number", formula=formulas.SIZE)
            return UNKNOWN
        if isinstance(base.definition, FileInstance):
            return self._of_instance(base, base.definition, node)
        if name in ("shape", "size", "ndim"):
            return AbstractValue(depends=base.length)
        if base.kind == "" and base.depends is None and not isinstance(node.value, ast.Call):
            return self._of_unknown(node)
        return AbstractValue(depends=base.depends, length=base.length) if name in ("T", "real", "imag", "flat") else UNKNOWN

    def _of_module(self, dotted: str, node: ast.Attribute) -> AbstractValue:
        if dotted.endswith("MPI.COMM_WORLD"):
            return COMM
        if dotted.endswith("MPI.COMM_SELF"):
            return AbstractValue("comm", frozenset({SELF}))
        name = dotted.rpartition(".")[2]
        if not dotted.startswith(("mpi4py", "numpy", "math")) and "mpi" in dotted.lower():
            guessed = self.by_name(name, node.lineno)
            if guessed is not UNKNOWN:
                return guessed
        return AbstractValue("module", definition=dotted)

    def _of_instance(self, base: AbstractValue, instance: FileInstance, node: ast.Attribute) -> AbstractValue:
        if node.attr in instance.attributes:
            return instance.attributes[node.attr]
        method = instance.of.method(node.attr)
        if method is not None:
            bound = BoundMethod(method, base)
            if method.decorators & {"property", "cached_property"}:
                return self.call_method(bound, node)
            return AbstractValue("function", definition=bound)
        found = instance.of.attribute(node.attr)
        return found if found is not None else self._of_unknown(node)

    def _of_unknown(self, node: ast.Attribute) -> AbstractValue:
        """Return an attribute of an unknown object; `rank` alone may be that of a matrix, or of another object."""
        if node.attr in mpi_calls.COMMUNICATOR_NAMES or node.attr.endswith("_comm"):
            return AbstractValue("comm", frozenset({ast.unparse(node)}))
        if node.attr in mpi_calls.RANK_NAMES and isinstance(node.value, ast.Name) and node.value.id == "self":
            return self.by_name(node.attr, node.lineno)
        return UNKNOWN

    def _on_binop(self, node: ast.BinOp) -> AbstractValue:
        left, right = self.evaluate(node.left), self.evaluate(node.right)
        return self.computed(node.op, left, right)

    def computed(self, operation: ast.operator, left: AbstractValue, right: AbstractValue) -> AbstractValue:
        """Return the value of a binary operation."""
        linear = isinstance(operation, (ast.Add, ast.Sub))
        linear = linear or (isinstance(operation, ast.Mult) and (left.depends is None or right.depends is None))
        formula = formulas.applied(formulas.BINARY.get(type(operation)), left.formula, right.formula)
        kind = left.kind if left.kind == right.kind and left.kind in ("number", "text") else ""
        return self.settled(AbstractValue(
            kind, depends=merged((left.depends, right.depends), linear), length=merged((left.length, right.length)),
            formula=formula,
        ))  # fmt: skip

    def settled(self, value: AbstractValue) -> AbstractValue:
        """Return the value without a dependence if its formula is the same on all ranks."""
        if value.depends is not None and formulas.same_on_all_ranks(value.formula):
            return replace(value, depends=None)
        return value

    def _on_unaryop(self, node: ast.UnaryOp) -> AbstractValue:
        value = self.evaluate(node.operand)
        formula = formulas.applied(formulas.UNARY.get(type(node.op)), value.formula)
        return AbstractValue("number", depends=value.depends, formula=formula)

    def _on_compare(self, node: ast.Compare) -> AbstractValue:
        values = [self.evaluate(each) for each in (node.left, *node.comparators)]
        if any(value.kind == "comm" for value in values):
            return UNKNOWN  # a guard of a communicator that only its members have
        formula = None
        if len(values) == 2:
            formula = formulas.applied(formulas.COMPARISONS.get(type(node.ops[0])), values[0].formula, values[1].formula)
        return self.settled(AbstractValue("number", depends=merged(value.depends for value in values), formula=formula))

    def _on_boolop(self, node: ast.BoolOp) -> AbstractValue:
        values = [self.evaluate(node.values[0])]
        for each in node.values[1:]:
            is_and = isinstance(node.op, ast.And)
            branch = BranchEvents(node, node.values[0], merged_value(values))
            with self.recording(branch.body if is_and else branch.orelse):
                values.append(self.evaluate(each))
            if branch.body or branch.orelse:
                self.now.events.append(branch)
        formula = formulas.both(isinstance(node.op, ast.And), [value.formula for value in values])
        kinds = {value.kind for value in values}
        if "comm" in kinds:  # comm = comm or MPI.COMM_WORLD
            return next(value for value in values if value.kind == "comm")
        return self.settled(AbstractValue(depends=merged(value.depends for value in values), formula=formula))

    def _on_ifexp(self, node: ast.IfExp) -> AbstractValue:
        test = self.evaluate(node.test)
        branch = BranchEvents(node, node.test, test)
        with self.recording(branch.body):
            one = self.evaluate(node.body)
        with self.recording(branch.orelse):
            other = self.evaluate(node.orelse)
        if branch.body or branch.orelse:
            self.now.events.append(branch)
        value = joined(one, other)
        formula = formulas.applied(lambda a, b, c: b if a else c, test.formula, one.formula, other.formula)
        if test.depends is not None and one != other and value.kind != "comm":
            value = value.under(test.depends)
        return self.settled(replace(value, formula=formula))

    def _on_namedexpr(self, node: ast.NamedExpr) -> AbstractValue:
        value = self.evaluate(node.value)
        self.now.variables[node.target.id] = value
        return value

    def _on_lambda(self, node: ast.Lambda) -> AbstractValue:
        return UNKNOWN  # its body does not run here

    def _on_starred(self, node: ast.Starred) -> AbstractValue:
        return self.evaluate(node.value)


def merged_value(values: list[AbstractValue]) -> AbstractValue:
    """Return a value with the dependences of several."""
    return AbstractValue(
        depends=merged(value.depends for value in values), formula=values[0].formula if len(values) == 1 else None
    )
