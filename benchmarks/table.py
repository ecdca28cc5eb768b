"""Measure the speed of fakempi as one table, relative to bare switches of the backend and to SimPy and SMPI if installed.

    python -m pip install -e ".[bench]"         SimPy; for SMPI, on Debian and Ubuntu: apt-get install libsimgrid-dev
    python benchmarks/table.py                  several minutes, on an otherwise idle machine
    python benchmarks/table.py --large          also with 65,536 ranks
    python benchmarks/table.py --fused          also coverage, ratios and large runs of fused calls, and worker processes
    python benchmarks/table.py --quick          one short run of each measurement: rough figures
    python benchmarks/table.py --json           all figures and samples; or --markdown
    python benchmarks/table.py --page README.md docs/how_fast.md

Each measurement runs in a separate process and takes CPU time. All measurements are repeated in rounds. A time is the
median of its samples; a ratio is the median of the ratios of all rounds.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import in_smpi
from machine import load_warning, machine, sentence
from measures import COLLECTIVES, Measure, of_smpi
from rich.console import Console
from rich.progress import Progress
from table_rows import LEGEND, Row, Samples, as_data, as_markdown, as_short_markdown, as_table, with_blocks

OTHERS = ("fused.py", "fused.py --long", "fused.py --scale", "fused_coverage.py", "workers.py")
"""Scripts that `--fused` runs after the table, with their options."""

SECONDS = 300
"""Time limit of one measurement."""

TO_INSTALL = {"SimPy": 'python -m pip install -e ".[bench]"', "SMPI": "apt-get install libsimgrid-dev, on Debian and Ubuntu"}


def rows(large: bool = False, ranks: int = 1024) -> Iterator[Row]:
    """All rows, for this number of ranks, a quarter of it, four times and, if `large`, 64 times as many."""
    usual, switch = Measure("fakempi", "ring", ranks), Measure("bare", "greenlets", ranks)
    here, the_ring = f"{ranks:,} ranks", f"the ring, {ranks:,} ranks"

    def compared(label: str, case: str, size: int, smpi: bool = True, **more: Any) -> Row:
        ours, bare, simpy, theirs = (Measure(tool, case, size) for tool in ("fakempi", "bare", "SimPy", "SMPI"))
        more |= {"simpy": simpy, "smpi": theirs if smpi else None}
        return Row(f"{label}, {size:,} ranks", ours, bare._replace(case="greenlets"), **more)

    yield compared("ring of `Sendrecv`", "ring", ranks // 4)
    yield compared("ring of `Sendrecv`", "ring", ranks, in_readme=True)
    if large:  # without SMPI, which took 18 GB for 65,536 ranks and was still in its start-up
        yield compared("ring of `Sendrecv`", "ring", 64 * ranks, smpi=False, reference=usual, reference_label=the_ring)
    yield compared("recursive doubling", "recursive doubling", 4 * ranks, in_readme=True)
    for label, case, bare in (
        ("ring with `trace=True`", "ring with a trace", switch),
        ("ring of objects, `sendrecv`", "ring of objects", switch),
        ("ring of `Put` and `Fence`", "ring of Put and Fence", switch),
        ("ring on threads", "ring on threads", switch._replace(case="threads")),
    ):
        yield Row(f"{label}, {here}", usual._replace(case=case), bare, usual, the_ring)
    for name in COLLECTIVES:
        emulated, smpi = usual._replace(case=f"{name}, emulated"), Measure("SMPI", name, ranks)
        fused, in_readme = usual._replace(case=f"{name}, fused"), name == "Allreduce"
        yield Row(f"`{name}`, emulated, {here}", emulated, switch, smpi=smpi, in_readme=in_readme)
        yield Row(
            f"`{name}`, fused, {here}", fused, switch, emulated, "the emulated call", smpi=smpi, in_readme=in_readme
        )


def missing(there: Mapping[str, bool]) -> dict[str, str]:
    """Tools that are not installed, each with a message."""
    messages = {tool: f"{tool} is not installed, so its column is empty: {how}." for tool, how in TO_INSTALL.items()}
    return {tool: message for tool, message in messages.items() if not there[tool]}


def in_a_process(directory: Path, effort: float) -> Callable[[Measure], float]:
    """Return a function that takes one measurement in a separate process. SMPI's programs are in the directory."""

    def take(measure: Measure) -> float:
        if measure.tool == "SMPI":
            return of_smpi(directory, measure.case, measure.ranks, effort)
        script = Path(__file__).with_name("measures.py")
        command = [sys.executable, script, measure.tool, measure.case, str(measure.ranks), str(effort)]
        done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=SECONDS)
        return float(json.loads(done.stdout))

    return take


