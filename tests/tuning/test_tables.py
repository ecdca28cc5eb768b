"""The three tables are complete, give the same choice on all ranks, and agree with their sources."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product

import pytest

from collectives import CATALOGUE
from fakempi.tuning import TABLES, Facts, Rule, Table, openmpi
from fakempi.tuning.rule import BETWEEN_GROUPS, TESTS, TOTALS, UNSHARED, NodesOfRanks, Sizes
from tests.helpers.loops import for_each

OPERATIONS = sorted({each.operation for each in CATALOGUE if each.kind == "intra"})
BETWEEN = sorted({each.operation for each in CATALOGUE if each.kind == "inter"})
SIZES_OF_P = [1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 15, 16, 17, 31, 32, 33, 64, 100, 128, 256, 513, 1030, 2100, 4100]
BYTES = [0, 1, 7, 8, 64, 500, 2048, 12288, 20000, 65536, 524288, 1 << 22]
FLAGS = [(True, True, False), (False, False, False), (True, False, True)]

every_table = pytest.mark.parametrize("table", TABLES.values(), ids=TABLES)
every_operation = for_each("operation", OPERATIONS)


def name(table: str, operation: str, p: int, nbytes: int = 0, **more: bool | int) -> str:
    """Return the name of a table's choice; elements are bytes by default."""
    facts = Facts(operation, p, nbytes, **{"count": nbytes, **more})  # type: ignore[arg-type]
    return TABLES[table].choose(facts).algorithm.name


@every_table
def test_a_table_has_rules_for_every_operation_of_the_catalogue(table: Table) -> None:
    """It has no rules for other operations."""
    assert sorted(operation for kind, operation in table.rules if kind == "intra") == OPERATIONS


@every_table
def test_a_table_has_rules_for_every_operation_between_groups(table: Table) -> None:
    """One rule for operations in which a group does not know the other's sizes, so that both groups choose the same."""
    assert sorted(operation for kind, operation in table.rules if kind == "inter") == BETWEEN
    assert sorted(operation for _, operation in BETWEEN_GROUPS) == BETWEEN
    assert all(len(table.rules["inter", operation]) == 1 for operation in (*UNSHARED, "allgatherv"))


@pytest.mark.quick(1)
@every_table
@for_each("operation", BETWEEN)
def test_choices_between_groups_fit(table: Table, operation: str) -> None:
    """For equal and different group sizes; `choose` would raise otherwise."""
    for p, q, m in product([1, 2, 3, 8, 50], [1, 2, 3, 14, 64], [0, 8, 1 << 20]):
        sums = operation in TOTALS or not operation.startswith("reduce_scatter")
        nbytes, nbytes_b = (m, m) if sums else (m * q, m * p)
        facts = Facts(operation, p, nbytes, 0, commutative=False, kind="inter", q=q, nbytes_b=nbytes_b)
        assert table.choose(facts).algorithm.kind == "inter"


def test_allgathers_between_groups() -> None:
    """The choices of the default table, of MPICH and of Open MPI."""
    taken = {
        name: [table.rules["inter", operation][-1].name for operation in ("allgather", "allgatherv", "bcast")]
        for name, table in TABLES.items()
    }
    assert taken == {
        "plain": ["even_cut", "full_duplex", "joined"],
        "mpich": ["root_gathering_mpich", "remote_gather_local_bcast", "wmpi"],
        "openmpi": ["root_gathering_best", "root_gathering_best", "wmpi"],
    }


def test_mpich_between_groups() -> None:
    """As in the branches `comm_type=inter` of MPICH's file; the limit is for the sum of all blocks."""
    taken = {operation: TABLES["mpich"].rules["inter", operation][-1].name for operation in BETWEEN}
    assert taken == {
        "barrier": "bcast", "bcast": "wmpi", "gather": "wmpi", "gatherv": "wmpi", "scatter": "wmpi", "scatterv": "wmpi",
        "allgather": "root_gathering_mpich", "allgatherv": "remote_gather_local_bcast",
        "alltoall": "spread", "alltoallv": "spread", "alltoallw": "spread",
        "reduce": "wmpi", "allreduce": "reduce_exchange_bcast",
        "reduce_scatter": "reduce_then_scatter", "reduce_scatter_block": "reduce_then_scatter",
    }  # fmt: skip
    for operation, short in (("gather", "local_gather_remote_send"), ("scatter", "remote_send_local_scatter")):
        for p, q, m, expected in ((100, 2, 1023, short), (1, 2, 1024, "wmpi"), (3, 64, 31, short), (3, 64, 32, "wmpi")):
            facts = Facts(operation, p, m, kind="inter", q=q, nbytes_b=m)
            assert TABLES["mpich"].choose(facts).algorithm.name == expected


