"""`fakempi schedule`: show, verify, run and export schedules of files and of algorithms."""

from __future__ import annotations

import os
from argparse import Namespace
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from rich.text import Text

from collectives import Algorithm, Case, UnsupportedCaseError
from collectives.loading import SCHEDULE_SUFFIXES
from collectives.schedules import Fault, InvalidScheduleError, Schedule, load, record
from collectives.schedules.errors import VerificationTimeoutError
from collectives.trials.cases import make_case
from fakempi.apps.cli.console import console, error_console, print_text
from fakempi.apps.cli.extras import check_figure, save_figure
from fakempi.apps.cli.schedules.limits import verified
from fakempi.apps.cli.schedules.timeline import Simulation, fault_label, marked, simulate
from fakempi.apps.cli.verifying import find_algorithm
from fakempi.core import options as parse
from fakempi.errors import RankError
from fakempi.errors.files import naming
from fakempi.errors.plurals import counted
from fakempi.view.numbers import seconds
from fakempi.view.timeline import timeline

CLEAN, FAULTY = 0, 1
MOST_STEPS = 64
"""Maximum number of steps that `show` lists."""

NO_RANGES = (
    "no faults found. The file has sizes but no buffer ranges: messages match, nothing deadlocks, and a chain of messages "
    "leads from every contribution to its place; contents are not verified."
)


def schedule(options: Namespace) -> int:
    """Execute the action; returns the exit code."""
    if options.figure and options.action != "show":
        raise parse.usage_error(f"--figure draws what show prints: use fakempi schedule show instead of {options.action}.")
    actions = {"show": _show, "verify": _verify, "run": _run, "export": _export}
    with naming(*([options.source] if options.source.endswith(SCHEDULE_SUFFIXES) else [])):
        try:
            return actions[options.action](_schedule(options), options)
        except RankError as error:  # the messages of the schedule do not fit each other
            raise parse.usage_error(f"{error}") from None
        except (InvalidScheduleError, UnsupportedCaseError) as error:
            raise parse.usage_error(f"{error}.") from None


def _schedule(options: Namespace) -> Schedule:
    """Return the schedule of a file, or that of an algorithm on the given number of ranks."""
    source = options.source
    if source.endswith(SCHEDULE_SUFFIXES):
        if options.ranks or options.bytes:
            raise parse.usage_error("-n and --bytes are for operation/name; a schedule file has its own sizes.")
        return load(os.path.expanduser(source))
    operation, _, rest = source.partition("/")
    names = parse.algorithm_names(rest)
    algorithm = find_algorithm(f"{operation}/{names[0][0]}" if names else operation)
    return record(algorithm, _case(algorithm, names[0][1], options))


def _case(algorithm: Algorithm, parameters: Mapping[str, Any], options: Namespace) -> Case:
    """Return the case that the options describe; `-n 6+2` has two groups."""
    between = algorithm.kind == "inter"
    ranks = parse.groups(options.ranks or ("4+4" if between else "8"))
    if len(ranks) != 1:
        raise parse.usage_error(f"-n {options.ranks}: a schedule has one number of ranks.")
    [(p, q)] = ranks
    if between != (q > 0):
        needed = f"between two groups: use -n {p}+{p}" if between else f"within one group: use -n {p + q}"
        raise parse.usage_error(f"{algorithm.operation} {algorithm.name} is {needed}.")
    nbytes = 0 if algorithm.operation == "barrier" else parse.integer(options.bytes or "1k")
    try:
        case = make_case(algorithm.operation, p, q, nbytes)
    except ValueError as error:
        raise parse.usage_error(str(error)) from None
    roles = {"first": True} if "first" in algorithm.parameters else {}
    return replace(case, root=parse.integer(options.root, "a rank"), parameters={**roles, **parameters})


def _title(schedule: Schedule) -> str:
    sends = [step for _, _, step in schedule if step.kind == "send"]
    steps, nbytes = sum(map(len, schedule.steps)), sum(step.nbytes for step in sends)
    name_of_schedule = " ".join(dict.fromkeys([schedule.operation, *schedule.name.split()])) or "schedule"
    counts = {"step": steps, "message": len(sends), "byte": nbytes}
    ranks = "{}+{} ranks".format(*schedule.groups) if schedule.groups else counted(schedule.ranks, "rank", ",")
    return f"{name_of_schedule}: {', '.join([ranks, *(counted(count, name, ',') for name, count in counts.items())])}"


