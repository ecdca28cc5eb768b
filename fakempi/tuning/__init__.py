"""Choice of algorithms: tables of rules, and user requests that override them. `resolve` converts `algorithms=` to a Table.

rule             Facts of a call; Rule, a name with conditions; Computed, a parameter that depends on the facts
table            Table: rules by operation; choose(facts) returns a Choice or raises
default_rules    the default table, "plain"
estimates        estimated times for the conditions of the default table
mpich            the decisions of MPICH, as far as the catalogue has its algorithms
openmpi          the decisions of Open MPI, as far as the catalogue has its algorithms
requests         convert a user request to an algorithm and its parameters
hints            check parameter values against annotations
parts            parameters that were not requested: parts from the table, nodes and costs of the machine
objects          algorithms for calls on Python objects
parsing          operations, names and values in messages
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from importlib import import_module
from typing import Any, Final

from collectives.entries import default_kind
from fakempi.errors import MPITypeError
from fakempi.errors.classes import ERR_ARG
from fakempi.tuning.parsing import Key, unknown
from fakempi.tuning.requests import AlgorithmRequest, Costs, chosen
from fakempi.tuning.rule import Facts, NodesOfRanks, Rule, SendCosts, Sizes, startup_bytes
from fakempi.tuning.table import PARTS_BY, Choice, Table

__all__ = ["TABLES", "Choice", "Facts", "NodesOfRanks", "Rule", "SendCosts", "Sizes", "Table", "resolve", "startup_bytes"]


class _Tables(Mapping[str, Table]):
    """The tables by name. Each is made when it is first used: most runs use one, and a grid takes 10 ms."""

    modules: Final = {
        "plain": "fakempi.tuning.default_rules", "mpich": "fakempi.tuning.mpich", "openmpi": "fakempi.tuning.openmpi",
    }  # fmt: skip

    def __getitem__(self, name: str) -> Table:
        table: Table = getattr(import_module(self.modules[name]), name.upper())
        return table

    def __iter__(self) -> Iterator[str]:
        return iter(self.modules)

    def __len__(self) -> int:
        return len(self.modules)


TABLES: Final = _Tables()
PARTS_BY["root_gathering_mpich"] = partial(TABLES.__getitem__, "mpich")


def resolve(algorithms: str | Mapping[str, AlgorithmRequest | Table] | Table | None = None, costs: Costs = None) -> Table:
    """Return the table for None, a table's name, a Table, or a mapping from operations to requests.

    >>> resolve("mpich").choose(Facts("allgather", p=6, nbytes=8)).algorithm
    <intra allgather bruck>
    >>> table = resolve({"table": "mpich", "allgather": "ring", "bcast": ("chain", {"segment_bytes": 4096})})
    >>> table.name, table.choose(Facts("allgather", p=6, nbytes=8)).algorithm
    ('mpich with allgather ring, bcast chain', <intra allgather ring>)
    """
    if algorithms is None:
        return TABLES["plain"]
    if isinstance(algorithms, Table):
        return algorithms
    if isinstance(algorithms, str):
        if algorithms not in TABLES:
            raise unknown("algorithms: there is no table", algorithms, TABLES)
        return TABLES[algorithms]
    if isinstance(algorithms, Mapping):
        base: Any = algorithms.get("table")
        return _forced(resolve(base), algorithms, costs)
    raise MPITypeError(ERR_ARG, f"algorithms must be a name, a mapping or a Table, not {algorithms!r}.")


def _forced(base: Table, requests: Mapping[str, Any], costs: Costs) -> Table:
    """Return the base table with the rules of the requested operations replaced."""
    choices = {name: chosen(_key(name), value, costs) for name, value in requests.items() if name != "table"}
    names = ", ".join(f"{name} {algorithm.name}" for name, (algorithm, _) in choices.items())
    return Table(
        name=f"{base.name} with {names}" if names else base.name,
        rules={**base.rules, **{_key(name): (Rule(*choice),) for name, choice in choices.items()}},
        forced=base.forced | {_key(name) for name in choices},
        base=base,
        has_known_names=True,  # those of `base`, and algorithms
    )


def _key(name: Any) -> Key:
    kind, colon, operation = str(name).partition(":")
    return (kind, operation) if colon else (default_kind(kind), kind)
