"""Wrappers of calls that create or free communicators, of calls that a replay cannot execute, and of Abort."""

from __future__ import annotations

from typing import Any

from fakempi.apps.record.point import Replace
from fakempi.apps.record.rank_recording import RankRecording

CREATE = (
    "Dup", "Dup_with_info", "Clone", "Split", "Split_type", "Create", "Create_cart", "Create_graph", "Create_dist_graph",
    "Create_dist_graph_adjacent", "Sub", "Shrink",
)  # fmt: skip
"""Calls of all ranks of a communicator that create others."""

CREATE_AMONG = ("Create_group", "Create_from_group", "Create_intercomm", "Create_from_groups", "Merge", "Idup",
                "Idup_with_info")  # fmt: skip
"""Calls of some ranks, or nonblocking ones."""

UNSUPPORTED_OF_COMM = (
    "Psend_init", "Precv_init", "Spawn", "Spawn_multiple", "Accept", "Connect", "Join", "Revoke", "Agree", "Iagree",
    "Ishrink",
    *(f"{prefix}{name}{form}" for name in ("allgather", "allgatherv", "alltoall", "alltoallv", "alltoallw")
      for prefix, form in (("Neighbor_", ""), ("Ineighbor_", ""), ("Neighbor_", "_init"))),
    "neighbor_allgather", "neighbor_alltoall",
)  # fmt: skip

LOCAL = ("Get_", "Set_", "Call_", "Create_errhandler", "Create_keyval", "Delete_attr", "Free_keyval", "Shared_query")
"""Beginnings of names of methods of windows and files that communicate nothing."""


def install(recording: RankRecording, replace: Replace) -> None:
    """Replace the remaining methods that communicate."""
    mpi = recording.mpi
    for kind in (mpi.Comm, mpi.Intracomm, mpi.Intercomm, mpi.Topocomm, mpi.Cartcomm):
        for name in CREATE:
            if name in kind.__dict__:
                replace(kind, name, _create(recording, kind.__dict__[name], all_ranks=True))
        for name in CREATE_AMONG:
            if name in kind.__dict__:
                replace(kind, name, _create(recording, _callable(kind, name), all_ranks=False))
        for name in UNSUPPORTED_OF_COMM:
            if name in kind.__dict__:
                replace(kind, name, _unsupported(recording, kind, name))
    for name in ("Free", "free", "Disconnect"):
        if name in mpi.Comm.__dict__:
            replace(mpi.Comm, name, _free(recording, mpi.Comm.__dict__[name]))
    for kind in (mpi.Win, mpi.File):
        for name in list(kind.__dict__):
            if name[0].isupper() and not name.startswith(LOCAL):
                replace(kind, name, _unsupported(recording, kind, name))
    replace(mpi.Comm, "Abort", _abort(recording, mpi.Comm.__dict__["Abort"]))


def _callable(kind: type[Any], name: str) -> Any:
    """Return a method, or a function with the class as its first parameter that calls a class method."""
    found = kind.__dict__[name]
    if not isinstance(found, classmethod | staticmethod):
        return found
    bound = getattr(kind, name)
    return lambda cls, *args, **keywords: bound(*args, **keywords)


def _create(recording: RankRecording, original: Any, all_ranks: bool) -> Any:
    log, now, communicators = recording.log, recording.log.now, recording.communicators

    def create(self: Any, *args: Any, **keywords: Any) -> Any:
        if recording.is_foreign("create"):
            return original(self, *args, **keywords)
        parent = communicators.number(self) if all_ranks else None
        between = all_ranks and self.Is_inter()
        start = now()
        result = original(self, *args, **keywords)
        end = now()
        new = result[0] if isinstance(result, tuple) else result  # Idup returns a request, too
        if new != recording.mpi.COMM_NULL:
            communicators.add(new, parent)
        elif parent is not None:
            communicators.count(parent)
        if parent is None or between:
            log.skip(start, end, log.site(1))
        else:
            log.event("coll", start, end, log.site(1), f"create {parent} 0 0 1 c - -")
        return result

    return create


def _free(recording: RankRecording, original: Any) -> Any:
    log, now, communicators = recording.log, recording.log.now, recording.communicators

    def free(self: Any) -> Any:
        if recording.is_foreign("Free"):
            return original(self)
        handle = communicators.handle(self)
        start = now()
        original(self)
        log.skip(start, now(), log.site(1))
        communicators.forget(handle)
        return None

    return free


def _unsupported(recording: RankRecording, kind: type[Any], name: str) -> Any:
    log, now, original = recording.log, recording.log.now, _callable(kind, name)
    full_name = f"{kind.__name__}.{name}"

    def unsupported(self: Any, *args: Any, **keywords: Any) -> Any:
        start = now()
        result = original(self, *args, **keywords)
        if not recording.is_foreign(full_name):
            log.event("other", start, now(), log.site(1), full_name)
        return result

    return unsupported


def _abort(recording: RankRecording, original: Any) -> Any:
    def abort(self: Any, errorcode: int = 0) -> Any:
        recording.log.end("Abort")
        return original(self, errorcode)

    return abort
