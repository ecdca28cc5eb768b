"""The levels of the machine on which ranks run (such as groups, nodes, sockets), from the metadata of a trace."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from itertools import groupby
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from fakempi.trace.columns import Columns

Parts = npt.NDArray[np.int64]
NODE = "node"


class MachineLevel(NamedTuple):
    """A level: the number of the part to which each rank belongs, and the level's distance from the level node.

    The distance is positive for levels outside the node.
    """

    name: str
    parts: Parts
    distance: int


def encoded(places: Iterable[Mapping[str, Hashable]]) -> list[dict[str, Any]]:
    """Return the levels as JSON values, from `CostModel.location` of ranks 0, 1, ...; levels with one part are omitted.

    The parts of consecutive ranks are encoded as pairs: the number of a part, and a count of ranks.

    >>> encoded([{"node": "a"}, {"node": "a"}, {"node": "b"}, {"node": "a"}])
    [{'name': 'node', 'parts': [[0, 2], [1, 1], [0, 1]]}]
    >>> encoded([{"node": 0}, {"node": 0}])
    []
    """
    columns: dict[str, list[Hashable]] = {}
    for place in places:
        for name, part in place.items():
            columns.setdefault(name, []).append(part)
    levels = []
    for name, parts in columns.items():
        numbers: dict[Hashable, int] = {}
        pairs = [[numbers.setdefault(part, len(numbers)), len(list(ranks))] for part, ranks in groupby(parts)]
        if len(numbers) > 1:
            levels.append({"name": name, "parts": pairs})
    return levels


def levels_of(trace: Columns) -> list[MachineLevel]:
    """Return the levels from the outermost one, without levels whose parts have one rank each."""
    stored = trace.about.get("levels", [])
    names = [level["name"] for level in stored]
    # Without a level node, all levels are within the only node.
    node = names.index(NODE) if NODE in names else -1
    levels = [MachineLevel(level["name"], _by_rank(level["parts"]), node - i) for i, level in enumerate(stored)]
    return [level for level in levels if len(set(level.parts.tolist())) < len(level.parts)]


def nodes_of(trace: Columns) -> Parts | None:
    """Return the number of each rank's node, or None if the trace has one node or does not name nodes."""
    return next((_by_rank(level["parts"]) for level in trace.about.get("levels", []) if level["name"] == NODE), None)


def _by_rank(pairs: list[list[int]]) -> Parts:
    return np.repeat(*np.array(pairs, np.int64).T)


def between_nodes(trace: Columns) -> int:
    """Return the number of messages between different nodes."""
    nodes, rows = nodes_of(trace), trace.transfer_rows
    return 0 if nodes is None else int((nodes[rows["source"]] != nodes[rows["dest"]]).sum())


def starts(ranks: Sequence[int], level: MachineLevel | None) -> Sequence[int]:
    """Return the indexes at which a part of a level begins among these ranks; all indexes without a level."""
    return range(len(ranks)) if level is None else [0, *(np.flatnonzero(np.diff(level.parts[list(ranks)])) + 1).tolist()]
