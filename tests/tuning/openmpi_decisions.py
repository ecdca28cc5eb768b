"""Facts of Open MPI's decision code (coll_tuned_decision_fixed.c, main branch), transcribed independently of the table.

A line is for communicators below its first number (`-`: all others). It has pairs bytes:algorithm for sizes below these
bytes, and the algorithm for all other sizes. Algorithms are the numbers of coll_tuned_<operation>_algorithm.
"""

from __future__ import annotations

NAMES = {
    "allgather": "- linear bruck recursive_doubling ring neighbor two_proc",
    "allgatherv": "- default bruck ring neighbor two_proc",
    "allreduce": "- linear nonoverlapping recursive_doubling ring segmented_ring rabenseifner",
    "alltoall": "- linear pairwise modified_bruck linear_sync two_proc",
    "alltoallv": "- linear pairwise",
    "barrier": "- linear double_ring recursive_doubling bruck two_proc tree",
    "bcast": "- linear chain pipeline split_binary_tree binary_tree binomial knomial scatter_allgather",
    "gather": "- linear binomial linear_sync",
    "reduce": "- linear chain pipeline binary binomial in_order_binary rabenseifner",
    "reduce_scatter": "- nonoverlapping recursive_halving ring butterfly",
    "reduce_scatter_block": "- linear recursive_doubling recursive_halving butterfly",
    "scatter": "- linear binomial linear_nb",
}

COMMUTATIVE = {
    "allgather": """
        3    6
        32   3
        64   1024:3 65536:5 4
        128  512:3 65536:5 4
        256  512:3 131072:5 524288:4 1048576:5 4
        512  32:3 128:2 1024:3 131072:5 524288:4 1048576:5 4
        1024 64:3 256:2 2048:3 5
        2048 4:3 8:2 16:3 32:2 256:3 512:2 4096:3 5
        4096 32:2 128:3 512:2 4096:3 5
        -    2:3 8:2 16:3 512:2 4096:3 5""",
    "allgatherv": """
        3    2048:3 4096:5 8192:3 5
        8    256:1 4096:4 8192:3 16384:4 262144:2 4
        16   1024:1 2
        32   128:1 262144:2 3
        64   256:1 8192:2 3
        128  256:1 4096:2 3
        256  1024:2 65536:4 3
        512  1024:2 3
        1024 512:2 1024:1 4096:2 1048576:4 3
        -    4096:2 4""",
    "allreduce": """
        4    8:4 4096:3 8192:4 16384:3 65536:4 262144:5 6
        8    16:4 8192:3 6
        16   8192:3 6
        32   64:5 4096:3 6
        64   128:5 6
        128  262144:3 6
        256  131072:2 262144:3 6
        512  4096:2 6
        2048 2048:2 16384:3 6
        4096 2048:2 4096:5 16384:3 6
        -    2048:2 16384:5 32768:3 6""",
    "alltoall": """
        3    2:2 4:5 16:2 64:5 256:2 4096:5 32768:2 262144:4 1048576:5 2
        8    8192:4 16384:1 65536:4 524288:1 1048576:2 1
        16   262144:4 1
        32   4:4 512:3 8192:4 32768:1 262144:4 524288:1 4
        64   512:3 524288:1 4
        128  1024:3 2048:1 4096:4 262144:1 2
        256  1024:3 2048:4 262144:1 2
        512  1024:3 8192:4 32768:1 2
        1024 512:3 8192:4 16384:1 131072:4 262144:1 2
        2048 512:3 1024:4 2048:1 16384:4 262144:1 4
        4096 1024:3 4096:4 8192:1 131072:4 1
        -    2048:3 8192:4 16384:1 32768:4 65536:1 4""",
    "alltoallv": """
        4    2
        64   1
        128  2
        256  1
        1024 2
        -    1""",
    "barrier": """
        4    3
        8    1
        64   3
        256  4
        512  6
        1024 4
        4096 6
        -    4""",
    "bcast": """
        4    32:3 256:5 512:3 1024:7 32768:1 131072:5 262144:2 524288:1 1048576:6 5
        8    64:5 128:6 2048:5 8192:6 1048576:1 2
        16   8:7 64:5 4096:7 16384:5 32768:6 1
        32   4096:7 1048576:6 8
        64   2048:6 7
        128  7
        256  2:6 16384:5 32768:1 65536:5 7
        1024 16384:7 32768:4 7
        2048 524288:7 8
        4096 262144:7 8
        -    8192:7 16384:5 262144:7 8""",
    "gather": """
        4    2:3 4:1 32768:2 65536:1 131072:2 3
        8    1024:2 8192:1 32768:2 262144:1 3
        256  2
        512  2048:2 8192:1 2
        -    2""",
    "reduce": """
        4    8:7 16:4 32:3 262144:1 524288:3 1048576:2 3
        8    4096:4 65536:2 262144:5 524288:1 1048576:5 1
        16   8192:4 5
        32   4096:4 5
        256  5
        512  8192:5 16384:6 5
        2048 5
        4096 512:5 1024:6 8192:5 16384:6 5
        -    16:5 32:6 1024:5 2048:6 8192:5 16384:6 5""",
    "reduce_scatter": """
        4    65536:3 131072:4 3
        8    8:1 262144:2 3
        32   262144:2 3
        64   64:1 2048:2 524288:4 3
        128  256:1 512:2 2048:4 4096:2 4
        256  256:1 512:2 4
        512  256:1 1024:2 4
        1024 512:1 2048:2 8192:4 16384:2 4
        2048 512:1 4096:2 16384:4 32768:2 4
        4096 512:1 4096:2 4
        -    1024:1 8192:2 4""",
    "reduce_scatter_block": """
        4    4:2 8:4 16:3 128:4 256:3 4096:4 8192:3 131072:4 1
        8    8:3 32:2 256:4 8192:3 16384:4 1048576:3 1
        16   4:1 32:3 128:4 524288:3 4194304:1 4
        32   32:1 524288:3 2097152:1 4194304:3 4
        -    4:3 16:1 65536:4 262144:1 4""",
    "scatter": """
        4    2:3 131072:1 262144:3 1
        8    2048:2 4096:1 8192:2 32768:1 1048576:3 1
        16   16384:2 1048576:3 1
        32   16384:2 32768:1 3
        64   512:2 8192:3 16384:2 3
        -    512:2 3""",
}

