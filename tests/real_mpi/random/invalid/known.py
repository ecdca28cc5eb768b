"""Invalid calls for which MPICH returns another class than fakempi or no error; docs/conformance.md has the reasons.

For each case: what MPICH observes ("accepted" for no error), what fakempi observes, and a sentence.
"""

from __future__ import annotations

from typing import Any

ACCEPTED = "accepted"
UNCHECKED = "MPICH does not check some arguments"
CLASS = "MPICH returns a more general error class"

KNOWN: dict[str, tuple[tuple[str, ...], tuple[str, ...], str]] = {
    "Attach_buffer twice": (("ERR_OTHER",), ("ERR_BUFFER",), CLASS),
    "collective: IN_PLACE": ((ACCEPTED,), ("ERR_BUFFER",), UNCHECKED),
    "Group.Incl twice": ((ACCEPTED,), ("ERR_RANK",), UNCHECKED),
    "Group.Excl twice": ((ACCEPTED, "ERR_OTHER"), ("ERR_RANK",), UNCHECKED),
    "Split: color": ((ACCEPTED,), ("ERR_ARG",), UNCHECKED),
    "Set_info: null": (("ERR_ARG",), (ACCEPTED,), "MPICH rejects MPI.INFO_NULL in Comm.Set_info"),
    "Create_dist_graph_adjacent: source": ((ACCEPTED,), ("ERR_RANK",), UNCHECKED),
    "Create_dist_graph_adjacent: destination": ((ACCEPTED,), ("ERR_RANK",), UNCHECKED),
    "Cart_map: dims": ((ACCEPTED,), ("ERR_DIMS",), UNCHECKED),
    "Graph_map": ((ACCEPTED,), ("ERR_ARG",), UNCHECKED),
    "Graph_map: edges": ((ACCEPTED,), ("ERR_ARG",), UNCHECKED),
    "Compute_dims: no nodes": ((ACCEPTED,), ("ERR_ARG",), UNCHECKED),
    "type: darray": ((ACCEPTED, "ERR_ARG"), ("ERR_ARG", "ERR_COUNT"), UNCHECKED),
    "type: subarray": ((ACCEPTED,), ("ERR_ARG", "ERR_COUNT"), UNCHECKED),
    "Pack_external: representation": ((ACCEPTED,), ("ERR_UNSUPPORTED_DATAREP",), UNCHECKED),
    "access to a rank that is not locked": ((ACCEPTED,), ("ERR_RMA_SYNC",), UNCHECKED),
    "Lock": (("ERR_ARG",), ("ERR_ASSERT", "ERR_LOCKTYPE"), CLASS),
    "Fence: assertion": (("ERR_ARG",), ("ERR_ASSERT",), CLASS),
    "Win.Detach": ((ACCEPTED,), ("ERR_RMA_ATTACH",), UNCHECKED),
    "access: PROC_NULL": (("ERR_ARG",), (ACCEPTED,), "mpi4py passes no buffers for PROC_NULL"),
    "File.Read_ordered: a file for writing": ((ACCEPTED,), ("ERR_ACCESS",), UNCHECKED),
    "File.Open: exists": (("ERR_OTHER",), ("ERR_FILE_EXISTS",), CLASS),
    "File: write a file for reading": (("ERR_IO",), ("ERR_READ_ONLY",), CLASS),
    "File.Set_size: read only": (("ERR_IO", ACCEPTED), ("ERR_READ_ONLY",), CLASS),
    "File.Set_view": (("ERR_ARG",), ("ERR_TYPE",), CLASS),
    "Register_datarep": (("ERR_UNSUPPORTED_DATAREP",), ("ERR_DUP_DATAREP",), "MPICH has no data representations to define"),
    "Info null": (("ERR_ARG",), ("ERR_INFO",), CLASS),
    "error code": ((ACCEPTED, "ERR_OTHER", "ERR_ARG"), ("ERR_ARG", "ERR_OTHER"), CLASS),
    "Close_port": ((ACCEPTED, "ERR_OTHER"), ("ERR_PORT",), CLASS),
}


def reason(case: str, real: Any, emulated: Any) -> str | None:
    """Why the observations of a case differ; None if the difference is not known."""
    theirs, ours, why = KNOWN.get(case, ((), (), ""))
    return why if _seen(real, theirs) and _seen(emulated, ours) else None


def _seen(observed: Any, expected: tuple[str, ...]) -> bool:
    if isinstance(observed, dict) and "error" in observed:
        return not set(observed["error"]).isdisjoint(expected)
    return ACCEPTED in expected  # the result of the call
