"""The decisions of MPICH.

Source: github.com/pmodels/mpich, src/mpi/coll/coll_selection.json; in releases 4.x maint/tuning/coll/mpir/generic.json,
branches `comm_hierarchy=any`. The limits are also defaults of control variables, named next to them. If a variable and the
file differ, this table uses the file, which applies to blocking calls. `avg_msg_size` is the number of bytes of one message
or block, and `total_msg_size` p times this number (src/mpi/coll/src/csel.c).

The node-aware algorithms (`smp`) are for messages without data, barriers and scans of communicators with several nodes and
several ranks on some of them; scans also need nodes with consecutive ranks. Their names here are smp (barrier) and
two_level. If p is not a power of two, allreduces and reduce_scatters first combine the operands of pairs of ranks; the odd
rank of a pair remains. With MPI_IN_PLACE, alltoalls exchange with ranks 0, 1, 2, ... (pairwise_sendrecv_replace).

Between two groups MPICH has one algorithm for most operations (src/mpi/coll/coll_algorithms.txt, `-inter`):
    barrier                        inter_bcast                    bcast
    bcast, reduce                  remote send, local bcast; local reduce, remote send: wmpi
    gather, scatter                through the leader if all blocks are short, otherwise linear: wmpi
    gatherv, scatterv              linear: wmpi
    allgather                      local gather, remote bcast, one direction after the other: root_gathering_mpich
    allgatherv                     remote gather, local bcast     remote_gather_local_bcast, the second group sends first
    allreduce                      reduce_exchange_bcast
    alltoall, alltoallv, alltoallw inter_pairwise_exchange        spread
    reduce_scatter(_block)         remote reduce, local scatter   reduce_then_scatter, the second group sends first

Remaining differences:
    elements            csel.c compares the number of elements of a gather or scatter between groups with a limit of bytes;
                        this table compares bytes, because ranks that describe a block by different types would otherwise
                        choose different algorithms and wait forever
    empty blocks        are not sent
Kang et al. compare with root_gathering_mpich for allgatherv, too.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from fakempi.tuning.objects import by_mpi4py
from fakempi.tuning.rule import BETWEEN_GROUPS, Rule
from fakempi.tuning.table import Table

BCAST_MIN_PROCS: Final = 8  # MPIR_CVAR_BCAST_MIN_PROCS
BCAST_SHORT: Final = 12288  # MPIR_CVAR_BCAST_SHORT_MSG_SIZE
BCAST_LONG: Final = 524288  # MPIR_CVAR_BCAST_LONG_MSG_SIZE
ALLGATHER_SHORT: Final = 81920  # MPIR_CVAR_ALLGATHER_SHORT_MSG_SIZE; allgatherv too
ALLGATHER_LONG: Final = 524288  # MPIR_CVAR_ALLGATHER_LONG_MSG_SIZE; allgatherv too
ALLGATHERV_PIECE: Final = 32768  # MPIR_CVAR_ALLGATHERV_PIPELINE_MSG_SIZE
ALLTOALL_MIN_PROCS: Final = 8  # `comm_size<8`; csel.c compares with <=, so p = 8 differs there
ALLTOALL_SHORT: Final = 256  # MPIR_CVAR_ALLTOALL_SHORT_MSG_SIZE
ALLTOALL_MEDIUM: Final = 32768  # MPIR_CVAR_ALLTOALL_MEDIUM_MSG_SIZE
INTER_SHORT: Final = 2048  # MPIR_CVAR_GATHER_INTER_SHORT_MSG_SIZE, MPIR_CVAR_SCATTER_INTER_SHORT_MSG_SIZE
REDUCE_SHORT: Final = 2048  # MPIR_CVAR_REDUCE_SHORT_MSG_SIZE
ALLREDUCE_SHORT: Final = 8  # `avg_msg_size<=8`; MPIR_CVAR_ALLREDUCE_SHORT_MSG_SIZE, for nonblocking calls, is 2048
REDUCE_SCATTER_LONG: Final = 524288  # MPIR_CVAR_REDUCE_SCATTER_COMMUTATIVE_LONG_MSG_SIZE

IN_CATALOGUE: Final[Mapping[tuple[str, str], str | tuple[str, ...]]] = {
    ("allgather", "brucks"): "bruck",
    ("allgatherv", "brucks"): "bruck",
    ("allgatherv", "ring"): "blocked_ring",
    ("allreduce", "reduce_scatter_allgather"): "rabenseifner",
    ("alltoall", "brucks"): "bruck",
    ("alltoall", "pairwise"): ("pairwise", "spread"),  # for powers of two, for other numbers of ranks
    ("allreduce", "smp"): "two_level",
    ("barrier", "k_dissemination"): "dissemination",
    ("bcast", "smp"): "two_level",
    ("reduce", "reduce_scatter_gather"): "rabenseifner",
    ("reduce", "smp"): "two_level",
    ("scan", "smp"): "two_level",
}
"""The names in the catalogue of MPICH's algorithms that have another name there."""

