"""Algorithms for calls on Python objects, such as `comm.allreduce(x)` and `comm.gather(x)`.

A reduction of objects runs an algorithm on a vector of one element, which is sent as a pickle; the receiver learns its
size from the message. An object cannot be cut into segments, and an op on objects may be noncommutative (+ concatenates
strings). So the algorithm must send whole messages and combine in rank order; other algorithms are rejected. A part that
is a broadcast may be any: it broadcasts the bytes of a pickle, after their number.

Gather, scatter, allgather and alltoall exchange the sizes of the pickles by that operation, and then the pickles, which are
blocks of different sizes, by gatherv and so on. A request {"allgather": "ring"} applies to both, and is rejected if
allgatherv has no ring. Specify allgatherv as well to choose the algorithm for pickled objects.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import chain
from typing import Any, Final

from collectives import CATALOGUE, Algorithm, find
from fakempi.tuning.rule import Facts, Rule

AT_ROOT: Final = {"gatherv": "linear", "scatterv": "linear"}
"""Within a group only the root knows the sizes of the pickles; only these algorithms need no more."""

LONG: Final = 1 << 24
"""Bytes of the message in a schedule: an algorithm that cuts long messages cuts this one."""

_BY_MPI4PY: Final = {
    "reduce": "binomial",
    "allreduce": "reduce_bcast",
    "scan": "recursive_doubling",
    "exscan": "recursive_doubling",
}


def by_mpi4py(operation: str) -> Rule:
    """Return the rule for mpi4py's reduction of objects (src/mpi4py/MPI.src/msgpickle.pxi), which uses no MPI collective."""
    return Rule(_BY_MPI4PY[operation], objects=True)


def unsuited(algorithm: Algorithm, parameters: Mapping[str, Any], facts: Facts) -> str | None:
    """Return the reason why an algorithm does not support objects, or None."""
    if not facts.combines_objects:
        return None
    if _cuts(algorithm, parameters, facts):
        return "an object cannot be cut into pieces"
    in_order, in_any = (
        algorithm.why_unsupported(facts._replace(commutative=commutative).case(parameters=parameters))
        for commutative in (False, True)
    )
    return "objects must be combined in rank order, which it does not do" if in_order and not in_any else None


def _cuts(algorithm: Algorithm, parameters: Mapping[str, Any], facts: Facts) -> bool:
    """Return whether the schedule has segments of a long message; False for an algorithm without a schedule."""
    parts = {name: parameters.get(name, default) for name, default in algorithm.parameters.items()}
    whole = find("bcast", "binomial")
    bcasts = {name: whole for name, part in parts.items() if isinstance(part, Algorithm) and part.operation == "bcast"}
    for p in (4, facts.p):  # 4 ranks are enough, unless the algorithm does not support them
        example = facts._replace(p=p, q=3 if facts.q else 0, nbytes=LONG, nbytes_b=LONG, commutative=True)
        case = example.case(parameters={**parameters, **bcasts})
        if algorithm.why_unsupported(case) is None:
            transfers = chain.from_iterable(algorithm.schedule_for(case) or ())
            return any(transfer.nbytes not in (0, LONG) for transfer in transfers)
    return False


def for_pickles(kind: str, operation: str) -> list[str]:
    """Return the names of the algorithms that can exchange pickles."""
    names = [each.name for each in CATALOGUE if (each.kind, each.operation) == (kind, operation)]
    return [name for name in names if kind != "intra" or name == AT_ROOT.get(operation, name)]
