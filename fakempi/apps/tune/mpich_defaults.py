"""The decisions of MPICH 5.0 for every collective, in the form of its selection file.

The file that MPIR_CVAR_COLL_SELECTION_TUNING_JSON_FILE names replaces all of these: MPICH 5.0.2 ends with a failed assertion
at the first call of a collective that is not in it. The decisions are those of maint/tuning/coll/mpir/generic.json, which
the library contains; a test compares them with the library. A string is the name of an algorithm without `MPIR_`; the keys
of a mapping are conditions, tested in this order.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, TypeAlias

Tree: TypeAlias = "str | Mapping[str, Tree]"

KINDS: Final = ("comm_type=intra", "comm_type=inter")
OPS: Final = ("is_op_built_in=yes", "is_op_built_in=no")
IN_PLACE: Final = ("is_sendbuf_inplace=yes", "is_sendbuf_inplace=no")
COMMUTATIVE: Final = ("is_commutative=yes", "is_commutative=no")
POWER: Final = ("comm_size=pow2", "comm_size=any")
NODES: Final = ("comm_hierarchy=parent", "comm_hierarchy=any")


def branch(conditions: tuple[str, ...], *trees: Tree) -> Tree:
    """Return a tree with one subtree for each condition."""
    return dict(zip(conditions, trees, strict=True))


def by_size(measure: str, *limits_and_trees: object) -> Tree:
    """Return a tree with subtrees up to limits such as "<=8", and a last subtree without a limit."""
    *pairs, last = limits_and_trees
    branches = {f"{measure}{limit}": tree for limit, tree in zip(pairs[::2], pairs[1::2], strict=True)}
    return {**branches, f"{measure}=any": last}  # type: ignore[dict-item]  # limits and trees alternate


def for_built_in_ops(short: str, long: str) -> Tree:
    """The condition of Rabenseifner's algorithm: a predefined op, and at least as many elements as the power of two <= p."""
    return branch(OPS, {"count<pow2": short, "count=any": long}, short)


def _bcast(name: str, relation: str) -> tuple[Tree, Tree, Tree]:
    short, doubling, ring = (
        f"{name}_{how}" for how in ("binomial", "scatter_recursive_doubling_allgather", "scatter_ring_allgather")
    )
    fewer_than_8_ranks: Tree = {"avg_msg_size=any": short}
    powers = by_size("avg_msg_size", f"{relation}12288", short, f"{relation}524288", doubling, ring)
    return fewer_than_8_ranks, powers, by_size("avg_msg_size", f"{relation}12288", short, ring)


def _with_empty(tree: Tree, smp: Tree) -> Tree:
    """The decisions of a communicator with several ranks per node: another tree for messages without data."""
    assert not isinstance(tree, str)
    return branch(NODES, {"avg_msg_size<=0": smp, **tree}, tree)


def _gathered(name: str, doubling: str, brucks: str, ring: str, inter: str) -> Tree:
    intra = branch(
        POWER,
        by_size("total_msg_size", "<524288", f"{name}_intra_{doubling}", f"{name}_intra_{ring}"),
        by_size("total_msg_size", "<81920", f"{name}_intra_{brucks}", f"{name}_intra_{ring}"),
    )
    return branch(KINDS, intra, f"{name}_inter_{inter}")


def _reduce(name: str) -> Tree:
    long = for_built_in_ops(f"{name}_binomial", f"{name}_reduce_scatter_gather")
    return by_size("avg_msg_size", "<=2048", f"{name}_binomial", long)


def _reduce_scattered(name: str, sched: str, *, regular: bool, inter: str) -> Tree:
    doubling = f"{name}_intra_{sched}recursive_doubling"
    in_order: Tree = branch(POWER, f"{name}_intra_{sched}noncommutative", doubling)
    if regular:
        in_order = {"is_block_regular=yes": in_order, "is_block_regular=no": doubling}
    halving, pairwise = f"{name}_intra_{sched}recursive_halving", f"{name}_intra_{sched}pairwise"
    intra = branch(COMMUTATIVE, by_size("total_msg_size", "<524288", halving, pairwise), in_order)
    return branch(KINDS, intra, f"{name}_inter_{sched}{inter}")


def _alltoall(name: str, sched: str, short: int, scattered: str, in_place: str) -> Tree:
    medium, pairwise = f"{name}_intra_{sched}{scattered}", f"{name}_intra_{sched}pairwise"
    fewer_than_8 = by_size("avg_msg_size", "<=32768", medium, pairwise)
    at_least_8 = by_size("avg_msg_size", f"<={short}", f"{name}_intra_{sched}brucks", "<=32768", medium, pairwise)
    return _by_place(name, sched, in_place, branch(("comm_size<8", "comm_size=any"), fewer_than_8, at_least_8))


def _by_place(name: str, sched: str, in_place: str, other: Tree) -> Tree:
    intra = branch(IN_PLACE, f"{name}_intra_{sched}{in_place}", other)
    return branch(KINDS, intra, f"{name}_inter_{sched}pairwise_exchange")


def _rooted(name: str, sched: str, short: str, long: str) -> Tree:
    inter = by_size("total_msg_size", "<2048", f"{name}_inter_{sched}{short}", f"{name}_inter_{sched}{long}")
    return branch(KINDS, f"{name}_intra_{sched}binomial", inter)


