"""Facts, rules, tables, and what `algorithms=` may be: choices are made by the first rule, and never replaced."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import pytest

from collectives import find
from collectives.between.groups import Part
from fakempi.error_classes import ERR_ARG
from fakempi.errors import MPITypeError, MPIValueError
from fakempi.tuning import TABLES, Choice, Facts, Rule, Table, resolve
from fakempi.tuning.table import REMEMBERED


def test_bytes_are_of_a_block_or_of_all_as_the_operation_has_it() -> None:
    """Total and block are the same two numbers for allgather and allgatherv."""
    block, total = Facts("allgather", p=4, nbytes=10), Facts("allgatherv", p=4, nbytes=40)
    assert (block.total, block.block) == (total.total, total.block) == (40, 10)
    assert Facts("bcast", p=4, nbytes=10).total == Facts("bcast", p=4, nbytes=10).block == 10


def test_facts_become_a_case() -> None:
    """What they do not know is passed along; counts take the place of bytes."""
    case = Facts("reduce", p=3, nbytes=16, commutative=False).case(root=2, itemsize=8)
    assert (case.p, case.m, case.elements, case.root, case.commutative, case.in_place) == (3, 16, 2, 2, False, False)
    counted = Facts("allgatherv", p=3, nbytes=12, in_place=True).case(counts=(1, 0, 2), itemsize=4)
    assert (counted.m, counted.layout.size(0, 3), counted.in_place) == (0, 3, True)


def test_facts_of_two_groups_become_a_case_of_two() -> None:
    """Which group comes first is settled. Sums of blocks are not for a case that has no counts."""
    case = Facts("allgather", p=3, nbytes=16, kind="inter", q=2, nbytes_b=8).case(parameters={"bcast": "some"})
    assert (case.p, case.m, case.q, case.m_b, case.parameters) == (3, 16, 2, 8, {"first": True, "bcast": "some"})
    summed = Facts("reduce_scatter", p=3, nbytes=48, kind="inter", q=2, nbytes_b=48).case()
    assert (summed.p, summed.m, summed.q, summed.m_b) == (3, 0, 2, 0)


class Said:
    """An algorithm's run that tells what it was given."""

    def __init__(self) -> None:
        self.given: list[Any] = []

    def __call__(self, *comms_and_buffers: Any, **options: Any) -> None:
        self.given = [*comms_and_buffers, options]


@pytest.mark.parametrize(("asked", "own", "told"), [(None, True, True), (None, False, False), (False, True, False)])
def test_a_choice_tells_the_groups_who_comes_first(asked: bool | None, own: bool, told: bool) -> None:
    """The one the opposite of the other; asked for it is said of the first."""
    run = Said()
    algorithm = replace(find("allgather", "root_gathering_mpich", kind="inter"), run=run)
    choice = Choice(algorithm, {} if asked is None else {"first": asked})
    choice.on(("between", "within"), tag=3, first=own)("out", "into")
    assert run.given == ["between", "within", "out", "into", {"tag": 3, "first": told}]


def test_a_choice_passes_on_what_it_is_told() -> None:
    """Within a group nobody comes first; between two the root itself has no rank over there."""
    run = Said()
    within, between = (replace(find("bcast", *which), run=run) for which in (("chain", "intra"), ("wmpi", "inter")))
    Choice(within, {"segment_bytes": 5}).on(("comm",), tag=3, root=2)("data")
    assert run.given == ["comm", "data", {"tag": 3, "root": 2, "segment_bytes": 5}]
    for said, root in ((None, Part.ROOT), (0, 0)):
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
def test_a_rule_holds_where_all_its_conditions_do(conditions: dict[str, Any], holds: Facts, fails: Facts) -> None:
    """And is known by them."""
    rule = Rule("ring", **conditions)
    assert rule.conditions == conditions
    assert (rule.holds(holds), rule.holds(fails)) == (True, False)


def test_a_rule_without_conditions_always_holds() -> None:
    """As the last one of an operation must."""
    assert Rule("ring").holds(Facts("allgather", 1))


