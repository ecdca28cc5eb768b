"""The tables that come with the house: complete, the same for all ranks, and true to their sources."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product

import pytest

from collectives import CATALOGUE
from fakempi.tuning import TABLES, Facts, Rule, Table, openmpi
from fakempi.tuning.rule import BETWEEN_GROUPS, TESTS, TOTALS, UNSHARED

OPERATIONS = sorted({each.operation for each in CATALOGUE if each.kind == "intra"})
BETWEEN = sorted({each.operation for each in CATALOGUE if each.kind == "inter"})
SIZES_OF_P = [1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 15, 16, 17, 31, 32, 33, 64, 100, 128, 256, 513, 1030, 2100, 4100]
BYTES = [0, 1, 7, 8, 64, 500, 2048, 12288, 20000, 65536, 524288, 1 << 22]
FLAGS = [(True, True, False), (False, False, False), (True, False, True)]

every_table = pytest.mark.parametrize("table", TABLES.values(), ids=TABLES)
every_operation = pytest.mark.parametrize("operation", OPERATIONS)


def name(table: str, operation: str, p: int, nbytes: int = 0, **more: bool | int) -> str:
    """What a table takes; elements are bytes unless said otherwise."""
    facts = Facts(operation, p, nbytes, **{"count": nbytes, **more})  # type: ignore[arg-type]
    return TABLES[table].choose(facts).algorithm.name


@every_table
def test_a_table_has_rules_for_every_operation_of_the_catalogue(table: Table) -> None:
    """And for no other."""
    assert sorted(operation for kind, operation in table.rules if kind == "intra") == OPERATIONS


@every_table
def test_a_table_has_rules_for_every_operation_between_groups(table: Table) -> None:
    """And for no other; one rule each where a group does not know the other's sizes, so that both take the same."""
    assert sorted(operation for kind, operation in table.rules if kind == "inter") == BETWEEN
    assert sorted(operation for _, operation in BETWEEN_GROUPS) == BETWEEN
    assert all(len(table.rules["inter", operation]) == 1 for operation in (*UNSHARED, "allgatherv"))


@every_table
@pytest.mark.parametrize("operation", BETWEEN)
def test_what_a_table_takes_between_groups_fits(table: Table, operation: str) -> None:
    """For all sizes of groups, alike ones too, and blocks that are as much in all where they have to be."""
    for p, q, m in product([1, 2, 3, 8, 50], [1, 2, 3, 14, 64], [0, 8, 1 << 20]):
        sums = operation in TOTALS or not operation.startswith("reduce_scatter")
        nbytes, nbytes_b = (m, m) if sums else (m * q, m * p)
        facts = Facts(operation, p, nbytes, 0, commutative=False, kind="inter", q=q, nbytes_b=nbytes_b)
        assert table.choose(facts).algorithm.kind == "inter"


def test_allgathers_between_groups() -> None:
    """The best we have; MPICH's way; Open MPI's way."""
    taken = {
        name: [table.rules["inter", operation][-1].name for operation in ("allgather", "allgatherv", "bcast")]
        for name, table in TABLES.items()
    }
    assert taken == {
        "plain": ["even_cut", "full_duplex", "joined"],
        "mpich": ["root_gathering_mpich", "root_gathering_mpich", "wmpi"],
        "openmpi": ["root_gathering_best", "root_gathering_mpich", "wmpi"],
    }


