"""Facts, rules, tables and the values of `algorithms=`: the first rule that holds determines the choice."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import pytest

from collectives import find
from collectives.inter_patterns.groups import RootRole
from fakempi.errors import MPITypeError, MPIValueError
from fakempi.errors.classes import ERR_ARG
from fakempi.tuning import TABLES, Choice, Facts, Rule, Table, resolve
from fakempi.tuning.table import MAX_CACHED


def test_nbytes_is_the_block_or_the_total_of_an_operation() -> None:
    """`total` and `block` are equal for corresponding calls of allgather and allgatherv."""
    block, total = Facts("allgather", p=4, nbytes=10), Facts("allgatherv", p=4, nbytes=40)
    assert (block.total, block.block) == (total.total, total.block) == (40, 10)
    assert Facts("bcast", p=4, nbytes=10).total == Facts("bcast", p=4, nbytes=10).block == 10


def test_facts_become_a_case() -> None:
    """Other values are passed to Case; counts replace bytes."""
    case = Facts("reduce", p=3, nbytes=16, commutative=False).case(root=2, itemsize=8)
    assert (case.p, case.m, case.elements, case.root, case.commutative, case.in_place) == (3, 16, 2, 2, False, False)
    counted = Facts("allgatherv", p=3, nbytes=12, in_place=True).case(counts=(1, 0, 2), itemsize=4)
    assert (counted.m, counted.layout.size(0, 3), counted.in_place) == (0, 3, True)


def test_facts_of_two_groups_become_a_case_of_two() -> None:
    """The parameter `first` is set, and sums of blocks are not passed to a case without counts."""
    case = Facts("allgather", p=3, nbytes=16, kind="inter", q=2, nbytes_b=8).case(parameters={"bcast": "some"})
    assert (case.p, case.m, case.q, case.m_b, case.parameters) == (3, 16, 2, 8, {"first": True, "bcast": "some"})
    summed = Facts("reduce_scatter", p=3, nbytes=48, kind="inter", q=2, nbytes_b=48).case()
    assert (summed.p, summed.m, summed.q, summed.m_b) == (3, 0, 2, 0)


class ArgumentRecorder:
    """A function that records its arguments."""

    def __init__(self) -> None:
        self.given: list[Any] = []

    def __call__(self, *comms_and_buffers: Any, **options: Any) -> None:
        self.given = [*comms_and_buffers, options]


@pytest.mark.parametrize(("requested", "own", "passed"), [(None, True, True), (None, False, False), (False, True, False)])
def test_a_choice_passes_first_to_both_groups(requested: bool | None, own: bool, passed: bool) -> None:
    """The two groups get opposite values; a requested value applies to the first group."""
    run = ArgumentRecorder()
    algorithm = replace(find("allgather", "root_gathering_mpich", kind="inter"), run=run)
    choice = Choice(algorithm, {} if requested is None else {"first": requested})
    choice.on(("between", "within"), tag=3, first=own)("out", "into")
    assert run.given == ["between", "within", "out", "into", {"tag": 3, "first": passed}]


def test_a_choice_passes_its_options() -> None:
    """Within a group there is no `first`; between groups the root None becomes Part.ROOT."""
    run = ArgumentRecorder()
    within, between = (replace(find("bcast", *which), run=run) for which in (("chain", "intra"), ("wmpi", "inter")))
    Choice(within, {"segment_bytes": 5}).on(("comm",), tag=3, root=2)("data")
    assert run.given == ["comm", "data", {"tag": 3, "root": 2, "segment_bytes": 5}]
    for said, root in ((None, RootRole.ROOT), (0, 0)):
        Choice(between, {}).on(("between", "within"), tag=3, first=True, root=said)("data")
        assert run.given == ["between", "within", "data", {"tag": 3, "root": root}]


@pytest.mark.parametrize(
    ("conditions", "holds", "fails"),
    [
        ({"p_below": 8}, Facts("bcast", 7), Facts("bcast", 8)),
        ({"p_at_least": 8}, Facts("bcast", 8), Facts("bcast", 7)),
        ({"power_of_two": True}, Facts("bcast", 1), Facts("bcast", 12)),
        ({"power_of_two": False}, Facts("bcast", 12), Facts("bcast", 16)),
        ({"even": True}, Facts("bcast", 12), Facts("bcast", 13)),
        ({"nbytes_below": 9}, Facts("bcast", 2, 8), Facts("bcast", 2, 9)),
        ({"nbytes_at_most": 9}, Facts("bcast", 2, 9), Facts("bcast", 2, 10)),
        ({"total_below": 20}, Facts("gather", 2, 9), Facts("gather", 2, 10)),
        ({"block_below": 5}, Facts("gatherv", 2, 9), Facts("gatherv", 2, 10)),
        ({"count_at_least": 3}, Facts("bcast", 2, count=3), Facts("bcast", 2, count=2)),
        ({"count_at_least": "p"}, Facts("bcast", 6, count=6), Facts("bcast", 6, count=5)),
        ({"count_at_least": "power of two"}, Facts("bcast", 6, count=4), Facts("bcast", 6, count=3)),
        ({"commutative": False}, Facts("scan", 2, commutative=False), Facts("scan", 2)),
        ({"predefined_op": True}, Facts("scan", 2), Facts("scan", 2, predefined_op=False)),
        ({"in_place": True}, Facts("alltoall", 2, in_place=True), Facts("alltoall", 2)),
        ({"even": True, "p_below": 8}, Facts("bcast", 6), Facts("bcast", 10)),
    ],
)
def test_a_rule_holds_if_all_its_conditions_hold(conditions: dict[str, Any], holds: Facts, fails: Facts) -> None:
    """`conditions` has the conditions by name."""
    rule = Rule("ring", **conditions)
    assert rule.conditions == conditions
    assert (rule.holds(holds), rule.holds(fails)) == (True, False)


def test_a_rule_without_conditions_always_holds() -> None:
    """The last rule of every operation has no conditions."""
    assert Rule("ring").holds(Facts("allgather", 1))


def test_the_first_rule_that_holds_is_chosen_with_its_parameters() -> None:
    """Later rules are ignored."""
    rules = (Rule("chain", {"segment_bytes": 512}, p_below=4), Rule("linear", p_below=8), Rule("binomial"))
    table = Table("mine", {("intra", "bcast"): rules})
    taken = [table.choose(Facts("bcast", p)) for p in (3, 7, 8)]
    assert [choice.algorithm.name for choice in taken] == ["chain", "linear", "binomial"]
    assert [choice.parameters for choice in taken] == [{"segment_bytes": 512}, {}, {}]


def test_choices_are_cached_up_to_a_limit() -> None:
    """Equal facts get the same object; the cache is cleared when it is full."""
    table = Table("mine", {("intra", "bcast"): (Rule("linear", p_below=8), Rule("binomial"))})
    assert table.choose(Facts("bcast", 9, 8)) is table.choose(Facts("bcast", 9, 8))
    for nbytes in range(MAX_CACHED + 10):
        table.choose(Facts("bcast", 9, nbytes))
    assert len(table._made) <= MAX_CACHED


def test_resolve_accepts_none_names_and_tables() -> None:
    """None is the default table, "plain"."""
    assert resolve() is resolve(None) is resolve("plain") is TABLES["plain"]
    assert resolve("openmpi") is resolve(TABLES["openmpi"]) is TABLES["openmpi"]


def test_requested_algorithms_are_chosen_for_all_sizes() -> None:
    """The other operations use the base table."""
    table = resolve({"table": "mpich", "allgather": "ring", "bcast": ("chain", {"segment_bytes": 4096})})
    assert {table.choose(Facts("allgather", p, 8)).algorithm.name for p in (1, 2, 64)} == {"ring"}
    assert table.choose(Facts("bcast", 5, 8)).parameters == {"segment_bytes": 4096}
    assert table.choose(Facts("alltoall", 8, 8)).algorithm.name == "bruck"
    assert resolve({"allgather": "ring"}).choose(Facts("alltoall", 8, 1000)).algorithm.name == "pairwise"


def test_requests_can_be_added_to_a_table_with_requests() -> None:
    """The base can be any Table."""
    table = resolve({"table": resolve({"allgather": "ring"}), "barrier": "linear"})
    assert table.name == "plain with allgather ring with barrier linear"
    assert table.forced == {("intra", "allgather"), ("intra", "barrier")}


def test_parts_are_requested_by_name_or_as_algorithms() -> None:
    """A part is a parameter that is an algorithm."""
    linear = find("gather", "linear")
    by_name, itself = (resolve({"allgather": ("gather_bcast", {"gather": part})}) for part in ("linear", linear))
    facts = Facts("allgather", 6, 8)
    assert by_name.choose(facts).parameters["gather"] is itself.choose(facts).parameters["gather"] is linear


def test_an_algorithm_for_splits_can_be_requested() -> None:
    """By name or with parameters; the tables have none."""
    table = resolve({"split": ("cheng", {"M": 32}), "barrier": "linear"})
    choice = table.choose(Facts(operation="split", p=100, kind="split"))
    assert (choice.algorithm.name, choice.parameters) == ("cheng", {"M": 32})
    assert table.name == "plain with split cheng, barrier linear"
    assert (table.splits, resolve().splits, resolve("mpich").splits) == (True, False, False)
    sentence = r"^split: there is no algorithm 'bitnic'; there are .*allgather_group.*; did you mean bitonic\?$"
    with pytest.raises(MPIValueError, match=sentence):
        resolve({"split": "bitnic"})


def test_a_requested_algorithm_that_does_not_fit_raises() -> None:
    """The message has the reason and the algorithms that fit; no other algorithm is used instead."""
    table = resolve({"allgather": "recursive_doubling"})
    assert table.choose(Facts("allgather", 8, 8)).algorithm.name == "recursive_doubling"
    sentence = (
        "allgather: recursive_doubling was requested, but p = 6 is not a power of two; "
        "bine, bruck, bruck_ring, circulant, cluster_ring, gather_bcast, k_ring, locality_bruck, multi_lane, "
        "neighbor_exchange, pat, recursive_multiplying, ring, sparbit, swing and two_level fit."
    )
    with pytest.raises(MPIValueError, match=f"^{re.escape(sentence)}$") as raised:
        table.choose(Facts("allgather", 6, 8))
    assert raised.value.ierr == ERR_ARG


def test_the_ring_does_not_fit_a_non_commutative_op() -> None:
    """The algorithms in the message combine in rank order."""
    refused = r"^allreduce: ring was requested, but the op is not commutative, .*; dual_root_pipelined, .* and .* fit\.$"
    with pytest.raises(MPIValueError, match=refused):
        resolve({"allreduce": "ring"}).choose(Facts("allreduce", 6, 8, 1, commutative=False))


def test_an_invalid_parameter_raises() -> None:
    """The default is not used instead."""
    refused = r"^bcast: chain was requested, but segment_bytes = 0 is not positive; binary, bine, binomial, .* fit\.$"
    with pytest.raises(MPIValueError, match=refused):
        resolve({"bcast": ("chain", {"segment_bytes": 0})}).choose(Facts("bcast", 6, 8))


def test_a_rule_of_a_table_that_does_not_fit_raises() -> None:
    """The next rule is not tried, even if it fits."""
    rules = (Rule("neighbor_exchange", p_below=8), Rule("ring"))
    with pytest.raises(
        MPIValueError, match=r"^allgather: neighbor_exchange was chosen by table mine, but p = 5 is"
    ):
        Table("mine", {("intra", "allgather"): rules}).choose(Facts("allgather", 5, 8))


def test_the_last_rule_of_an_operation_must_have_no_conditions() -> None:
    """An operation without rules raises too."""
    with pytest.raises(MPIValueError, match=r"^table mine: the last rule of bcast must always hold$"):
        Table("mine", {("intra", "bcast"): (Rule("linear", p_below=8),)})
    with pytest.raises(MPIValueError, match=r"^table mine has no rules for inter:bcast$"):
        Table("mine", {("intra", "bcast"): (Rule("linear"),)}).choose(Facts("bcast", 2, kind="inter"))


@pytest.mark.parametrize(
    ("requested", "sentence"),
    [
        ("mpch", "algorithms: there is no table 'mpch'; there are plain, mpich and openmpi; did you mean mpich?"),
        ("xyz", "algorithms: there is no table 'xyz'; there are plain, mpich and openmpi."),
        (
            {"barrier": "linaer"},
            "; there are binomial_tree, dissemination, double_ring, linear, recursive_doubling, smp and two_level; "
            "did you mean linear?",
        ),
        ({"algather": "ring"}, "; did you mean allgather?"),
        ({"inter:algather": "ring"}, "algorithms: there is no operation 'inter:algather'; did you mean inter:allgather?"),
        ({3: "ring"}, "algorithms: there is no operation '3'; there are "),
        ({"bcast": ("chain", {"segment": 1})}, "bcast: chain has no parameter 'segment'; there is segment_bytes;"),
        ({"bcast": ("linear", {"segment": 1})}, "bcast: linear has no parameter 'segment'; there is none."),
    ],
)
def test_unknown_names_raise_with_the_known_ones(requested: Any, sentence: str) -> None:
    """`resolve` raises, before any collective is called."""
    with pytest.raises(MPIValueError, match=re.escape(sentence)):
        resolve(requested)


@pytest.mark.parametrize(
    ("requested", "sentence"),
    [
        (3, "algorithms must be a name, a mapping or a Table, not 3."),
        (
            {"bcast": 3},
            "bcast: an algorithm must be a name, the path of a file or an Algorithm, optionally in a pair with a mapping of "
            "parameters, not 3.",
        ),
        ({"bcast": ("chain", 4096)}, "with a mapping of parameters, not ('chain', 4096)."),
    ],
)
def test_requests_of_the_wrong_type_raise(requested: Any, sentence: str) -> None:
    """The error is a TypeError."""
    with pytest.raises(MPITypeError, match=re.escape(sentence)):
        resolve(requested)
