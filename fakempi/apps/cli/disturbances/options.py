"""The options `--skew` and `--kill-each` of `fakempi check`, and those of `fakempi run` that repeat one case."""

from __future__ import annotations

from argparse import Namespace

from fakempi.core import options as parse
from fakempi.extensions.disturbance import LATE, Disturbance

FOR_SEARCHES = ("html", "traces", "figure")
"""Options of `fakempi check` that show schedules."""


def is_disturbed_check(options: Namespace) -> bool:
    """Return whether `fakempi check` runs disturbed cases; reject options for a search of schedules."""
    if not (options.skew or options.kill_each):
        return False
    given = [f"--{name}" for name in FOR_SEARCHES if getattr(options, name)] + ["--jobs"] * (options.jobs > 1)
    if given:
        name = "--skew" if options.skew else "--kill-each"
        raise parse.usage_error(f"{given[0]} is for a search of schedules, and {name} makes single runs: remove one.")
    return True


def disturbance_of_run(options: Namespace, nprocs: int, in_processes: bool) -> Disturbance | None:
    """Return the disturbance of `fakempi run`; None if there is none."""
    late, deaths = list(options.skew or ()), dict(options.kill_call or ())
    if not late and not deaths:
        return None
    if in_processes:
        raise parse.usage_error(
            "--skew and --kill-call need ranks in one process: remove --processes, --debug and --hash-seeds."
        )
    if wrong := [rank for rank in (*late, *deaths) if rank >= nprocs]:
        name = "--skew" if wrong[0] in late else "--kill-call"
        raise parse.usage_error(f"{name} names rank {wrong[0]}, but ranks are 0 to {nprocs - 1}.")
    return Disturbance(dict.fromkeys(late, LATE), deaths)
