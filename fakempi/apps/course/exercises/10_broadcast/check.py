"""The root's value reaches all ranks, for any root, and no rank sends to itself."""

from collections.abc import Callable

from fakempi.apps.course import RANKS, Trial


def check(trial: Trial) -> None:
    """Check the first rank as root, the last, and one in the middle."""
    trial.without("bcast", "Bcast", "ibcast", "Ibcast", why="write the broadcast with send and recv in this exercise.")
    roots = (
        ("with root 0", RANKS, lambda size: 0), ("with the last rank as root", (1, 2, 3, 7), lambda size: size - 1),
        ("with root p // 2", (3, 7), lambda size: size // 2),
    )  # fmt: skip
    for what, ranks, root in roots:

        def args(rank: int, size: int, root: Callable[[int], int] = root) -> list[object]:
            return [["news", root(size)] if rank == root(size) else None, root(size)]

        trial.everywhere("broadcast", args, lambda rank, size, root=root: ["news", root(size)], ranks, what)
    with trial.test("number of messages"):
        sent = trial.run("broadcast", 7, args=lambda rank, size: [None, 3]).sent
        total = sum(messages for messages, _ in sent)
        fault = f"On 7 ranks with root 3, rank 3 sends {sent[3][0]} of {total} messages: it should send 6 of 6."
        trial.require(sent[3][0] == total == 6, fault)
