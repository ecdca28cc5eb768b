"""The output of `fakempi replay`: the modeled time, its parts, and the collective calls by call site."""

from __future__ import annotations

import os
from collections.abc import Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from fakempi.apps.cli.console import print_text
from fakempi.apps.replay.engine import ReplayOutcome
from fakempi.apps.replay.sites import SiteTime
from fakempi.errors.paths import short_path
from fakempi.errors.plurals import counted
from fakempi.recordings.recording import Recording
from fakempi.view.numbers import bytes_in_words, seconds

MOST_SITES = 16
"""Call sites in the table; --json has all."""

UNSIZED = ("barrier", "gatherv", "scatterv", "alltoallv")
"""Operations whose size is not one number that all ranks know."""


def show(out: Console, recording: Recording, outcome: ReplayOutcome) -> None:
    """Print the result of a replay."""
    print_text(out, title(recording), "bold")
    measured = "" if recording.seconds is None else f"; the recorded run took {seconds(recording.seconds)}"
    print_text(out, f"modeled time {seconds(outcome.seconds)}{measured}", "bold")
    print_text(out, f"  {_shares(outcome)}")
    show_remarks(out, recording, outcome)
    if outcome.sites:
        out.print()
        out.print(_site_table(outcome))
        more = len(outcome.sites) - MOST_SITES
        if more > 0:
            print_text(out, f"  and {counted(more, 'other call site')} with less time; --json has all", "dim")


def title(recording: Recording) -> str:
    """Return one line about a recording."""
    name = short_path(os.path.normpath(recording.source))
    return f"{name}: {counted(recording.ranks, 'rank', ',')}, {counted(len(recording), 'event', ',')}"


def show_remarks(out: Console, recording: Recording, outcome: ReplayOutcome) -> None:
    """Print which calls were not replayed, and messages that no rank receives."""
    if recording.left_out:
        calls = ", ".join(f"{call} ({count:,})" for call, count in recording.left_out.items())
        print_text(out, f"  not replayed: {calls}", "yellow")
    if outcome.unmatched:
        message = counted(outcome.unmatched, "message", ",")
        print_text(out, f"  {message} that no rank receives: the recording may be incomplete", "yellow")


def _shares(outcome: ReplayOutcome) -> str:
    """Return what ranks do in the modeled time, in percent of the time of all ranks."""
    collective = sum(site.seconds for site in outcome.sites)
    ended = sum(outcome.seconds - clock for clock in outcome.clocks)
    total = outcome.seconds * len(outcome.clocks)
    others = max(0.0, total - outcome.computing - collective - ended)
    parts = {"computing": outcome.computing, "collective calls": collective, "messages": others, "ended earlier": ended}
    return ", ".join(f"{name} {outcome.share(part):.1%}" for name, part in parts.items())


def _site_table(outcome: ReplayOutcome) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("call site", no_wrap=True, overflow="ellipsis")
    table.add_column("operation", no_wrap=True)
    for name in ("ranks", "bytes", "calls", "time per rank", "share"):
        table.add_column(name, justify="right", no_wrap=True)
    for site in outcome.sites[:MOST_SITES]:
        per_rank = site.seconds / len(outcome.clocks)
        cells = (f"{site.ranks:,}", size_of(site), f"{site.calls // site.ranks:,}", seconds(per_rank))
        table.add_row(Text(name_of(site)), site.operation, *cells, f"{outcome.share(site.seconds):.1%}")
    return table


def name_of(site: SiteTime) -> str:
    """Return a call site for a table: without directories."""
    return site.site.replace("\\", "/").rpartition("/")[2] or "?"


def size_of(site: SiteTime) -> str:
    """Return the size of calls, or a range."""
    if site.operation in UNSIZED:
        return "-"
    sizes: Sequence[int] = sorted({site.lowest, site.highest})
    return " to ".join(map(bytes_in_words, sizes))
