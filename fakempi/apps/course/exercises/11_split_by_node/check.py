"""Sums by node, for nodes of several sizes."""

from fakempi.apps.course import RANKS, Trial


def check(trial: Trial) -> None:
    """Check nodes of three, four and sixteen ranks."""
    trial.without("Get_processor_name", why="use Split_type to find the ranks of a node in this exercise.")
    for per_node in (3, 4, 16):
        for limit in ("0", "1G"):
            for size in RANKS:

                def gives(rank: int, size: int, per_node: int = per_node) -> tuple[object, ...]:
                    first = rank - rank % per_node
                    nodes = -(-size // per_node) if rank == first else None
                    return size * (size - 1) // 2, min(per_node, size - first), nodes

                cost = f"two_level:ranks_per_node={per_node},inter.eager_limit={limit},intra.eager_limit={limit}"
                outcome = trial.run("total", size, lambda rank, size: [rank], cost)
                trial.compare("total", outcome, gives)
