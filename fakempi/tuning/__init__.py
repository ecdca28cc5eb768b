"""Which algorithm, when: the only room that imports `collectives`.

The map:
    rule        Facts of a call; Rule: a name and its conditions, as data
    objects     which algorithms serve Python objects, and how those are asked for
    table       Table: the rules by operation; choose(facts) gives a Choice, or refuses and says what fits
    plain       one simple good choice an operation: what runs unless asked otherwise
    mpich       the decisions of MPICH, as far as the catalogue has its algorithms
    openmpi     the decisions of Open MPI, likewise
    resolve     what `fakempi.run(..., algorithms=...)` was given, as a table
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from fakempi.error_classes import ERR_ARG
from fakempi.errors import MPITypeError
from fakempi.tuning.mpich import MPICH
from fakempi.tuning.openmpi import OPENMPI
from fakempi.tuning.plain import PLAIN
from fakempi.tuning.rule import Facts, Rule
from fakempi.tuning.table import SPLIT, Choice, Key, Table, unknown

__all__ = ["TABLES", "Choice", "Facts", "Rule", "Table", "resolve"]

TABLES: Final = {table.name: table for table in (PLAIN, MPICH, OPENMPI)}


def resolve(algorithms: str | Mapping[str, Any] | Table | None = None) -> Table:
    """The table meant by None, a table's name, a table, or a mapping from operations to what is asked for.

    >>> resolve("mpich").choose(Facts("allgather", p=6, nbytes=8)).algorithm
    <intra allgather bruck>
    >>> asked = resolve({"table": "mpich", "allgather": "ring", "bcast": ("chain", {"segment_bytes": 4096})})
    >>> asked.name, asked.choose(Facts("allgather", p=6, nbytes=8)).algorithm
    ('mpich with allgather ring, bcast chain', <intra allgather ring>)
    """
    if algorithms is None:
        return PLAIN
    if isinstance(algorithms, Table):
        return algorithms
    if isinstance(algorithms, str):
        if algorithms not in TABLES:
            raise unknown("algorithms: there is no table", algorithms, TABLES)
        return TABLES[algorithms]
    if isinstance(algorithms, Mapping):
        return _forced(resolve(algorithms.get("table")), algorithms)
    raise MPITypeError(ERR_ARG, f"algorithms must be a name, a mapping or a Table, not {algorithms!r}.")


def _forced(base: Table, asked: Mapping[str, Any]) -> Table:
    """The base table, but with what is asked for and nothing else in its place."""
    rules = {_key(name): _rule(name, value) for name, value in asked.items() if name != "table"}
    names = ", ".join(f"{name} {rules[_key(name)].name}" for name in asked if name != "table")
    return Table(
        name=f"{base.name} with {names}" if names else base.name,
        rules={**base.rules, **{key: (rule,) for key, rule in rules.items()}},
        forced=base.forced | rules.keys(),
    )


def _key(name: Any) -> Key:
    if name == "split":
        return SPLIT
    kind, colon, operation = str(name).partition(":")
    return (kind, operation) if colon else ("intra", kind)


def _rule(operation: str, value: Any) -> Rule:
    """What is asked for one operation: a name, or a name and parameters."""
    match value:
        case str():
            return Rule(value)
        case (str() as name, Mapping() as parameters):
            return Rule(name, dict(parameters))
    raise MPITypeError(ERR_ARG, f"{operation}: an algorithm is asked for by name or (name, parameters), not {value!r}.")
