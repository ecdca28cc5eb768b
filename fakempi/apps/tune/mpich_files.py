"""MPICH's selection file, for MPIR_CVAR_COLL_SELECTION_TUNING_JSON_FILE.

The file is a tree: conditions are keys, tested in their order, and a leaf is an algorithm (src/mpi/coll/src/csel.c). The
file has every collective. MPICH's own decisions are used for collectives that are not tuned, calls between groups, calls in
place, noncommutative ops, and numbers of ranks outside the tuned range. Algorithms that need a power of two, a predefined op
or enough elements are only in branches with that condition, because MPICH does not check it again.

`comm_size<=` is used instead of `comm_size<`, which csel.c evaluates as `<=` below conditions that depend on the call.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Final

from fakempi.apps.tune.choosing import Cell, Row, Rules
from fakempi.apps.tune.mpich_defaults import COMMUTATIVE, DEFAULTS, IN_PLACE, KINDS, POWER, Tree, branch, for_built_in_ops
from fakempi.tuning.rule import REDUCING

FALLBACKS: Final = {"Allreduce_intra_reduce_scatter_allgather": "Allreduce_intra_recursive_doubling",
                    "Reduce_intra_reduce_scatter_gather": "Reduce_intra_binomial"}  # fmt: skip
"""Algorithms that need a predefined op and enough elements, and the algorithms for other calls."""


def selection(rules: Rules) -> str:
    """Return the rules as MPICH's JSON."""
    tuned = {operation: _collective(operation, rules) for operation in rules.rows}
    content = {f"collective={name}": written(tuned.get(name, tree)) for name, tree in DEFAULTS.items()}
    return json.dumps(content, indent=2) + "\n"


def written(tree: Tree) -> dict[str, Any]:
    """Return a tree as nested objects of the file."""
    if isinstance(tree, str):
        name, _, parameter = tree.rstrip(")").partition("(")
        return {f"algorithm=MPIR_{name}": {parameter: {}} if parameter else {}}
    return {condition: written(below) for condition, below in tree.items()}


def _collective(operation: str, rules: Rules) -> Tree:
    default = DEFAULTS[operation]
    assert not isinstance(default, str)
    intra = default[KINDS[0]]
    if operation == "bcast" and not isinstance(intra, str):  # below a size, `comm_size<8` would include 8
        intra = {key.replace("comm_size<8", "comm_size<=7"): tree for key, tree in intra.items()}
    if operation in REDUCING:
        within = branch(COMMUTATIVE, _rows(operation, rules, _part(intra, COMMUTATIVE[0])), _part(intra, COMMUTATIVE[1]))
    elif operation == "alltoall":
        within = branch(IN_PLACE, _part(intra, IN_PLACE[0]), _rows(operation, rules, _part(intra, IN_PLACE[1])))
    else:
        within = _rows(operation, rules, intra)
    return {**default, KINDS[0]: within}


def _part(tree: Tree, condition: str) -> Tree:
    """The subtree of a condition at the root of a tree, or the whole tree if its root does not test the condition."""
    return tree if isinstance(tree, str) or condition not in tree else tree[condition]


def _rows(operation: str, rules: Rules, default: Tree) -> Tree:
    made: dict[str, Tree] = {}
    for row in rules.rows[operation]:
        key = "comm_size=any" if row.last is None else f"comm_size<={row.last}"
        made[key] = _row(operation, rules, row, default)
    return made


def _row(operation: str, rules: Rules, row: Row, default: Tree) -> Tree:
    trees = [_sizes(operation, rules, cells, default) for cells in (row.cells, row.others)]
    return trees[0] if row.cells == row.others else branch(POWER, *trees)


def _sizes(operation: str, rules: Rules, cells: Sequence[Cell], default: Tree) -> Tree:
    """The choices by size: each applies below the least size of the next one."""
    unit = "total_msg_size" if operation in rules.target.totals else "avg_msg_size"
    leaves = [_leaf(operation, cell, default) for cell in cells]
    limits = [f"{unit}<{cell.least}" for cell in cells[1:]]
    return leaves[0] if not limits else dict(zip([*limits, f"{unit}=any"], leaves, strict=True))


def _leaf(operation: str, cell: Cell, default: Tree) -> Tree:
    if not cell.pick.name:
        return default
    name = f"{operation.capitalize()}_intra_{cell.pick.name}"
    return for_built_in_ops(FALLBACKS[name], name) if name in FALLBACKS else name
