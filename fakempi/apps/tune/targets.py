"""The algorithms of Open MPI and MPICH that the catalogue has, and the units in which their rules state sizes.

Open MPI: release 5.0, ompi/mca/coll/tuned: numbers and names are the values of coll_tuned_<operation>_algorithm; sizes are
computed in coll_tuned_decision_dynamic.c. MPICH: release 5.0, src/mpi/coll: names of coll_algorithms.txt; sizes in csel.c.

Not tuned, with reasons:
    gather, scatter             the root in place does not state the size, so ranks could choose different algorithms
    allgatherv                  releases of Open MPI disagree on its size: the total, or the average per rank
    alltoallv, alltoallw        a rank does not know the sizes of the other ranks
    MPICH's barrier and scans   it has one algorithm for ranks on different nodes
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from collectives import Algorithm, find
from fakempi.tuning import TABLES, Table
from fakempi.tuning.rule import REDUCING

SEGMENTS: Final = (0, 8192, 32768, 131072)
"""Segment sizes in bytes to choose from; 0: one segment."""

WHOLE: Final = 1 << 62
"""`segment_bytes` of an algorithm that does not cut messages."""


class Pick(NamedTuple):
    """An algorithm of a library; number 0, without a name, is the library's own decision. `segment` is in bytes; 0: none."""

    name: str = ""
    number: int = 0
    segment: int = 0

    def __str__(self) -> str:
        if not self.name:
            return "default"
        return f"{self.name}, segments of {self.segment:,} bytes" if self.segment else self.name


DEFAULT: Final = Pick()


class Candidate(NamedTuple):
    """A library's algorithm, its counterpart in the catalogue, and whether its rule is right for noncommutative ops, too."""

    pick: Pick
    algorithm: Algorithm
    parameters: Mapping[str, Any]
    any_op: bool


class Target(NamedTuple):
    """A library: its algorithms by operation, its own decisions, and the operations whose rules state p times the block."""

    name: str
    candidates: Mapping[str, tuple[Candidate, ...]]
    table: Table
    totals: frozenset[str]

    def size(self, operation: str, p: int, nbytes: int) -> int:
        """The size in the unit of the library's rules, for blocks or a message of `nbytes` bytes."""
        return p * nbytes if operation in self.totals else nbytes


def _candidates(operation: str, rows: Mapping[str, tuple[int, str]], *, guarded: bool) -> tuple[Candidate, ...]:
    """The algorithms of an operation; `guarded`: the library's file has another branch for noncommutative ops."""
    candidates = []
    for name, (number, counterpart) in rows.items():
        algorithm = find(operation, counterpart)
        any_op = guarded or operation not in REDUCING or (operation, name) in _ANY_OP
        if "segment_bytes" in algorithm.parameters:
            cuts = [(size, {"segment_bytes": size or WHOLE}) for size in SEGMENTS]
            candidates += [Candidate(Pick(name, number, size), algorithm, values, any_op) for size, values in cuts]
        else:
            candidates.append(Candidate(Pick(name, number), algorithm, _PARAMETERS.get((operation, name), {}), any_op))
    return tuple(candidates)


_PARAMETERS: Final[Mapping[tuple[str, str], Mapping[str, Any]]] = {
    ("bcast", "knomial"): {"k": 4, "order": "ascending"},  # coll_tuned_bcast_algorithm_knomial_radix
    ("allreduce", "basic_linear"): {"reduce": find("reduce", "linear"), "bcast": find("bcast", "linear")},
    ("allreduce", "rabenseifner"): {"halves": True},
    ("alltoall", "linear"): {"order": "left"},
    # Both libraries, if p is not a power of two:
    ("allreduce", "recursive_doubling"): {"remaining": "odd"},
    ("reduce_scatter", "recursive_halving"): {"remaining": "odd"},
    ("reduce_scatter_block", "recursive_halving"): {"remaining": "odd"},
    # MPICH's names:
    ("allreduce", "reduce_scatter_allgather"): {"remaining": "odd"},
    ("reduce", "reduce_scatter_gather"): {"keep_root": False},
    ("reduce_scatter", "pairwise"): {"partners": "spread"},
    ("reduce_scatter_block", "pairwise"): {"partners": "spread"},
}
"""Parameters by operation and the library's name. A name that both libraries have stands for the same parameters."""

