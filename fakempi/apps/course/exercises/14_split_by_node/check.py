"""Sums by node, for nodes of several sizes."""

from fakempi.apps.course import RANKS, Trial


def check(trial: Trial) -> None:
    """Check nodes of three, four and sixteen ranks."""
    trial.without("Get_processor_name", why="use Split_type to find the ranks of a node in this exercise.")
    for per_node, ranks in ((3, RANKS), (4, (2, 7)), (16, (3, 64))):

        def gives(rank: int, size: int, per_node: int = per_node) -> tuple[object, ...]:
            first = rank - rank % per_node
            nodes = -(-size // per_node) if rank == first else None
            return size * (size - 1) // 2, min(per_node, size - first), nodes

        costs = {
            f"two_level:ranks_per_node={per_node},inter.eager_limit={limit},intra.eager_limit={limit}": sends
            for limit, sends in (("1G", "with buffered sends"), ("0", "with unbuffered sends"))
        }
        trial.everywhere("total", lambda rank, size: [rank], gives, ranks, f"with {per_node} ranks on a node", costs)
