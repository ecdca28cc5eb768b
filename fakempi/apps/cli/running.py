"""`fakempi run` on one number of ranks: run a script on every rank, report its failure, and return its exit code."""

from __future__ import annotations

import os
import sys
import traceback
from argparse import Namespace
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import dataclass, replace
from functools import reduce
from importlib.util import find_spec
from math import inf
from operator import or_
from pathlib import Path
from typing import Any, NoReturn

from fakempi.apps.cli.disturbances.options import disturbance_of_run
from fakempi.apps.cli.extras import terminal_viewer
from fakempi.apps.cli.interrupts import TIMED_OUT, Interrupts
from fakempi.apps.cli.real_mpi.mpirun import on_path
from fakempi.core import options as parse
from fakempi.core.arguments import RunOptions
from fakempi.core.reports.explain import explained_by
from fakempi.core.reports.findings import NOTES, headline, lines
from fakempi.core.reports.suppressions import Suppressions, unused_text
from fakempi.core.run_result import Run, recorded_trace
from fakempi.core.world import run
from fakempi.errors import (
    LAYOUT_CHARACTERS,
    Aborted,
    DeadlockError,
    ExitWithoutFinalize,
    FindingsError,
    Killed,
    RankError,
    RunTimeoutError,
    printable,
)
from fakempi.errors.paths import missing_file
from fakempi.errors.plurals import counted
from fakempi.errors.records import Finding, RecordedTrace
from fakempi.errors.tracebacks import all_shown, printed
from fakempi.extensions.disturbance import disturbed
from fakempi.isolation import Program
from fakempi.isolation.main_module import main_in
from fakempi.mpi.comms.console_scripts import console_script
from fakempi.mpi.comms.python_options import python_options
from fakempi.processes.requests import HASH_SEED, wants_processes
from fakempi.view.lines import write_text
from fakempi.view.numbers import amount, seconds

FAILED = 1
WITH_FINDINGS = 3  # a strict run with findings
KILLED = 9  # exit code of MPICH's mpiexec if a rank exits with 0 before Finalize and the others are killed
SIGNALED = 128  # plus the number of the signal that killed the process of a rank, as a shell reports it


@dataclass(frozen=True)
class ScriptEnd:
    """How a run of a script ended.

    Attributes
    ----------
    code : the exit code
    error : the error that ended it, if there was one
    interrupted : whether Ctrl-C or SIGTERM ended it
    without_messages : whether ranks have started, and none has sent a message
    """

    code: int
    error: BaseException | None = None
    interrupted: bool = False
    without_messages: bool = False


def run_command(command: Sequence[str], nprocs: int, options: Namespace) -> ScriptEnd:
    """Run the script on a number of ranks, and report how it ended."""
    chosen = _run_options(options)
    browse = terminal_viewer() if options.interactive else None
    _check_trace_file(options.trace)
    try:
        script = script_of(command, options)
    except SyntaxError as error:
        sys.stderr.write("".join(traceback.format_exception_only(error)))
        return ScriptEnd(FAILED, error)
    if not (options.strict or in_processes(options)):
        # a strict run checks more, and children keep their buffers to themselves
        chosen = replace(chosen, check_buffers="sends")
    disturbance = disturbance_of_run(options, nprocs, in_processes(options))
    interrupts = Interrupts(script, nprocs, options.timeout)
    try:
        surroundings: AbstractContextManager[object] = nullcontext() if disturbance is None else disturbed(disturbance)
        with on_path(options.mpirun), all_shown(options.full_traceback), interrupts, surroundings:
            result = run(script, nprocs, **chosen)
    except KeyboardInterrupt as interrupt:
        return ScriptEnd(_report_interrupt(interrupt, interrupts, script, options.trace), interrupt, True)
    except (RunTimeoutError, RankError, DeadlockError, FindingsError) as error:
        _save(error.trace, script, options.trace)
        code = report_failure(error, nprocs, script)
        _report_findings(error.findings, error.suppressed, options)
        if browse is not None:
            browse(error.trace, " ".join(command))
        return ScriptEnd(code, error, without_messages=_without_messages(script))
    _report_result(result, script, options)
    if browse is not None:
        browse(result.trace, " ".join(command))
    code = reduce(or_, script.codes.values(), 0)
    return ScriptEnd(code, without_messages=_without_messages(script) and all(script.codes.values()))


