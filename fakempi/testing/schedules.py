"""A marked test in every schedule that can differ: `mpi(explore=200)`, `--mpi-explore=200`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from fakempi.exploring.explore import explore
from fakempi.exploring.found import Failure
from fakempi.mpi.base.current import current_rank
from fakempi.testing.output import kept_by_rank


def schedules(mark: pytest.Mark, otherwise: int) -> int:
    """In how many runs a test is tried, at most; 0 if it is just run."""
    given = mark.kwargs.get("explore", otherwise)
    if isinstance(given, bool) or not isinstance(given, int) or given < 0:
        raise pytest.UsageError(f"@pytest.mark.{mark.name}: explore is {given!r}; it must be a number of runs")
    return given


def that_fails(
    call: Callable[[Any], Any], size: int, runs: int, buffering: str | None, options: dict[str, Any],
    wrapped: Callable[[Any], Any] | None,
) -> Failure | None:  # fmt: skip
    """The simplest schedule in which a test fails, if one is found. What ranks write is not kept."""

    def main(comm: Any) -> None:
        try:
            call(comm)
        except pytest.skip.Exception:
            return
        except pytest.fail.Exception as error:  # which is no Exception, and would end the search
            raise AssertionError(str(error)) from error

    given = {name: value for name, value in options.items() if name not in ("decisions", "seed")}
    kinds = (buffering,) if buffering in ("zero", "infinite") else ("zero", "infinite")
    with kept_by_rank(current_rank):
        program = main if wrapped is None else wrapped(main)
        found = explore(program, size, runs=runs, buffering=kinds, seed=options["seed"], stop="first", **given)
    return found.failures[0] if found.failures else None
