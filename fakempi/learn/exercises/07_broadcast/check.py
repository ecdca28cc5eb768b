"""The root's value comes to everybody, whoever the root is, and nobody sends to itself."""

from fakempi.learn import RANKS, Trial, Wrong


def check(trial: Trial) -> None:
    """The first rank as root, the last, and one in the middle."""
    trial.without("bcast", "Bcast", "ibcast", "Ibcast", why="here it is done by hand, with send and recv.")
    for size in RANKS:
        for root in sorted({0, size // 2, size - 1}):

            def args(rank: int, size: int, root: int = root) -> list[object]:
                return [["news", root] if rank == root else None, root]

            trial.everywhere("broadcast", args, lambda rank, size, root=root: ["news", root], [size])
    sent = trial.run("broadcast", 7, args=lambda rank, size: [None, 3]).sent
    if sent[3][0] != 6 or sum(messages for messages, _ in sent) != 6:
        total = sum(messages for messages, _ in sent)
        raise Wrong(f"On 7 ranks with root 3, rank 3 sends {sent[3][0]} of {total} messages: it should send all 6.")
