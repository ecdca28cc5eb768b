"""Every rank knows its number."""

from fakempi.apps.course import Trial


def check(trial: Trial) -> None:
    """Check the text of every rank, on several numbers of ranks."""
    trial.everywhere("hello", gives=lambda rank, size: f"rank {rank} of {size}")
