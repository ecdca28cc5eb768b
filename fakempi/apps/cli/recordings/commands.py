"""`fakempi replay`: replay a recorded run on a model of a machine, with algorithms of the catalogue."""

from __future__ import annotations

import json
import sys
from argparse import Namespace
from pathlib import Path
from typing import Any

from fakempi.apps.cli.console import console
from fakempi.apps.cli.recordings.progress import ReplayProgress
from fakempi.apps.cli.recordings.records import as_record
from fakempi.apps.cli.recordings.tables import show
from fakempi.apps.cli.tuning.commands import placed_cost_model
from fakempi.apps.replay.engine import replay
from fakempi.core import options as parse
from fakempi.recordings.reading import read
from fakempi.recordings.recording import Recording

DEFAULT_COST = "hockney"


def replay_recording(options: Namespace) -> int:
    """Replay the recording, print the modeled times, and return 0."""
    cost = placed_cost_model(options.cost or DEFAULT_COST, options.ranks_per_node)
    algorithms = parse.algorithms(options.algorithms) if options.algorithms else None
    for path in (options.json, options.trace):
        _check_writable(path)
    if not options.scale > 0:
        raise parse.usage_error(f"--scale {options.scale:g}: it must be greater than 0.")
    with ReplayProgress(options.progress) as progress:
        recording = read_recording(options.recording, progress)
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


def read_recording(path: str, progress: ReplayProgress) -> Recording:
    """Return the recording in a file or directory."""
    progress.start("reading", 1)
    return read(path, progress.reach)


def _check_writable(path: str | None) -> None:
    if path and path != "-" and not Path(path).absolute().parent.is_dir():
        raise parse.usage_error(f"{path} cannot be written: there is no directory {Path(path).parent}.")


def _write_json(path: str, record: dict[str, Any]) -> None:
    text = json.dumps(record, indent=2) + "\n"
    if path == "-":
        sys.stdout.write(text)
    else:
        Path(path).write_text(text, encoding="utf-8")
