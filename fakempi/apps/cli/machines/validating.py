"""The summary below `fakempi compare --beside`: errors, rank agreement, and the regret of the model's choice."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import Console
from rich.table import Table

from collectives.trials.cases import make_case
from fakempi.apps.compare.measurements import LIBRARY, Measurements
from fakempi.apps.compare.sweep import Sweep
from fakempi.core import options as parse
from fakempi.core.network.cost import CostModel
from fakempi.errors import MPIValueError
from fakempi.machines.agreement import MeasuredColumn, agreement
from fakempi.tuning import TABLES, NodesOfRanks, startup_bytes
from fakempi.tuning.parsing import typed
from fakempi.tuning.parts import facts_of

LIBRARIES = ("mpich", "openmpi")
"""Decision tables whose choices are compared with the model's."""


def show_agreement(out: Console, sweeps: Sequence[Sweep], measurements: Measurements, cost: str) -> None:
    """Print the summary, if at least two columns have measured times of two or more algorithms."""
    columns = list(measured_columns(sweeps, measurements, parse.cost_model(cost)))
    if sum(len(column.common) > 1 for column in columns) < 2:
        return
    summary = agreement(columns)
    out.print()
    errors = Table("relative error |modeled / measured - 1|", "median", "largest", box=None, pad_edge=False)
    for name, (middle, worst) in summary.errors.items():
        errors.add_row(name, f"{middle:.1%}", f"{worst:.1%}")
    out.print(errors)
    if summary.spearman is not None:
        out.print(f"rank agreement (Spearman, mean over columns): {summary.spearman:.2f}")
    out.print()
    regrets = Table("time above the fastest measured algorithm", "mean", "largest", "columns", box=None, pad_edge=False)
    for regret in summary.regrets:
        regrets.add_row(regret.name, f"{regret.mean:.1%}", f"{regret.worst:.1%}", str(regret.columns))
    out.print(regrets)


def measured_columns(sweeps: Sequence[Sweep], measurements: Measurements, cost: CostModel) -> Iterator[MeasuredColumn]:
    """Yield the columns of all tables with their measured times."""
    for sweep in sweeps:
        for column in sweep.columns:
            key = column.p, column.q, column.nbytes, sweep.distribution
            modeled = {name: float(time) for name, time in column.times.items() if time}
            measured = {name: measurements.seconds[(name, *key)] for name in modeled if (name, *key) in measurements.seconds}
            rules = _chosen(sweep, column.p, column.nbytes, cost, list(measured)) if sweep.kind == "intra" else {}
            yield MeasuredColumn(modeled, measured, measurements.seconds.get((LIBRARY, *key)), rules)


def _chosen(sweep: Sweep, p: int, nbytes: int, cost: CostModel, names: Sequence[str]) -> dict[str, str]:
    """Return the algorithm that each library's rules choose, where it has been measured."""
    nodes = NodesOfRanks.of([cost.node(rank) for rank in range(p)])
    facts = facts_of(
        sweep.kind,
        sweep.operation,
        make_case(sweep.operation, p, 0, nbytes, itemsize=sweep.elements.itemsize),
        startup_bytes(cost.linear),
        nodes,
    )
    summary = {}
    for table in LIBRARIES:
        try:
            choice = TABLES[table].choose(facts)
        except (MPIValueError, LookupError):  # the table has no rule for this operation
            continue
        whole = typed((choice.algorithm, choice.parameters))
        summary[table] = next((name for name in (whole, choice.algorithm.name) if name in names), whole)
    return summary