NONCOMMUTATIVE = {
    "allreduce": """
        4    131072:3 1
        8    3
        16   1048576:3 2
        128  3
        256  131072:2 524288:3 2
        512  4096:2 524288:3 2
        -    2048:2 3""",
    "reduce": """
        4    8:6 1
        8    1
        16   1024:6 8192:1 16384:6 262144:1 6
        128  6
        256  512:6 1024:1 6
        -    6""",
    "reduce_scatter": "-    1",
    "reduce_scatter_block": "-    1",
}


def rows(text: str) -> dict[int | None, dict[int | None, int]]:
    """The algorithms by upper limits of ranks and of bytes; None: no limit."""
    found: dict[int | None, dict[int | None, int]] = {}
    for line in text.strip().splitlines():
        below, *cells = line.split()
        limits = [cell.split(":") for cell in cells]
        made = {int(pair[0]) if len(pair) > 1 else None: int(pair[-1]) for pair in limits}
        found[None if below == "-" else int(below)] = made
    return found


def decision(operation: str, p: int, nbytes: int, *, commutative: bool = True) -> str:
    """Open MPI's name of the algorithm that its code chooses; `nbytes` is what the code calls total_dsize."""
    facts = COMMUTATIVE if commutative or operation not in NONCOMMUTATIVE else NONCOMMUTATIVE
    table = rows(facts[operation])
    cells = next(row for below, row in table.items() if below is None or p < below)
    number = next(each for below, each in cells.items() if below is None or nbytes < below)
    return NAMES[operation].split()[number]
