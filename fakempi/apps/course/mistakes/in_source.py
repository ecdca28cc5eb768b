"""Mistakes that are certain from the source, whatever the failure is. One function for each."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from fakempi.apps.course.mistakes.evidence import MistakeEvidence, keyword, receiver, words

METHODS = words("Get_rank Get_size Get_source Get_tag Get_count Barrier barrier Free Commit wait Wait")
SENDS = words("send ssend bsend isend issend Send Ssend Bsend Isend Issend")
RECEIVES = words("recv irecv Recv Irecv mrecv probe Probe iprobe Iprobe")
STORING = words("Recv Bcast Scatter Scatterv Gather Gatherv Allgather Reduce Allreduce Scan Exscan Sendrecv Send send")
"""Blocking methods that return None."""

REDUCTIONS = words("reduce allreduce Reduce Allreduce scan exscan Scan Exscan")
COMPLETIONS = [
    *words("wait Wait waitall Waitall waitany Waitany waitsome Waitsome"),
    *words("test Test testall Testall testany Testany cancel Cancel"),
]


def not_called(evidence: MistakeEvidence) -> Iterator[str]:
    """`comm.Get_rank` without parentheses."""
    called = {id(node.func) for node in evidence.nodes if isinstance(node, ast.Call)}
    for node in evidence.nodes:
        if isinstance(node, ast.Attribute) and node.attr in METHODS and id(node) not in called:
            name = ast.unparse(node)
            yield f"Line {node.lineno} names the method {name} but does not call it: write {name}() with parentheses."


def called_number(evidence: MistakeEvidence) -> Iterator[str]:
    """`comm.rank()`."""
    for name, call in evidence.calls_of("rank", "size"):
        text = f"{receiver(call)}.{name}"
        yield f"Line {call.lineno} calls {text}, which is a number: write {text} or {receiver(call)}.Get_{name}()."


def swapped_rank_and_size(evidence: MistakeEvidence) -> Iterator[str]:
    """`rank, size = comm.Get_size(), comm.Get_rank()`."""
    for node in evidence.nodes:
        if isinstance(node, ast.Assign):
            targets = node.targets[0].elts if isinstance(node.targets[0], ast.Tuple) else [node.targets[0]]
            values = node.value.elts if isinstance(node.value, ast.Tuple) else [node.value]
            for target, value in zip(map(ast.unparse, targets), map(ast.unparse, values), strict=False):
                if (target, value.rpartition(".")[2]) in (("rank", "Get_size()"), ("size", "Get_rank()")):
                    yield f"Line {node.lineno} stores {value} in {target}: rank and size are swapped."


def no_destination(evidence: MistakeEvidence) -> Iterator[str]:
    """`comm.send(data)`."""
    for name, call in evidence.calls_of(*SENDS):
        if len(call.args) < 2 and keyword(call, "dest") is None and keyword(call, "source") is None and not _starred(call):
            yield f"Line {call.lineno} does not say to whom: {name} needs dest=, the rank that receives."


def source_of_a_send(evidence: MistakeEvidence) -> Iterator[str]:
    """`comm.send(data, source=1)` and `comm.recv(dest=1)`."""
    for name, call in evidence.calls_of(*SENDS):
        if keyword(call, "source") is not None:
            rule = "a send has dest=, the rank that receives; a receive has source=."
            yield f"Line {call.lineno} passes source= to {name}: {rule}"
    for name, call in evidence.calls_of(*RECEIVES):
        if keyword(call, "dest") is not None:
            rule = "a receive has source=, the rank that sends; a send has dest=."
            yield f"Line {call.lineno} passes dest= to {name}: {rule}"


def mixed_interfaces(evidence: MistakeEvidence) -> Iterator[str]:
    """`Send` on one side and `recv` on the other."""
    if evidence.called("sendrecv", "Sendrecv"):
        return
    for sends, receives in (("Send Isend Ssend", "recv irecv"), ("send isend ssend", "Recv Irecv")):
        sent = next(evidence.calls_of(*words(sends)), None)
        received = next(evidence.calls_of(*words(receives)), None)
        same = ("Recv", "Irecv", "Mrecv") if sends[0] == "S" else ("recv", "irecv", "mrecv")
        if sent and received and not evidence.called(*same):
            (first, one), (second, other) = sent, received
            lines = (
                f"Line {one.lineno} sends with {first}, and line {other.lineno} receives with {second}: these do not match."
            )
            rule = "Capital letters (Send, Recv) are for arrays, small letters (send, recv) for Python objects"
            yield f"{lines} {rule}; use the same on both sides."


def value_of_a_storing_call(evidence: MistakeEvidence) -> Iterator[str]:
    """`data = comm.Recv(...)`, and `return comm.Bcast(...)`."""
    for node in evidence.nodes:
        value = node.value if isinstance(node, ast.Assign | ast.Return) else None
        if isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr in STORING:
            name = value.func.attr
            what = "sends, and returns None" if name.lower() == "send" else "stores the data in the array that it is given"
            yield f"Line {value.lineno} uses the value of {name}, which is None: {name} {what}."


def builtin_operation(evidence: MistakeEvidence) -> Iterator[str]:
    """`op=sum`, and `op="max"`."""
    for name, call in evidence.calls_of(*REDUCTIONS):
        values = [*call.args[1:], *filter(None, [keyword(call, "op")])]
        for value in values:
            text = ast.unparse(value).strip("'\"")
            if text.lower() in ("sum", "max", "min", "prod", "mpi.sum", "mpi.max", "mpi.min") and not text.isupper():
                wanted = text.rpartition(".")[2].upper()
                passed = f"Line {call.lineno} passes {ast.unparse(value)} to {name}"
                yield f"{passed}: the operations of MPI are named MPI.{wanted}."


def never_completed(evidence: MistakeEvidence) -> Iterator[str]:
    """A request without a wait anywhere."""
    for name, call in evidence.calls_of("irecv", "Irecv", "isend", "Isend", "ibcast", "Ibcast"):
        if not evidence.called(*COMPLETIONS):
            what = "the data is there only after wait()" if name.lower() == "irecv" else "it is complete only after wait()"
            yield f"Line {call.lineno} starts {name} and no line waits for it: it returns a request, and {what}."


def different_tags(evidence: MistakeEvidence) -> Iterator[str]:
    """Literal tags of sends and of receives that have none in common."""
    sent, received = (
        {
            ast.unparse(tag): call
            for _, call in evidence.calls_of(*names)
            if isinstance(tag := keyword(call, "tag"), ast.Constant)
        }
        for names in (SENDS, RECEIVES)
    )
    if not sent or not received or set(sent) & set(received):
        return
    (one, send), (other, receive) = next(iter(sent.items())), next(iter(received.items()))
    places = f"Line {send.lineno} sends with tag {one}, and line {receive.lineno} receives with tag {other}"
    yield f"{places}: the tags must be equal."


def _starred(call: ast.Call) -> bool:
    return any(isinstance(each, ast.Starred) for each in call.args) or any(each.arg is None for each in call.keywords)


IN_SOURCE = (
    not_called, called_number, swapped_rank_and_size, source_of_a_send, no_destination, mixed_interfaces,
    value_of_a_storing_call, builtin_operation, never_completed, different_tags,
)  # fmt: skip
