"""Independent readers of the three file formats, which answer as the libraries do."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, NamedTuple

Tree = Mapping[str, Any]


class Call(NamedTuple):
    """The facts of a call that a library knows; `size` is in the unit of the library's rules."""

    operation: str
    p: int
    size: int
    commutative: bool = True
    built_in: bool = True
    elements: int = 1 << 30
    in_place: bool = False


@lru_cache(maxsize=2)
def _words(text: str) -> tuple[str, ...]:
    """The words of a classic file without comments; cached, because tests make many calls with one file."""
    return tuple(word for line in text.splitlines() for word in line.partition("#")[0].split())


@lru_cache(maxsize=2)
def _content(text: str) -> Any:
    return json.loads(text)


def classic(text: str, numbers: Mapping[str, int], call: Call) -> tuple[int, int]:
    """The algorithm and segment size of Open MPI 5: the last communicator size and the last bytes that are not larger."""
    words = iter(_words(text))
    answer = (0, 0)
    for _ in range(int(next(words))):
        mine = int(next(words)) == numbers[call.operation]
        chosen: list[list[int]] = []
        for index in range(int(next(words))):
            p = int(next(words))
            rules = [[int(next(words)) for _ in range(4)] for _ in range(int(next(words)))]
            assert rules[0][0] == 0, "Open MPI rejects the file"
            if index == 0 or p <= call.p:
                chosen = rules
        if mine:
            answer = [(rule[1], rule[3]) for rule in chosen if rule[0] <= call.size][-1]
    assert next(words, None) is None
    return answer


def openmpi_json(text: str, call: Call) -> tuple[str, int]:
    """The algorithm and segment size of Open MPI 6: the first match."""
    content = _content(text)
    assert (content["rule_file_version"], content["module"]) == (3, "tuned")
    for entry in content["collectives"].get(call.operation, []):
        if entry.get("comm_size_min", 0) <= call.p <= entry.get("comm_size_max", 2**31 - 1):
            for rule in entry["rules"]:
                if rule.get("msg_size_min", 0) <= call.size <= rule.get("msg_size_max", 2**64 - 1):
                    return rule["alg"], rule.get("seg_size", 0)
            return "ignore", 0
    return "ignore", 0


def mpich(tree: Tree, call: Call) -> str:
    """The algorithm of MPICH below `comm_type=intra`, on one node: the first condition that holds, on every level."""
    for key, below in tree.items():
        if key.startswith("algorithm="):
            return key.removeprefix("algorithm=MPIR_")
        if _holds(key, call):
            return mpich(below, call)
    raise AssertionError(f"no leaf for {call}: MPICH ends with a failed assertion")


def _holds(key: str, call: Call) -> bool:
    power = call.p & (call.p - 1) == 0
    yes_or_no = {
        "is_commutative": call.commutative, "is_op_built_in": call.built_in, "is_sendbuf_inplace": call.in_place,
        "is_block_regular": True, "is_node_consecutive": True,
    }  # fmt: skip
    if key in ("comm_type=intra", "comm_type=inter"):
        return key == "comm_type=intra"
    if key.startswith("comm_hierarchy="):
        return key.endswith("=any")
    if key.endswith("=any"):
        return True
    if key == "comm_size=pow2":
        return power
    if key == "count<pow2":
        return call.elements < 1 << call.p.bit_length() - 1
    name, _, value = key.partition("=")
    if name in yes_or_no:
        return yes_or_no[name] == (value == "yes")
    for relation in ("<=", "<"):
        name, found, limit = key.partition(relation)
        if found:
            measured = {"comm_size": call.p, "avg_msg_size": call.size, "total_msg_size": call.size}[name]
            return measured <= int(limit) if relation == "<=" else measured < int(limit)
    raise AssertionError(f"MPICH does not know {key}")
