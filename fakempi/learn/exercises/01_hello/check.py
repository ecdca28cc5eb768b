"""Every rank knows its number."""

from fakempi.learn import Trial


def check(trial: Trial) -> None:
    """On any number of ranks."""
    trial.everywhere("hello", gives=lambda rank, size: f"rank {rank} of {size}")
