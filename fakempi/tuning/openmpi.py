"""The decisions of Open MPI's component `tuned`: grids of p and bytes, measured by its developers.

Source: github.com/open-mpi/ompi, releases 4.1 and 5.0, ompi/mca/coll/tuned/coll_tuned_decision_fixed.c, functions
ompi_coll_tuned_<operation>_intra_dec_fixed. Gatherv, scatterv, alltoallw, scan and exscan have no decision there; they
use component `basic` (ompi/mca/coll/basic/coll_basic_module.c), which has one algorithm for each. The fallbacks of an
algorithm for an unsuitable p or count are in ompi/mca/coll/base/coll_base_<operation>.c.

A broadcast with the name `binomial` uses the tree with doubling distances (coll_base_topo.c: build_bmtree), the other
operations the one with halving distances (build_in_order_bmtree). If p is not a power of two, reductions first combine the
operands of pairs of ranks; the odd rank of a pair remains, in Rabenseifner's algorithm the even one. With MPI_IN_PLACE,
alltoalls exchange with both ranks at distance 1, 2, ... (release 5.0).

Between two groups, component `inter` (ompi/mca/coll/inter) has one algorithm per operation, which gathers to, or scatters
from, rank 0 of a group, and component `basic` (ompi/mca/coll/basic) has those of barrier, reduce_scatter(_block) and the
alltoalls. Bcast and reduce are wmpi: a message between the root and rank 0 of the other group, and a local bcast or reduce.

Remaining differences, which change no partner and no order of operands:
    blocking calls      the root of a linear gather(v), scatter(v) or reduce, and a rank of a tree, post their messages one
                        after the other in Open MPI, or all at once; here linear operations post all, and trees one after the
                        other, which differs only if ranks call at different times
    sizes               Rabenseifner's pieces differ by an element if the power of two does not divide the count; counts that
                        are sent between groups have 8 bytes, not 4, so that blocks may have 2^31 elements
    halves              a reduce by Rabenseifner's algorithm, which is for 2 or 3 ranks and less than 8 bytes, folds whole
                        operands; Open MPI folds halves, as in its allreduce
    scratch memory      in place, an alltoallw copies all blocks, since a datatype may have gaps; Open MPI packs one block
    empty blocks        are not sent

A grid has Open MPI's names by upper limits of p and of bytes. `IN_CATALOGUE` has the corresponding rules.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final, TypeAlias

from fakempi.tuning.objects import by_mpi4py
from fakempi.tuning.rule import BETWEEN_GROUPS, Rule
from fakempi.tuning.table import Table

MORE: Final = None  # no upper limit
Cells: TypeAlias = str | Mapping[int | None, str]
Grid: TypeAlias = Mapping[int | None, Cells]

# segsize is 0 in all decisions: there are no segments. A chain's fan-out of 0 counts as 1: chain and pipeline are the same.
WHOLE: Final = {"segment_bytes": 1 << 62}
UNCUT: Final = Rule("chain", WHOLE)
BY_ROOT: Final = Rule("reduce_bcast", {"reduce": "linear", "bcast": "linear"})
DOUBLING: Final = (Rule("recursive_doubling", power_of_two=True), Rule("bruck"))
TO_THE_LEFT: Final = Rule("linear", {"order": "left"})
ASCENDING: Final = Rule("linear", {"order": "ascending"})
ODD: Final = {"remaining": "odd"}
RING: Final = (Rule("ring", count_at_least="p"), Rule("recursive_doubling", ODD))
HALVING: Final = (Rule("recursive_halving", ODD),)

IN_CATALOGUE: Final[Mapping[str, Mapping[str, tuple[Rule, ...]]]] = {
    "barrier": {"bruck": (Rule("dissemination"),), "tree": (Rule("binomial_tree"),)},
    "bcast": {
        "chain": (UNCUT,),
        "pipeline": (UNCUT,),
        "binary_tree": (Rule("binary", WHOLE),),
        "binomial": (Rule("binomial_doubling"),),  # gather, reduce and scatter use the tree with halving distances
        "knomial": (Rule("knomial", {"k": 4, "order": "ascending"}),),  # coll_tuned_bcast_algorithm_knomial_radix
        "split_binary_tree": (Rule("split_binary", WHOLE),),
        # Open MPI uses linear if count < p; but ranks may describe one message by different types and counts.
        "scatter_allgather": (Rule("scatter_recursive_doubling_allgather"),),
    },
    "gather": {},
    "scatter": {"linear_nb": (Rule("linear"),)},
    "allgather": {
        "recursive_doubling": DOUBLING,
        "neighbor": (Rule("neighbor_exchange", even=True), Rule("ring")),
        "two_proc": DOUBLING,  # one swap
    },
    "allgatherv": {
        "default": (Rule("gather_bcast"),),
        "neighbor": (Rule("neighbor_exchange", even=True), Rule("ring")),
        "two_proc": (Rule("ring"),),  # one swap
    },
    "alltoall": {
        "linear": (TO_THE_LEFT,),
        "linear_sync": (TO_THE_LEFT,),  # the limit of concurrent requests is 0 in all decisions: there is no limit
        "modified_bruck": (Rule("bruck"),),
        "pairwise": (Rule("spread"),),  # to rank + i and from rank - i, for any p
        "two_proc": (Rule("pairwise"),),
    },
    "alltoallv": {"linear": (ASCENDING,), "pairwise": (Rule("spread"),)},
    "reduce": {
        "chain": (UNCUT,),
        "pipeline": (UNCUT,),
        "binary": (Rule("binary", WHOLE),),
        "in_order_binary": (Rule("in_order_binary", WHOLE),),
        "rabenseifner": (Rule("rabenseifner", {"keep_root": False}, count_at_least="power of two"), Rule("linear")),
    },
    "allreduce": {
        "linear": (BY_ROOT,),
        "nonoverlapping": (Rule("reduce_bcast"),),
        "ring": RING,
        "segmented_ring": RING,  # equal to ring if segsize is 0
        "recursive_doubling": (Rule("recursive_doubling", ODD),),
        "rabenseifner": (Rule("rabenseifner", {"halves": True}, count_at_least="power of two"), BY_ROOT),
    },
    "reduce_scatter": {
        "nonoverlapping": (Rule("reduce_scatterv"),),
        "recursive_halving": HALVING,
        "butterfly": (Rule("butterfly", ODD),),
    },
    "reduce_scatter_block": {
        "recursive_halving": HALVING,
        "linear": (Rule("reduce_scatter"),),
        # Its butterfly for powers of two, which sends no block to its owner, is MPICH's algorithm for noncommutative ops.
        "butterfly": (Rule("noncommutative", power_of_two=True), Rule("butterfly", ODD)),
    },
}
"""The rules for Open MPI's names; a name that is not here is the catalogue's name, too."""


def grid(operation: str, rows: Grid, size: str = "nbytes_below", **conditions: bool) -> tuple[Rule, ...]:
    """Return the rules of a grid, row by row."""
    rules = []
    for p_below, cells in rows.items():
        for below, name in {MORE: cells}.items() if isinstance(cells, str) else cells.items():
            also: dict[str, Any] = {"p_below": p_below, size: below, **conditions}
            rules += [replace(rule, **also) for rule in IN_CATALOGUE[operation].get(name, (Rule(name),))]
    return tuple(rules)


# Abbreviations for the grids.
BF, BN, BR, IO, LN, LS = "butterfly", "binomial", "modified_bruck", "in_order_binary", "linear", "linear_sync"
NO, PW, RB, RD = "nonoverlapping", "pairwise", "rabenseifner", "recursive_doubling"
RH, SR, TWO = "recursive_halving", "segmented_ring", "two_proc"

BARRIER: Grid = {
    4: "recursive_doubling",
    8: "linear",
    64: "recursive_doubling",
    256: "bruck",
    512: "tree",
    1024: "bruck",
    4096: "tree",
    MORE: "bruck",
}

BCAST: Grid = {
    4: {
        32: "pipeline",
        256: "binary_tree",
        512: "pipeline",
        1024: "knomial",
        32768: "linear",
        131072: "binary_tree",
        262144: "chain",
        524288: "linear",
        1048576: "binomial",
        MORE: "binary_tree",
    },
    8: {64: "binary_tree", 128: "binomial", 2048: "binary_tree", 8192: "binomial", 1048576: "linear", MORE: "chain"},
    16: {8: "knomial", 64: "binary_tree", 4096: "knomial", 16384: "binary_tree", 32768: "binomial", MORE: "linear"},
    32: {4096: "knomial", 1048576: "binomial", MORE: "scatter_allgather"},
    64: {2048: "binomial", MORE: "knomial"},
    128: "knomial",
    256: {2: "binomial", 16384: "binary_tree", 32768: "linear", 65536: "binary_tree", MORE: "knomial"},
    1024: {16384: "knomial", 32768: "split_binary_tree", MORE: "knomial"},
    2048: {524288: "knomial", MORE: "scatter_allgather"},
    4096: {262144: "knomial", MORE: "scatter_allgather"},
    MORE: {8192: "knomial", 16384: "binary_tree", 262144: "knomial", MORE: "scatter_allgather"},
}

GATHER: Grid = {
    4: {2: "linear_sync", 4: "linear", 32768: "binomial", 65536: "linear", 131072: "binomial", MORE: "linear_sync"},
    8: {1024: "binomial", 8192: "linear", 32768: "binomial", 262144: "linear", MORE: "linear_sync"},
    256: "binomial",
    512: {2048: "binomial", 8192: "linear", MORE: "binomial"},
    MORE: "binomial",
}

SCATTER: Grid = {
    4: {2: "linear_nb", 131072: "linear", 262144: "linear_nb", MORE: "linear"},
    8: {2048: "binomial", 4096: "linear", 8192: "binomial", 32768: "linear", 1048576: "linear_nb", MORE: "linear"},
    16: {16384: "binomial", 1048576: "linear_nb", MORE: "linear"},
    32: {16384: "binomial", 32768: "linear", MORE: "linear_nb"},
    64: {512: "binomial", 8192: "linear_nb", 16384: "binomial", MORE: "linear_nb"},
    MORE: {512: "binomial", MORE: "linear_nb"},
}

ALLGATHER: Grid = {
    3: "two_proc",
    32: RD,
    64: {1024: RD, 65536: "neighbor", MORE: "ring"},
    128: {512: RD, 65536: "neighbor", MORE: "ring"},
    256: {512: RD, 131072: "neighbor", 524288: "ring", 1048576: "neighbor", MORE: "ring"},
    512: {32: RD, 128: "bruck", 1024: RD, 131072: "neighbor", 524288: "ring", 1048576: "neighbor", MORE: "ring"},
    1024: {64: RD, 256: "bruck", 2048: RD, MORE: "neighbor"},
    2048: {4: RD, 8: "bruck", 16: RD, 32: "bruck", 256: RD, 512: "bruck", 4096: RD, MORE: "neighbor"},
    4096: {32: "bruck", 128: RD, 512: "bruck", 4096: RD, MORE: "neighbor"},
    MORE: {2: RD, 8: "bruck", 16: RD, 512: "bruck", 4096: RD, MORE: "neighbor"},
}

ALLGATHERV: Grid = {  # by the average block
    3: {2048: "ring", 4096: "two_proc", 8192: "ring", MORE: "two_proc"},
    8: {256: "default", 4096: "neighbor", 8192: "ring", 16384: "neighbor", 262144: "bruck", MORE: "neighbor"},
    16: {1024: "default", MORE: "bruck"},
    32: {128: "default", 262144: "bruck", MORE: "ring"},
    64: {256: "default", 8192: "bruck", MORE: "ring"},
    128: {256: "default", 4096: "bruck", MORE: "ring"},
    256: {1024: "bruck", 65536: "neighbor", MORE: "ring"},
    512: {1024: "bruck", MORE: "ring"},
    1024: {512: "bruck", 1024: "default", 4096: "bruck", 1048576: "neighbor", MORE: "ring"},
    MORE: {4096: "bruck", MORE: "neighbor"},
}

ALLTOALL: Grid = {
    3: {2: PW, 4: TWO, 16: PW, 64: TWO, 256: PW, 4096: TWO, 32768: PW, 262144: LS, 1048576: TWO, MORE: PW},
    8: {8192: LS, 16384: LN, 65536: LS, 524288: LN, 1048576: PW, MORE: LN},
    16: {262144: LS, MORE: LN},
    32: {4: LS, 512: BR, 8192: LS, 32768: LN, 262144: LS, 524288: LN, MORE: LS},
    64: {512: BR, 524288: LN, MORE: LS},
    128: {1024: BR, 2048: LN, 4096: LS, 262144: LN, MORE: PW},
    256: {1024: BR, 2048: LS, 262144: LN, MORE: PW},
    512: {1024: BR, 8192: LS, 32768: LN, MORE: PW},
    1024: {512: BR, 8192: LS, 16384: LN, 131072: LS, 262144: LN, MORE: PW},
    2048: {512: BR, 1024: LS, 2048: LN, 16384: LS, 262144: LN, MORE: LS},
    4096: {1024: BR, 4096: LS, 8192: LN, 131072: LS, MORE: LN},
    MORE: {2048: BR, 8192: LS, 16384: LN, 32768: LS, 65536: LN, MORE: LS},
}

ALLTOALLV: Grid = {4: PW, 64: LN, 128: PW, 256: LN, 1024: PW, MORE: LN}

REDUCE_IN_ORDER: Grid = {  # non-commutative ops
    4: {8: IO, MORE: "linear"},
    8: "linear",
    16: {1024: IO, 8192: "linear", 16384: IO, 262144: "linear", MORE: IO},
    128: IO,
    256: {512: IO, 1024: "linear", MORE: IO},
    MORE: IO,
}

REDUCE: Grid = {
    4: {
        8: "rabenseifner",
        16: "binary",
        32: "pipeline",
        262144: "linear",
        524288: "pipeline",
        1048576: "chain",
        MORE: "pipeline",
    },
    8: {4096: "binary", 65536: "chain", 262144: BN, 524288: "linear", 1048576: BN, MORE: "linear"},
    16: {8192: "binary", MORE: BN},
    32: {4096: "binary", MORE: BN},
    256: BN,
    512: {8192: BN, 16384: IO, MORE: BN},
    2048: BN,
    4096: {512: BN, 1024: IO, 8192: BN, 16384: IO, MORE: BN},
    MORE: {16: BN, 32: IO, 1024: BN, 2048: IO, 8192: BN, 16384: IO, MORE: BN},
}

ALLREDUCE_IN_ORDER: Grid = {  # non-commutative ops
    4: {131072: RD, MORE: "linear"},
    8: RD,
    16: {1048576: RD, MORE: NO},
    128: RD,
    256: {131072: NO, 524288: RD, MORE: NO},
    512: {4096: NO, 524288: RD, MORE: NO},
    MORE: {2048: NO, MORE: RD},
}

ALLREDUCE: Grid = {
    4: {8: "ring", 4096: RD, 8192: "ring", 16384: RD, 65536: "ring", 262144: SR, MORE: RB},
    8: {16: "ring", 8192: RD, MORE: RB},
    16: {8192: RD, MORE: RB},
    32: {64: SR, 4096: RD, MORE: RB},
    64: {128: SR, MORE: RB},
    128: {262144: RD, MORE: RB},
    256: {131072: NO, 262144: RD, MORE: RB},
    512: {4096: NO, MORE: RB},
    2048: {2048: NO, 16384: RD, MORE: RB},
    4096: {2048: NO, 4096: SR, 16384: RD, MORE: RB},
    MORE: {2048: NO, 16384: SR, 32768: RD, MORE: RB},
}

REDUCE_SCATTER: Grid = {
    4: {65536: "ring", 131072: BF, MORE: "ring"},
    8: {8: NO, 262144: RH, MORE: "ring"},
    32: {262144: RH, MORE: "ring"},
    64: {64: NO, 2048: RH, 524288: BF, MORE: "ring"},
    128: {256: NO, 512: RH, 2048: BF, 4096: RH, MORE: BF},
    256: {256: NO, 512: RH, MORE: BF},
    512: {256: NO, 1024: RH, MORE: BF},
    1024: {512: NO, 2048: RH, 8192: BF, 16384: RH, MORE: BF},
    2048: {512: NO, 4096: RH, 16384: BF, 32768: RH, MORE: BF},
    4096: {512: NO, 4096: RH, MORE: BF},
    MORE: {1024: NO, 8192: RH, MORE: BF},
}

REDUCE_SCATTER_BLOCK: Grid = {
    4: {4: RD, 8: BF, 16: RH, 128: BF, 256: RH, 4096: BF, 8192: RH, 131072: BF, MORE: LN},
    8: {8: RH, 32: RD, 256: BF, 8192: RH, 16384: BF, 1048576: RH, MORE: LN},
    16: {4: LN, 32: RH, 128: BF, 524288: RH, 4194304: LN, MORE: BF},
    32: {32: LN, 524288: RH, 2097152: LN, 4194304: RH, MORE: BF},
    MORE: {4: RH, 16: LN, 65536: BF, 262144: LN, MORE: BF},
}

# Release 5.0; 4.1 uses pairs in ascending order for all three operations.
BOTH_SIDES: Final = Rule("spread", {"distances": "alternating"}, in_place=True)  # alltoall_intra_basic_inplace

OPENMPI: Final = Table(
    "openmpi",
    {
        ("intra", "barrier"): grid("barrier", BARRIER),
        ("intra", "bcast"): grid("bcast", BCAST),
        ("intra", "gather"): grid("gather", GATHER),
        ("intra", "scatter"): grid("scatter", SCATTER),
        ("intra", "gatherv"): (Rule("linear"),),
        ("intra", "scatterv"): (Rule("linear"),),
        ("intra", "allgather"): grid("allgather", ALLGATHER),
        ("intra", "allgatherv"): grid("allgatherv", ALLGATHERV, "block_below"),
        ("intra", "alltoall"): (BOTH_SIDES, *grid("alltoall", ALLTOALL)),
        ("intra", "alltoallv"): (BOTH_SIDES, *grid("alltoallv", ALLTOALLV)),
        ("intra", "alltoallw"): (BOTH_SIDES, ASCENDING),
        ("intra", "reduce"): (
            by_mpi4py("reduce"),
            *grid("reduce", REDUCE_IN_ORDER, commutative=False),
            *grid("reduce", REDUCE),
        ),
        ("intra", "allreduce"): (
            by_mpi4py("allreduce"),
            *grid("allreduce", ALLREDUCE_IN_ORDER, commutative=False),
            *grid("allreduce", ALLREDUCE),
        ),
        # In both operations, non-commutative ops use a reduce and a scatter for all sizes.
        ("intra", "reduce_scatter"): (
            *grid("reduce_scatter", REDUCE_SCATTER, commutative=True),
            Rule("reduce_scatterv"),
        ),
        ("intra", "reduce_scatter_block"): (
            *grid("reduce_scatter_block", REDUCE_SCATTER_BLOCK, commutative=True),
            Rule("reduce_scatter"),
        ),
        ("intra", "scan"): (by_mpi4py("scan"), Rule("linear")),
        ("intra", "exscan"): (by_mpi4py("exscan"), Rule("linear")),
        **dict.fromkeys(BETWEEN_GROUPS, (Rule("wmpi"),)),
        ("inter", "barrier"): (Rule("allreduce"),),
        **dict.fromkeys([("inter", "gather"), ("inter", "gatherv")], (Rule("local_gather_remote_send"),)),
        **dict.fromkeys([("inter", "scatter"), ("inter", "scatterv")], (Rule("remote_send_local_scatter"),)),
        ("inter", "allreduce"): (Rule("wmpi", objects=True), Rule("reduce_exchange_bcast")),
        **dict.fromkeys([("inter", "allgather"), ("inter", "allgatherv")], (Rule("root_gathering_best"),)),
        **dict.fromkeys([("inter", f"alltoall{kind}") for kind in ("", "v", "w")], (Rule("linear"),)),
        **dict.fromkeys([("inter", "reduce_scatter"), ("inter", "reduce_scatter_block")], (Rule("linear"),)),
    },
    has_known_names=True,
)
