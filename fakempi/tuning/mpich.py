"""The decisions of MPICH, for ranks that all are a node of their own.

Source: github.com/pmodels/mpich, src/mpi/coll/coll_selection.json; in releases 4.x maint/tuning/coll/mpir/generic.json,
branches `comm_hierarchy=any`. The limits are also defaults of control variables, named beside them; where a variable
and the file differ, the file decides for blocking calls and is followed here. What `avg_msg_size` and `total_msg_size`
count is in src/mpi/coll/src/csel.c: the bytes of one message or block, and p times as many.

Algorithms that the catalogue lacks, and what is taken in their place:
    anything by nodes (`smp`)                       the one for flat groups
    allgatherv recursive doubling                   bruck: as many rounds and bytes where p is a power of two
    alltoall(v, w) scattered, 32 at a time          linear, all at once (MPIR_CVAR_ALLTOALL_THROTTLE)
    reduce_scatter(_block) noncommutative           reduce_scatterv, which keeps to rank order too
    reduce_scatter(_block) recursive doubling       likewise

Between two groups MPICH has one algorithm for most operations (src/mpi/coll/coll_algorithms.txt, `-inter`). Its allgather
gathers to the local root and broadcasts across, one direction after the other: root_gathering_mpich. Kang et al. compare
with that, for allgatherv too; MPICH 4 there gathers across and broadcasts locally, which is wmpi's way. For the rest wmpi
is of the same shape (bcast: remote send, local bcast; reduce: local reduce, remote send; gatherv, scatterv: linear), or
nearly so:
    allreduce: leaders exchange, then both groups broadcast     wmpi: one direction after the other
    barrier: local barriers, then a broadcast each way          wmpi: dissemination over both groups
    gather, scatter: short ones by way of the local root        wmpi: linear, which is MPICH's way for long ones
    reduce_scatter(_block): remote reduce, local scatter        wmpi: local reduce, remote scatter, a hop less
    alltoall(v, w): in rounds                                   wmpi: all at once
"""

from __future__ import annotations

from typing import Final

from fakempi.tuning.objects import by_mpi4py
from fakempi.tuning.rule import BETWEEN_GROUPS, Rule
from fakempi.tuning.table import PARTS_BY, Table

BCAST_MIN_PROCS: Final = 8  # MPIR_CVAR_BCAST_MIN_PROCS
BCAST_SHORT: Final = 12288  # MPIR_CVAR_BCAST_SHORT_MSG_SIZE
BCAST_LONG: Final = 524288  # MPIR_CVAR_BCAST_LONG_MSG_SIZE
ALLGATHER_SHORT: Final = 81920  # MPIR_CVAR_ALLGATHER_SHORT_MSG_SIZE; allgatherv too
ALLGATHER_LONG: Final = 524288  # MPIR_CVAR_ALLGATHER_LONG_MSG_SIZE; allgatherv too
ALLGATHERV_PIECE: Final = 32768  # MPIR_CVAR_ALLGATHERV_PIPELINE_MSG_SIZE
ALLTOALL_MIN_PROCS: Final = 8  # `comm_size<8`; csel.c compares with <=, so p = 8 itself goes the other way there
ALLTOALL_SHORT: Final = 256  # MPIR_CVAR_ALLTOALL_SHORT_MSG_SIZE
ALLTOALL_MEDIUM: Final = 32768  # MPIR_CVAR_ALLTOALL_MEDIUM_MSG_SIZE
REDUCE_SHORT: Final = 2048  # MPIR_CVAR_REDUCE_SHORT_MSG_SIZE
ALLREDUCE_SHORT: Final = 8  # `avg_msg_size<=8`; MPIR_CVAR_ALLREDUCE_SHORT_MSG_SIZE, for nonblocking calls, is 2048
REDUCE_SCATTER_LONG: Final = 524288  # MPIR_CVAR_REDUCE_SCATTER_COMMUTATIVE_LONG_MSG_SIZE

ALLGATHERV: Final = (
    Rule("bruck", power_of_two=True, total_below=ALLGATHER_LONG),
    Rule("bruck", total_below=ALLGATHER_SHORT),
    # allgatherv/allgatherv_intra_ring.c sends pieces of the smallest block, but not of less than that.
    Rule("blocked_ring", {"block_bytes": ("smallest", {"at_least": ALLGATHERV_PIECE})}),
)

REDUCE_SCATTER: Final = (
    Rule("recursive_halving", total_below=REDUCE_SCATTER_LONG, commutative=True),
    Rule("pairwise", commutative=True),
    Rule("reduce_scatterv"),
)

MPICH: Final = Table(
    "mpich",
    {
        ("intra", "barrier"): (Rule("dissemination"),),
        ("intra", "bcast"): (
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
            Rule("pairwise", in_place=True),
            Rule("bruck", p_at_least=ALLTOALL_MIN_PROCS, nbytes_at_most=ALLTOALL_SHORT),
            Rule("linear", nbytes_at_most=ALLTOALL_MEDIUM),
            # alltoall/alltoall_intra_pairwise.c: pairs if p is a power of two, else to rank + i and from rank - i.
            Rule("pairwise", power_of_two=True),
            Rule("spread"),
        ),
        ("intra", "alltoallv"): (Rule("pairwise", in_place=True), Rule("linear")),
        ("intra", "alltoallw"): (Rule("pairwise", in_place=True), Rule("linear")),
        ("intra", "reduce"): (
            Rule("binomial", nbytes_at_most=REDUCE_SHORT),
            Rule("rabenseifner", predefined_op=True, count_at_least="power of two"),
            Rule("binomial"),
        ),
        ("intra", "allreduce"): (
            by_mpi4py("allreduce"),
            Rule("recursive_doubling", nbytes_at_most=ALLREDUCE_SHORT),
            Rule("rabenseifner", predefined_op=True, count_at_least="power of two"),
            Rule("recursive_doubling"),
        ),
        ("intra", "reduce_scatter"): REDUCE_SCATTER,
        ("intra", "reduce_scatter_block"): REDUCE_SCATTER,
        ("intra", "scan"): (Rule("recursive_doubling"),),
        ("intra", "exscan"): (Rule("recursive_doubling"),),
        **dict.fromkeys(BETWEEN_GROUPS, (Rule("wmpi"),)),
        ("inter", "allgather"): (Rule("root_gathering_mpich"),),
        ("inter", "allgatherv"): (Rule("root_gathering_mpich"),),
    },
)

PARTS_BY["root_gathering_mpich"] = MPICH
