"""The default placement of a machine file, from the cores of each node, socket and last-level cache."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping

from fakempi.core.network.models.multi_level import LEVELS
from fakempi.machines.csv_files import Names
from fakempi.machines.samples import input_error

PARTS = {"node": 1, "socket": 2, "cache": 3}
"""How many of the names of a core's node, socket and cache specify one."""


def cores_per_level(
    placement: Mapping[str, Names], levels: Collection[str], given: Mapping[str, int | None], path: str
) -> dict[str, int]:
    """Return the cores of a node, a socket and a cache, as far as the placement has these and costs depend on them.

    `levels` are those that were measured, and `given` has the numbers that the user has specified, which are not looked up.
    Raises an error if the numbers are not equal: a machine file has one number for all.
    """
    found = {}
    for name, length in PARTS.items():
        outer = LEVELS[LEVELS.index(name) + 1 :]
        if given.get(name) is not None or not any(level in levels for level in outer):
            continue  # no two ranks of different nodes (or sockets, or caches) would have another cost
        if name != "node" and name not in levels:
            continue
        cores = Counter(names[:length] for names in placement.values() if all(names[:length]))
        if not cores:
            continue
        (largest, most), *_, (smallest, least) = [*cores.most_common(), cores.most_common()[-1]]
        if most != least:
            raise input_error(
                f"{path}: {name} {' '.join(largest)} has {most} cores and {name} {' '.join(smallest)} has {least}, but a "
                f"machine file has one number: choose it with --ranks-per-{name}."
            )
        found[name] = most
    return found
