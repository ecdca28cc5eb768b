"""Executes statements: joins variables after branches, and records branches, loops and ends of paths."""

from __future__ import annotations

import ast
from dataclasses import replace
from functools import reduce

from fakempi.apps.lint.analysis.assignments import AssignmentExecutor
from fakempi.apps.lint.analysis.containers import element
from fakempi.apps.lint.analysis.definitions import FileClass, FileFunction, Variables
from fakempi.apps.lint.analysis.events import BranchEvents, Event, LocalCall, MpiCall, PathEnd, Repetition, TryEvents
from fakempi.apps.lint.analysis.rank_values import (
    UNKNOWN,
    AbstractValue,
    RankDependence,
    differing,
    joined_variables,
    merged,
)  # fmt: skip


class StatementExecutor(AssignmentExecutor):
    """Executes statements."""

    def run_body(self, body: list[ast.stmt]) -> bool:
        """Execute statements; return whether the end can be reached."""
        for statement in body:
            handler = getattr(self, f"_do_{type(statement).__name__.lower()}", None)
            if handler is None:
                continue
            if handler(statement) is False:
                return False
        return True

    def _do_expr(self, node: ast.Expr) -> bool:
        self.evaluate(node.value)
        events = self.now.events
        ends = bool(events) and isinstance(events[-1], PathEnd) and events[-1].node is node.value
        return not ends

    def _do_assign(self, node: ast.Assign) -> None:
        value = self.evaluate(node.value)
        for target in node.targets:
            self.bind(target, value)

    def _do_annassign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self.bind(node.target, self.evaluate(node.value))

    def _do_augassign(self, node: ast.AugAssign) -> None:
        value = self.computed(node.op, self.evaluate(node.target), self.evaluate(node.value))
        self.bind(node.target, value)

    def _do_return(self, node: ast.Return) -> bool:
        value = self.evaluate(node.value) if node.value is not None else AbstractValue("none")
        self.now.returned.append(value)
        self.now.return_depends = merged((self.now.return_depends, *self.now.conditions))
        self.now.events.append(PathEnd(node, "return"))
        return False

    def _do_raise(self, node: ast.Raise) -> bool:
        self.evaluate(node.exc)
        self.now.events.append(PathEnd(node, "raise"))
        return False

    def _do_break(self, node: ast.Break | ast.Continue) -> bool:
        self.now.events.append(PathEnd(node, type(node).__name__.lower()))
        return False

    _do_continue = _do_break

    def _do_import(self, node: ast.Import | ast.ImportFrom) -> None:
        for each in node.names:
            name = each.asname or each.name.split(".")[0]
            self.now.variables.pop(name, None)
            self.now.variables[name] = self.evaluate(ast.copy_location(ast.Name(name), node))

    _do_importfrom = _do_import

    def _do_assert(self, node: ast.Assert) -> None:
        self.evaluate(node.test)

    def _do_delete(self, node: ast.Delete) -> None:
        for target in node.targets:
            if isinstance(target, ast.Name):
                self.now.variables.pop(target.id, None)

    def _do_global(self, node: ast.Global) -> None:
        self.now.global_names.update(node.names)

    def _do_functiondef(self, node: ast.FunctionDef) -> None:
        inner = self.now.variables is not self.module
        enclosing = {**self.now.enclosing, **self.now.variables} if inner else {}
        function = FileFunction(node, enclosing, self.now.owner)
        self.now.variables[node.name] = AbstractValue("function", definition=function)

    _do_asyncfunctiondef = _do_functiondef

    def _do_classdef(self, node: ast.ClassDef) -> None:
        bases = [self.evaluate(each).definition for each in node.bases]
        found = FileClass(node, [each for each in bases if isinstance(each, FileClass)])
        for each in node.body:
            if isinstance(each, (ast.FunctionDef, ast.AsyncFunctionDef)):
                found.methods[each.name] = FileFunction(each, {}, found)
            elif isinstance(each, ast.Assign):
                value = self.evaluate(each.value)
                found.attributes.update({name.id: value for name in each.targets if isinstance(name, ast.Name)})
        self.now.variables[node.name] = AbstractValue("class", definition=found)

    def _do_with(self, node: ast.With) -> bool:
        for item in node.items:
            value = self.evaluate(item.context_expr)
            if item.optional_vars is not None:
                self.bind(item.optional_vars, value)
        return self.run_body(node.body)

    _do_asyncwith = _do_with

    def _branch(self, body: list[ast.stmt], events: list[Event], depends: RankDependence | None) -> tuple[bool, Variables]:
        """Execute one side of a branch; return whether its end can be reached, and the variables there."""
        before = self.now.variables
        self.now.variables = dict(before)
        self.now.conditions.append(depends)
        with self.recording(events):
            reached = self.run_body(body)
        self.now.conditions.pop()
        after, self.now.variables = self.now.variables, before
        return reached, after

    def _continue_with(self, variables: Variables) -> None:
        """Replace the variables; the dictionary stays, since functions inside refer to that of the module."""
        self.now.variables.clear()
        self.now.variables.update(variables)

    def _do_if(self, node: ast.If) -> bool:
        test = self.evaluate(node.test)
        branch = BranchEvents(node, node.test, test)
        one, after_body = self._branch(node.body, branch.body, test.depends)
        other, after_else = self._branch(node.orelse, branch.orelse, test.depends)
        if branch.body or branch.orelse:
            self.now.events.append(branch)
        if one and other and test.depends:
            self._continue_with(differing(after_body, after_else, test.depends))
        elif one and other:
            self._continue_with(after_uniform_branch(branch, after_body, after_else))
        elif one or other:
            self._continue_with(after_body if one else after_else)
        if not (one and other) and test.depends is not None:
            ends = (*branch.body[-1:], *branch.orelse[-1:])
            if any(isinstance(end, PathEnd) and end.how == "return" for end in ends):
                self.now.return_depends = merged((self.now.return_depends, test.depends))
        return one or other

    def _loop(self, node: ast.For | ast.AsyncFor | ast.While, loop: Repetition, target: AbstractValue) -> bool:
        """Execute a loop's body twice, so that variables that it changes have their joined values in the second pass."""
        for _ in range(2):
            loop.body.clear()
            if isinstance(node, ast.While):
                with self.recording(loop.body):
                    loop.depends = self.evaluate(node.test).depends
            else:
                self.bind(node.target, target)
            before = dict(self.now.variables)
            _, after = self._branch(node.body, loop.body, loop.depends)
            self._continue_with(joined_variables(before, after))
        if loop.body:
            self.now.events.append(loop)
        endless = isinstance(node, ast.While) and isinstance(node.test, ast.Constant) and bool(node.test.value)
        if endless and not has_break(node):
            return False
        return self.run_body(node.orelse) or not endless

    def _do_for(self, node: ast.For) -> bool:
        source = self.evaluate(node.iter)
        return self._loop(node, Repetition(node, node.iter, source.length), element(source))

    _do_asyncfor = _do_for

    def _do_while(self, node: ast.While) -> bool:
        return self._loop(node, Repetition(node, node.test, None), UNKNOWN)

    def _do_try(self, node: ast.Try) -> bool:
        attempt = TryEvents(node)
        reached, after = self._branch(node.body, attempt.body, None)
        ends = [after] if reached else []
        if reached and node.orelse:
            self._continue_with(after)
            reached, after = self._branch(node.orelse, attempt.orelse, None)
            ends = [after] if reached else []
        for handler in node.handlers:
            attempt.handlers.append([])
            reached, after = self._branch(handler.body, attempt.handlers[-1], None)
            ends += [after] if reached else []
        if attempt.body or any(attempt.handlers) or attempt.orelse:
            self.now.events.append(attempt)
        if ends:
            self._continue_with(reduce(joined_variables, ends))
        with self.recording(attempt.final):
            reached = self.run_body(node.finalbody)
        return bool(ends) and reached

    _do_trystar = _do_try

    def _do_match(self, node: ast.Match) -> bool:
        subject = self.evaluate(node.subject)
        ends: list[Variables] = [dict(self.now.variables)]
        events = self.now.events
        for case in node.cases:
            branch = BranchEvents(case, node.subject, replace(subject, formula=None))
            branch.node = ast.copy_location(ast.Pass(), case.pattern)
            reached, after = self._branch(case.body, branch.body, subject.depends)
            ends += [after] if reached else []
            events.append(branch)
            events = branch.orelse
        self._continue_with(reduce(joined_variables, ends))
        return True


def after_uniform_branch(branch: BranchEvents, body: Variables, orelse: Variables) -> Variables:
    """Return the variables after a branch that all ranks take.

    If only one side makes MPI calls, as in `if use_mpi: x = comm.bcast(x)`, the other one is for a single process.
    """
    joint = joined_variables(body, orelse)
    with_calls = [any(isinstance(event, (MpiCall, LocalCall)) for event in side) for side in (branch.body, branch.orelse)]
    if with_calls[0] != with_calls[1]:
        parallel = body if with_calls[0] else orelse
        for name, value in parallel.items():
            if value.depends is None and value.length is None:
                joint[name] = replace(joint[name], depends=None, length=None)
    return joint


def has_break(loop: ast.For | ast.AsyncFor | ast.While) -> bool:
    """Return whether a loop contains a `break` that ends it."""
    pending: list[ast.AST] = list(loop.body)
    while pending:
        node = pending.pop()
        if isinstance(node, ast.Break):
            return True
        if not isinstance(node, (ast.For, ast.While, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            pending += ast.iter_child_nodes(node)
    return False