@every_table
@every_operation
def test_what_a_table_takes_fits(table: Table, operation: str) -> None:
    """For every p, size and op: choose would raise."""
    for p, nbytes, (commutative, predefined, in_place) in product(SIZES_OF_P, BYTES, FLAGS):
        facts = Facts(operation, p, nbytes, nbytes // 4, commutative, predefined, in_place=in_place)
        assert table.choose(facts).algorithm.operation == operation


@every_table
@every_operation
def test_the_last_rule_serves_every_case(table: Table, operation: str) -> None:
    """So that nobody is left without an algorithm: not only does it hold, its algorithm fits."""
    rule = table.rules["intra", operation][-1]
    assert rule.conditions == {}
    last = Table("last", {("intra", operation): (Rule(rule.name, rule.parameters),)})
    for p, commutative in product(SIZES_OF_P, (True, False)):
        last.choose(Facts(operation, p, 100, 25, commutative))


@every_table
@pytest.mark.parametrize("operation", ["gatherv", "scatterv", "allgatherv", "reduce_scatter"])
def test_blocks_of_different_sizes_are_served_too(table: Table, operation: str) -> None:
    """The case with its counts, of which a choice knows but the sum."""
    for p in range(1, 10):
        counts = tuple(range(p))
        facts = Facts(operation, p, 8 * sum(counts), sum(counts))
        choice = table.choose(facts)
        case = facts.case(counts=counts, itemsize=8, root=p - 1, parameters=choice.parameters)
        assert choice.algorithm.fits(case) is None


@every_table
@pytest.mark.parametrize("operation", sorted(UNSHARED))
def test_rules_do_not_look_at_what_some_ranks_do_not_know(table: Table, operation: str) -> None:
    """The root alone has the counts of a gatherv: ranks that looked at bytes would run different algorithms."""
    rules = [rule for rule in table.rules["intra", operation] if not rule.sizes_known]  # holds only if they do know
    looked_at = {condition for rule in rules for condition in rule.conditions}
    assert looked_at <= {"p_below", "p_at_least", "power_of_two", "even", "in_place"}


@every_table
def test_only_reductions_look_at_the_count(table: Table) -> None:
    """Elsewhere one rank may say ten doubles and another one vector of ten: bytes agree, counts need not."""
    counting = {key[1] for key, rules in table.rules.items() for rule in rules if rule.count_at_least is not None}
    assert counting <= {"reduce", "allreduce", "reduce_scatter", "reduce_scatter_block", "scan", "exscan"}


def test_every_condition_has_a_field_in_a_rule() -> None:
    """And every field has a meaning."""
    assert set(Rule.__dataclass_fields__) - {"name", "parameters"} == set(TESTS)


@pytest.mark.parametrize(
    ("operation", "p", "nbytes", "expected"),
    [
        ("bcast", 7, 1 << 20, "binomial"),
        ("bcast", 8, 12288, "binomial"),
        ("bcast", 8, 12289, "scatter_recursive_doubling_allgather"),
        ("bcast", 8, 524289, "scatter_ring_allgather"),
        ("bcast", 9, 12289, "scatter_ring_allgather"),
        ("allgather", 8, 65535, "recursive_doubling"),
        ("allgather", 8, 65536, "ring"),
        ("allgather", 10, 8191, "bruck"),
        ("allgather", 10, 8192, "ring"),
        ("allgatherv", 10, 81919, "bruck"),
        ("allgatherv", 10, 81920, "blocked_ring"),
        ("alltoall", 7, 256, "linear"),
        ("alltoall", 8, 256, "bruck"),
        ("alltoall", 8, 257, "linear"),
        ("alltoall", 8, 32769, "pairwise"),
        ("alltoall", 9, 32769, "spread"),
        ("reduce", 8, 2048, "binomial"),
        ("reduce", 8, 2049, "rabenseifner"),
        ("allreduce", 8, 8, "recursive_doubling"),
        ("allreduce", 8, 9, "rabenseifner"),
        ("reduce_scatter", 8, 524287, "recursive_halving"),
        ("reduce_scatter", 8, 524288, "pairwise"),
        ("reduce_scatter_block", 8, 65536, "pairwise"),
    ],
)
def test_mpich_changes_where_mpich_does(operation: str, p: int, nbytes: int, expected: str) -> None:
    """One below the limit, and at it."""
    assert name("mpich", operation, p, nbytes) == expected


def test_mpich_cuts_a_vector_only_for_its_own_ops_and_enough_elements() -> None:
    """2^floor(log2 p) of them: each rank that stays gets one."""
    assert name("mpich", "allreduce", 15, 4096, count=8) == "rabenseifner"
    assert name("mpich", "allreduce", 15, 4096, count=7) == "recursive_doubling"
    assert name("mpich", "allreduce", 15, 4096, predefined_op=False) == "recursive_doubling"
    assert name("mpich", "reduce", 15, 4096, predefined_op=False) == "binomial"


@pytest.mark.parametrize(
    ("operation", "p", "nbytes", "expected"),
    [
        ("barrier", 7, 0, "linear"),
        ("barrier", 64, 0, "dissemination"),
        ("barrier", 300, 0, "binomial_tree"),
        ("bcast", 5, 1 << 20, "chain"),
        ("bcast", 16, 1 << 20, "scatter_recursive_doubling_allgather"),
        ("bcast", 17, 1 << 20, "scatter_ring_allgather"),
        ("bcast", 600, 20000, "two_tree"),
        ("gather", 300, 4096, "linear"),
        ("scatter", 100, 511, "binomial"),
        ("scatter", 100, 512, "linear"),
        ("allgather", 31, 1, "bruck"),
        ("allgather", 16, 1 << 20, "recursive_doubling"),
        ("allgather", 34, 1024, "neighbor_exchange"),
        ("allgather", 35, 1024, "ring"),
        ("allgatherv", 10, 10 * 1023, "gather_bcast"),
        ("allgatherv", 10, 10 * 1024, "bruck"),
        ("alltoall", 100, 1023, "bruck"),
        ("alltoall", 100, 1024, "linear"),
        ("alltoall", 100, 262144, "spread"),
        ("alltoallv", 3, 0, "pairwise"),
        ("alltoallv", 4, 0, "linear"),
        ("reduce", 5, 4096, "chain"),
        ("reduce", 100, 4096, "binomial"),
        ("allreduce", 10, 8191, "recursive_doubling"),
        ("allreduce", 10, 8192, "rabenseifner"),
        ("allreduce", 3, 5000, "ring"),
        ("allreduce", 400, 100, "reduce_bcast"),
        ("reduce_scatter", 10, 262143, "recursive_halving"),
        ("reduce_scatter", 10, 262144, "ring"),
        ("reduce_scatter_block", 10, 524288, "reduce_scatterv"),
        ("scan", 100, 8, "linear"),
    ],
)
def test_openmpi_changes_where_openmpi_does(operation: str, p: int, nbytes: int, expected: str) -> None:
    """A few cells of each grid."""
    assert name("openmpi", operation, p, nbytes) == expected


def test_openmpi_has_another_choice_where_elements_are_few() -> None:
    """As its algorithms do themselves, without saying so."""
    assert name("openmpi", "allreduce", 3, 5000, count=2) == "recursive_doubling"
    assert name("openmpi", "allreduce", 10, 8192, count=7) == "reduce_bcast"


@pytest.mark.parametrize(
    "operation", ["reduce", "allreduce", "reduce_scatter", "reduce_scatter_block", "scan", "exscan"]
)
@every_table
def test_ops_that_do_not_commute_are_combined_in_rank_order(table: Table, operation: str) -> None:
    """Whatever is taken for them promises it."""
    for p, nbytes in product(SIZES_OF_P, BYTES[::4]):
        assert table.choose(Facts(operation, p, nbytes, nbytes, commutative=False)).algorithm.in_order


@pytest.mark.parametrize("operation", ["alltoall", "alltoallv", "alltoallw"])
@every_table
def test_pairs_swap_in_place(table: Table, operation: str) -> None:
    """With one spare block, where others would copy all of them."""
    assert name(table.name, operation, 10, 64, in_place=True) == "pairwise"


GRIDS = {key: value for key, value in vars(openmpi).items() if key.isupper() and isinstance(value, Mapping)}


@pytest.mark.parametrize("key", sorted(GRIDS.keys() - {"OURS"}))
def test_grids_rise(key: str) -> None:
    """A row or cell below one with a higher limit would never be looked at; the last has none."""
    for row in [GRIDS[key], *(cells for cells in GRIDS[key].values() if not isinstance(cells, str))]:
        *limits, last = row
        assert last is None
        assert limits == sorted(limits)
