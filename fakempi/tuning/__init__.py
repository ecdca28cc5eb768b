"""Which algorithm, when: tables of rules, and what somebody asks for in their place.

The map:
    words       operations, names and values in sentences
    hints       what a parameter takes, by the annotation of the function that has it
    asked       what somebody asks for, as an algorithm and its parameters
    rule        Facts of a call; Rule: a name and its conditions, as data; Computed: a parameter that depends on the facts
    parts       what nobody asked for: parts by the table, nodes and costs of the machine
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

from collectives.entries import home
from fakempi.error_classes import ERR_ARG
from fakempi.errors import MPITypeError
from fakempi.tuning.asked import Costs, chosen
from fakempi.tuning.mpich import MPICH
from fakempi.tuning.openmpi import OPENMPI
from fakempi.tuning.plain import PLAIN
from fakempi.tuning.rule import Facts, Placement, Rule, SendCosts, Sizes, startup_bytes
from fakempi.tuning.table import Choice, Table
from fakempi.tuning.words import Key, unknown

__all__ = ["TABLES", "Choice", "Facts", "Placement", "Rule", "SendCosts", "Sizes", "Table", "resolve", "startup_bytes"]

TABLES: Final = {table.name: table for table in (PLAIN, MPICH, OPENMPI)}


def resolve(algorithms: str | Mapping[str, Any] | Table | None = None, costs: Costs = None) -> Table:
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
        return _forced(resolve(algorithms.get("table")), algorithms, costs)
    raise MPITypeError(ERR_ARG, f"algorithms must be a name, a mapping or a Table, not {algorithms!r}.")


def _forced(base: Table, asked: Mapping[str, Any], costs: Costs) -> Table:
    """The base table, but with what is asked for and nothing else in its place."""
    choices = {name: chosen(_key(name), value, costs) for name, value in asked.items() if name != "table"}
    names = ", ".join(f"{name} {algorithm.name}" for name, (algorithm, _) in choices.items())
    return Table(
        name=f"{base.name} with {names}" if names else base.name,
        rules={**base.rules, **{_key(name): (Rule(*choice),) for name, choice in choices.items()}},
        forced=base.forced | {_key(name) for name in choices},
    )


def _key(name: Any) -> Key:
    kind, colon, operation = str(name).partition(":")
    return (kind, operation) if colon else (home(kind), kind)
