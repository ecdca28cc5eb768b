"""Evaluates calls of methods of communicators: their results, and which variables are the same on all ranks afterward."""

from __future__ import annotations

import ast
from dataclasses import replace

from fakempi.apps.lint.analysis import formulas, mpi_calls
from fakempi.apps.lint.analysis.containers import ContainerEvaluator
from fakempi.apps.lint.analysis.definitions import FileInstance
from fakempi.apps.lint.analysis.events import MpiCall, OtherCall, PathEnd
from fakempi.apps.lint.analysis.rank_values import PART, SAME, SELF, UNKNOWN, AbstractValue, RankDependence

BY_RANK = {"scatter", "alltoall", "scan", "exscan"}
RESULT_BUFFER = {"Reduce": 1, "Gather": 1, "Gatherv": 1, "Scatter": 1, "Scatterv": 1, "Alltoall": 1, "Scan": 1, "Exscan": 1}
SAME_BUFFER = {"Bcast": 0, "Allreduce": 1, "Allgather": 1, "Allgatherv": 1, "Recv": 0}


class CommEvaluator(ContainerEvaluator):
    """Evaluates calls on communicators."""

    def comm_call(self, node: ast.Call, comm: AbstractValue, function: ast.Attribute) -> AbstractValue:
        """Record the call, and return its result."""
        operation = function.attr
        positional = [self.evaluate(each) for each in node.args]
        named = {each.arg or "": self.evaluate(each.value) for each in node.keywords}
        if operation in ("Get_rank", "Get_size"):
            return self.rank_of(comm, node) if operation == "Get_rank" else AbstractValue("number", formula=formulas.SIZE)
        if operation == "Abort":
            self.now.events.append(PathEnd(node, "abort"))
            return UNKNOWN
        if operation not in mpi_calls.METHODS:
            self.now.events.append(OtherCall(node, may_communicate=True))
            return UNKNOWN
        call = MpiCall(node, operation, comm.ids, ast.unparse(function.value), positional, named)
        self.mpi_calls[node] = call
        self.now.events.append(call)
        self._change_buffers(call)
        return self._result(call, comm)

    def _result(self, call: MpiCall, comm: AbstractValue) -> AbstractValue:
        operation, line = call.operation, call.node.lineno
        if operation in mpi_calls.NONBLOCKING:
            return AbstractValue("request")
        if operation in mpi_calls.CREATION | mpi_calls.PARTS:
            part = operation in mpi_calls.PARTS and comm.ids != {SELF}
            return AbstractValue("comm", frozenset({f"{PART}{line}"}) if part else comm.ids)
        if operation in BY_RANK | mpi_calls.AT_ROOT and SELF not in comm.ids:
            what = f"the result of `{operation}` is None except on the root"
            what = what if operation in mpi_calls.AT_ROOT else f"the result of `{operation}` differs between ranks"
            depends = RankDependence(comm.ids, what, line)
            return AbstractValue(depends=depends, length=depends)
        return AbstractValue(SAME) if operation in mpi_calls.EVERYWHERE else UNKNOWN

    def _change_buffers(self, call: MpiCall) -> None:
        """Record which buffers are the same on all ranks after the call, and which are not."""
        operation = call.operation
        if operation in SAME_BUFFER:
            node, _ = call.argument(SAME_BUFFER[operation], "buf" if operation in ("Bcast", "Recv") else "recvbuf")
            self._set_dependence(node, None, SAME if operation in mpi_calls.EVERYWHERE else "")
        elif operation in RESULT_BUFFER and SELF not in call.ids:
            node, _ = call.argument(RESULT_BUFFER[operation], "recvbuf")
            why = "is complete only on the root" if operation in mpi_calls.ROOTED else "differs between ranks"
            self._set_dependence(node, RankDependence(call.ids, f"the buffer of `{operation}` {why}", call.node.lineno))

    def _set_dependence(self, node: ast.expr | None, depends: RankDependence | None, kind: str = "") -> None:
        while isinstance(node, (ast.List, ast.Tuple)) and node.elts:
            node = node.elts[0]
        while isinstance(node, ast.Subscript):
            node = node.value
        if isinstance(node, ast.Name):
            value = self.look_up(node.id) or UNKNOWN
            self.now.variables[node.id] = replace(value, kind=kind or value.kind, depends=depends, formula=None, items=None)
        elif isinstance(node, ast.Attribute):
            base = self.evaluate(node.value).definition
            if isinstance(base, FileInstance):
                value = base.attributes.get(node.attr, UNKNOWN)
                base.attributes[node.attr] = replace(value, depends=depends, formula=None, items=None)