def _without_messages(script: Program) -> bool:
    """Return whether ranks have started, and none has sent a message."""
    return script.universe is not None and not any(port.sent for port in script.universe.network.out)


def ranks_of(options: Namespace) -> int:
    """Return the number of ranks."""
    nprocs = parse.count(options.ranks)
    if nprocs < 1:
        raise parse.usage_error(f"-n {options.ranks}: there must be at least 1 rank.")
    return nprocs


def _run_options(options: Namespace) -> RunOptions:
    """Return the options of the run."""
    return RunOptions.from_command_line(
        vars(options),
        trace=bool(options.trace or options.interactive),
        # A line of progress would overwrite the prompt of pdb, which reads its input in another process.
        progress="always" if options.progress else not (options.quiet or options.debug),
        timeout=options.timeout or inf,  # infinite: enables the monitor, which handles Ctrl-C
        kill=dict(options.kill) if options.kill else None,
        ignore=suppressions(options),
    )


def _check_trace_file(path: str | None) -> None:
    """Check the name of the trace's file before the run."""
    if path and not path.endswith((".json", ".npz", ".html")):
        raise parse.usage_error(f"--trace {path}: the file's name must end in .json, .npz or .html.")
    if path and not os.path.isdir(os.path.dirname(path) or "."):
        raise parse.usage_error(f"--trace {path}: there is no directory {os.path.dirname(path)!r}.")


def in_processes(options: Namespace) -> bool:
    """Return whether each rank is a process."""
    return bool(options.processes or options.debug or options.hash_seeds or wants_processes())


def script_of(command: Sequence[str], options: Namespace) -> Program:
    """Return the script as a program for ranks, in this process or each in a process."""
    label = "[{rank}] " if options.prefix else ""
    common: dict[str, Any] = {"label": label, "seed": options.seed or 0, "share": options.share, "mpi": options.mpi}
    port = _debug_port(options)
    if options.hash_seeds and os.environ.get(HASH_SEED, "random") != "random":
        reason = f"{HASH_SEED}={os.environ[HASH_SEED]} gives all ranks the same hashes; unset it."
        raise parse.usage_error(f"--hash-seeds: {reason}")
    if in_processes(options):
        from fakempi.processes.program import ProcessProgram  # other runs start faster

        more = {"debug": options.debug, "debug_port": port, "hash_seeds": options.hash_seeds}
        return ProcessProgram(command, **common, **more)
    return Program(command, private=options.private, **common)


def _report_interrupt(interrupt: KeyboardInterrupt, interrupts: Interrupts, script: Program, path: str) -> int:
    """Print where the ranks were when the run was interrupted, and save the trace; returns the exit code."""
    text = "\n  ".join([f"{interrupts.verb}{interrupts.progress()}", *interrupts.places])
    print_error(f"fakempi: {text}")
    trace = None if script.universe is None else recorded_trace(script.universe, interrupt)
    if trace is not None:
        if interrupts.places:
            trace.about["ended"]["text"] = text
        _save(trace, script, path)
    return interrupts.code


def _report_result(result: Run[int], script: Program, options: Namespace) -> None:
    """Save the trace of a run that has succeeded, and print its findings and the summary."""
    _save(result.trace, script, options.trace)
    _report_findings(result.findings, result.suppressed, options)
    if text := unused_text(result.unused_suppressions):
        print_error(f"fakempi: {text}")
    if options.summary or (sys.stderr.isatty() and not options.quiet):
        calls = result.fused_calls.items() if options.summary else ()  # fused and emulated calls, and reasons
        print_error("\n  ".join([_summary(result), *(f"{operation}: {counts}" for operation, counts in calls)]))


