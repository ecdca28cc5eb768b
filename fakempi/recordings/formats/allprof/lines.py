"""The fields of lines of liballprof."""

from __future__ import annotations

import re
from pathlib import Path
from struct import error as StructError
from typing import NoReturn

from fakempi.errors.recordings import RecordingError

WRONG = (ValueError, IndexError, OverflowError, StructError)
"""Exceptions of int, of lists and of struct for words that the tracer does not write."""

COMM_AT = {
    **dict.fromkeys(("Send", "Bsend", "Ssend", "Rsend", "Isend", "Ibsend", "Issend", "Irsend", "Recv", "Irecv", "Send_init",
                     "Bsend_init", "Ssend_init", "Rsend_init", "Recv_init"), 7),
    "Sendrecv": 12, "Sendrecv_replace": 9, "Barrier": 2, "Bcast": 6, "Gather": 9, "Scatter": 9, "Allgather": 8,
    "Alltoall": 8, "Reduce": 8, "Allreduce": 7, "Scan": 7, "Exscan": 7, "Reduce_scatter_block": 7, "Comm_split": 2,
    "Comm_dup": 2, "Comm_create": 2, "Cart_create": 2, "Graph_create": 2, "Cart_sub": 2, "Comm_rank": 2, "Comm_size": 2,
    **dict.fromkeys(("Gatherv", "Scatterv", "Allgatherv", "Alltoallv", "Reduce_scatter"), -2),
}  # fmt: skip
"""The field of the communicator by the name of the call; nonblocking collectives have a request after it."""

CREATIONS = ("MPI_Comm_split", "MPI_Comm_dup", "MPI_Comm_create", "MPI_Cart_create", "MPI_Graph_create", "MPI_Cart_sub")
POLLS = ("MPI_Test", "MPI_Testall", "MPI_Testany", "MPI_Testsome", "MPI_Iprobe")
LOCAL = re.compile(
    r"MPI_(Init|Init_thread|Finalize|Initialized|Finalized|Wtime|Wtick|Get_\w+|Comm_(rank|size|group|compare|free|get_\w+|"
    r"set_\w+|test_inter|remote_\w+|create_keyval|free_keyval|create_errhandler)|Group_\w+|Type_\w+|Op_create|Op_free|Attr_\w+|"
    r"Keyval_\w+|Errhandler_\w+|Error_\w+|Pack\w*|Unpack\w*|Address|Cart_(coords|rank|shift|get|map)|Cartdim_get|Dims_create|"
    r"Graph_(get|map|neighbors\w*)|Graphdims_get|Topo_test|Probe|Buffer_\w+|Info_\w+|Alloc_mem|Free_mem|Pcontrol|"
    r"Query_thread|Is_thread_main|Status_\w+|Request_get_status|Abort)"
)
"""Calls without an effect in a replay. Probe is one: the receive that follows waits for the message."""


def comm_at(fields: list[str]) -> int | None:
    """Return the field of the communicator; None if the call has none."""
    name = fields[0][4:]
    at = COMM_AT.get(name)
    if at is None and name[:1] == "I":
        at = COMM_AT.get(name[1:].capitalize())
        if at is not None and at < 0:
            at -= 1
    return at


def reject(path: Path, number: int, line: bytes) -> NoReturn:
    """Raise RecordingError for a line."""
    text = line[:60].decode("ascii", "replace").strip()
    raise RecordingError(f"not a line of liballprof: {text!r}.", path, line=number) from None


def nbytes(count: str, datatype: str) -> int:
    """Return the bytes of a number of elements."""
    return int(count) * int(datatype.split(",")[1])


def itemsize(datatype: str) -> int:
    """Return the bytes of an element."""
    return int(datatype.split(",")[1])
