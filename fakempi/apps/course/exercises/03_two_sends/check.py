"""Partners exchange, whether sends are buffered or not."""

from fakempi.apps.course import Trial


def check(trial: Trial) -> None:
    """Check the results, then all schedules."""

    def gives(rank: int, size: int) -> int:
        partner = rank ^ 1
        return 10 * (partner if partner < size else rank)

    trial.everywhere("swap", lambda rank, size: [10 * rank], gives)
    trial.schedules("swap", 4, lambda rank, size: [10 * rank])