def report_failure(
    error: RunTimeoutError | RankError | DeadlockError | FindingsError, nprocs: int, script: Program, *, hint: bool = True
) -> int:  # fmt: skip
    """Print the reason of the failure, and with `hint` the command that explains it; returns the exit code.

    Findings are printed separately.
    """
    if isinstance(error, FindingsError):
        return WITH_FINDINGS
    command = explained_by(error) if hint else ""
    how = f"for details, run: {command}" if command else ""
    if isinstance(error, RankError):
        return _failed(error, nprocs, script, how)
    timed_out = isinstance(error, RunTimeoutError)
    print_error(f"fakempi: {error}" if timed_out else str(error))
    for line in [*([] if timed_out else _exit_codes(script)), *([how] if how else [])]:
        print_error(f"  {line}")
    return TIMED_OUT if timed_out else FAILED


def suppressions(options: Namespace) -> Suppressions:
    """Return the suppressions of `--ignore` and pyproject.toml."""
    kinds = [kind.strip() for text in options.ignore for kind in text.split(",")]
    return Suppressions(kinds, "--ignore ").load()


def _report_findings(findings: Sequence[Finding], suppressed: Sequence[Finding], options: Namespace) -> None:
    """Print the findings as text or JSON, or write them to a file.

    If all are of kinds that may be intended, only a strict run prints them. Suppressed ones are not among them: a strict
    run, or one with a summary, lists them separately.
    """
    format, _, path = options.findings.partition(":")
    if format == "json":
        import json

        text = json.dumps([finding.as_record() for finding in findings])
        if path:
            Path(path).write_text(text + "\n", encoding="utf-8")
        else:
            print_error(text)
    elif options.strict or any(finding.kind not in NOTES for finding in findings):
        kinds = list(dict.fromkeys(finding.kind for finding in findings))
        if kinds:
            hint = f"for details, run: fakempi explain {'KIND' if kinds[1:] else kinds[0]}"
            print_error("\n  ".join([f"fakempi: {headline(findings)} ({hint})", *lines(findings)]))
    if suppressed and (options.strict or options.summary):
        print_error("\n  ".join([f"fakempi: {headline(suppressed)} suppressed", *lines(suppressed)]))


def _save(trace: RecordedTrace | None, script: Program, path: str) -> None:
    """Add the exit codes of ranks to the trace of a complete or failed run, if there is one, and save it."""
    if trace is None:
        return
    from fakempi.trace.record import Trace

    assert isinstance(trace, Trace)  # the only implementation
    if codes := _exit_codes(script):
        no_failure = {"kind": "SystemExit", "time": trace.time, "text": codes[0], "headline": codes[0]}
        ended = trace.about.setdefault("ended", no_failure)
        ended["text"] = "\n  ".join(codes if ended is no_failure else [ended["text"], *codes])
    if path:
        trace.save(path)


def command_of(options: Namespace) -> list[str]:
    """Return the command as typed after `python` and its options; a leading `python` is removed.

    With options such as `-O` or `-W error`, this process continues as an interpreter that was started with them.
    """
    for flag, rest in (("-m", options.module), ("-c", options.code)):
        if rest is not None:
            return [flag, *rest]
    command: list[str] = options.command
    if command[:1] == ["--"]:
        command = command[1:]
    if command and os.path.basename(command[0]) in ("python", "python3", os.path.basename(sys.executable)):
        flags, command = python_options(command[1:])
        if flags:
            _continue_with(flags, [*options.argv[: len(options.argv) - len(options.command)], "python", *command])
    if not command:
        raise parse.usage_error("the script is missing: use fakempi run -n 4 script.py, or -m module.")
    if command[0] == "-":
        return ["-c", sys.stdin.read(), *command[1:]]
    if command[0] not in ("-m", "-c") and not os.path.isfile(command[0]) and not main_in(command[0]):
        if os.path.basename(command[0]) == command[0] and (path := console_script(command[0])):
            return [path, *command[1:]]
        hint = f"Use -m {command[0]} to run a module." if command[0].isidentifier() else ""
        raise parse.usage_error(missing_file(command[0], hint))
    return command


