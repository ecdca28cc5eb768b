"""Results are right in every schedule."""

from fakempi.apps.course import Trial


def check(trial: Trial) -> None:
    """Check three tasks on many ranks, and in all schedules on three ranks; then two tasks."""
    tasks = [3, 5, 7]
    trial.everywhere("work", lambda rank, size: [tasks], lambda rank, size: None if rank else [task**2 for task in tasks])
    trial.schedules("work", 3, lambda rank, size: [tasks[:2]])
