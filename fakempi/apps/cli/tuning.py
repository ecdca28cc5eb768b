"""`fakempi tune`: write a rule file for a real MPI library, with the best algorithms on a machine."""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path
from shlex import quote
from statistics import median

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

from collectives.trials.cases import UNSIZED
from fakempi import __version__
from fakempi.apps.cli.comparison.progress import TerminalProgress
from fakempi.apps.cli.console import console, error_console
from fakempi.apps.cli.extras import check_writable
from fakempi.apps.tune.choosing import SIZES, Rules, representatives, tune
from fakempi.apps.tune.mpich_files import selection
from fakempi.apps.tune.openmpi_files import as_json, classic
from fakempi.apps.tune.targets import TARGETS, Target
from fakempi.core import options as parse
from fakempi.core.network.cost import CostModel
from fakempi.errors import MPIError

_RULES = "mpiexec --mca coll_han_priority 0 --mca coll_tuned_use_dynamic_rules 1 --mca coll_tuned_dynamic_rules_filename {}"
USAGE = {
    "openmpi": f"{_RULES} ...",
    "openmpi-json": f"{_RULES} ...",
    "mpich": "mpiexec -genv MPIR_CVAR_DEVICE_COLLECTIVES none -genv MPIR_CVAR_COLL_SELECTION_TUNING_JSON_FILE {} ...",
}
"""How a library reads the file of each format.

From version 5 on, Open MPI prefers its component han (priority 35) to tuned (30) for communicators that span nodes.
"""

LIBRARIES = {"openmpi": "Open MPI", "mpich": "MPICH"}


def write_rules(options: Namespace) -> int:
    """Write the file, print the expected gains, and return 0."""
    target = TARGETS[options.format]
    operations = _operations(options.operations, target)
    ranks = _ranks(options.ranks)
    sizes = sorted(set(parse.sizes(options.bytes))) if options.bytes else list(SIZES)
    if not 0 <= options.margin < 100:
        raise parse.usage_error(f"--margin {options.margin:g} is not a percentage from 0 to less than 100.")
    cost = placed_cost_model(options.cost, options.ranks_per_node)
    if cost.places is not None and cost.places < max(ranks):
        raise parse.usage_error(f"-n {options.ranks}: {options.cost} has places for at most {cost.places:,} ranks.")
    check_writable(options.output)
    rules = _tuned(options, cost, ranks, sizes, operations)
    text = selection(rules) if options.format == "mpich" else _openmpi(options, rules)
    if options.output == "-":
        sys.stdout.write(text)
        return 0
    Path(options.output).write_text(text, encoding="utf-8")
    _show(console(), options, rules)
    return 0


def placed_cost_model(text: str, ranks_per_node: int | None) -> CostModel:
    """Return the cost model, with this number of ranks per node if it is given."""
    if ranks_per_node is None:
        return parse.cost_model(text)
    if text.endswith(")"):
        raise parse.usage_error(f"--ranks-per-node {ranks_per_node}: set it in the parentheses of {text} instead.")
    try:
        return parse.cost_model(f"{text}{',' if ':' in text else ':'}ranks_per_node={ranks_per_node}")
    except MPIError as error:
        raise parse.usage_error(f"--ranks-per-node {ranks_per_node}: {error}") from None


def _operations(text: str | None, target: Target) -> list[str]:
    known = list(target.candidates)
    wanted = [name.strip() for name in text.split(",")] if text else known
    for name in wanted:
        if name not in known:
            raise parse.unknown_name(f"--operations: for {target.name}, operation", name, known)
    return list(dict.fromkeys(wanted))


def _ranks(text: str) -> list[int]:
    ranks = []
    for p, q in parse.groups(text):
        if q:
            raise parse.usage_error(f"-n {text}: rules are for one group of ranks, not for {p}+{q}.")
        if p < 2:
            raise parse.usage_error(f"-n {text}: rules are for at least 2 ranks, not for {p}.")
        ranks.append(p)
    return sorted(set(ranks))


def _openmpi(options: Namespace, rules: Rules) -> str:
    release = "6" if options.format == "openmpi-json" else "5"
    about = (
        f"Rules for Open MPI {release}, written by fakempi {__version__} for the cost model {options.cost}\n"
        + (f"with {options.ranks_per_node} ranks per node, " if options.ranks_per_node else "")
        + f"and {options.ranks} ranks. Elsewhere, and where less than {options.margin:g} % is saved, Open MPI decides.\n"
        + ("All ops must be commutative." if options.commutative else "")
    )
    return as_json(rules, about) if options.format == "openmpi-json" else classic(rules, about)


def _tuned(options: Namespace, cost: CostModel, ranks: Sequence[int], sizes: Sequence[int], operations: list[str]) -> Rules:
    """Choose the algorithms of all cases, with a transient progress bar."""
    screen = error_console()
    columns = BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TextColumn("{task.description}")
    conditional = options.format == "mpich"
    ends = [*ranks[1:], ranks[-1] + 1]
    groups = [representatives(first, after, conditional=conditional) for first, after in zip(ranks, ends, strict=True)]
    total = sum(len(group) for group in groups) * sum(1 if each in UNSIZED else len(sizes) for each in operations)
    with TerminalProgress(screen, *columns) as progress:
        bar = progress.add_task("", total=total, completed=-1)

        def report(operation: str, p: int, nbytes: int) -> None:
            progress.update(bar, advance=1, description=f"{operation}, {p:,} ranks, {nbytes:,} bytes")

        margin, commutative = options.margin / 100, options.commutative
        return tune(options.format, cost, ranks, sizes, operations, margin=margin, commutative=commutative, report=report)


def _show(out: Console, options: Namespace, rules: Rules) -> None:
    table = Table(box=None, pad_edge=False, header_style="bold", title_justify="left")
    for name in ("operation", "cases", "changed", "unsure", "median gain", "largest gain", "rules"):
        table.add_column(name, justify="left" if name == "operation" else "right", no_wrap=True)
    for operation, rows in rules.rows.items():
        points = [point for point in rules.points if point.operation == operation]
        gains = [point.gain for point in points if point.pick.name]
        shown = (f"{median(gains):.2f}x", f"{max(gains):.2f}x") if gains else ("-", "-")
        unsure = sum(bool(point.best.name) and not point.pick.name for point in points)
        written = sum(len(row.cells) for row in rows)
        table.add_row(operation, str(len(points)), str(len(gains)), str(unsure), *shown, str(written))
    out.print(table)
    library = LIBRARIES[rules.target.name]
    remark = (
        f"A gain is the modeled time of {library}'s own choice divided by that of the rule. The model is unsure where the "
        f"best algorithm saves less than {options.margin:g} % of that time; there {library} decides."
    )
    out.print(Text(remark))
    out.print(Text(f"Use: {USAGE[options.format].format(quote(options.output))}"))
