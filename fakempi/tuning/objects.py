"""Which algorithms serve calls on Python objects: `comm.allreduce(x)`, `comm.gather(x)` and the like.

A reduction of objects runs the algorithm that is asked for, on a vector of one element, which travels as a pickle whose
size is known where it arrives. An object cannot be cut, and what an operation does to objects is not known to commute (+
joins strings). So an algorithm serves that sends the message whole and keeps to rank order, and others are refused. Where a
part of it is a broadcast, that may be any: by then the pickle is so many bytes, which are told first.

Gather, scatter, allgather and alltoall tell the sizes of the pickles by that operation, and then move the pickles, which are
blocks of different sizes, by gatherv and so on. Who asks for {"allgather": "ring"} gets both by that name, and is refused if
allgatherv has no ring; who asks for allgatherv, too or alone, has said how the pickles go.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import chain
from typing import Any, Final

from collectives import CATALOGUE, Algorithm, find
from fakempi.tuning.rule import Facts, Rule

AT_ROOT: Final = {"gatherv": "linear", "scatterv": "linear"}
"""Within a group only the root knows the sizes of the pickles, which is enough for these alone."""

LONG: Final = 1 << 24
"""Bytes of a message on paper: an algorithm that cuts long messages will cut this one."""

_BY_MPI4PY: Final = {
    "reduce": "binomial",
    "allreduce": "reduce_bcast",
    "scan": "recursive_doubling",
    "exscan": "recursive_doubling",
}


def by_mpi4py(operation: str) -> Rule:
    """How mpi4py combines objects (src/mpi4py/MPI.src/msgpickle.pxi): by itself, whatever the MPI below it would do."""
    return Rule(_BY_MPI4PY[operation], objects=True)


def unsuited(algorithm: Algorithm, parameters: Mapping[str, Any], facts: Facts) -> str | None:
    """Why an algorithm does not serve objects, whatever else it fits."""
    if not facts.combines_objects:
        return None
    if _cuts(algorithm, parameters, facts):
        return "an object cannot be cut into pieces"
    in_order, in_any = (
        algorithm.fits(facts._replace(commutative=commutative).case(parameters=parameters)) for commutative in (False, True)
    )
    return "objects are combined in rank order, to which it does not keep" if in_order and not in_any else None


def _cuts(algorithm: Algorithm, parameters: Mapping[str, Any], facts: Facts) -> bool:
    """Whether it sends pieces of a long message, as its schedule has it; one without a schedule is taken at its word."""
    parts = {name: parameters.get(name, default) for name, default in algorithm.parameters.items()}
    whole = find("bcast", "binomial")
    bcasts = {name: whole for name, part in parts.items() if isinstance(part, Algorithm) and part.operation == "bcast"}
    for p in (4, facts.p):  # four ranks show it, unless the algorithm is for other numbers only
        example = facts._replace(p=p, q=3 if facts.q else 0, nbytes=LONG, nbytes_b=LONG, commutative=True)
        case = example.case(parameters={**parameters, **bcasts})
        if algorithm.fits(case) is None:
            transfers = chain.from_iterable(algorithm.plan(case) or ())
            return any(transfer.nbytes not in (0, LONG) for transfer in transfers)
    return False


def for_pickles(kind: str, operation: str) -> list[str]:
    """The algorithms that move pickles, by name."""
    names = [each.name for each in CATALOGUE if (each.kind, each.operation) == (kind, operation)]
    return [name for name in names if kind != "intra" or name == AT_ROOT.get(operation, name)]
