"""The output of `fakempi replay --compare`: modeled times by algorithm and machine, and the gain at call sites."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from fakempi.apps.cli.console import print_text
from fakempi.apps.cli.extras import save_figure
from fakempi.apps.cli.recordings.tables import name_of, show_remarks, size_of, title
from fakempi.apps.replay.comparing import MachineComparison, SiteChoice
from fakempi.recordings.recording import Recording
from fakempi.view.numbers import seconds

IN_USE, BEST = "in use", "best at each call site"


def show_comparison(out: Console, recording: Recording, results: Sequence[MachineComparison]) -> None:
    """Print the times of all machines, and the call sites of each machine."""
    print_text(out, title(recording), "bold")
    if recording.seconds is not None:
        print_text(out, f"the recorded run took {seconds(recording.seconds)}")
    show_remarks(out, recording, results[0].baseline)
    out.print()
    out.print(_time_table(results))
    for result in results:
        out.print()
        if len(results) > 1:
            print_text(out, result.cost, "bold")
        if result.sites:
            out.print(_choice_table(result))
        else:
            print_text(out, "no collective call takes enough time to gain from another algorithm", "dim")


def makespans(results: Sequence[MachineComparison]) -> dict[str, list[float | None]]:
    """Return the modeled times by algorithms, one for each machine."""
    rows: dict[str, list[float | None]] = {IN_USE: [result.baseline.seconds for result in results]}
    for name in results[0].tables:
        rows[name] = [result.tables[name] for result in results]
    rows[BEST] = [result.best for result in results]
    return rows


def _time_table(results: Sequence[MachineComparison]) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("modeled time by algorithms", no_wrap=True)
    for result in results:
        table.add_column(Text(result.cost), justify="right", overflow="fold")
    rows = makespans(results)
    least = [min(time for time in column if time is not None) for column in zip(*rows.values(), strict=True)]
    for name, times in rows.items():
        table.add_row(name, *(_time(time, lowest) for time, lowest in zip(times, least, strict=True)))
    return table


def _time(time: float | None, lowest: float) -> Text:
    """Return a time, marked if it is the lowest of its machine up to rounding errors."""
    if time is None:
        return Text("-", "dim")
    return Text(seconds(time, 4), "bold green" if time <= lowest * (1 + 1e-12) else "")


def _choice_table(result: MachineComparison) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("call site", no_wrap=True, overflow="ellipsis")
    table.add_column("operation", no_wrap=True)
    for name in ("ranks", "bytes", "share"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("in use", overflow="fold")
    table.add_column("best", overflow="fold")
    table.add_column("gain", justify="right", no_wrap=True)
    for choice in result.sites:
        site, (best, gain) = choice.site, gain_of(choice, result)
        share = f"{result.baseline.share(site.seconds):.1%}"
        cells = (f"{site.ranks:,}", size_of(site), share, choice.now, best if gain else "as it is")
        gained = f"{seconds(gain)} ({gain / result.baseline.seconds:.1%})" if gain else "-"
        table.add_row(Text(name_of(site)), site.operation, *cells, gained)
    return table


def gain_of(choice: SiteChoice, result: MachineComparison) -> tuple[str, float]:
    """Return the best algorithm of a call site, and the seconds that the application gains; 0 below a rounding error."""
    name, time = choice.best()
    gain = result.baseline.seconds - time
    return (name, gain) if gain > 1e-9 * result.baseline.seconds else (choice.now, 0.0)


def draw(recording: Recording, results: Sequence[MachineComparison], options: Namespace, width: float) -> None:
    """Write the figure."""
    from fakempi.view.figure.makespans import makespan_figure  # matplotlib is optional, and slow to import

    machines, style = [result.cost for result in results], options.figure_style
    save_figure(makespan_figure(title(recording), makespans(results), machines, width=width, style=style), options)
