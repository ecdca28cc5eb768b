"""The root's value reaches all ranks, for any root, and no rank sends to itself."""

from fakempi.apps.course import RANKS, Trial, Wrong


def check(trial: Trial) -> None:
    """Check the first rank as root, the last, and one in the middle."""
    trial.without("bcast", "Bcast", "ibcast", "Ibcast", why="write the broadcast with send and recv in this exercise.")
    for size in RANKS:
        for root in sorted({0, size // 2, size - 1}):

            def args(rank: int, size: int, root: int = root) -> list[object]:
                return [["news", root] if rank == root else None, root]

            trial.everywhere("broadcast", args, lambda rank, size, root=root: ["news", root], [size])
    sent = trial.run("broadcast", 7, args=lambda rank, size: [None, 3]).sent
    if sent[3][0] != 6 or sum(messages for messages, _ in sent) != 6:
        total = sum(messages for messages, _ in sent)
        raise Wrong(f"On 7 ranks with root 3, rank 3 sends {sent[3][0]} of {total} messages: it should send 6 of 6.")