def test_openmpi_between_groups() -> None:
    """As in the components inter and basic."""
    taken = {operation: TABLES["openmpi"].rules["inter", operation][-1].name for operation in BETWEEN}
    assert taken == {
        "barrier": "allreduce", "bcast": "wmpi", "gather": "local_gather_remote_send", "gatherv": "local_gather_remote_send",
        "scatter": "remote_send_local_scatter", "scatterv": "remote_send_local_scatter", "allgather": "root_gathering_best",
        "allgatherv": "root_gathering_best", "alltoall": "linear", "alltoallv": "linear", "alltoallw": "linear",
        "reduce": "wmpi", "allreduce": "reduce_exchange_bcast", "reduce_scatter": "linear",
        "reduce_scatter_block": "linear",
    }  # fmt: skip


@for_each(("table", "operation", "expected"), [
        ("mpich", "allreduce", {"remaining": "odd"}),
        ("openmpi", "allreduce", {"remaining": "odd"}),
        ("mpich", "reduce_scatter", {"remaining": "odd"}),
        ("openmpi", "reduce_scatter", {"remaining": "odd"}),
        ("mpich", "reduce_scatter_block", {"remaining": "odd"}),
        ("openmpi", "reduce_scatter_block", {"remaining": "odd"}),
    ])
def test_the_odd_rank_of_a_pair_remains(table: str, operation: str, expected: dict[str, str]) -> None:
    """In allreduce_intra_recursive_doubling.c, reduce_scatter_intra_recursive_halving.c and their counterparts."""
    assert TABLES[table].choose(Facts(operation, 6, 100, 12)).parameters == expected


def test_long_allreduces_of_six_ranks_fold_differently() -> None:
    """MPICH sends whole operands to odd ranks; Open MPI combines halves on both ranks, and even ranks remain."""
    choices = [TABLES[table].choose(Facts("allreduce", 6, 1 << 20, 1 << 17)) for table in ("mpich", "openmpi")]
    assert [choice.algorithm.name for choice in choices] == ["rabenseifner", "rabenseifner"]
    assert [choice.parameters for choice in choices] == [{"remaining": "odd"}, {"halves": True}]


