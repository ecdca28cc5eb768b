"""How fast it is, as one table: beside bare switches of the carrier, and beside SimPy and SMPI where they are installed.

    python -m pip install -e ".[bench]"         SimPy; for SMPI, on Debian and Ubuntu: apt-get install libsimgrid-dev
    python benchmarks/table.py                  some minutes, on a machine that does nothing else
    python benchmarks/table.py --large          with 65,536 ranks, too
    python benchmarks/table.py --quick          a short run of each, once: rough figures
    python benchmarks/table.py --json           all figures and what they were made from; or --markdown
    python benchmarks/table.py --page README.md docs/how_fast.md

Each measure is a process of its own; all are taken in turns, several times. It is CPU time that is taken. A time is the
median of its measures, a ratio that of the ratios of all turns.
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
from lines import LEGEND, Line, Samples, as_data, as_markdown, as_table, rewritten
from machine import busy, machine, sentence
from measures import COLLECTIVES, Measure, of_smpi
from rich.console import Console
from rich.progress import Progress

SECONDS = 300
"""What a measure may take."""

TO_INSTALL = {"SimPy": 'python -m pip install -e ".[bench]"', "SMPI": "apt-get install libsimgrid-dev, on Debian and Ubuntu"}


def lines(large: bool = False, ranks: int = 1024) -> Iterator[Line]:
    """All lines, for so many ranks, a quarter, four times and, if asked for, 64 times as many."""
    usual, switch = Measure("fakempi", "ring", ranks), Measure("bare", "greenlets", ranks)
    here, the_ring = f"{ranks:,} ranks", f"the ring, {ranks:,}"

    def compared(what: str, case: str, size: int, smpi: bool = True, **more: Any) -> Line:
        ours, bare, simpy, theirs = (Measure(tool, case, size) for tool in ("fakempi", "bare", "SimPy", "SMPI"))
        more |= {"simpy": simpy, "smpi": theirs if smpi else None}
        return Line(f"{what}, {size:,} ranks", ours, bare._replace(case="greenlets"), **more)

    yield compared("ring of `Sendrecv`", "ring", ranks // 4)
    yield compared("ring of `Sendrecv`", "ring", ranks, front=True)
    if large:  # without SMPI, which took 18 GB for 65,536 ranks and was not ready to run yet
        yield compared("ring of `Sendrecv`", "ring", 64 * ranks, smpi=False, beside=usual, beside_words=the_ring)
    yield compared("recursive doubling", "recursive doubling", 4 * ranks, front=True)
    for what, case, bare in (
        ("ring with `trace=True`", "ring with a trace", switch),
        ("ring of objects, `sendrecv`", "ring of objects", switch),
        ("ring of `Put` and `Fence`", "ring of Put and Fence", switch),
        ("ring on threads", "ring on threads", switch._replace(case="threads")),
    ):
        yield Line(f"{what}, {here}", usual._replace(case=case), bare, usual, the_ring)
    for name in COLLECTIVES:
        emulated, smpi = usual._replace(case=f"{name} by messages"), Measure("SMPI", name, ranks)
        paper, front = usual._replace(case=f"{name} on paper"), name == "Allreduce"
        yield Line(f"`{name}`, {here}", emulated, switch, smpi=smpi, front=front)
        yield Line(f"`{name}` on paper, {here}", paper, switch, emulated, "that by messages", smpi=smpi, front=front)


def missing(there: Mapping[str, bool]) -> dict[str, str]:
    """Tools that are not there, and a sentence on each."""
    words = {tool: f"{tool} is not installed, so its column is empty: {how}." for tool, how in TO_INSTALL.items()}
    return {tool: said for tool, said in words.items() if not there[tool]}


def in_a_process(folder: Path, effort: float) -> Callable[[Measure], float]:
    """What takes a measure where nothing else runs. SMPI's programs are in the folder."""

    def take(measure: Measure) -> float:
        if measure.tool == "SMPI":
            return of_smpi(folder, measure.case, measure.ranks, effort)
        script = Path(__file__).with_name("measures.py")
        command = [sys.executable, script, measure.tool, measure.case, str(measure.ranks), str(effort)]
        done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=SECONDS)
        return float(json.loads(done.stdout))

    return take


