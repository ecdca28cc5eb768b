"""Results are right in every schedule."""

from fakempi.apps.course import Trial


def check(trial: Trial) -> None:
    """Check one schedule on many ranks, then all schedules on three, with two tasks and with three."""
    tasks = [3, 5, 7, 11]
    trial.everywhere("work", lambda rank, size: [tasks], lambda rank, size: None if rank else [task**2 for task in tasks])
    trial.schedules("work", 3, lambda rank, size: [tasks[:2]])
    trial.schedules("work", 3, lambda rank, size: [tasks[:3]])