SMP: Final = Rule("two_level", placed=True, nbytes_at_most=0)  # messages without data

ALLGATHERV: Final = (
    Rule("recursive_doubling", power_of_two=True, total_below=ALLGATHER_LONG),
    Rule("bruck", total_below=ALLGATHER_SHORT),
    # allgatherv/allgatherv_intra_ring.c sends pieces of the smallest block's size, but at least of this size.
    Rule("blocked_ring", {"block_bytes": ("smallest", {"at_least": ALLGATHERV_PIECE})}),
)

ODD: Final = {"remaining": "odd"}
IN_PLACE: Final = Rule("pairwise", {"order": "ascending"}, in_place=True)  # pairwise_sendrecv_replace

REDUCE_SCATTER: Final = (
    Rule("recursive_halving", ODD, total_below=REDUCE_SCATTER_LONG, commutative=True),
    Rule("pairwise", {"partners": "spread"}, commutative=True),
    Rule("noncommutative", power_of_two=True, sizes_known=False),  # only for equal blocks
    Rule("recursive_doubling"),
)

MPICH: Final = Table(
    "mpich",
    {
        ("intra", "barrier"): (Rule("smp", placed=True), Rule("dissemination")),
        ("intra", "bcast"): (
            SMP,
            Rule("binomial", p_below=BCAST_MIN_PROCS),
            Rule("binomial", nbytes_at_most=BCAST_SHORT),
            Rule("scatter_recursive_doubling_allgather", power_of_two=True, nbytes_at_most=BCAST_LONG),
            Rule("scatter_ring_allgather"),
        ),
        ("intra", "gather"): (Rule("binomial"),),
        ("intra", "scatter"): (Rule("binomial"),),
        ("intra", "gatherv"): (Rule("linear"),),
        ("intra", "scatterv"): (Rule("linear"),),
        ("intra", "allgather"): (
            Rule("recursive_doubling", power_of_two=True, total_below=ALLGATHER_LONG),
            Rule("bruck", total_below=ALLGATHER_SHORT),
            Rule("ring"),
        ),
        ("intra", "allgatherv"): ALLGATHERV,
        ("intra", "alltoall"): (
            IN_PLACE,
            Rule("bruck", p_at_least=ALLTOALL_MIN_PROCS, nbytes_at_most=ALLTOALL_SHORT),
            Rule("scattered", nbytes_at_most=ALLTOALL_MEDIUM),
            # alltoall/alltoall_intra_pairwise.c: pairs if p is a power of two, otherwise to rank + i and from rank - i.
            Rule("pairwise", power_of_two=True),
            Rule("spread"),
        ),
        ("intra", "alltoallv"): (IN_PLACE, Rule("scattered")),
        ("intra", "alltoallw"): (IN_PLACE, Rule("scattered")),
        ("intra", "reduce"): (
            replace(SMP, commutative=True, objects=False),
            Rule("binomial", nbytes_at_most=REDUCE_SHORT),
            Rule("rabenseifner", {"keep_root": False}, predefined_op=True, count_at_least="power of two"),
            Rule("binomial"),
        ),
        ("intra", "allreduce"): (
            by_mpi4py("allreduce"),
            replace(SMP, commutative=True, objects=False),
            Rule("recursive_doubling", ODD, nbytes_at_most=ALLREDUCE_SHORT),
            Rule("rabenseifner", ODD, predefined_op=True, count_at_least="power of two"),
            Rule("recursive_doubling", ODD),
        ),
        ("intra", "reduce_scatter"): REDUCE_SCATTER,
        ("intra", "reduce_scatter_block"): REDUCE_SCATTER,
        ("intra", "scan"): (
            Rule("two_level", {"announce": True}, consecutive=True, objects=False),
            Rule("recursive_doubling"),
        ),
        ("intra", "exscan"): (Rule("recursive_doubling"),),
        **dict.fromkeys(BETWEEN_GROUPS, (Rule("wmpi"),)),
        ("inter", "barrier"): (Rule("bcast"),),
        ("inter", "gather"): (Rule("local_gather_remote_send", total_below=INTER_SHORT), Rule("wmpi")),
        ("inter", "scatter"): (Rule("remote_send_local_scatter", total_below=INTER_SHORT), Rule("wmpi")),
        ("inter", "allgather"): (Rule("root_gathering_mpich"),),
        ("inter", "allgatherv"): (Rule("remote_gather_local_bcast", {"first": False}),),  # the second group sends first
        ("inter", "allreduce"): (Rule("wmpi", objects=True), Rule("reduce_exchange_bcast")),
        **dict.fromkeys([("inter", f"alltoall{kind}") for kind in ("", "v", "w")], (Rule("spread"),)),
        **dict.fromkeys(
            [("inter", "reduce_scatter"), ("inter", "reduce_scatter_block")],
            (Rule("reduce_then_scatter", {"first": False}),),
        ),
    },
    has_known_names=True,
)