_ANY_OP: Final = {
    ("allreduce", "basic_linear"), ("allreduce", "recursive_doubling"), ("allreduce", "rabenseifner"),
    ("reduce", "linear"), ("reduce", "in-order_binary"), ("reduce", "rabenseifner"),
    ("exscan", "linear"), ("exscan", "recursive_doubling"), ("scan", "linear"), ("scan", "recursive_doubling"),
}  # fmt: skip
"""Reductions of Open MPI that are right for noncommutative ops; Rabenseifner's then use linear algorithms.

With 5.0.11, a test program gave wrong results with ring, pipeline, binary and binomial.
"""

_OPENMPI: Final[Mapping[str, Mapping[str, tuple[int, str]]]] = {
    "allgather": {
        "bruck": (2, "bruck"), "recursive_doubling": (3, "recursive_doubling"), "ring": (4, "ring"),
        "neighbor": (5, "neighbor_exchange"), "sparbit": (7, "sparbit"),
    },
    "allreduce": {
        "basic_linear": (1, "reduce_bcast"), "recursive_doubling": (3, "recursive_doubling"), "ring": (4, "ring"),
        "rabenseifner": (6, "rabenseifner"),
    },
    "alltoall": {"linear": (1, "linear"), "pairwise": (2, "spread"), "modified_bruck": (3, "bruck")},
    "barrier": {
        "linear": (1, "linear"), "double_ring": (2, "double_ring"), "recursive_doubling": (3, "recursive_doubling"),
        "bruck": (4, "dissemination"), "tree": (6, "binomial_tree"),
    },
    "bcast": {
        "basic_linear": (1, "linear"), "pipeline": (3, "chain"), "split_binary_tree": (4, "split_binary"),
        "binary_tree": (5, "binary"), "binomial": (6, "binomial_doubling"), "knomial": (7, "knomial"),
        "scatter_allgather": (8, "scatter_recursive_doubling_allgather"),
        "scatter_allgather_ring": (9, "scatter_ring_allgather"),
    },
    "exscan": {"linear": (1, "linear"), "recursive_doubling": (2, "recursive_doubling")},
    "reduce": {
        "linear": (1, "linear"), "pipeline": (3, "chain"), "binary": (4, "binary"), "binomial": (5, "binomial"),
        "in-order_binary": (6, "in_order_binary"), "rabenseifner": (7, "rabenseifner"),
    },
    "reduce_scatter": {"recursive_halving": (2, "recursive_halving"), "ring": (3, "ring")},
    "reduce_scatter_block": {"recursive_halving": (3, "recursive_halving")},
    "scan": {"linear": (1, "linear"), "recursive_doubling": (2, "recursive_doubling")},
}  # fmt: skip

_MPICH: Final[Mapping[str, Mapping[str, tuple[int, str]]]] = {
    "allgather": {"recursive_doubling": (1, "recursive_doubling"), "brucks": (1, "bruck"), "ring": (1, "ring")},
    "allreduce": {
        "recursive_doubling": (1, "recursive_doubling"), "reduce_scatter_allgather": (1, "rabenseifner"),
        "ring": (1, "ring"),
    },
    "alltoall": {"brucks": (1, "bruck"), "scattered": (1, "scattered"), "pairwise": (1, "spread")},
    "bcast": {
        "binomial": (1, "binomial"), "scatter_recursive_doubling_allgather": (1, "scatter_recursive_doubling_allgather"),
        "scatter_ring_allgather": (1, "scatter_ring_allgather"),
    },
    "reduce": {"binomial": (1, "binomial"), "reduce_scatter_gather": (1, "rabenseifner")},
    "reduce_scatter": {"recursive_halving": (1, "recursive_halving"), "pairwise": (1, "pairwise")},
    "reduce_scatter_block": {"recursive_halving": (1, "recursive_halving"), "pairwise": (1, "pairwise")},
}  # fmt: skip

_TOTALS: Final = frozenset({"allgather", "reduce_scatter", "reduce_scatter_block"})

OPENMPI: Final = Target(
    "openmpi",
    {operation: _candidates(operation, rows, guarded=False) for operation, rows in _OPENMPI.items()},
    TABLES["openmpi"],
    _TOTALS | {"alltoall"},
)
MPICH: Final = Target(
    "mpich",
    {operation: _candidates(operation, rows, guarded=True) for operation, rows in _MPICH.items()},
    TABLES["mpich"],
    _TOTALS,
)
TARGETS: Final = {"openmpi": OPENMPI, "openmpi-json": OPENMPI, "mpich": MPICH}
"""The library of each file format."""
