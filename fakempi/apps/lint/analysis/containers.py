"""Evaluates lists, slices and comprehensions."""

from __future__ import annotations

import ast
from dataclasses import replace
from functools import reduce

from fakempi.apps.lint.analysis import formulas
from fakempi.apps.lint.analysis.events import Repetition
from fakempi.apps.lint.analysis.expressions import ExpressionEvaluator
from fakempi.apps.lint.analysis.rank_values import UNKNOWN, AbstractValue, RankDependence, joined, merged

Comprehension = ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp


class ContainerEvaluator(ExpressionEvaluator):
    """Evaluates containers and their elements."""

    def bind(self, target: ast.expr, value: AbstractValue) -> None:
        """Assign a value to a target."""
        raise NotImplementedError

    def _on_list(self, node: ast.List | ast.Tuple | ast.Set) -> AbstractValue:
        kind = type(node).__name__.lower()
        values = tuple(self.evaluate(each) for each in node.elts)
        numbers = kind == "list" and values and all(isinstance(each, ast.Constant) for each in node.elts)
        if numbers and all(value.kind == "number" for value in values):
            kind = "numbers"
        starred = any(isinstance(each, ast.Starred) for each in node.elts)
        formula = formulas.applied(lambda *parts: parts, *(value.formula for value in values)) if values else None
        return AbstractValue(
            kind, depends=merged(value.depends for value in values), formula=None if starred else formula,
            items=None if starred or len(values) > 20 else values,
        )  # fmt: skip

    _on_tuple = _on_set = _on_list

    def _on_dict(self, node: ast.Dict) -> AbstractValue:
        values = [self.evaluate(each) for each in (*node.keys, *node.values) if each is not None]
        return AbstractValue("dict", depends=merged(value.depends for value in values))

    def _on_subscript(self, node: ast.Subscript) -> AbstractValue:
        base = self.evaluate(node.value)
        if isinstance(node.slice, ast.Slice):
            return self._slice(base, node.slice)
        index = self.evaluate(node.slice)
        number = node.slice.value if isinstance(node.slice, ast.Constant) else None
        if base.items is not None and isinstance(number, int) and -len(base.items) <= number < len(base.items):
            return base.items[number]
        formula = formulas.applied(lambda parts, i: parts[i], base.formula, index.formula)
        length = index.depends if base.kind == "chunks" else None
        if length is not None:
            length = replace(length, even=False)
        if base.kind == "shape":
            return AbstractValue(depends=base.depends)
        depends = merged((base.depends, index.depends))
        if depends is None and length is None and formula is None:
            return UNKNOWN
        return self.settled(AbstractValue(depends=depends, length=length, formula=formula))

    def _slice(self, base: AbstractValue, node: ast.Slice) -> AbstractValue:
        lower, upper, step = (self.evaluate(each) for each in (node.lower, node.upper, node.step))
        bounds = [lower.depends, upper.depends, step.depends]
        length = self.distance(lower, upper, step, upper_is_open=node.upper is None)
        kind = base.kind if base.kind in ("text", "bytes", "list", "numbers") else ""
        return AbstractValue(kind, depends=merged((base.depends, *bounds)), length=merged((length, base.length)))

    def distance(
        self, lower: AbstractValue, upper: AbstractValue, step: AbstractValue, upper_is_open: bool = False
    ) -> RankDependence | None:
        """Return on what the number of elements from `lower` to `upper` depends; None if it may be the same on all ranks."""
        depends = merged((lower.depends, upper.depends, step.depends), even=True)
        if depends is None:
            return None
        if not upper_is_open and lower.depends and upper.depends and depends.even:
            return None  # the difference of two linear functions of the rank: n * rank, n * (rank + 1)
        return replace(depends, even=False)

    def _on_listcomp(self, node: Comprehension) -> AbstractValue:
        before = dict(self.now.variables)
        lengths: list[RankDependence | None] = []
        loops: list[Repetition] = []
        outer = self.now.events
        for each in node.generators:
            source = self.evaluate(each.iter)
            lengths.append(source.length)
            loop = Repetition(node, each.iter, source.length)
            loops.append(loop)
            self.now.events = loop.body
            self.bind(each.target, element(source))
            lengths += [self.evaluate(test).depends for test in each.ifs]
        parts = (node.key, node.value) if isinstance(node, ast.DictComp) else (node.elt,)
        values = [self.evaluate(part) for part in parts]
        self.now.events = outer
        for inner, loop in zip([*loops[1:], None], loops, strict=True):
            if inner is not None and inner.body:
                loop.body.append(inner)
        if loops[0].body:
            self.now.events.append(loops[0])
        self.now.variables.clear()
        self.now.variables.update(before)
        kinds = {ast.ListComp: "numbers" if values[0].kind == "number" else "list", ast.SetComp: "set", ast.DictComp: "dict"}
        kind = kinds.get(type(node), "generator")
        return AbstractValue(kind, depends=merged(value.depends for value in values), length=merged(lengths))

    _on_setcomp = _on_generatorexp = _on_dictcomp = _on_listcomp


def element(value: AbstractValue) -> AbstractValue:
    """Return an element of a container."""
    return reduce(joined, value.items) if value.items else AbstractValue(depends=value.depends)
