"""Find out which processes share a cache, a socket or a node, and choose pairs of each level to measure."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Iterable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

Pair = tuple[int, int]

MAX_NODES = 8
"""The number of nodes that are searched for concurrent pairs."""


class ProcessLocation(NamedTuple):
    """The part of the machine on which a process runs.

    Attributes
    ----------
    host : the name of the host
    node : the smallest rank on the same node
    socket, cache : identify the socket and the last-level cache within the node; -1 if they are unknown
    cores : the number of cores of the node
    """

    host: str
    node: int
    socket: int
    cache: int
    cores: int


def find_locations(comm: Any, MPI: Any) -> list[ProcessLocation]:
    """Return the location of every rank; called by all ranks.

    A node is a group of processes that can share memory. The socket of a process is known if all cores that the process
    may use are on one socket; the same holds for the cache.
    """
    shared = comm.Split_type(MPI.COMM_TYPE_SHARED)
    node = shared.allreduce(comm.Get_rank(), MPI.MIN)
    shared.Free()
    cores = usable_cores()
    socket, cache = (_common(cores, path) for path in ("topology/physical_package_id", "cache/index3/shared_cpu_list"))
    here = ProcessLocation(MPI.Get_processor_name(), node, socket, cache, os.cpu_count() or 1)
    found: list[ProcessLocation] = comm.allgather(here)
    return found


def usable_cores() -> list[int]:
    """Return the cores on which this process may run; all cores if the system does not report them."""
    affinity: Callable[[int], set[int]] | None = getattr(os, "sched_getaffinity", None)
    return sorted(affinity(0)) if affinity is not None else list(range(os.cpu_count() or 1))


def _common(cores: Sequence[int], path: str) -> int:
    """Return the number that Linux stores for each core in the file `path`; -1 if cores differ, or a file is unreadable."""
    try:
        texts = {Path(f"/sys/devices/system/cpu/cpu{core}/{path}").read_text() for core in cores}
        return int(re.split("[-,]", texts.pop())[0]) if len(texts) == 1 else -1
    except (OSError, ValueError):
        return -1


def level_of(one: ProcessLocation, other: ProcessLocation, inner: Collection[str]) -> str:
    """Return the level of two locations; `inner` is the result of `inner_levels`."""
    if one.node != other.node:
        return "network"
    if "cache" in inner and one.cache == other.cache >= 0:
        return "cache"
    return "socket" if "socket" in inner and one.socket == other.socket >= 0 else "node"


def inner_levels(locations: Sequence[ProcessLocation]) -> list[str]:
    """Return "socket" if a node has processes on different sockets, and "cache" if a socket has some in different caches."""
    sockets = {location[1:3] for location in locations if location.socket >= 0}
    caches = {location[1:4] for location in locations if location.cache >= 0}
    found = ["socket"] if len(sockets) > len({one[:1] for one in sockets}) else []
    return found + (["cache"] if len(caches) > len({one[:2] for one in caches}) else [])


def choose_pairs(locations: Sequence[ProcessLocation], maximum: int) -> dict[str, list[Pair]]:
    """Return at most `maximum` pairs of ranks for each level, spread over the ranks."""
    inner, found = inner_levels(locations), dict[str, list[Pair]]()

    def add(pairs: Iterable[Pair]) -> None:
        for pair in pairs:
            found.setdefault(level_of(locations[pair[0]], locations[pair[1]], inner), []).append(pair)

    for depth in dict.fromkeys((2, 3 if "socket" in inner else 2, 4 if "cache" in inner else 2)):
        by_location: dict[tuple[int | str, ...], list[int]] = {}
        for rank, location in enumerate(locations):
            by_location.setdefault(location[1:depth], []).append(rank)
        groups = list(by_location.values())
        for one, first in enumerate(groups):
            for second in groups[one + 1 : one + 1 + maximum]:
                add(zip(first, second, strict=False))
    for group in groups:  # if a group is small: its neighbors, and its first and last rank
        add(zip(group[::2], group[1::2], strict=False))
        add([(group[0], group[-1])] if len(group) > 2 else [])
    return {level: spread(sorted(set(pairs)), maximum) for level, pairs in found.items()}


def spread(pairs: Sequence[Pair], maximum: int) -> list[Pair]:
    """Return at most `maximum` of the pairs, evenly spread."""
    return [pairs[i * len(pairs) // min(maximum, len(pairs))] for i in range(min(maximum, len(pairs)))]


def concurrent_pairs(locations: Sequence[ProcessLocation], level: str) -> list[Pair]:
    """Return disjoint pairs of a level: on the node, or for the network on two successive nodes, that has the most."""
    inner = inner_levels(locations)
    members: dict[int, list[int]] = {}
    for rank, location in enumerate(locations):
        members.setdefault(location.node, []).append(rank)
    groups = list(members.values())[:MAX_NODES]
    best: list[Pair] = []
    for here, there in pairwise(groups) if level == "network" else zip(groups, groups, strict=True):
        found: list[Pair] = []
        free = dict.fromkeys(there)
        for a in here:
            if here is there and a not in free:
                continue
            free.pop(a, None)
            b = next((b for b in free if level_of(locations[a], locations[b], inner) == level), None)
            if b is not None:
                found.append((a, b))
                del free[b]
        best = max(best, found, key=len)
    return best
