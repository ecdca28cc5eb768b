"""Memory of a child that calls and pending operations use: its changed parts, and the end of its use."""

from __future__ import annotations

import weakref
from typing import Any

from fakempi.mpi.datatypes.datatype import Datatype
from fakempi.mpi.files.file import File
from fakempi.mpi.point.persistent import Prequest
from fakempi.mpi.point.request import Request
from fakempi.mpi.windows.win import Win
from fakempi.processes.mirrors import Mirror
from fakempi.processes.objects import Objects

CLOSING = (
    "Fence", "Unlock", "Unlock_all", "Complete", "Flush", "Flush_all", "Flush_local", "Flush_local_all", "Free", "free",
)  # fmt: skip
"""Calls of a window that complete operations."""


class PendingMemory:
    """The memory of pending operations of one child."""

    def __init__(self, objects: Objects) -> None:
        self.objects = objects
        self.requests: dict[int, tuple[Any, list[Mirror]]] = {}
        self.pending: dict[int, tuple[Any, list[Mirror]]] = {}  # of operations of a window or file
        self.windows: list[tuple[Any, Mirror]] = []
        self.attached: list[Mirror] = []

    def writes(
        self, name: str, args: tuple[Any, ...], value: Any, arrived: list[Mirror], targets: list[Any], kept: dict[int, int]
    ) -> list[Any]:
        """Return the changes of calls to the child's memory; `kept` receives the memory that is still in use."""
        writes: list[Any] = []
        owner = value if isinstance(value, Request) else None
        if owner is None and arrived:
            owner = next((one for one in targets if isinstance(one, Win) or name.endswith("_begin")), None)
            if name == "Create" and isinstance(value, Win):
                self.windows.append((weakref.ref(value), arrived[0]))
                kept[arrived[0].number] = 1
            elif name == "Attach_buffer":
                self.attached += arrived
                kept.update((one.number, 0) for one in arrived)
        if owner is not None and arrived:
            for mirror in arrived:
                mirror.exact = not _is_plain(mirror, args)
            table = self.requests if isinstance(owner, Request) else self.pending
            key = id(owner)
            known = table.get(key)
            if known is None:
                known = table[key] = (weakref.ref(owner, lambda _: table.pop(key, None)), [])
            known[1].extend(arrived)
            kept.update((one.number, 0) for one in arrived)
        for mirror in arrived:
            changes = mirror.changes(mirror.exact)
            if changes:
                writes.append((mirror.number, changes, False))
        for one in targets:
            self._complete(name, one, writes)
        for window, mirror in self.windows[:]:
            found = window()
            freed = found is None or not found
            changes = mirror.changes()
            if changes or freed:
                writes.append((mirror.number, changes, freed))
            if freed:
                self.windows.remove((window, mirror))
        return writes

    def _complete(self, name: str, target: Any, writes: list[Any]) -> None:
        """Add the changes of memory that pending operations of a request, window or file use."""
        table = self.requests if isinstance(target, Request) else self.pending
        known = table.get(id(target))
        if known is None:
            return
        if isinstance(target, Request):
            over = not target and not isinstance(target, Prequest)
        else:
            over = name.endswith("_end") if isinstance(target, File) else name in CLOSING
        for mirror in known[1]:
            changes = mirror.changes(mirror.exact)
            if changes or over:
                writes.append((mirror.number, changes, over))
            if over:
                self._drop(mirror)
        if over:
            table.pop(id(target), None)

    def forget(self, arrived: list[Mirror], kept: dict[int, int]) -> None:
        """Free memory of a call that no pending operation uses."""
        for mirror in arrived:
            if mirror.number not in kept:
                self._drop(mirror)

    def _drop(self, mirror: Mirror) -> None:
        self.objects.mirrors.pop(mirror.number, None)
        self.objects.by_object.pop(id(mirror.obj), None)


def _is_plain(mirror: Mirror, args: tuple[Any, ...]) -> bool:
    """Return whether an operation uses contiguous memory from its start, so that no other one writes in between."""
    for arg in args:
        if arg is mirror.obj:
            return True
        if isinstance(arg, (list, tuple)) and arg and arg[0] is mirror.obj:
            return len(arg) <= 3 and all(
                isinstance(one, int | str) or (isinstance(one, Datatype) and one.is_predefined) for one in arg[1:]
            )
    return False
