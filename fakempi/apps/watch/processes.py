"""The process table of Linux: subprocesses, processor time, ranks that are not Python, and locks of files."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass

RANK_VARIABLES = (b"PMI_RANK=", b"OMPI_COMM_WORLD_RANK=", b"MV2_COMM_WORLD_RANK=")


@dataclass(frozen=True)
class ProcessEntry:
    """A process: its parent, state, start, and the ticks of processor time that it has used."""

    pid: int
    parent: int
    name: str
    state: str
    start: int
    ticks: int


def process_table() -> dict[int, ProcessEntry]:
    """Return all processes; none on a system without /proc."""
    found = {}
    with suppress(OSError):
        for entry in os.listdir("/proc"):
            if entry.isdigit() and (process := process_entry(int(entry))):
                found[process.pid] = process
    return found


def process_entry(pid: int) -> ProcessEntry | None:
    """Return a process, or None if there is none of this number."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
            text = file.read()
        name, _, rest = text.partition("(")[2].rpartition(")")
        fields = rest.split()
        return ProcessEntry(pid, int(fields[1]), name, fields[0], int(fields[19]), int(fields[11]) + int(fields[12]))
    except (OSError, IndexError, ValueError):
        return None


def descendants(root: int, table: dict[int, ProcessEntry]) -> list[ProcessEntry]:
    """Return all processes below a process, parents first."""
    children: dict[int, list[ProcessEntry]] = {}
    for each in table.values():
        children.setdefault(each.parent, []).append(each)
    found, ahead = [], [root]
    while ahead:
        for each in children.get(ahead.pop(), ()):
            found.append(each)
            ahead.append(each.pid)
    return found


def other_ranks(root: int, watched: set[int], table: dict[int, ProcessEntry]) -> Iterator[tuple[int, ProcessEntry]]:
    """Yield rank and process of ranks below the launcher that have not connected: programs that are not Python."""
    seen = set(watched)
    for each in descendants(root, table):
        if each.parent in seen or each.pid in seen:  # a subprocess of a rank is not that rank
            seen.add(each.pid)
            continue
        rank = _rank_in_environment(each.pid)
        is_parent = any(child.pid in watched for child in descendants(each.pid, table))  # a shell that starts the rank
        if rank is not None and each.state != "Z" and not is_parent:
            seen.add(each.pid)
            yield rank, each


def _rank_in_environment(pid: int) -> int | None:
    with suppress(OSError, ValueError), open(f"/proc/{pid}/environ", "rb") as file:
        for entry in file.read().split(b"\0"):
            for name in RANK_VARIABLES:
                if entry.startswith(name):
                    return int(entry[len(name) :])
    return None


def file_lock_waits() -> dict[int, int]:
    """Return, for each process that waits for a lock of a file, the process that holds it.

    In /proc/locks, a line with an arrow is a process that waits for the lock of the same number.
    """
    holders: dict[str, int] = {}
    waits: dict[int, int] = {}
    with suppress(OSError, ValueError), open("/proc/locks", encoding="ascii") as file:
        for line in file:
            number, *fields = line.split()
            if fields[0] == "->":
                if number in holders:
                    waits[int(fields[4])] = holders[number]
            else:
                holders[number] = int(fields[3])
    return waits
