"""`fakempi check`: run a script in the schedules that MPI allows, and print one verdict."""

from __future__ import annotations

import io
import sys
import traceback
from argparse import Namespace

from fakempi.apps.cli.console import console, print_text
from fakempi.apps.cli.disturbances.check import check_disturbed
from fakempi.apps.cli.disturbances.options import is_disturbed_check
from fakempi.apps.cli.interrupts import terminable, verb_and_code
from fakempi.apps.cli.rank_counts.across import check_options as check_comparison
from fakempi.apps.cli.rank_counts.check import check_numbers
from fakempi.apps.cli.rank_counts.parsing import check_single, numbers_of
from fakempi.apps.cli.rank_counts.results import CLEAN, FAILS, SO_FAR
from fakempi.apps.cli.running import command_of, ranks_of
from fakempi.apps.cli.searches.recorded_input import RecordedInput
from fakempi.apps.cli.searches.report import check_files, full_verdict, report_failures, runs_so_far, write_figure
from fakempi.apps.cli.searches.search import explored
from fakempi.core.rank_numbers import are_several
from fakempi.errors.tracebacks import all_shown
from fakempi.isolation import Program
from fakempi.modelcheck.search.exploration import Exploration


def _disturbed(command: list[str], options: Namespace, numbers: list[int]) -> int:
    """Run the script with late or dying ranks; returns the exit code."""
    try:
        with all_shown(options.full_traceback), terminable():
            return check_disturbed(command, options, numbers, console())
    except SyntaxError as error:
        sys.stderr.write("".join(traceback.format_exception_only(error)))
        return FAILS
    except KeyboardInterrupt as interrupt:
        verb, code = verb_and_code(interrupt)
        print_text(console(), verb)
        return code


def check(options: Namespace) -> int:
    """Print the verdict; returns the exit code."""
    command = command_of(options)
    check_comparison(options)
    if is_disturbed_check(options):
        numbers = numbers_of(options) if are_several(options.ranks) else [ranks_of(options)]
        return _disturbed(command, options, numbers)
    if are_several(options.ranks):
        return check_numbers(command, options)
    check_single(options)
    nprocs = ranks_of(options)
    width = check_files(options)
    try:
        script = Program(command, share=options.share, private=options.private, mpi=options.mpi)
    except SyntaxError as error:
        sys.stderr.write("".join(traceback.format_exception_only(error)))
        return FAILS
    out, so_far = console(), Exploration()
    try:
        with all_shown(options.full_traceback), terminable():
            exploration = explored(script, nprocs, options, so_far, RecordedInput(sys.stdin or io.StringIO()))
    except KeyboardInterrupt as interrupt:
        verb, code = verb_and_code(interrupt)
        print_text(out, f"{verb} after {runs_so_far(so_far)}")
        return code
    failures = exploration.failures
    report_failures(out, exploration, script, nprocs, options)
    if options.figure:
        write_figure(exploration, options, width)
    print_text(out, full_verdict(exploration), "bold red" if failures else "bold")
    for remark in exploration.remarks():
        print_text(out, remark)
    return FAILS if failures else CLEAN if exploration.exhausted else SO_FAR