def _show(schedule: Schedule, options: Namespace) -> int:
    out, width = console(), check_figure(options) if options.figure else 0.0
    print_text(out, _title(schedule), "bold")
    if sum(map(len, schedule.steps)) <= MOST_STEPS:
        for rank, index, step in schedule:
            ends = [schedule.place(rank, other).partition(", ")[2] for other in step.after]
            after = f" (after {'; '.join(ends)})" if ends else ""
            out.print(Text(f"  {schedule.place(rank, index)}: {step}{after}"), soft_wrap=True)
    simulation = simulate(schedule, parse.cost_model(options.cost))
    faults = _faults(schedule, options)
    if options.figure:
        _write_figure(schedule, simulation, faults, options, width)
    if faults:
        out.print(marked(schedule, faults[0], simulation, out.width))
        print_text(out, f"{faults[0].kind}: {faults[0]}", "bold red")
    else:
        out.print(timeline(simulation.trace, width=out.width, height=24))
    if simulation.done is None:
        print_text(out, "The schedule deadlocks; fakempi schedule verify reports the reason.", "bold red")
    return CLEAN


def _write_figure(
    schedule: Schedule, simulation: Simulation, faults: Sequence[Fault], options: Namespace, width: float
) -> None:
    """Write the timeline of a schedule, with a mark at the first fault."""
    from fakempi.view.figure.run import run_figure  # matplotlib is optional, and slow to import
    from fakempi.view.figure.timeline import Mark

    marks = [
        Mark(fault.rank, simulation.started.get((fault.rank, fault.step)), fault_label(schedule, fault, simulation))
        for fault in faults[:1]
    ]
    titles, style = [_title(schedule)], options.figure_style
    figure = run_figure([simulation.trace], ["timeline"], width=width, titles=titles, style=style, marks=marks)
    save_figure(figure, options)


def _faults(schedule: Schedule, options: Namespace) -> list[Fault]:
    """Return the faults of a schedule, none if it cannot be verified: `show` draws any schedule."""
    try:
        return verified(schedule, options)
    except VerificationTimeoutError as error:
        print_text(error_console(), f"{error}.")
        return []
    except InvalidScheduleError:
        return []


def _verify(schedule: Schedule, options: Namespace) -> int:
    operation = options.operation or schedule.operation
    faults = verified(schedule, options)
    out = console()
    title, name = _title(schedule), os.path.basename(operation)
    if not faults:
        verdict = f"no faults: the schedule implements {name}." if schedule.has_ranges or name == "barrier" else NO_RANGES
        print_text(out, f"{title}: {verdict}", "bold")
        return CLEAN
    for fault in faults:
        print_text(out, f"{fault.kind}: {fault}", "red")
    with suppress(InvalidScheduleError):  # too many ranks or messages for a picture
        out.print(marked(schedule, faults[0], simulate(schedule, parse.cost_model(options.cost)), out.width))
    print_text(out, f"{title}: {counted(len(faults), 'fault', ',')}: the schedule does not implement {name}.", "bold")
    return FAULTY


def _run(schedule: Schedule, options: Namespace) -> int:
    out = console()
    simulation = simulate(schedule, parse.cost_model(options.cost))
    if options.trace:
        simulation.trace.save(options.trace)
    print_text(out, _title(schedule), "bold")
    if simulation.done is None:
        print_text(out, "deadlock; fakempi schedule verify reports the reason", "bold red")
        return FAULTY
    clocks = simulation.done.clocks
    if schedule.ranks <= 16:
        for rank, clock in enumerate(clocks):
            out.print(Text(f"  rank {rank:2}: {seconds(clock)}"))
    out.print(Text(f"modeled time {seconds(max(clocks))}, {counted(simulation.done.messages, 'message', ',')}", "bold"))
    return CLEAN


def _export(schedule: Schedule, options: Namespace) -> int:
    if not options.output:
        raise parse.usage_error("export needs -o FILE, whose suffix determines the format: .goal, .xml or .json.")
    schedule.save(Path(options.output))
    print_text(console(), f"{options.output}: {_title(schedule)}")
    return CLEAN
