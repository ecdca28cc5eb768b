"""Which algorithms serve objects, as their schedules show."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from collectives import CATALOGUE, find
from collectives.catalogue.algorithm import commutative_only, power_of_two_only
from fakempi.errors import MPIValueError
from fakempi.tuning import TABLES, Facts, resolve
from fakempi.tuning.objects import unsuited
from fakempi.tuning.rule import COMBINING

CUT, ORDER = "an object cannot be cut into pieces", "objects are combined in rank order, to which it does not keep"


def of_objects(operation: str, p: int, **more: Any) -> Facts:
    return Facts(operation, p, count=1, commutative=False, predefined_op=False, objects=True, **more)


@pytest.mark.parametrize("p", [1, 2, 5, 8, 65536])
def test_an_algorithm_serves_that_sends_messages_whole(p: int) -> None:
    """Whatever the number of ranks, one alone too: what serves on two serves on all."""
    found = {
        (each.operation, each.name)
        for each in CATALOGUE
        if each.kind == "intra" and each.operation in COMBINING and not unsuited(each, {}, of_objects(each.operation, p))
    }
    assert found == {
        ("reduce", "binomial"), ("reduce", "linear"), ("allreduce", "recursive_doubling"), ("allreduce", "reduce_bcast"),
        ("scan", "linear"), ("scan", "recursive_doubling"), ("exscan", "linear"), ("exscan", "recursive_doubling"),
    }  # fmt: skip


@pytest.mark.parametrize(
    ("operation", "name", "parameters", "reason"),
    [
        ("reduce", "chain", {"segment_bytes": 65536}, CUT),
        ("reduce", "chain", {"segment_bytes": 1 << 62}, None),
        ("allreduce", "reduce_bcast", {"bcast": find("bcast", "two_tree")}, None),
        ("allreduce", "reduce_bcast", {"reduce": find("reduce", "rabenseifner")}, CUT),
    ],
)
def test_parameters_decide_too(operation: str, name: str, parameters: Mapping[str, Any], reason: str | None) -> None:
    """A broadcast may cut: it moves bytes."""
    assert unsuited(find(operation, name), parameters, of_objects(operation, 3)) == reason


def test_an_algorithm_that_does_not_keep_to_rank_order_serves_no_objects() -> None:
    """An operation on objects is not known to commute."""
    doubling = find("allreduce", "recursive_doubling")
    facts = of_objects("allreduce", 6)
    assert unsuited(replace(doubling, fits=commutative_only), {}, facts) == ORDER
    assert unsuited(replace(doubling, fits=power_of_two_only), {}, facts) is None  # another matter
    assert unsuited(replace(doubling, schedule=None), {}, facts) is None
    assert unsuited(find("allreduce", "ring"), {}, facts._replace(objects=False)) is None


def test_between_groups_the_parts_decide() -> None:
    """Those of each group."""
    wmpi, facts = find("allreduce", "wmpi", kind="inter"), of_objects("allreduce", 2, kind="inter", q=5)
    assert unsuited(wmpi, {}, facts) is None
    assert unsuited(wmpi, {"bcast": find("bcast", "scatter_ring_allgather")}, facts) is None
    assert unsuited(wmpi, {"reduce": find("reduce", "rabenseifner")}, facts) == CUT


def test_tables_combine_objects_as_mpi4py_does() -> None:
    """Which does it by itself, whatever the MPI below."""
    for table in TABLES.values():
        for p in 1, 2, 3, 8, 300, 5000:
            names = [table.choose(of_objects(each, p)).algorithm.name for each in ("reduce", "allreduce", "scan", "exscan")]
            assert names == ["binomial", "reduce_bcast", "recursive_doubling", "recursive_doubling"]


def test_what_is_asked_for_equal_blocks_is_meant_for_pickles() -> None:
    """With its parameters, unless something is asked for those; for buffers the two have nothing to do with each other."""
    asked = resolve({"allgather": ("gather_bcast", {"bcast": "linear"}), "inter:allgather": "wmpi", "scatter": "linear"})
    choice = asked.choose(Facts("allgatherv", 4, 100, objects=True))
    assert (choice.algorithm, choice.parameters["bcast"]) == (find("allgatherv", "gather_bcast"), find("bcast", "linear"))
    assert asked.choose(Facts("allgatherv", 4, 100)).algorithm.name == "bruck"
    between = Facts("allgatherv", 4, kind="inter", q=3, objects=True)
    assert asked.choose(between).algorithm == find("allgatherv", "wmpi", kind="inter")
    assert asked.choose(Facts("scatterv", 4, objects=True)).algorithm.name == "linear"
    both = resolve({"alltoall": "bruck", "alltoallv": "linear"})
    assert [both.choose(Facts(each, 4, objects=True)).algorithm.name for each in ("alltoall", "alltoallv")] == [
        "bruck",
        "linear",
    ]


def test_what_has_no_form_for_pickles_is_refused_at_once() -> None:
    """Before the sizes are sent."""
    asked = resolve({"alltoall": "bruck"})
    assert asked.choose(Facts("alltoall", 4, 8)).algorithm.name == "bruck"
    for operation in "alltoall", "alltoallv":
        with pytest.raises(MPIValueError, match=r"^alltoall: bruck was asked for.*; linear and pairwise serve objects\."):
            asked.choose(Facts(operation, 4, 8, objects=True))
