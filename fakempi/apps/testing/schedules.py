"""A marked test in every schedule that can give a different result: `mpi(explore=200)`, `--mpi-explore=200`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from fakempi.apps.testing.output import output_by_rank
from fakempi.core.arguments import RunOptions
from fakempi.modelcheck.search.exploration import Failure
from fakempi.modelcheck.search.explore import explore_with
from fakempi.modelcheck.search.options import SearchOptions
from fakempi.modelcheck.search.shared_objects import Wrapper
from fakempi.mpi.base.current import current_rank

WHY = "a search compares the states of ranks, which must be in one process. Remove one of the two."


def schedules(mark: pytest.Mark, otherwise: int) -> int:
    """Return the maximum number of runs for a test; 0 if it is not explored."""
    given = mark.kwargs.get("explore", otherwise)
    if isinstance(given, bool) or not isinstance(given, int) or given < 0:
        raise pytest.UsageError(f"@pytest.mark.{mark.name}: explore is {given!r}; it must be a number of runs")
    if mark.kwargs.get("processes"):
        if mark.kwargs.get("explore"):
            pytest.fail(f"@pytest.mark.{mark.name}: explore={given} does not work with processes=True: {WHY}", pytrace=False)
        return 0
    return given


def failing_schedule(
    call: Callable[[Any], Any], size: int, runs: int, buffering: Any, options: RunOptions,
    wrapped: Callable[[Any], Any] | None,
) -> Failure | None:  # fmt: skip
    """Return the simplest schedule in which a test fails; None if none was found. Output is discarded."""

    def main(comm: Any) -> None:
        try:
            call(comm)
        except (pytest.skip.Exception, pytest.xfail.Exception):
            return
        except pytest.fail.Exception as error:  # not a subclass of Exception: it would end the search
            raise AssertionError(str(error)) from error

    search = SearchOptions(runs=runs, seed=options.seed, stop="first")
    if buffering in ("zero", "infinite"):
        search = replace(search, buffering=buffering)
    with output_by_rank(current_rank):
        program = Wrapper(main, getattr(call, "shares", [call])) if wrapped is None else wrapped(main)
        exploration = explore_with(search, replace(options, schedule=None, seed=None), program, size)
    return exploration.failures[0] if exploration.failures else None