def _continue_with(flags: Sequence[str], arguments: Sequence[str]) -> NoReturn:
    """Start `fakempi` with these arguments in an interpreter with other options, instead of this one."""
    command = [sys.executable, *flags, "-m", "fakempi", *arguments]
    sys.stdout.flush()
    if os.name == "posix":
        os.execv(sys.executable, command)
    import subprocess

    sys.exit(subprocess.run(command, check=False).returncode)


def _summary(result: Run[int]) -> str:
    ranks = counted(len(result.returns), "rank", ",")
    if len(result.clocks) > len(result.returns):
        ranks += f" and {len(result.clocks) - len(result.returns):,} spawned"
    time = seconds(result.time) + (f" with measured CPU time times {result.cpu_scale:g}" if result.cpu_scale else "")
    messages = counted(result.messages, "message", ",")
    return f"fakempi: {ranks}, {time}, {messages}, {amount(result.bytes)}"


def _debug_port(options: Namespace) -> int:
    """Return the port on which ranks wait for a debugger, or 0 for pdb."""
    if options.debug_port and not options.debug:
        raise parse.usage_error(
            "--debug-port has no effect without --debug RANK: name the rank that waits for the debugger."
        )
    if options.debug_port and find_spec("debugpy") is None:
        raise parse.usage_error(
            "--debug-port needs the package debugpy, which is not installed. To install it, run: pip install debugpy"
        )
    return int(options.debug_port)


def print_error(text: str) -> None:
    """Print a text on standard error, after all output so far."""
    sys.stdout.flush()
    write_text(sys.stderr, printable(text, keep=LAYOUT_CHARACTERS))
    sys.stderr.flush()


def _failed(error: RankError, nprocs: int, script: Program, hint: str) -> int:
    """Print the traceback of a failed rank, from which `run` has removed our frames; returns the exit code."""
    how = f" ({hint})" if hint else ""
    cause = error.exception
    if isinstance(cause, BrokenPipeError) and _reader_is_gone():
        raise cause
    if isinstance(cause, Aborted):
        without_finalize = isinstance(cause, ExitWithoutFinalize)
        why = " before MPI.Finalize, which ended the run" if without_finalize else ""
        print_error(f"fakempi: {error.name} called {cause.call}({cause.errorcode}){why}")
        return cause.errorcode & 0xFF or (KILLED if without_finalize else 0)
    if isinstance(cause, Killed):
        print_error(f"fakempi: {error.name} of {nprocs} failed, which ended the run: {cause}{how}")
        return SIGNALED + cause.number
    print_error(printed(cause).rstrip())
    failed_copy = isinstance(cause, ImportError) and not isinstance(cause, ModuleNotFoundError)
    needs_mpi = "is compiled for an MPI library" in str(cause)  # --processes does not help
    if failed_copy and not needs_mpi and not script.in_processes:
        print_error("fakempi: if the import works without fakempi, try fakempi run --processes: each rank has its modules")
    rank = f"{error.name} of {nprocs}" if error.rank < nprocs else error.name  # a spawned rank has another COMM_WORLD
    print_error("\n".join([f"fakempi: {rank} failed, which ended the run{how}", *error.other_failures()]))
    return FAILED


def _reader_is_gone() -> bool:
    """Return whether nothing reads our output any more (`| head`); otherwise a broken pipe is the program's."""
    import select

    if not hasattr(select, "poll"):
        return True
    poll = select.poll()
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):  # not a real file
            poll.register(stream.fileno(), 0)
    return any(events & select.POLLERR for _, events in poll.poll(0))


def _exit_codes(script: Program) -> list[str]:
    """Return the ranks that ended with an exit code other than 0: often the reason why other ranks wait."""
    by_code: dict[int, list[int]] = {}
    for number, code in script.codes.items():
        if code:
            by_code.setdefault(code, []).append(number)
    return [f"{script.universe.names.text(ranks)} ended with exit code {code}" for code, ranks in sorted(by_code.items())]
