"""Mistakes that are likely for a failure. One function for each."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator

from fakempi.apps.course.mistakes.evidence import MistakeEvidence, words
from fakempi.errors.similar import get_close_matches

Rule = Callable[[MistakeEvidence], Iterator[str]]

RETURNING = words("recv bcast scatter gather allgather reduce allreduce sendrecv scan exscan alltoall")
"""Methods whose return value is the result."""

COLLECTIVE = {*RETURNING, "barrier", "scatterv", "gatherv", "allgatherv", "split"} - {"recv", "sendrecv"}
NAMES = [
    *words("Get_rank Get_size Get_source Get_tag Get_count Barrier Sendrecv Allreduce Allgather Allgatherv"),
    *words("Scatterv Gatherv Bcast Reduce Gather Scatter Isend Irecv Iprobe Probe Waitall Send Recv send"),
    *RETURNING,
]


def misspelled(evidence: MistakeEvidence) -> Iterator[str]:
    """A method that does not exist, such as `comm.get_rank`."""
    if missing := re.search(r"has no attribute '(\w+)'", evidence.wrong.sentence):
        same = [each for each in NAMES if each.lower() == missing[1].lower()]
        for name in same[:1] or get_close_matches(missing[1], NAMES, 1):
            yield f"There is no {missing[1]}: is {name} meant? Capital and small letters differ in Python."


def no_import(evidence: MistakeEvidence) -> Iterator[str]:
    """MPI or numpy is not imported."""
    lines = {"MPI": "from mpi4py import MPI", "np": "import numpy as np", "time": "import time"}
    if missing := re.search(r"NameError: name '(MPI|np|time)' is not defined", evidence.wrong.sentence):
        yield f"The file needs this line at the top: {lines[missing[1]]}"


def only_on_some_ranks(evidence: MistakeEvidence) -> Iterator[str]:
    """A variable that is assigned in a branch of some ranks."""
    if missing := re.search(r"(?:UnboundLocalError|NameError).*?'(\w+)'", evidence.wrong.sentence):
        own = "each rank has its own variables, and only those that it has assigned itself."
        yield f"This rank has not assigned {missing[1]}: {own}"


def _if_sentence(pattern: str, text: str) -> Rule:
    """Return a rule that applies if the sentence of the failure has the pattern."""
    return lambda evidence: iter([text] if re.search(pattern, evidence.wrong.sentence) else [])


division = _if_sentence(
    r"'?float'? object cannot be interpreted as an integer|indices must be integers",
    "The operator / gives a float, also for integers: use // for ranks, lengths and indices.",
)
partner_outside = _if_sentence(
    r"ERR_RANK|invalid rank|not a rank|there is no rank|does not exist|is not in 0",
    "The first and the last rank have a neighbor on one side only: test for it, or count with % size if the ranks form a "
    "ring.",
)
different_roots = _if_sentence(
    r"root(=.+)? is \d+ here",
    "All ranks pass the same root: the number of the rank that has the data, or that gets the result.",
)


def list_as_buffer(evidence: MistakeEvidence) -> Iterator[str]:
    """A list in a call that needs an array."""
    sentence = evidence.wrong.sentence
    if evidence.wrong.kind == "raised" and re.search(r"buffer|array", sentence) and "list" in sentence:
        small = "for lists and other objects use the one with a small letter."
        yield f"Calls with a capital letter take arrays (numpy), not lists; {small}"


def none_on_other_ranks(evidence: MistakeEvidence) -> Iterator[str]:
    """The result of gather or reduce, used on all ranks."""
    if evidence.wrong.kind != "raised" or "NoneType" not in evidence.wrong.sentence:
        return
    for name, call in evidence.calls_of("gather", "reduce"):
        yield f"{name} in line {call.lineno} returns its result on the root only; on the other ranks it is None."
    yield "A variable is None on this rank: data of another rank arrives only by a call that all ranks concerned make."


def printed_instead(evidence: MistakeEvidence) -> Iterator[str]:
    """The function prints its result, or forgets to return it on some ranks."""
    if evidence.wrong.kind != "result" or not re.search(r"returns None\b", evidence.wrong.sentence):
        return
    if evidence.wrong.printed.strip():
        yield "The function prints, but the check needs what it returns: use return."
    where = "look which return it reaches, or whether the result is stored at all."
    yield f"The function ends without a value on this rank: {where}"


def ignored_result(evidence: MistakeEvidence) -> Iterator[str]:
    """`comm.recv(source=0)` as a statement."""
    for node in evidence.nodes:
        call = node.value if isinstance(node, ast.Expr) else None
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr in RETURNING:
            name = call.func.attr
            form = f"the result is its return value, as in data = comm.{name}(...)."
            yield f"Line {call.lineno} ignores what {name} returns: {form}"


def blocked_calls(evidence: MistakeEvidence) -> Iterator[str]:
    """All ranks of a deadlock are in a send, or in a receive; or some ranks are in a collective call, and others are not."""
    blocked = {name.lower() for name in re.findall(r"\bin (\w+) at ", evidence.wrong.sentence)}
    deadlock = evidence.wrong.kind == "deadlock" and bool(blocked)
    if deadlock and blocked <= {"send", "ssend", "sendrecv"}:
        yield "All of these ranks send, and none of them receives: a send may wait until its message is received."
    if evidence.wrong.kind in ("deadlock", "collective-mismatch") and blocked & COLLECTIVE:
        yield "A collective call needs all ranks of the communicator: look for a rank that does not reach this call."
    if deadlock and blocked <= {"recv", "probe", "wait", "waitall"}:
        compare = "compare source, dest and tag, and count the messages."
        yield f"All of these ranks wait for a message that no rank sends to them: {compare}"


def lost(evidence: MistakeEvidence) -> Iterator[str]:
    """A message that is not received."""
    if evidence.wrong.kind == "message-lost":
        yield "A send without a receive: for each message, one rank has to call a receive, with its source and its tag."


def order_of_arrival(evidence: MistakeEvidence) -> Iterator[str]:
    """The result depends on the order of messages."""
    if evidence.wrong.kind == "schedule" or "in one of the schedules" in evidence.wrong.sentence:
        source = "take the source from the status, or receive from each rank by its number."
        yield f"Messages of different ranks arrive in any order: {source}"


IN_FAILURE = (
    misspelled, no_import, only_on_some_ranks, division, partner_outside, different_roots, list_as_buffer, ignored_result,
    none_on_other_ranks, printed_instead, order_of_arrival, blocked_calls, lost,
)  # fmt: skip
