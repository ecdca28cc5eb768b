"""Nodes and other levels of the machine in traces and views."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fakempi
from fakempi import CostModel, Dragonfly, FatTree, Hockney, TwoLevel
from fakempi.core.network.models.multi_level import Level as Costs
from fakempi.core.network.models.multi_level import MultiLevel, PiecewiseLinear
from fakempi.core.network.models.two_groups import TwoGroups
from fakempi.errors import MPIError, TraceError
from fakempi.trace.levels import MachineLevel, between_nodes, encoded, levels_of, nodes_of
from fakempi.trace.record import Trace
from fakempi.view.calls import by_call
from fakempi.view.matrix import matrix
from fakempi.view.rows import edges, fold
from fakempi.view.summary import summary
from fakempi.view.timeline import timeline


def ring(comm: fakempi.MPI.Intracomm) -> None:
    """A message to the next rank."""
    to = (comm.rank + 1) % comm.size
    comm.Sendrecv(fakempi.phantom(800), to, 0, fakempi.phantom(800), (comm.rank - 1) % comm.size, 0)


def traced(ranks: int, cost: CostModel | int) -> Trace:
    """A ring on a machine, or on nodes of this size."""
    trace = fakempi.run(ring, ranks, cost=TwoLevel(cost) if isinstance(cost, int) else cost, trace=True).trace
    assert trace is not None
    return trace


def test_a_trace_records_the_nodes(tmp_path: Path) -> None:
    """As pairs, also in a file; a run on one node, or on a network without nodes, has none."""
    trace = traced(6, 4)
    assert trace.about["levels"] == [{"name": "node", "parts": [[0, 4], [1, 2]]}]
    trace.save(tmp_path / "t.json")
    found = nodes_of(fakempi.load(tmp_path / "t.json"))
    assert found is not None
    assert found.tolist() == [0, 0, 0, 0, 1, 1]
    assert between_nodes(trace) == 2
    assert nodes_of(traced(4, 4)) is None
    flat = fakempi.run(ring, 4, trace=True).trace
    assert flat is not None
    assert "levels" not in flat.about


def multi_level() -> MultiLevel:
    """Nodes of 8 ranks with sockets of 4 and caches of 2."""
    costs = {"cache": Costs(PiecewiseLinear([(0, 1e-6, 0)])), "network": Costs(PiecewiseLinear([(0, 2e-6, 0)]))}
    return MultiLevel(costs, 8, 4, 2)


MACHINES = [
    (Dragonfly(2, 2, 2, 2), 16, [("group", 2, 8), ("router", 1, 4), ("node", 0, 2)]),
    (FatTree((2, 2, 2), 2), 16, [("level-2 switch", 2, 8), ("level-1 switch", 1, 4), ("node", 0, 2)]),
    (FatTree((4, 4)), 16, [("switch", 1, 4)]),  # the nodes have one rank each
    (TwoGroups(8), 16, [("group", 1, 8)]),
    (multi_level(), 16, [("node", 0, 8), ("socket", -1, 4), ("cache", -2, 2)]),
    (multi_level(), 8, [("socket", -1, 4), ("cache", -2, 2)]),  # there is one node
    (Hockney(), 16, []),
]


@pytest.mark.parametrize(("cost", "ranks", "expected"), MACHINES)
def test_levels_of_machines(cost: CostModel, ranks: int, expected: list[tuple[str, int, int]]) -> None:
    """From the outermost one, with the distance from the level node, and ranks that fill parts of this size in order."""
    levels = levels_of(traced(ranks, cost))
    assert [(level.name, level.distance) for level in levels] == [each[:2] for each in expected]
    for level, (_, _, size) in zip(levels, expected, strict=True):
        assert level.parts.tolist() == [rank // size for rank in range(ranks)]


def test_views_mark_each_level(printed: Callable[..., str]) -> None:
    """With the outermost level that begins in a row; the meaning of marks that do not occur is omitted."""
    trace = traced(16, Dragonfly(2, 2, 2, 2))
    for view in (timeline, by_call, matrix):
        text = printed(view(trace, width=60))
        rows = [line for line in text.splitlines() if line[:4].strip().isdecimal()]
        assert "".join(line[4] for line in rows) == "╔│┌│┏│┌│╔│┌│┏│┌│"
        assert "╔ group  ┏ router  ┌ node begins" in text
        folded = printed(view(trace, width=60, height=4))
        assert "╔ group  ┏ router begins" in folded
    columns = printed(matrix(trace, width=60)).splitlines()[1]
    assert columns.strip() == "╔   ┌   ┏   ┌   ╔   ┌   ┏   ┌"
    inner = printed(timeline(traced(16, multi_level()), width=60))
    assert "┌ node  ├ socket  ╶ cache begins" in inner


class WrongLocation(Hockney):
    """A cost model whose location is no dictionary."""

    def location(self, process: int) -> dict[str, Hashable]:
        """Return a wrong value."""
        return [process]  # type: ignore[return-value]  # this is tested


def test_a_wrong_location_is_reported_before_the_run() -> None:
    """With the name of the method and the class."""
    with pytest.raises(MPIError, match=r"WrongLocation.*location\(3\)"):
        fakempi.run(ring, 4, cost=WrongLocation())


@pytest.mark.parametrize("parts", [[[0, 5]], [[0, 3], [1, 4]], [[0]], [[-1, 6]], [[0, 8], [1, -2]], None, [0]])
def test_damaged_levels_are_reported(parts: object, tmp_path: Path) -> None:
    """Counts that are not the number of ranks, and other values than pairs."""
    trace = traced(6, 4)
    trace.about["levels"] = [{"name": "node", "parts": parts}]
    trace.save(tmp_path / "t.npz")
    with pytest.raises(TraceError, match="parts"):
        fakempi.load(tmp_path / "t.npz")


def test_views_mark_the_first_rank_of_a_node(printed: Callable[..., str]) -> None:
    """In characters; the summary has the share of messages between nodes."""
    trace = traced(6, 2)
    for view in (timeline, by_call, matrix):
        text = printed(view(trace, width=60))
        rows = [line for line in text.splitlines() if line[:4].strip().isdecimal()]
        assert [line[4] for line in rows] == list("┌│┌│┌│")
        assert "┌ node begins" in text
    assert "between nodes    50%" in printed(summary(trace))
    assert "┌" not in printed(timeline(traced(2, 2), width=60))


@given(st.lists(st.lists(st.integers(1, 6), min_size=1, max_size=5), min_size=1, max_size=5), st.integers(1, 24))
def test_groups_of_ranks_respect_levels(sizes: Sequence[Sequence[int]], height: int) -> None:
    """A group is inside one part of each level or has whole parts, in order, and there are at most `height` groups."""
    nodes = np.repeat(np.arange(sum(map(len, sizes))), [count for group in sizes for count in group])
    routers = np.repeat(np.arange(len(sizes)), [sum(group) for group in sizes])
    levels = [MachineLevel("router", routers, 1), MachineLevel("node", nodes, 0)]
    groups = fold(range(len(nodes)), height, levels)
    assert [rank for group in groups for rank in group] == list(range(len(nodes)))
    assert len(groups) <= height
    for level in levels:
        for group in groups:
            inside = set(level.parts[list(group)].tolist())
            assert len(inside) == 1 or np.isin(level.parts, list(inside)).sum() == len(group)
    assert edges(groups, levels)[0] == "┏"


def test_nodes_in_turn_are_encoded() -> None:
    """One pair for each run of ranks on the same node."""
    places = ({"node": rank % 2} for rank in range(4))
    assert encoded(places) == [{"name": "node", "parts": [[0, 1], [1, 1], [0, 1], [1, 1]]}]