def taken(
    measures: Sequence[Measure], repeats: int, take: Callable[[Measure], float], told: Callable[[Measure], None]
) -> tuple[Samples, list[str]]:
    """All measures, in turns. One that fails is not tried again, and there is a sentence on it."""
    samples: dict[Measure, list[float]] = {measure: [] for measure in measures}
    failed: dict[Measure, str] = {}
    for _ in range(repeats):
        for measure in measures:
            told(measure)
            if measure in failed:
                continue
            try:
                samples[measure].append(take(measure))
            except subprocess.TimeoutExpired as error:
                failed[measure] = f"{measure}: not done after {error.timeout:.0f} s."
            except subprocess.CalledProcessError as error:
                last = (error.stderr or "").strip().splitlines()[-1:] or ["no word"]
                failed[measure] = f"{measure}: failed with exit code {error.returncode}: {last[0]}"
    return {measure: found for measure, found in samples.items() if measure not in failed}, list(failed.values())


def wanted(every: Iterable[Line], without: Iterable[str]) -> list[Measure]:
    """Each measure once, in the order of the lines, but those of tools that are missing."""
    gone = set(without)
    return [each for each in dict.fromkeys(m for line in every for m in line.measures()) if each.tool not in gone]


def blocks(every: Sequence[Line], samples: Samples, introduction: str) -> dict[str, str]:
    """What is written to pages, by the name of its place: all of it, and what the front page has."""
    return {
        "table of speed": f"{introduction}\n\n{as_markdown(every, samples)}\n\n{LEGEND}",
        "short table of speed": as_markdown([line for line in every if line.front], samples),
    }


def asked_for(words: Sequence[str] | None) -> argparse.Namespace:
    """Options."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--large", action="store_true", help="a ring of 65,536 ranks, too")
    parser.add_argument("--quick", action="store_true", help="a short run of each, once")
    parser.add_argument("--repeats", type=int, help="how often each is measured (5; 1 if quick)")
    parser.add_argument("--json", action="store_true", help="print all figures, and what they were made from")
    parser.add_argument("--markdown", action="store_true", help="print what --page writes")
    parser.add_argument("--page", type=Path, nargs="+", default=[], help="pages whose table is to be written anew")
    asked = parser.parse_args(words)
    if asked.page and asked.quick:
        parser.error("--page wants figures that are not rough: run it without --quick")
    if asked.repeats is None:
        asked.repeats = 1 if asked.quick else 5
    elif asked.repeats < 1:
        parser.error(f"--repeats wants a number from 1 on, not {asked.repeats}")
    return asked


def main(words: Sequence[str] | None = None) -> None:
    """Measure all, and show it."""
    asked = asked_for(words)
    if find_spec("greenlet") is None:
        raise SystemExit('greenlet is not installed, and nearly all lines need it: python -m pip install -e ".[bench]"')
    facts, before, stderr = machine(), os.getloadavg()[0], Console(stderr=True, highlight=False)
    gone = missing({"SimPy": find_spec("simpy") is not None, "SMPI": in_smpi.installed()})
    notes = [*gone.values(), *busy("before the first measure", before, facts["cores"])]
    stderr.print(sentence(facts), *notes, sep="\n", soft_wrap=True)
    every = list(lines(asked.large))
    for page in asked.page:
        rewritten(page, blocks(every, {}, ""))  # refused before it takes minutes
    measures = wanted(every, gone)
    with tempfile.TemporaryDirectory() as folder, Progress(console=stderr, transient=True) as progress:
        if "SMPI" not in gone:
            in_smpi.build(Path(folder))
        task = progress.add_task("", total=asked.repeats * len(measures))
        take = in_a_process(Path(folder), 0.1 if asked.quick else 1.0)
        samples, failures = taken(
            measures, asked.repeats, take, lambda measure: progress.update(task, advance=1, description=str(measure))
        )
    after = os.getloadavg()[0]
    notes += (late := [*failures, *busy("after the last measure", after - 1, facts["cores"])])
    for note in late:
        stderr.print(note, soft_wrap=True)
    made_by = f"Made by `python benchmarks/table.py {'--large ' * asked.large}--page README.md docs/how_fast.md`"
    introduction = " ".join([f"{made_by}, each the median of {asked.repeats}: {sentence(facts)}.", *notes])
    pages = blocks(every, samples, introduction)
    for page in asked.page:
        page.write_text(rewritten(page, pages), encoding="utf-8")
    if asked.json:
        by_name = {str(measure): found for measure, found in samples.items()}
        told = {"machine": facts, "load": [before, after], "repeats": asked.repeats, "quick": asked.quick, "notes": notes}
        print(json.dumps({**told, "lines": as_data(every, samples), "seconds": by_name}, indent=2))
    elif asked.markdown:
        print(pages["table of speed"])
    else:
        Console(highlight=False, width=None if sys.stdout.isatty() else 120).print(as_table(every, samples))


if __name__ == "__main__":
    main()
