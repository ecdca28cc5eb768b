"""Node-aware algorithms on a machine without nodes: the same messages as the algorithm that the comparison names."""

from __future__ import annotations

import pytest

from collectives import CATALOGUE, Algorithm, Case
from collectives.trials.cases import make_case
from fakempi.apps.compare.flat import DIFFERENT, flat_equivalent
from fakempi.apps.compare.sweep import contenders, sweep
from fakempi.apps.compare.timing import as_called, emulated_time
from fakempi.core.options import cost_model

FLAT = cost_model("hockney:eager_limit=0")
NODE_AWARE = [each for each in CATALOGUE if each.kind == "intra" and "nodes" in each.parameters]


@pytest.mark.parametrize("algorithm", NODE_AWARE, ids=repr)
def test_a_node_aware_algorithm_is_what_the_comparison_says(algorithm: Algorithm) -> None:
    """In modeled time, for short and long messages; a scan on two levels is different from all others."""
    key = "intra", algorithm.operation
    for p in (2, 3, 8, 13):
        for nbytes in (8, 1 << 16):
            case = make_case(algorithm.operation, p, 0, nbytes)
            name = flat_equivalent(algorithm, key, case, FLAT)
            if (algorithm.operation, algorithm.name) in DIFFERENT:
                assert name is None
                continue
            (other,) = (each for each in CATALOGUE if (each.kind, each.operation, each.name) == (*key, name))
            default = as_called(None, key, case, FLAT)
            called = default if default[0] is other else as_called(other, key, case, FLAT)
            assert _seconds(*as_called(algorithm, key, case, FLAT)) == pytest.approx(_seconds(*called), rel=1e-12)


def _seconds(algorithm: Algorithm, case: Case) -> float:
    return float(emulated_time(algorithm, case, FLAT, run=False))


def test_equal_algorithms_have_records_that_say_so() -> None:
    """With the time of the other algorithm, which is timed once."""
    records = {record["algorithm"]: record for record in sweep("barrier", [8], cost=FLAT)}
    assert records["two_level"]["equals"] == records["smp"]["equals"] == "dissemination"
    assert records["two_level"]["seconds"] == records["dissemination"]["seconds"]
    assert records["dissemination"]["equals"] == ""


def test_algorithms_on_nodes_and_named_ones_are_timed() -> None:
    """Nodes matter if there are several, with several ranks."""
    named = sweep("barrier", [8], cost=FLAT, among=contenders("barrier", "intra", [("two_level", {})]))
    assert [record["equals"] for record in named] == [""]
    (alone, nodes) = sweep("barrier", [4, 8], cost="two_level:ranks_per_node=4").columns
    assert alone.case_times["two_level"].equals == "dissemination"
    assert nodes.case_times["two_level"].equals == ""
    assert nodes.times["two_level"] < nodes.times["dissemination"]
