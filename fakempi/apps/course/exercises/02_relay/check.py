"""The word reaches all ranks, from each rank to the next."""

from fakempi.apps.course import Trial
from fakempi.errors.plurals import counted


def check(trial: Trial) -> None:
    """Check the results, then the number of messages."""
    trial.without("bcast", "Bcast", "scatter", "Scatter", "allgather", why="use send and recv in this exercise.")

    def word(rank: int, size: int) -> list[object]:
        return ["ahoy" if rank == 0 else None]

    trial.everywhere("relay", word, lambda rank, size: "ahoy")
    with trial.test("number of messages"):
        sent = trial.run("relay", 7, word).sent
        most = max(range(7), key=lambda rank: sent[rank])
        count = counted(sent[most][0], "message")
        trial.require(
            [messages for messages, _ in sent] == [1] * 6 + [0],
            f"On 7 ranks, rank {most} sends {count}: each rank but the last should send one, to the next rank.",
        )
