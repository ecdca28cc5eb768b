"""Partners exchange, whether sends are buffered or not."""

from fakempi.learn import Trial


def check(trial: Trial) -> None:
    """Then in every schedule."""

    def gives(rank: int, size: int) -> int:
        partner = rank ^ 1
        return 10 * (partner if partner < size else rank)

    trial.everywhere("swap", lambda rank, size: [10 * rank], gives)
    trial.schedules("swap", 4, lambda rank, size: [10 * rank])
