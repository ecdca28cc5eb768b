"""Mistakes that are likely for a failure. One function for each."""

from __future__ import annotations

import ast
import re

from fakempi.apps.course.mistakes.evidence import MistakeEvidence, words
from fakempi.errors.similar import get_close_matches

RETURNING = words("recv bcast scatter gather allgather reduce allreduce sendrecv scan exscan alltoall")
"""Methods whose return value is the result."""

COLLECTIVE = {*RETURNING, "barrier", "scatterv", "gatherv", "allgatherv", "split"} - {"recv", "sendrecv"}
NAMES = [
    *words("Get_rank Get_size Get_source Get_tag Get_count Barrier Sendrecv Allreduce Allgather Allgatherv"),
    *words("Scatterv Gatherv Bcast Reduce Gather Scatter Isend Irecv Iprobe Probe Waitall Send Recv send"),
    *RETURNING,
]


def misspelled(evidence: MistakeEvidence) -> str:
    """A method that does not exist, such as `comm.get_rank`."""
    missing = re.search(r"has no attribute '(\w+)'", evidence.wrong.sentence)
    if missing is None:
        return ""
    name = missing[1]
    same = [each for each in NAMES if each.lower() == name.lower()]
    close = same or get_close_matches(name, NAMES, 1)
    return f"There is no {name}: is {close[0]} meant? Capital and small letters differ in Python." if close else ""


def no_import(evidence: MistakeEvidence) -> str:
    """MPI or numpy is not imported."""
    missing = re.search(r"NameError: name '(MPI|np|time)' is not defined", evidence.wrong.sentence)
    lines = {"MPI": "from mpi4py import MPI", "np": "import numpy as np", "time": "import time"}
    return f"The file needs this line at the top: {lines[missing[1]]}" if missing else ""


def only_on_some_ranks(evidence: MistakeEvidence) -> str:
    """A variable that is assigned in a branch of some ranks."""
    missing = re.search(r"(?:UnboundLocalError|NameError).*?'(\w+)'", evidence.wrong.sentence)
    if missing is None:
        return ""
    name = missing[1]
    return f"This rank has not assigned {name}: each rank has its own variables, and only those that it has assigned itself."


def division(evidence: MistakeEvidence) -> str:
    """`/` where an integer is needed."""
    if re.search(r"'?float'? object cannot be interpreted as an integer|indices must be integers", evidence.wrong.sentence):
        return "The operator / gives a float, also for integers: use // for ranks, lengths and indices."
    return ""


def partner_outside(evidence: MistakeEvidence) -> str:
    """A rank that does not exist."""
    if not re.search(
        r"ERR_RANK|invalid rank|not a rank|there is no rank|does not exist|is not in 0", evidence.wrong.sentence
    ):
        return ""
    ring = "test for it, or count with % size if the ranks form a ring."
    return f"The first and the last rank have a neighbor on one side only: {ring}"


def different_roots(evidence: MistakeEvidence) -> str:
    """A root that is not the same on all ranks."""
    if re.search(r"root(=.+)? is \d+ here", evidence.wrong.sentence):
        return "All ranks pass the same root: the number of the rank that has the data, or that gets the result."
    return ""


def list_as_buffer(evidence: MistakeEvidence) -> str:
    """A list in a call that needs an array."""
    sentence = evidence.wrong.sentence
    if evidence.wrong.kind == "raised" and re.search(r"buffer|array", sentence) and "list" in sentence:
        small = "for lists and other objects use the one with a small letter."
        return f"Calls with a capital letter take arrays (numpy), not lists; {small}"
    return ""


def none_on_other_ranks(evidence: MistakeEvidence) -> str:
    """The result of gather or reduce, used on all ranks."""
    if evidence.wrong.kind != "raised" or "NoneType" not in evidence.wrong.sentence:
        return ""
    for name, call in evidence.calls_of("gather", "reduce"):
        return f"{name} in line {call.lineno} returns its result on the root only; on the other ranks it is None."
    return "A variable is None on this rank: data of another rank arrives only by a call that all ranks concerned make."


def printed_instead(evidence: MistakeEvidence) -> str:
    """The function prints its result, or forgets to return it on some ranks."""
    if evidence.wrong.kind != "result" or not re.search(r"returns None\b", evidence.wrong.sentence):
        return ""
    if evidence.wrong.printed.strip():
        return "The function prints, but the check needs what it returns: use return."
    where = "look which return it reaches, or whether the result is stored at all."
    return f"The function ends without a value on this rank: {where}"


def ignored_result(evidence: MistakeEvidence) -> str:
    """`comm.recv(source=0)` as a statement."""
    for node in evidence.nodes:
        call = node.value if isinstance(node, ast.Expr) else None
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr in RETURNING:
            name = call.func.attr
            form = f"the result is its return value, as in data = comm.{name}(...)."
            return f"Line {call.lineno} ignores what {name} returns: {form}"
    return ""


def sends_first(evidence: MistakeEvidence) -> str:
    """All ranks of a deadlock are in a send."""
    if evidence.wrong.kind == "deadlock" and _blocked(evidence) <= {"send", "ssend", "sendrecv"} and _blocked(evidence):
        return "All of these ranks send, and none of them receives: a send may wait until its message is received."
    return ""


def branch_of_a_collective(evidence: MistakeEvidence) -> str:
    """Some ranks are in a collective call, and others are not."""
    if evidence.wrong.kind in ("deadlock", "collective-mismatch") and _blocked(evidence) & COLLECTIVE:
        return "A collective call needs all ranks of the communicator: look for a rank that does not reach this call."
    return ""


def receives_first(evidence: MistakeEvidence) -> str:
    """All ranks of a deadlock are in a receive."""
    if (
        evidence.wrong.kind == "deadlock"
        and _blocked(evidence)
        and _blocked(evidence) <= {"recv", "probe", "wait", "waitall"}
    ):
        compare = "compare source, dest and tag, and count the messages."
        return f"All of these ranks wait for a message that no rank sends to them: {compare}"
    return ""


def lost(evidence: MistakeEvidence) -> str:
    """A message that is not received."""
    if evidence.wrong.kind == "message-lost":
        return "A send without a receive: for each message, one rank has to call a receive, with its source and its tag."
    return ""


def order_of_arrival(evidence: MistakeEvidence) -> str:
    """The result depends on the order of messages."""
    if evidence.wrong.kind == "schedule" or "in one of the schedules" in evidence.wrong.sentence:
        source = "take the source from the status, or receive from each rank by its number."
        return f"Messages of different ranks arrive in any order: {source}"
    return ""


def _blocked(evidence: MistakeEvidence) -> set[str]:
    """Return the names of the calls that ranks are blocked in, in small letters."""
    return {name.lower() for name in re.findall(r"\bin (\w+) at ", evidence.wrong.sentence)}


IN_FAILURE = (
    misspelled, no_import, only_on_some_ranks, division, partner_outside, different_roots, list_as_buffer, ignored_result,
    none_on_other_ranks, printed_instead, order_of_arrival, sends_first, branch_of_a_collective, receives_first, lost,
)  # fmt: skip