def test_the_first_rule_that_holds_is_taken_with_its_parameters() -> None:
    """Later ones are not looked at."""
    rules = (Rule("chain", {"segment_bytes": 512}, p_below=4), Rule("linear", p_below=8), Rule("binomial"))
    table = Table("mine", {("intra", "bcast"): rules})
    taken = [table.choose(Facts("bcast", p)) for p in (3, 7, 8)]
    assert [choice.algorithm.name for choice in taken] == ["chain", "linear", "binomial"]
    assert [choice.parameters for choice in taken] == [{"segment_bytes": 512}, {}, {}]


def test_a_choice_made_is_remembered_but_not_for_ever() -> None:
    """Facts that are equal get the same object; a program with ever new sizes does not fill the memory."""
    table = Table("mine", {("intra", "bcast"): (Rule("linear", p_below=8), Rule("binomial"))})
    assert table.choose(Facts("bcast", 9, 8)) is table.choose(Facts("bcast", 9, 8))
    for nbytes in range(REMEMBERED + 10):
        table.choose(Facts("bcast", 9, nbytes))
    assert len(table._made) <= REMEMBERED


def test_nothing_asked_for_means_plain() -> None:
    """And a table's name means that table, and a table means itself."""
    assert resolve() is resolve(None) is resolve("plain") is TABLES["plain"]
    assert resolve("openmpi") is resolve(TABLES["openmpi"]) is TABLES["openmpi"]


def test_what_is_asked_for_is_taken_whatever_the_size() -> None:
    """All other operations stay with the base table."""
    table = resolve({"table": "mpich", "allgather": "ring", "bcast": ("chain", {"segment_bytes": 4096})})
    assert {table.choose(Facts("allgather", p, 8)).algorithm.name for p in (1, 2, 64)} == {"ring"}
    assert table.choose(Facts("bcast", 5, 8)).parameters == {"segment_bytes": 4096}
    assert table.choose(Facts("alltoall", 8, 8)).algorithm.name == "bruck"
    assert resolve({"allgather": "ring"}).choose(Facts("alltoall", 8, 1000)).algorithm.name == "pairwise"


def test_what_was_asked_for_before_stays_when_more_is_asked_for() -> None:
    """A table of one's own can be the base."""
    table = resolve({"table": resolve({"allgather": "ring"}), "barrier": "linear"})
    assert table.name == "plain with allgather ring with barrier linear"
    assert table.forced == {("intra", "allgather"), ("intra", "barrier")}


def test_parts_are_asked_for_by_name_or_as_they_are() -> None:
    """A parameter that is an algorithm."""
    linear = find("gather", "linear")
    by_name, itself = (resolve({"allgather": ("gather_bcast", {"gather": part})}) for part in ("linear", linear))
    facts = Facts("allgather", 6, 8)
    assert by_name.choose(facts).parameters["gather"] is itself.choose(facts).parameters["gather"] is linear


def test_an_algorithm_for_splits_is_asked_for_like_any_other() -> None:
    """By name or with parameters; a table has none of its own."""
    table = resolve({"split": ("cheng", {"M": 32}), "barrier": "linear"})
    choice = table.choose(Facts(operation="split", p=100, kind="split"))
    assert (choice.algorithm.name, choice.parameters) == ("cheng", {"M": 32})
    assert table.name == "plain with split cheng, barrier linear"
    assert (table.splits, resolve().splits, resolve("mpich").splits) == (True, False, False)
    sentence = r"^split: there is no algorithm 'bitnic'; there are .*allgather_group.*; did you mean bitonic\?$"
    with pytest.raises(MPIValueError, match=sentence):
        resolve({"split": "bitnic"})


def test_what_is_asked_for_and_does_not_fit_is_refused() -> None:
    """With the reason and the ones that fit; nothing is put in its place."""
    table = resolve({"allgather": "recursive_doubling"})
    assert table.choose(Facts("allgather", 8, 8)).algorithm.name == "recursive_doubling"
    sentence = (
        "allgather: recursive_doubling was asked for, but p = 6 is not a power of two; "
        "bruck, bruck_ring, circulant, cluster_ring, gather_bcast, neighbor_exchange and ring fit."
    )
    with pytest.raises(MPIValueError, match=f"^{re.escape(sentence)}$") as raised:
        table.choose(Facts("allgather", 6, 8))
    assert raised.value.ierr == ERR_ARG


