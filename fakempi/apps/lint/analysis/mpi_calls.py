"""Names of the methods of communicators, by what the analysis needs to know about them."""

from __future__ import annotations

EVERYWHERE = {"bcast", "allreduce", "allgather", "Allgather", "Allgatherv", "Allreduce", "Bcast"}
"""Collective calls whose result, or receive buffer, is the same on all ranks."""
ROOTED = {"bcast", "gather", "scatter", "reduce", "Bcast", "Gather", "Gatherv", "Scatter", "Scatterv", "Reduce"}
"""Collective calls with a root."""
AT_ROOT = {"gather", "reduce"}
"""Collective calls that return None except on the root."""
OTHER = {
    "alltoall", "Alltoall", "Alltoallv", "Alltoallw", "barrier", "Barrier", "scan", "exscan", "Scan", "Exscan",
    "Reduce_scatter", "Reduce_scatter_block",
}  # fmt: skip
CREATION = {"Dup", "Dup_with_info", "Split", "Split_type", "Create", "Create_cart", "Create_graph", "Create_dist_graph"}
"""Collective calls that create a communicator."""
PARTS = {"Split", "Split_type", "Create", "Create_group", "Sub", "Create_from_group", "Create_intercomm", "Spawn"}
"""Calls that create a communicator that may have a part of the ranks."""
NONBLOCKING_COLLECTIVES = {
    "Ibarrier", "Ibcast", "Igather", "Igatherv", "Iscatter", "Iscatterv", "Iallgather", "Iallgatherv", "Ialltoall",
    "Ialltoallv", "Ialltoallw", "Ireduce", "Iallreduce", "Ireduce_scatter", "Ireduce_scatter_block", "Iscan", "Iexscan",
}  # fmt: skip
COLLECTIVES = EVERYWHERE | ROOTED | OTHER | CREATION | NONBLOCKING_COLLECTIVES

BLOCKING_SENDS = {"send", "Send", "ssend", "Ssend"}
"""Sends that may wait for the receiver; `bsend` and `rsend` do not."""
NONBLOCKING_SENDS = {"isend", "Isend", "issend", "Issend", "ibsend", "Ibsend", "irsend", "Irsend"}
SENDS = BLOCKING_SENDS | NONBLOCKING_SENDS | {"bsend", "Bsend", "rsend", "Rsend"}
RECEIVES = {"recv", "Recv", "irecv", "Irecv", "mrecv", "Mrecv"}
MESSAGES = SENDS | RECEIVES | {"sendrecv", "Sendrecv", "Sendrecv_replace"}
NONBLOCKING = NONBLOCKING_SENDS | {"irecv", "Irecv"} | NONBLOCKING_COLLECTIVES
OF_TWO_BUFFERS = {
    "Gather", "Gatherv", "Scatter", "Scatterv", "Allgather", "Allgatherv", "Alltoall", "Reduce", "Allreduce", "Scan",
    "Exscan",
}  # fmt: skip
OF_BUFFERS = OF_TWO_BUFFERS | {
    "Send", "Ssend", "Bsend", "Rsend", "Recv", "Isend", "Issend", "Ibsend", "Irsend", "Irecv", "Bcast", "Ibcast",
}  # fmt: skip
"""Calls whose first argument is a buffer."""
HARMLESS = {
    "Get_rank", "Get_size", "Get_name", "Set_name", "Abort", "Is_inter", "Is_intra", "Get_group", "Iprobe", "iprobe",
    "Probe", "probe", "Get_attr", "Set_attr", "Free", "Disconnect", "py2f", "Get_topology", "Get_coords", "Get_cart_rank",
    "Shift", "Get_topo", "Get_dim", "Set_errhandler", "Get_errhandler", "Get_remote_size", "Create_group",
}  # fmt: skip
COMMUNICATOR_NAMES = {"comm", "mpi_comm", "mpicomm", "world_comm", "comm_world", "COMM", "COMM_WORLD", "intracomm"}
RANK_NAMES = {"rank", "my_rank", "myrank", "mpi_rank", "world_rank", "comm_rank", "RANK"}
SIZE_NAMES = {"comm_size", "mpi_size", "world_size", "nprocs"}
METHODS = COLLECTIVES | MESSAGES | HARMLESS


def family(operation: str) -> str:
    """Return the name under which calls of different ranks match: Gather and Gatherv may do so."""
    if operation.startswith("I") and operation in NONBLOCKING_COLLECTIVES:
        return operation.rstrip("vw")
    return "barrier" if operation == "Barrier" else operation.rstrip("vw")
