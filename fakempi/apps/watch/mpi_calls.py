"""Names and parameters of the MPI calls of mpi4py that can block."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_BUFFERS = ("Send", "Ssend", "Bsend", "Rsend", "Isend", "Issend", "Ibsend", "Irsend")
_PARAMETERS = {
    **dict.fromkeys((*_BUFFERS, *(name.lower() for name in _BUFFERS)), "buf dest tag"),
    **dict.fromkeys(("Recv", "recv", "Irecv", "irecv"), "buf source tag"),
    **dict.fromkeys(("Probe", "probe", "Mprobe", "mprobe"), "source tag"),
    **dict.fromkeys(("Sendrecv", "sendrecv"), "sendbuf dest sendtag recvbuf source recvtag"),
    "Sendrecv_replace": "buf dest sendtag source recvtag",
    **dict.fromkeys(("Bcast", "bcast", "gather", "scatter", "Ibcast"), "buf root"),
    **dict.fromkeys(("Gather", "Gatherv", "Scatter", "Scatterv"), "sendbuf recvbuf root"),
    **dict.fromkeys(("Reduce", "Ireduce"), "sendbuf recvbuf op root"),
    "reduce": "obj op root",
}
PARAMETERS: Mapping[str, tuple[str, ...]] = {name: tuple(text.split()) for name, text in _PARAMETERS.items()}

SENDS = frozenset(name for name, text in _PARAMETERS.items() if "dest" in text.split())
RECEIVES = frozenset(name for name, text in _PARAMETERS.items() if "source" in text.split())

_COLLECTIVE_NAMES = """
    barrier bcast gather gatherv scatter scatterv allgather allgatherv alltoall alltoallv alltoallw reduce allreduce scan
    exscan reduce_scatter reduce_scatter_block neighbor_allgather neighbor_allgatherv neighbor_alltoall neighbor_alltoallv
    neighbor_alltoallw split split_type dup dup_with_info clone create create_cart create_graph create_dist_graph
    create_dist_graph_adjacent create_intercomm merge spawn spawn_multiple accept connect disconnect open close fence free
    write_all read_all write_at_all read_at_all agree shrink
"""
COLLECTIVES = frozenset(_COLLECTIVE_NAMES.split())
WAITS = frozenset(("wait", "waitall", "waitany", "waitsome"))
"""In lower case."""



def operation(call: Mapping[str, Any]) -> str:
    """Return the collective operation, in lower case and without the I of a nonblocking call; empty for other calls."""
    name = str(call.get("name", "")).lower()
    if name not in COLLECTIVES and name.startswith("i"):
        name = name[1:]
    return name if name in COLLECTIVES else ""


def is_mpi(call: Mapping[str, Any] | None) -> bool:
    """Return whether a call is one of mpi4py; without a known object, the name decides, if it is one of MPI's only."""
    if not call or "name" not in call:
        return False
    if call.get("module") in ("mpi4py.MPI", "mpi4py"):
        return True
    if "module" in call:
        return False
    name = str(call["name"])
    return name in PARAMETERS or (name[:1].isupper() and bool(operation(call))) or name in ("Wait", "Waitall")


def arguments(call: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values of the call's arguments by the names of parameters; unknown ones are absent."""
    names, found, position = PARAMETERS.get(str(call.get("name")), ()), {}, 0
    for each in call.get("arguments", ()):
        name = each.get("keyword")
        if name is None:
            name = names[position] if position < len(names) else ""
            position += 1
        name = {"obj": "buf", "sendobj": "buf"}.get(name, name)
        if name and "value" in each:
            found[name] = each["value"]
    return found


def given(call: Mapping[str, Any], name: str) -> bool:
    """Return whether the call specifies an argument, also if its value is unknown."""
    names = PARAMETERS.get(str(call.get("name")), ())
    positional = [each for each in call.get("arguments", ()) if each.get("keyword") is None]
    keywords = {each.get("keyword") for each in call.get("arguments", ())}
    return name in keywords or (name in names and names.index(name) < len(positional))
