"""Changes variables, attributes and elements."""

from __future__ import annotations

import ast
from dataclasses import replace

from fakempi.apps.lint.analysis.calls import CallEvaluator
from fakempi.apps.lint.analysis.definitions import FileInstance
from fakempi.apps.lint.analysis.rank_values import UNKNOWN, AbstractValue, joined, merged


class AssignmentExecutor(CallEvaluator):
    """Executes assignments."""

    def bind(self, target: ast.expr, value: AbstractValue) -> None:
        """Assign a value to a target."""
        if isinstance(target, ast.Name):
            if target.id in self.now.global_names:
                self.module[target.id] = self._under_conditions(self.module.get(target.id), value)
            self.now.variables[target.id] = value
        elif isinstance(target, (ast.Tuple, ast.List)):
            parts = value.items if value.items is not None and len(value.items) == len(target.elts) else None
            each_value = AbstractValue(depends=value.depends)
            for position, each in enumerate(target.elts):
                self.bind(each, parts[position] if parts else each_value)
        elif isinstance(target, ast.Starred):
            self.bind(target.value, replace(value, items=None))
        elif isinstance(target, ast.Attribute):
            base = self.evaluate(target.value).definition
            if isinstance(base, FileInstance):
                old = base.attributes.get(target.attr) or base.of.attribute(target.attr)
                base.attributes[target.attr] = self._under_conditions(old, value)
        elif isinstance(target, ast.Subscript):
            self._bind_element(target, value)

    def _under_conditions(self, old: AbstractValue | None, value: AbstractValue) -> AbstractValue:
        """Return the value of a variable that is assigned under conditions, which no branch separates."""
        why = merged(self.now.conditions)
        if value.kind == "comm" or not self.now.conditions or (old is None and why is None):
            return value
        if old is None:
            old = value
        if why is None:  # `self.rank = 0` is for programs without MPI; other values replace the old one
            return joined(old, value) if value.kind in ("number", "none") and value.depends is None else value
        value = joined(old, value)
        return replace(value, depends=merged((why, value.depends)))

    def _bind_element(self, target: ast.Subscript, value: AbstractValue) -> None:
        index = self.evaluate(target.slice)
        base = target.value
        while isinstance(base, ast.Subscript):
            base = base.value
        depends = merged((value.depends, index.depends))
        if depends is None:
            return
        if isinstance(base, ast.Name):
            old = self.look_up(base.id) or UNKNOWN
            self.now.variables[base.id] = replace(old, depends=merged((old.depends, depends)), items=None, formula=None)