@pytest.mark.quick(1)
@every_table
@every_operation
def test_choices_fit(table: Table, operation: str) -> None:
    """For every p, size and op; `choose` would raise otherwise."""
    for p, nbytes, (commutative, predefined, in_place) in product(SIZES_OF_P, BYTES, FLAGS):
        facts = Facts(operation, p, nbytes, nbytes // 4, commutative, predefined, in_place=in_place)
        assert table.choose(facts).algorithm.operation == operation


@every_table
@every_operation
def test_the_algorithm_of_the_last_rule_fits_every_case(table: Table, operation: str) -> None:
    """Every call has an algorithm."""
    rule = table.rules["intra", operation][-1]
    assert rule.conditions == {}
    last = Table("last", {("intra", operation): (Rule(rule.name, rule.parameters),)})
    for p, commutative in product(SIZES_OF_P, (True, False)):
        last.choose(Facts(operation, p, 100, 25, commutative))


@every_table
@for_each("operation", ["gatherv", "scatterv", "allgatherv", "reduce_scatter"])
def test_choices_fit_blocks_of_different_sizes(table: Table, operation: str) -> None:
    """The choice depends on the sum of the counts, the case has all counts."""
    for p in range(1, 10):
        counts = tuple(range(p))
        facts = Facts(operation, p, 8 * sum(counts), sum(counts))
        choice = table.choose(facts)
        case = facts.case(counts=counts, itemsize=8, root=p - 1, parameters=choice.parameters)
        assert choice.algorithm.why_unsupported(case) is None


@every_table
@for_each("operation", sorted(UNSHARED))
def test_rules_do_not_use_facts_that_some_ranks_do_not_know(table: Table, operation: str) -> None:
    """Only the root has the counts of a gatherv: with rules on bytes, ranks would choose different algorithms."""
    rules = [rule for rule in table.rules["intra", operation] if not rule.sizes_known]
    looked_at = {condition for rule in rules for condition in rule.conditions}
    assert looked_at <= {"p_below", "p_at_least", "power_of_two", "even", "in_place"}


@every_table
def test_only_reductions_use_the_count(table: Table) -> None:
    """In other operations ranks may pass different counts of different types, with equal bytes."""
    counting = {key[1] for key, rules in table.rules.items() for rule in rules if rule.count_at_least is not None}
    assert counting <= {"reduce", "allreduce", "reduce_scatter", "reduce_scatter_block", "scan", "exscan"}


def test_every_condition_has_a_field_in_a_rule() -> None:
    """Every other field is a condition."""
    assert set(Rule.__dataclass_fields__) - {"name", "parameters"} == set(TESTS)


@for_each(("operation", "p", "nbytes", "expected"), [
        ("bcast", 7, 1 << 20, "binomial"),
        ("bcast", 8, 12288, "binomial"),
        ("bcast", 8, 12289, "scatter_recursive_doubling_allgather"),
        ("bcast", 8, 524289, "scatter_ring_allgather"),
        ("bcast", 9, 12289, "scatter_ring_allgather"),
        ("allgather", 8, 65535, "recursive_doubling"),
        ("allgather", 8, 65536, "ring"),
        ("allgather", 10, 8191, "bruck"),
        ("allgather", 10, 8192, "ring"),
        ("allgatherv", 8, 524287, "recursive_doubling"),
        ("allgatherv", 10, 81919, "bruck"),
        ("allgatherv", 10, 81920, "blocked_ring"),
        ("alltoall", 7, 256, "scattered"),
        ("alltoall", 8, 256, "bruck"),
        ("alltoall", 8, 257, "scattered"),
        ("alltoall", 8, 32769, "pairwise"),
        ("alltoall", 9, 32769, "spread"),
        ("reduce", 8, 2048, "binomial"),
        ("reduce", 8, 2049, "rabenseifner"),
        ("allreduce", 8, 8, "recursive_doubling"),
        ("allreduce", 8, 9, "rabenseifner"),
        ("reduce_scatter", 8, 524287, "recursive_halving"),
        ("reduce_scatter", 8, 524288, "pairwise"),
        ("reduce_scatter_block", 8, 65536, "pairwise"),
    ])
def test_the_limits_of_mpich(operation: str, p: int, nbytes: int, expected: str) -> None:
    """One byte or rank below the limit, and at the limit."""
    assert name("mpich", operation, p, nbytes) == expected


def test_mpich_has_three_algorithms_for_reduce_scatters_by_noncommutative_ops() -> None:
    """Powers of two and equal blocks allow the one with the fewest bytes."""
    assert name("mpich", "reduce_scatter", 8, 800, commutative=False) == "noncommutative"
    assert name("mpich", "reduce_scatter_block", 8, 100, commutative=False) == "noncommutative"
    assert name("mpich", "reduce_scatter", 9, 900, commutative=False) == "recursive_doubling"
    facts = Facts("reduce_scatter", 4, 10, 10, commutative=False, sizes=Sizes.of([1, 2, 3, 4]))
    assert TABLES["mpich"].choose(facts).algorithm.name == "recursive_doubling"


@for_each("operation", ["bcast", "reduce", "allreduce"])
def test_mpich_uses_two_levels_on_nodes_for_messages_without_data(operation: str) -> None:
    """For one rank per node, or one node, there is no placement."""
    nodes = NodesOfRanks.of([0, 0, 1, 1, 2])
    assert TABLES["mpich"].choose(Facts(operation, 5, nodes=nodes)).algorithm.name == "two_level"
    assert TABLES["mpich"].choose(Facts(operation, 5)).algorithm.name != "two_level"
    assert TABLES["mpich"].choose(Facts(operation, 5, 8, 1, nodes=nodes)).algorithm.name != "two_level"


def test_mpich_uses_two_levels_on_nodes_for_barriers_and_scans() -> None:
    """Scans need nodes with consecutive ranks; scans of objects are those of mpi4py."""
    consecutive, mixed = NodesOfRanks.of([0, 0, 1, 1, 2]), NodesOfRanks.of([0, 1, 0, 1, 2])
    choose = TABLES["mpich"].choose
    assert [choose(Facts("barrier", 5, nodes=nodes)).algorithm.name for nodes in (consecutive, mixed)] == ["smp", "smp"]
    assert choose(Facts("scan", 5, 8, 1, nodes=consecutive)).algorithm.name == "two_level"
    assert choose(Facts("scan", 5, 8, 1, nodes=consecutive)).parameters["announce"] is True
    assert choose(Facts("scan", 5, 8, 1, nodes=mixed)).algorithm.name == "recursive_doubling"
    assert choose(Facts("scan", 5, 0, 1, nodes=consecutive, objects=True)).algorithm.name == "recursive_doubling"


def test_mpich_uses_rabenseifner_for_predefined_ops_and_enough_elements() -> None:
    """At least 2^floor(log2 p) elements."""
    assert name("mpich", "allreduce", 15, 4096, count=8) == "rabenseifner"
    assert name("mpich", "allreduce", 15, 4096, count=7) == "recursive_doubling"
    assert name("mpich", "allreduce", 15, 4096, predefined_op=False) == "recursive_doubling"
    assert name("mpich", "reduce", 15, 4096, predefined_op=False) == "binomial"


@for_each(("operation", "p", "nbytes", "expected"), [
        ("barrier", 7, 0, "linear"),
        ("barrier", 64, 0, "dissemination"),
        ("barrier", 300, 0, "binomial_tree"),
        ("bcast", 5, 1 << 20, "chain"),
        ("bcast", 20, 5000, "binomial_doubling"),
        ("bcast", 16, 1 << 20, "scatter_recursive_doubling_allgather"),
        ("bcast", 17, 1 << 20, "scatter_recursive_doubling_allgather"),
        ("bcast", 600, 20000, "split_binary"),
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
        ("allgatherv", 6, 6 * 1024, "neighbor_exchange"),
        ("allgatherv", 7, 7 * 1024, "ring"),
        ("alltoallv", 3, 0, "spread"),
        ("alltoallv", 4, 0, "linear"),
        ("reduce", 5, 4096, "chain"),
        ("reduce", 100, 4096, "binomial"),
        ("allreduce", 10, 8191, "recursive_doubling"),
        ("allreduce", 10, 8192, "rabenseifner"),
        ("allreduce", 3, 5000, "ring"),
        ("allreduce", 400, 100, "reduce_bcast"),
        ("reduce_scatter", 10, 262143, "recursive_halving"),
        ("reduce_scatter", 10, 262144, "ring"),
        ("reduce_scatter", 60, 4096, "butterfly"),
        ("reduce_scatter_block", 10, 524288, "reduce_scatter"),
        ("reduce_scatter_block", 6, 16, "recursive_doubling"),
        ("reduce_scatter_block", 6, 64, "butterfly"),
        ("reduce_scatter_block", 4, 64, "noncommutative"),
        ("scan", 100, 8, "linear"),
    ])
def test_cells_of_the_grids_of_openmpi(operation: str, p: int, nbytes: int, expected: str) -> None:
    """A few cells of each grid."""
    assert name("openmpi", operation, p, nbytes) == expected


def test_openmpi_uses_other_algorithms_for_few_elements() -> None:
    """These are the fallbacks inside Open MPI's algorithms."""
    assert name("openmpi", "allreduce", 3, 5000, count=2) == "recursive_doubling"
    assert name("openmpi", "allreduce", 10, 8192, count=7) == "reduce_bcast"


@for_each("operation", ["reduce", "allreduce", "reduce_scatter", "reduce_scatter_block", "scan", "exscan"])
@every_table
def test_non_commutative_ops_are_combined_in_rank_order(table: Table, operation: str) -> None:
    """Every choice for them claims in_order."""
    for p, nbytes in product(SIZES_OF_P, BYTES[::4]):
        assert table.choose(Facts(operation, p, nbytes, nbytes, commutative=False)).algorithm.in_order


@for_each("operation", ["alltoall", "alltoallv", "alltoallw"])
@every_table
def test_one_spare_block_is_enough_in_place(table: Table, operation: str) -> None:
    """Pairs, in MPICH in ascending order; in Open MPI ranks at alternating distances."""
    choice = TABLES[table.name].choose(Facts(operation, 10, 64, in_place=True))
    expected = {
        "plain": ("pairwise", {}),
        "mpich": ("pairwise", {"order": "ascending"}),
        "openmpi": ("spread", {"distances": "alternating"}),
    }
    assert (choice.algorithm.name, choice.parameters) == expected[table.name]


GRIDS = {key: value for key, value in vars(openmpi).items() if key.isupper() and isinstance(value, Mapping)}


@for_each("key", sorted(GRIDS.keys() - {"IN_CATALOGUE", "ODD", "WHOLE"}))
def test_the_limits_of_grids_increase(key: str) -> None:
    """A row or cell after one with a higher limit would be unreachable; the last one has no limit."""
    for row in [GRIDS[key], *(cells for cells in GRIDS[key].values() if not isinstance(cells, str))]:
        *limits, last = row
        assert last is None
        assert limits == sorted(limits)
