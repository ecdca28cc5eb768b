"""`python -m tests.fuzz.files 10000` tries 10,000 mutants of each kind of file; `--kinds trace` limits it to these kinds.

The exit code is 1 if there is a problem. The last line has the numbers.
"""

from __future__ import annotations

import os
import re
import sys
from argparse import ArgumentParser, Namespace
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from time import monotonic

from fakempi.apps.cli.comparing import _table_of_counts
from fakempi.apps.cli.machines.calibrating import broadcasts
from fakempi.apps.cli.parser import make_parser
from fakempi.core import options as parse
from fakempi.core.reports.ignore_comments import comments_of
from fakempi.core.reports.project_settings import project_suppressions
from fakempi.errors import MPIError, printable
from fakempi.modelcheck.steering.token import read as read_token
from fakempi.tuning.requests import chosen
from tests.fuzz.files.kinds import KINDS, TEXTS, Kind, support_files
from tests.fuzz.files.limits import MEGABYTES, SECONDS, Outcome, Prepare, command, outcomes
from tests.fuzz.files.mutation import mutant

READERS: dict[str, list[Callable[[str], object]]] = {
    "algorithm names": [
        parse.algorithm_names,
        parse.algorithms,
        lambda text: [chosen(("intra", "bcast"), each) for each in parse.algorithm_names(text)],
    ],
    "cost models": [parse.cost_model],
    "schedule tokens": [read_token],
    "sizes and ranks": [parse.sizes, parse.groups, lambda text: parse.ranks(text, 16), parse.seconds],
}


LARGE_FROM = 1000
"""Runs of at least this number of mutants also read large valid files; to make these takes seconds."""

FUNCTIONS: dict[str, Callable[[str], object]] = {
    "comments": comments_of,
    "broadcasts": lambda file: broadcasts(file, False),
    "counts": lambda file: list(
        _table_of_counts(Namespace(counts=file, bytes="", distribution="", ranks=""), "allgatherv", "intra")
    ),
    "suppressions": lambda file: project_suppressions(os.path.dirname(os.path.abspath(file))),
}
"""Functions that read files while a program runs, or before a command computes the cases of a file, which may take long."""


def _call(function: Callable[[str], object], file: str) -> tuple[str, int, str]:
    """Call a function; return the name of the file, an exit code and the message, as a command."""
    try:
        function(file)
    except MPIError as error:
        return file, 2, printable(str(error))
    return file, 0, ""


def of_files(kind: Kind, seed: int, count: int) -> Prepare:
    """Return the function that writes mutant `index` of a kind; the first ones are valid, in long runs large."""
    samples, parser = kind.small(), make_parser()
    large = kind.large() if count >= LARGE_FROM else b""

    def prepare(index: int) -> Callable[[], tuple[str, int, str]]:
        random = Random(f"{kind.name} {seed} {index}")
        path = Path(kind.file)
        is_valid, words = index < len(kind.commands), kind.commands[index % len(kind.commands)]
        if is_valid:  # the time of a run is not limited: `schedule run` and `show` take two to three seconds for 1 MB
            runs = words[:2] in (("schedule", "run"), ("schedule", "show"))
            data = large if large and not runs else samples[index % len(samples)]
        else:
            data = mutant(samples, random, kind.rewrite)
        path.unlink(missing_ok=True)
        path.write_bytes(data)
        arguments = [word.replace("{}", kind.file) for word in words]
        if arguments[0] in FUNCTIONS:
            return partial(_call, FUNCTIONS[arguments[0]], kind.file)
        return lambda: (path.name, *command(arguments, parser))

    return prepare


def of_texts(name: str, seed: int, count: int) -> Prepare:
    """Return the function that makes mutant `index` of a text that is typed."""
    samples = [text.encode() for text in TEXTS[name]]

    def prepare(index: int) -> Callable[[], tuple[str, int, str]]:
        data = mutant(samples, Random(f"{name} {seed} {index}")) if index >= len(samples) else samples[index]
        text = data.decode("utf-8", "replace").replace("evil", "nothing").replace("/", "_")[:4096]  # users choose files

        def act() -> tuple[str, int, str]:
            messages = []
            for reader in READERS[name]:
                try:
                    reader(text)
                except (MPIError, OSError) as error:  # the command line reports both
                    messages.append(printable(str(error)[-1000:]))
            return "", 2, messages[0] if len(messages) == len(READERS[name]) else ""

        return act

    return prepare


def check(name: str, count: int, prepare: Prepare, directory: str, show: int) -> Counter[str]:
    """Try the mutants of a kind, report the problems, and return their numbers."""
    found: Counter[str] = Counter()
    sentences: Counter[str] = Counter()
    worst, began = Outcome(0, "", "", 0.0, 0.0), monotonic()
    for outcome in outcomes(count, prepare, directory):
        if outcome.problem:
            found[outcome.problem] += 1
            if found[outcome.problem] <= show:
                line = f"{name} {outcome.number}: {outcome.problem}, {outcome.seconds} s, {outcome.megabytes} MB"
                sys.stdout.write(f"{line}\n{outcome.text[-1500:]}\n")
        worst = max(worst, outcome, key=lambda one: one.seconds)
        sentences[re.sub(r"'[^']*'|\d+", "N", outcome.text)[:150]] += 1
    results = sentences.pop("", 0)
    found["words"] += not results  # then the examples are not valid, or nothing is read
    times = f"longest {worst.seconds} s, in all {monotonic() - began:.1f} s"
    sys.stdout.write(f"{name}: {count} mutants, {results} results, {times}, {dict(+found) or 'no problems'}\n")
    sys.stdout.flush()
    if show > 100:
        sys.stdout.write("".join(f"    {number} {text}\n" for text, number in sentences.most_common(show)))
    return found


@contextmanager
def empty_directory() -> Iterator[str]:
    """Work in a new directory that contains the mutant and the files that commands need."""
    before = os.getcwd()
    with TemporaryDirectory() as directory:
        os.chdir(directory)
        Path("mpi_course").mkdir()
        for name, data in support_files().items():
            Path(name).write_bytes(data)
        yield os.path.realpath(directory)
        os.chdir(before)


def main() -> int:
    """Try all kinds; returns the exit code."""
    parser = ArgumentParser("python -m tests.fuzz.files")
    parser.add_argument("count", type=int, nargs="?", default=200)
    parser.add_argument("--kinds", default="")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--show", type=int, default=3, help="problems to print of each kind; over 100: also the sentences")
    options = parser.parse_args()
    found, kinds = Counter[str](), 0
    makers: dict[str, Callable[[int, int], Prepare]] = {kind.name: partial(of_files, kind) for kind in KINDS}
    makers |= {name: partial(of_texts, name) for name in TEXTS}
    for name, make in makers.items():
        if name.startswith(options.kinds):
            kinds += 1
            with empty_directory() as directory:  # a replay reads the comments of a work.py that an earlier kind has left
                found += check(name, options.count, make(options.seed, options.count), directory, options.show)
                found["code"] += os.path.exists("pwned")
    sys.stdout.write(
        f"{kinds} kinds of files, {kinds * options.count} mutants: {found['traceback']} tracebacks, "
        f"{found['code']} ran code, {found['words']} without a sentence, "
        f"{found['slow']} over {SECONDS:g} s, {found['large']} over {MEGABYTES} MB\n"
    )
    return int(found.total() > 0)


if __name__ == "__main__":
    sys.exit(main())
