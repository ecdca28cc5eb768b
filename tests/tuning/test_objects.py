"""The algorithms that support objects, by their schedules."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from collectives import CATALOGUE, find
from collectives.catalogue.conditions import commutative_only, power_of_two_only
from fakempi.errors import MPIValueError
from fakempi.tuning import TABLES, Facts, resolve
from fakempi.tuning.objects import unsuited
from fakempi.tuning.rule import COMBINING

CUT, ORDER = "an object cannot be cut into pieces", "objects must be combined in rank order, which it does not do"


def of_objects(operation: str, p: int, **more: Any) -> Facts:
    return Facts(operation, p, count=1, commutative=False, predefined_op=False, objects=True, **more)


@pytest.mark.parametrize("p", [1, 2, 5, 8, 4096])
def test_algorithms_that_send_whole_messages_support_objects(p: int) -> None:
    """The result does not depend on the number of ranks."""
    found = {
        (each.operation, each.name)
        for each in CATALOGUE
        if each.kind == "intra" and each.operation in COMBINING and not unsuited(each, {}, of_objects(each.operation, p))
    }
    assert found == {
        ("reduce", "bine"), ("reduce", "binomial"), ("reduce", "knomial"), ("reduce", "linear"),
        ("allreduce", "recursive_doubling"), ("allreduce", "recursive_multiplying"), ("allreduce", "reduce_bcast"),
        ("scan", "linear"), ("scan", "recursive_doubling"), ("scan", "two_level"),
        ("exscan", "linear"), ("exscan", "recursive_doubling"),
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
def test_support_depends_on_parameters(operation: str, name: str, parameters: Mapping[str, Any], reason: str | None) -> None:
    """A part that is a broadcast may use segments."""
    assert unsuited(find(operation, name), parameters, of_objects(operation, 3)) == reason


def test_algorithms_that_do_not_combine_in_rank_order_do_not_support_objects() -> None:
    """An op on objects may be noncommutative."""
    doubling = find("allreduce", "recursive_doubling")
    facts = of_objects("allreduce", 6)
    assert unsuited(replace(doubling, why_unsupported=commutative_only), {}, facts) == ORDER
    assert unsuited(replace(doubling, why_unsupported=power_of_two_only), {}, facts) is None  # a different question
    assert unsuited(replace(doubling, schedule=None), {}, facts) is None
    assert unsuited(find("allreduce", "ring"), {}, facts._replace(objects=False)) is None


def test_support_between_groups_depends_on_the_parts() -> None:
    """The parts within each group."""
    wmpi, facts = find("allreduce", "wmpi", kind="inter"), of_objects("allreduce", 2, kind="inter", q=5)
    assert unsuited(wmpi, {}, facts) is None
    assert unsuited(wmpi, {"bcast": find("bcast", "scatter_ring_allgather")}, facts) is None
    assert unsuited(wmpi, {"reduce": find("reduce", "rabenseifner")}, facts) == CUT


def test_tables_combine_objects_as_mpi4py_does() -> None:
    """mpi4py uses its own algorithms with every MPI library."""
    for table in TABLES.values():
        for p in 1, 2, 3, 8, 300, 5000:
            names = [table.choose(of_objects(each, p)).algorithm.name for each in ("reduce", "allreduce", "scan", "exscan")]
            assert names == ["binomial", "reduce_bcast", "recursive_doubling", "recursive_doubling"]


def test_a_request_for_allgather_applies_to_pickles() -> None:
    """With its parameters, unless allgatherv is requested as well; for buffers the two are independent."""
    requested = resolve({"allgather": ("gather_bcast", {"bcast": "linear"}), "inter:allgather": "wmpi", "scatter": "linear"})
    choice = requested.choose(Facts("allgatherv", 4, 100, objects=True))
    assert (choice.algorithm, choice.parameters["bcast"]) == (find("allgatherv", "gather_bcast"), find("bcast", "linear"))
    assert requested.choose(Facts("allgatherv", 4, 100)).algorithm.name == "bruck"
    between = Facts("allgatherv", 4, kind="inter", q=3, objects=True)
    assert requested.choose(between).algorithm == find("allgatherv", "wmpi", kind="inter")
    assert requested.choose(Facts("scatterv", 4, objects=True)).algorithm.name == "linear"
    both = resolve({"alltoall": "bruck", "alltoallv": "linear"})
    assert [both.choose(Facts(each, 4, objects=True)).algorithm.name for each in ("alltoall", "alltoallv")] == [
        "bruck",
        "linear",
    ]


def test_a_request_without_an_algorithm_for_pickles_raises() -> None:
    """No sizes are sent."""
    requested = resolve({"alltoall": "bruck"})
    assert requested.choose(Facts("alltoall", 4, 8)).algorithm.name == "bruck"
    for operation in "alltoall", "alltoallv":
        others = r"linear, pairwise, scattered and spread support objects\."
        with pytest.raises(MPIValueError, match=rf"^alltoall: bruck was requested.*; {others}"):
            requested.choose(Facts(operation, 4, 8, objects=True))