def taken(
    measures: Sequence[Measure], repeats: int, take: Callable[[Measure], float], on_start: Callable[[Measure], None]
) -> tuple[Samples, list[str]]:
    """Samples of all measurements, in rounds, and a message for each that failed. A failed one is not repeated."""
    samples: dict[Measure, list[float]] = {measure: [] for measure in measures}
    failed: dict[Measure, str] = {}
    for _ in range(repeats):
        for measure in measures:
            on_start(measure)
            if measure in failed:
                continue
            try:
                samples[measure].append(take(measure))
            except subprocess.TimeoutExpired as error:
                failed[measure] = f"{measure}: not finished after {error.timeout:.0f} s."
            except subprocess.CalledProcessError as error:
                last = (error.stderr or "").strip().splitlines()[-1:] or ["no output"]
                failed[measure] = f"{measure}: failed with exit code {error.returncode}: {last[0]}"
    return {measure: found for measure, found in samples.items() if measure not in failed}, list(failed.values())


def needed(every: Iterable[Row], without: Iterable[str]) -> list[Measure]:
    """Each measurement once, in the order of the rows, except those of missing tools."""
    absent = set(without)
    return [each for each in dict.fromkeys(m for row in every for m in row.measures()) if each.tool not in absent]


def blocks(every: Sequence[Row], samples: Samples, introduction: str) -> dict[str, str]:
    """The text for pages, by the name of its place: the whole table, and the rows for README.md."""
    return {
        "table of speed": f"{introduction}\n\n{as_markdown(every, samples)}\n\n{LEGEND}",
        "short table of speed": as_short_markdown([row for row in every if row.in_readme], samples),
    }


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    """The options of the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--large", action="store_true", help="also measure a ring of 65,536 ranks")
    parser.add_argument("--fused", action="store_true", help=f"also run {', '.join(OTHERS)}")
    parser.add_argument("--quick", action="store_true", help="take one short sample of each measurement")
    parser.add_argument("--repeats", type=int, help="samples of each measurement (5; 1 with --quick)")
    parser.add_argument("--json", action="store_true", help="print all figures and samples")
    parser.add_argument("--markdown", action="store_true", help="print the text that --page writes")
    parser.add_argument("--page", type=Path, nargs="+", default=[], help="pages whose table is replaced")
    options = parser.parse_args(arguments)
    if options.page and options.quick:
        parser.error("--page needs accurate figures: run it without --quick")
    if options.fused and options.json:
        parser.error("--fused prints text: run it without --json")
    if options.repeats is None:
        options.repeats = 1 if options.quick else 5
    elif options.repeats < 1:
        parser.error(f"--repeats must be at least 1, not {options.repeats}")
    return options


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure all rows and print the table."""
    options = parse(arguments)
    if find_spec("greenlet") is None:
        raise SystemExit('greenlet is not installed, and most rows need it: python -m pip install -e ".[bench]"')
    facts, before, stderr = machine(), os.getloadavg()[0], Console(stderr=True, highlight=False)
    absent = missing({"SimPy": find_spec("simpy") is not None, "SMPI": in_smpi.installed()})
    notes = [*absent.values(), *load_warning("before the first measurement", before, facts["cores"])]
    stderr.print(sentence(facts), *notes, sep="\n", soft_wrap=True)
    every = list(rows(options.large))
    for page in options.page:
        with_blocks(page, blocks(every, {}, ""))  # fails now rather than after minutes
    measures = needed(every, absent)
    with tempfile.TemporaryDirectory() as directory, Progress(console=stderr, transient=True) as progress:
        if "SMPI" not in absent:
            in_smpi.build(Path(directory))
        task = progress.add_task("", total=options.repeats * len(measures))
        take = in_a_process(Path(directory), 0.1 if options.quick else 1.0)
        samples, failures = taken(
            measures, options.repeats, take, lambda measure: progress.update(task, advance=1, description=str(measure))
        )
    after = os.getloadavg()[0]
    notes += (late := [*failures, *load_warning("after the last measurement", after - 1, facts["cores"])])
    for note in late:
        stderr.print(note, soft_wrap=True)
    command = f"`python benchmarks/table.py {'--large ' * options.large}--page README.md docs/how_fast.md`"
    introduction = " ".join([f"Output of {command}, medians of {options.repeats} samples, on {sentence(facts)}.", *notes])
    pages = blocks(every, samples, introduction)
    for page in options.page:
        page.write_text(with_blocks(page, pages), encoding="utf-8")
    if options.json:
        by_name = {str(measure): found for measure, found in samples.items()}
        record = {"machine": facts, "load": [before, after], "notes": notes}
        record |= {"repeats": options.repeats, "quick": options.quick}
        print(json.dumps({**record, "rows": as_data(every, samples), "seconds": by_name}, indent=2))
    elif options.markdown:
        print(pages["table of speed"])
    else:
        Console(highlight=False, width=None if sys.stdout.isatty() else 120).print(as_table(every, samples))
    for script in OTHERS if options.fused else ():
        print(f"\n$ python benchmarks/{script}", flush=True)
        name, *more = script.split()
        subprocess.run([sys.executable, Path(__file__).with_name(name), *more], check=True)


if __name__ == "__main__":
    main()
