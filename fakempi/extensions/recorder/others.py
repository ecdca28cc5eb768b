"""Calls that create or free communicators, calls that a replay cannot execute, and Abort."""

from __future__ import annotations

from typing import Any

from fakempi.extensions.recorder.rank_recording import RankRecording
from fakempi.extensions.recorder.wrapper import Describe, Lines, Maker, recorded

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



def _create(all_ranks: bool) -> Maker:
    """A call that creates a communicator: its ranks wait for each other."""

    def describe(recording: RankRecording) -> Describe:
        communicators = recording.communicators

        def lines(self: Any, result: Any, *args: Any, **keywords: Any) -> Lines:
            new = result[0] if isinstance(result, tuple) else result  # Idup returns a request, too
            parent = communicators.number(self) if all_ranks else None
            if new != recording.mpi.COMM_NULL:
                number = communicators.add(new, parent)
            elif parent is not None:
                communicators.count(parent)
            if all_ranks:
                return () if self.Is_inter() else (("coll", f"create {parent} 0 0 1 c - -"),)
            if new == recording.mpi.COMM_NULL or isinstance(result, tuple) or new.Is_inter():
                return ()
            return (("coll", f"create {number} 0 0 1 c - -"),)

        return lines

    return recorded(describe)


def _free(recording: RankRecording, original: Any) -> Any:
    log, now, communicators = recording.log, recording.log.now, recording.communicators

    def free(self: Any) -> Any:
        if recording.is_foreign("Free") or not self:
            return original(self)
        handle = communicators.handle(self)
        start = now()
        original(self)
        log.skip(start, now(), log.site(1))
        if not self:  # `free` does not free a predefined communicator
            communicators.forget(handle)
        return None

    return free


def _abort(recording: RankRecording, original: Any) -> Any:
    def abort(self: Any, errorcode: int = 0) -> Any:
        recording.log.end("Abort")
        return original(self, errorcode)

    return abort


def unsupported(kind: str, name: str) -> Maker:
    """Return the maker of a call that a replay cannot execute: it is counted by its name."""

    def describe(recording: RankRecording) -> Describe:
        return lambda self, result, *args, **keywords: (("other", f"{kind}.{name}"),)

    return recorded(describe)


def of_window_or_file(kind: str, name: str) -> Maker | None:
    """Return the maker of a method of Win or File; None for those that communicate nothing."""
    return unsupported(kind, name) if name[0].isupper() and not name.startswith(LOCAL) else None


OF_COMM: dict[str, Maker] = {
    **dict.fromkeys(CREATE, _create(all_ranks=True)),
    **dict.fromkeys(CREATE_AMONG, _create(all_ranks=False)),
    **{name: unsupported("Comm", name) for name in UNSUPPORTED_OF_COMM},
    **dict.fromkeys(("Free", "free", "Disconnect"), _free),
    "Abort": _abort,
}
"""Methods of communicators."""
