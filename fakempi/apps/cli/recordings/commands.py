"""`fakempi replay`: replay a recorded run on a model of a machine, with algorithms of the catalogue."""

from __future__ import annotations

import json
import sys
from argparse import Namespace
from pathlib import Path
from typing import Any

from fakempi.apps.cli.console import console
from fakempi.apps.cli.extras import check_figure, check_writable
from fakempi.apps.cli.recordings.comparison import draw, show_comparison
from fakempi.apps.cli.recordings.progress import ReplayProgress
from fakempi.apps.cli.recordings.records import as_record, comparison_record
from fakempi.apps.cli.recordings.tables import show
from fakempi.apps.cli.tuning import placed_cost_model
from fakempi.apps.replay.comparing import MachineComparison, compare
from fakempi.apps.replay.engine import replay
from fakempi.core import options as parse
from fakempi.core.network.cost import CostModel
from fakempi.recordings.reading import read
from fakempi.recordings.recording import Recording
from fakempi.tuning import resolve

DEFAULT_COST = "hockney"


def replay_recording(options: Namespace) -> int:
    """Replay the recording, print the modeled times, and return 0."""
    machines = {text: placed_cost_model(text, options.ranks_per_node) for text in options.costs or [DEFAULT_COST]}
    algorithms = parse.algorithms(options.algorithms) if options.algorithms else None
    _check(options, machines)
    for cost in machines.values():
        resolve(algorithms, cost.linear)  # unknown names are an error before the recording is read
    width = check_figure(options) if options.figure else 0.0
    if options.compare:
        return _compare(options, machines, algorithms, width)
    [cost] = machines.values()
    with ReplayProgress(options.progress) as progress:
        recording = _read(options.recording, progress)
        progress.start("replaying", len(recording))
        outcome = replay(
            recording, cost, algorithms, scale=options.scale, trace=bool(options.trace), advance=progress.advance
        )
    if options.trace:
        assert outcome.trace is not None
        outcome.trace.save(options.trace)
    if options.json:
        _write_json(options.json, as_record(recording, outcome))
    if options.json != "-":
        show(console(), recording, outcome)
    return 0


def _compare(options: Namespace, machines: dict[str, CostModel], algorithms: Any, width: float) -> int:
    """Compare algorithms on each machine, print the tables, and return 0."""
    results: list[MachineComparison] = []
    with ReplayProgress(options.progress) as progress:
        recording = _read(options.recording, progress)
        for text, cost in machines.items():

            def report(name: str, machine: str = text) -> None:
                progress.start(f"{name}, {machine}" if len(machines) > 1 else name, len(recording))

            results.append(
                compare(recording, text, cost, algorithms, scale=options.scale, report=report, advance=progress.advance)
            )
    if options.json:
        _write_json(options.json, comparison_record(recording, results))
    if options.json != "-":
        show_comparison(console(), recording, results)
    if options.figure:
        draw(recording, results, options, width)
    return 0


def _read(path: str, progress: ReplayProgress) -> Recording:
    """Return the recording in a file or directory."""
    progress.start("reading", 1)
    return read(path, progress.reach)


def _check(options: Namespace, machines: dict[str, CostModel]) -> None:
    """Raise an error if options contradict each other, or a file cannot be written."""
    if not options.compare and len(machines) > 1:
        raise parse.usage_error("--cost is given several times: add --compare to compare machines.")
    if not options.compare and options.figure:
        raise parse.usage_error("--figure draws a comparison: add --compare. For one run, use --trace and fakempi view.")
    if options.compare and options.trace:
        raise parse.usage_error("--trace is of one replay: omit it, or omit --compare.")
    if not options.scale > 0:
        raise parse.usage_error(f"--scale {options.scale:g}: it must be greater than 0.")
    check_writable(options.json, options.trace)


def _write_json(path: str, record: dict[str, Any]) -> None:
    text = json.dumps(record, indent=2) + "\n"
    if path == "-":
        sys.stdout.write(text)
    else:
        Path(path).write_text(text, encoding="utf-8")
