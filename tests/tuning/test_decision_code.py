"""The tables of Open MPI and MPICH choose what the libraries' decision code chooses."""

from __future__ import annotations

from functools import cache
from itertools import product

import pytest

from fakempi.apps.tune.mpich_defaults import DEFAULTS
from fakempi.apps.tune.mpich_files import written
from fakempi.tuning import TABLES, Facts
from fakempi.tuning.mpich import IN_CATALOGUE as MPICH_NAMES
from fakempi.tuning.openmpi import IN_CATALOGUE
from fakempi.tuning.rule import REDUCING, TOTALS, NodesOfRanks
from tests.helpers.loops import for_each
from tests.tune.parsers import Call, mpich
from tests.tuning.openmpi_decisions import COMMUTATIVE, NAMES, NONCOMMUTATIVE, decision, rows

RANKS = [2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 63, 64, 100, 128, 255, 256, 511, 600, 1024, 2047, 3000, 4095, 5000]
SIZES = [0, 1, 8, 9, 100, 256, 257, 2048, 2049, 12288, 12289, 32768, 32769, 81919, 81920, 524287, 524288, 524289, 1 << 22]


def limits(operation: str) -> list[int]:
    """Sizes at the limits of Open MPI's code and below them."""
    texts = (facts[operation] for facts in (COMMUTATIVE, NONCOMMUTATIVE) if operation in facts)
    bounds = {below for text in texts for row in rows(text).values() for below in row if below is not None}
    return sorted({0, 1 << 23, *bounds, *(bound - 1 for bound in bounds)})


@pytest.mark.sample
@pytest.mark.slow
@for_each("operation", sorted(COMMUTATIVE))
def test_the_table_of_open_mpi_chooses_what_its_code_chooses(operation: str) -> None:
    """The rules for Open MPI's name, at every limit of ranks and bytes."""
    known = IN_CATALOGUE[operation]
    for p, nbytes, commutative in product(RANKS, limits(operation), (True, False)):
        if not commutative and operation not in REDUCING:
            continue
        name = decision(operation, p, nbytes, commutative=commutative)
        total = nbytes * p if operation == "allgatherv" else nbytes
        facts = Facts(operation, p, total, 10**9, commutative)
        rules = known.get(name, ())
        expected = next((rule.name for rule in rules if rule.holds(facts)), name)
        assert TABLES["openmpi"].choose(facts).algorithm.name == expected, (p, nbytes, commutative, name)


@cache
def pairs(p: int) -> NodesOfRanks:
    """Two ranks on every node."""
    return NodesOfRanks([rank // 2 for rank in range(p)])


SPELLINGS = {
    "tree": "binomial_tree", "bruck": "dissemination", "default": "gather_bcast", "pipeline": "chain", "two_proc": "",
    "binary_tree": "binary", "split_binary_tree": "split_binary", "neighbor": "neighbor_exchange", "linear_nb": "linear",
    "modified_bruck": "bruck", "pairwise": "spread", "nonoverlapping": "", "segmented_ring": "ring",
    "scatter_allgather": "scatter_recursive_doubling_allgather", "linear_sync": "linear", "binomial": "binomial_doubling",
}  # fmt: skip
"""Open MPI's names for algorithms that have another name in the catalogue; "": depends on the operation."""


@for_each("operation", sorted(COMMUTATIVE))
def test_no_other_algorithm_stands_for_open_mpis(operation: str) -> None:
    """Every name is in the catalogue under the same or a listed spelling."""
    composed = {"two_proc", "nonoverlapping", "linear"}  # one swap; parts that are chosen on their own; reduce and bcast
    for name in NAMES[operation].split()[1:]:
        rules = IN_CATALOGUE[operation].get(name, ())
        names = {rule.name for rule in rules} or {name}
        if name not in composed and not names & {name, SPELLINGS.get(name, name)}:
            raise AssertionError(f"{operation}: {name} is {names}")


@pytest.mark.sample
@pytest.mark.slow
@for_each("operation", sorted(operation for kind, operation in TABLES["mpich"].rules if kind == "intra"))
def test_the_table_of_mpich_chooses_what_its_file_chooses(operation: str) -> None:
    """For one rank per node; the file is compared with the library in tests/real_mpi."""
    tree = written(DEFAULTS[operation])
    totals = operation in TOTALS or operation in ("allgather", "reduce_scatter_block")
    ops = [*product((True, False), (1, 10**9))] if operation in REDUCING else [(True, 10**9)]
    sizes = [0] if operation == "barrier" else SIZES
    for p, nbytes, (commutative, count) in product([p for p in RANKS if p <= 1024], sizes, ops):
        if p == 8 and operation == "alltoall":
            continue  # `comm_size<8` below another condition includes 8 in csel.c, which the table states
        block = operation not in TOTALS
        size = nbytes * p if totals and block else nbytes
        call = Call(operation, p, size, commutative, elements=count)
        name = mpich(tree, call).partition("_intra_")[2] or "linear"
        facts = Facts(operation, p, nbytes, count, commutative)
        chosen = TABLES["mpich"].choose(facts).algorithm.name
        expected = MPICH_NAMES.get((operation, name), name)
        if name == "smp":  # it is for several ranks per node; the table has the algorithm for flat groups
            assert nbytes == 0 or operation in ("barrier", "scan")
            assert operation not in ("reduce", "allreduce") or commutative
            placed = TABLES["mpich"].choose(facts._replace(nodes=pairs(p))) if 2 < p <= 64 else None
            assert placed is None or placed.algorithm.name == expected, (call, name)
        else:
            assert chosen in (expected if isinstance(expected, tuple) else (expected,)), (call, name)