BCAST: Final = dict(zip(("comm_size<8", *POWER), _bcast("Bcast_intra", "<="), strict=True))
ALLREDUCE: Final = for_built_in_ops("Allreduce_intra_recursive_doubling", "Allreduce_intra_reduce_scatter_allgather")
IALLREDUCE: Final = for_built_in_ops(
    "Iallreduce_intra_sched_recursive_doubling", "Iallreduce_intra_sched_reduce_scatter_allgather"
)
IBCAST: Final = dict(zip(("comm_size<8", *POWER), _bcast("Ibcast_intra_sched", "<"), strict=True))
REPLACE: Final = "pairwise_sendrecv_replace"
NEIGHBORS: Final = ("allgather", "allgatherv", "alltoall", "alltoallv", "alltoallw")

DEFAULTS: Final[Mapping[str, Tree]] = {
    "bcast": branch(
        KINDS, {size: _with_empty(tree, "Bcast_intra_smp") for size, tree in BCAST.items()},
        "Bcast_inter_remote_send_local_bcast",
    ),
    "allreduce": branch(
        KINDS,
        by_size(
            "avg_msg_size", "<=0", branch(COMMUTATIVE, "Allreduce_intra_smp", "Allreduce_intra_recursive_doubling"),
            "<=8", "Allreduce_intra_recursive_doubling", ALLREDUCE,
        ),
        "Allreduce_inter_reduce_exchange_bcast",
    ),
    "allgather": _gathered("Allgather", "recursive_doubling", "brucks", "ring", "local_gather_remote_bcast"),
    "allgatherv": _gathered("Allgatherv", "recursive_doubling", "brucks", "ring", "remote_gather_local_bcast"),
    "reduce": branch(
        KINDS, _with_empty(_reduce("Reduce_intra"), branch(COMMUTATIVE, "Reduce_intra_smp", "Reduce_intra_binomial")),
        "Reduce_inter_local_reduce_remote_send",
    ),
    "reduce_scatter": _reduce_scattered("Reduce_scatter", "", regular=True, inter="remote_reduce_local_scatter"),
    "reduce_scatter_block": _reduce_scattered(
        "Reduce_scatter_block", "", regular=False, inter="remote_reduce_local_scatter"
    ),
    "gather": _rooted("Gather", "", "local_gather_remote_send", "linear"),
    "scatter": _rooted("Scatter", "", "remote_send_local_scatter", "linear"),
    "gatherv": "Gatherv_allcomm_linear",
    "scatterv": "Scatterv_allcomm_linear",
    "scan": branch(
        KINDS,
        branch(("is_node_consecutive=yes", "is_node_consecutive=no"), "Scan_intra_smp", "Scan_intra_recursive_doubling"),
        "Scan_intra_smp",
    ),
    "exscan": "Exscan_intra_recursive_doubling",
    "barrier": branch(
        KINDS, branch(NODES, "Barrier_intra_smp", "Barrier_intra_k_dissemination(k=2)"), "Barrier_inter_bcast"
    ),
    "alltoall": _alltoall("Alltoall", "", 256, "scattered", REPLACE),
    "alltoallv": _by_place("Alltoallv", "", REPLACE, "Alltoallv_intra_scattered"),
    "alltoallw": _by_place("Alltoallw", "", REPLACE, "Alltoallw_intra_scattered"),
    **{f"neighbor_{each}": f"Neighbor_{each}_allcomm_nb" for each in NEIGHBORS},
    "ibarrier": branch(KINDS, "Ibarrier_intra_sched_recursive_doubling", "Ibarrier_inter_sched_bcast"),
    "iallreduce": branch(
        KINDS, by_size("avg_msg_size", "<=2048", "Iallreduce_intra_sched_recursive_doubling", IALLREDUCE),
        "Iallreduce_inter_sched_remote_reduce_local_bcast",
    ),
    "iallgather": _gathered(
        "Iallgather", "sched_recursive_doubling", "sched_brucks", "sched_ring", "sched_local_gather_remote_bcast"
    ),
    "iallgatherv": _gathered(
        "Iallgatherv", "sched_recursive_doubling", "sched_brucks", "sched_ring", "sched_remote_gather_local_bcast"
    ),
    "ibcast": branch(KINDS, branch(NODES, "Ibcast_intra_sched_smp", IBCAST), "Ibcast_inter_sched_flat"),
    "ireduce": branch(
        KINDS,
        branch(
            NODES, branch(COMMUTATIVE, "Ireduce_intra_sched_smp", "Ireduce_intra_sched_binomial"),
            _reduce("Ireduce_intra_sched"),
        ),
        "Ireduce_inter_sched_local_reduce_remote_send",
    ),
    "ireduce_scatter": _reduce_scattered("Ireduce_scatter", "sched_", regular=True, inter="remote_reduce_local_scatterv"),
    "ireduce_scatter_block": _reduce_scattered(
        "Ireduce_scatter_block", "sched_", regular=False, inter="remote_reduce_local_scatterv"
    ),
    "igather": _rooted("Igather", "sched_", "short", "long"),
    "iscatter": _rooted("Iscatter", "sched_", "remote_send_local_scatter", "linear"),
    "igatherv": "Igatherv_allcomm_sched_linear",
    "iscatterv": "Iscatterv_allcomm_sched_linear",
    "iscan": branch(NODES, "Iscan_intra_sched_smp", "Iscan_intra_sched_recursive_doubling"),
    "iexscan": "Iexscan_intra_sched_recursive_doubling",
    "ialltoall": _alltoall("Ialltoall", "sched_", 2048, "permuted_sendrecv", "inplace"),
    "ialltoallv": _by_place("Ialltoallv", "sched_", "inplace", "Ialltoallv_intra_sched_blocked"),
    "ialltoallw": _by_place("Ialltoallw", "sched_", "inplace", "Ialltoallw_intra_sched_blocked"),
    **{f"ineighbor_{each}": f"Ineighbor_{each}_allcomm_sched_linear" for each in NEIGHBORS},
}  # fmt: skip
