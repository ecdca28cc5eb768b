"""The shares of a budget that several searches have in common, in runs and in seconds."""

from __future__ import annotations

from time import monotonic

from fakempi.core import options as parse


class Budget:
    """Runs and seconds for the searches on several numbers of ranks.

    Each search may use an equal part of what is left. Small numbers of ranks have few schedules, and what they leave goes to
    the larger ones. Therefore no number is skipped because an earlier one has used everything.
    """

    def __init__(self, runs: int, seconds: float | None, searches: int) -> None:
        if runs < searches:
            raise parse.usage_error(
                f"--runs {runs} is less than one run for each of {searches:,} numbers of ranks: "
                f"use at least --runs {searches}."
            )
        self.runs, self.searches = runs, searches
        self.until = None if seconds is None else monotonic() + seconds

    def share(self) -> tuple[int, float | None] | None:
        """Return the runs and seconds of the next search; None if no time is left."""
        runs = self.runs // self.searches
        if self.until is None:
            return runs, None
        left = self.until - monotonic()
        return None if left <= 0 else (runs, left / self.searches)

    def spend(self, runs: int) -> None:
        """Record the runs of a search that has ended."""
        self.runs -= runs
        self.searches -= 1
