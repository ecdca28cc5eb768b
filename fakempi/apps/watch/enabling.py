"""`fakempi.watch.enable`: ranks start a watcher themselves, for programs whose launcher cannot be changed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from argparse import ArgumentParser
from typing import Any

from fakempi.apps.launched import parse, run
from fakempi.errors import RunError

_agents: list[Any] = []
"""The agent of this process; a second call of `enable` has no effect."""


_watchers: list[subprocess.Popen[bytes]] = []
"""The watcher, on rank 0: without a reference, Python would warn that it still runs."""


def enable(after: float = 60.0, *, keep: bool = False, report: str | None = None) -> None:
    """Watch this program: if no rank moves for some time, report where the ranks are, and end the job.

    The call is collective: every rank of COMM_WORLD makes it. Rank 0 starts a process that ends with the ranks. Under
    `fakempi watch`, on the emulator, and on systems other than Linux, the call has no effect.

    Parameters
    ----------
    after
        The number of seconds without movement.
    keep
        Whether to leave the job as it is.
    report
        A file to which the report is appended; it is also written to standard error of rank 0.
    """
    if not after > 0:
        raise RunError(f"enable: after={after:g}: the number of seconds must be positive.")
    if sys.platform != "linux" or "FAKEMPI_WATCH" in os.environ or _agents:
        return
    from mpi4py import MPI

    if not str(getattr(MPI, "__file__", "")).endswith(".so"):  # the emulator's module, which explains a deadlock itself
        return
    comm: Any = MPI.COMM_WORLD
    nodes = comm.allreduce({os.uname().nodename}, op=set.union)
    options = {"after": after, "keep": keep, "report": report, "hosts": len(nodes) > 1, "parent": os.getppid()}
    address = _start_watcher({**options, "size": comm.Get_size()}) if comm.Get_rank() == 0 else None
    variables = comm.bcast(address)
    variables |= {"PMI_RANK": str(comm.Get_rank()), "PMI_SIZE": str(comm.Get_size())}
    variables |= {name: os.environ[name] for name in ("PMIX_NAMESPACE", "SLURM_STEP_ID") if name in os.environ}  # the job
    _agents.append(_start_agent(variables))


def _start_watcher(options: dict[str, Any]) -> dict[str, str]:
    """Start the process that watches, and return the variables with its address."""
    command = [sys.executable, "-m", "fakempi.apps.watch.service", json.dumps({**options, "program": _command()})]
    watcher = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, start_new_session=True)
    assert watcher.stdout is not None
    with watcher.stdout as output:
        found: dict[str, str] = json.loads(output.readline())
    _watchers.append(watcher)
    return found


def _command() -> list[str]:
    """Return the program without the module that runs it under watch."""
    words = list(getattr(sys, "orig_argv", sys.argv))
    if "fakempi.watch" not in words:
        return words
    return [words[0], *(() if sys.argv[0].endswith(".py") else ("-m",)), *sys.argv]


def _start_agent(variables: dict[str, str]) -> Any:
    """Start the agent from its directory, as `sitecustomize` does: the same modules answer in both cases."""
    from pathlib import Path
    from types import ModuleType

    package: Any = ModuleType("_fakempi_watch")
    package.__path__ = [str(Path(__file__).parent / "rank")]
    sys.modules["_fakempi_watch"] = package
    agent = __import__("_fakempi_watch.agent", fromlist=["start"]).start(variables)
    agent.main = threading.main_thread().ident
    return agent


def run_program(arguments: list[str]) -> int:
    """Run `[options] script.py [arguments]` or `[options] -m module [arguments]` under watch; returns an exit code."""
    parser = ArgumentParser("python -m fakempi.watch", description="Run a program on a real MPI, and explain a hang.")
    parser.add_argument("--after", type=float, default=60.0, metavar="SECONDS", help="report after this time (default: 60)")
    parser.add_argument("--keep", action="store_true", help="report, and do not end the job")
    parser.add_argument("--report", metavar="FILE", help="append the report to a file, too")
    options, program = parse(parser, arguments, ("--after", "--report"))
    enable(options.after, keep=options.keep, report=options.report)
    run(options.module, program)
    return 0

