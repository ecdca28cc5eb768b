"""The word comes to everybody, from one neighbour to the next."""

from fakempi.learn import Trial, Wrong


def check(trial: Trial) -> None:
    """Results, then how many messages there are."""
    trial.without("bcast", "Bcast", "scatter", "Scatter", "allgather", why="here the word goes by send and recv.")

    def word(rank: int, size: int) -> list[object]:
        return ["ahoy" if rank == 0 else None]

    trial.everywhere("relay", word, lambda rank, size: "ahoy")
    sent = trial.run("relay", 7, word).sent
    if [messages for messages, _ in sent] != [1] * 6 + [0]:
        most = max(range(7), key=lambda rank: sent[rank])
        raise Wrong(f"On 7 ranks, rank {most} sends {sent[most][0]} messages: each but the last sends one, to the next.")