def test_an_op_that_does_not_commute_refuses_the_ring() -> None:
    """The others keep to rank order."""
    refused = r"^allreduce: ring was asked for, but the op is not commutative, .*; rabenseifner, .* and .* fit\.$"
    with pytest.raises(MPIValueError, match=refused):
        resolve({"allreduce": "ring"}).choose(Facts("allreduce", 6, 8, 1, commutative=False))


def test_a_parameter_that_does_not_fit_is_refused() -> None:
    """Its default would do, but is not taken."""
    refused = r"^bcast: chain was asked for, but segment_bytes = 0 is not positive; binomial, .* fit\.$"
    with pytest.raises(MPIValueError, match=refused):
        resolve({"bcast": ("chain", {"segment_bytes": 0})}).choose(Facts("bcast", 6, 8))


def test_a_table_that_takes_what_does_not_fit_is_wrong_and_told_so() -> None:
    """Rather than looked at further: the next rule may fit, but is not what the table says."""
    rules = (Rule("neighbor_exchange", p_below=8), Rule("ring"))
    with pytest.raises(
        MPIValueError, match=r"^allgather: neighbor_exchange is what table mine takes here, but p = 5 is"
    ):
        Table("mine", {("intra", "allgather"): rules}).choose(Facts("allgather", 5, 8))


def test_a_table_must_end_every_operation() -> None:
    """With a rule that always holds; and it cannot choose for an operation that it does not have."""
    with pytest.raises(MPIValueError, match=r"^table mine: the last rule of bcast must always hold$"):
        Table("mine", {("intra", "bcast"): (Rule("linear", p_below=8),)})
    with pytest.raises(MPIValueError, match=r"^table mine has no rules for inter:bcast$"):
        Table("mine", {("intra", "bcast"): (Rule("linear"),)}).choose(Facts("bcast", 2, kind="inter"))


@pytest.mark.parametrize(
    ("asked", "sentence"),
    [
        ("mpch", "algorithms: there is no table 'mpch'; there are plain, mpich and openmpi; did you mean mpich?"),
        ("xyz", "algorithms: there is no table 'xyz'; there are plain, mpich and openmpi."),
        (
            {"barrier": "linaer"},
            "; there are binomial_tree, dissemination, linear and recursive_doubling; did you mean linear?",
        ),
        ({"algather": "ring"}, "; did you mean allgather?"),
        ({"inter:algather": "ring"}, "algorithms: there is no operation 'inter:algather'; there are "),
        ({3: "ring"}, "algorithms: there is no operation '3'; there are "),
        ({"bcast": ("chain", {"segment": 1})}, "bcast: chain has no parameter 'segment'; there is segment_bytes;"),
        ({"bcast": ("linear", {"segment": 1})}, "bcast: linear has no parameter 'segment'; there is none."),
    ],
)
def test_a_name_that_is_not_there_is_named_with_those_that_are(asked: Any, sentence: str) -> None:
    """At once, not when the first collective is called."""
    with pytest.raises(MPIValueError, match=re.escape(sentence)):
        resolve(asked)


@pytest.mark.parametrize(
    ("asked", "sentence"),
    [
        (3, "algorithms must be a name, a mapping or a Table, not 3."),
        (
            {"bcast": 3},
            "bcast: an algorithm is asked for by name, by a file's path or as an Algorithm, alone or with a mapping of "
            "parameters, not by 3.",
        ),
        ({"bcast": ("chain", 4096)}, "with a mapping of parameters, not by ('chain', 4096)."),
    ],
)
def test_things_of_the_wrong_kind_are_refused(asked: Any, sentence: str) -> None:
    """As in mpi4py, that is a TypeError."""
    with pytest.raises(MPITypeError, match=re.escape(sentence)):
        resolve(asked)
