"""A command that every rank executes in a separate process."""

from __future__ import annotations

import marshal
import os
import sys
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from typing import Any

from fakempi import MPI
from fakempi.errors import MPIError
from fakempi.errors.classes import ERR_UNSUPPORTED_OPERATION
from fakempi.errors.paths import files_of_places
from fakempi.isolation.lines import Cursor
from fakempi.isolation.mpi4py import private_names
from fakempi.isolation.program import Program
from fakempi.isolation.settings.launchers import launcher_variables
from fakempi.mpi.base.current import running_process
from fakempi.mpi.base.process import Process
from fakempi.mpi.comms.intracomm import Intracomm
from fakempi.mpi.point.persistent import Prequest
from fakempi.processes.child_process import ChildProcess
from fakempi.processes.generate import LOCAL, interface
from fakempi.processes.open_files import raise_limit, restore_limit
from fakempi.processes.protocol import write
from fakempi.processes.relay import Relay
from fakempi.processes.requests import HASH_SEED
from fakempi.processes.server import RankServer
from fakempi.processes.template import Template

FREES = ("Free", "free", "Disconnect", "Finalize")
"""Calls that free an object. After them, a child discards the results of earlier calls that it has cached."""

READ_BY_NUMPY = ("_NUM_THREADS", "OPENBLAS_", "NPY_", "MKL_")
"""Parts of names of environment variables that numpy and its libraries read when they are imported."""

NEEDS_POSIX = (
    "ranks as processes (--processes, --debug, FAKEMPI_PROCESSES, mpi(processes=True)) need POSIX: Linux, macOS, or WSL on "
    "Windows. Without these options, ranks run in one process."
)

STARTS = ("Start", "Startall", "Pready", "Pready_range", "Pready_list")
"""Calls that start persistent requests or partitions of them: the child sends the contents of their buffers again."""


class ProcessProgram(Program):
    """A command that every rank executes in a child process. Calling it on a rank returns the exit code of the child.

    Parameters
    ----------
    command, label, seed, mpi : see `Program`
    debug : ranks that run under pdb, on the terminal
    debug_port : if not 0, these ranks wait for a debugger (debugpy) on this port and the following ones instead
    share : packages that may load compiled modules which call an MPI library
    hash_seeds : whether the hashes of texts differ between ranks, as they do between processes that mpiexec starts
    """

    in_processes = True

    def __init__(
        self,
        command: Sequence[str],
        label: str = "",
        seed: int = 0,
        *,
        debug: Sequence[int] = (),
        debug_port: int = 0,
        share: Sequence[str] = (),
        mpi: str = "mpich",
        hash_seeds: bool = False,
    ) -> None:
        if not hasattr(os, "fork"):
            raise MPIError(ERR_UNSUPPORTED_OPERATION, NEEDS_POSIX)
        super().__init__(command, label, seed, mpi=mpi)
        self.debug, self.debug_port, self.allowed, self.hash_seeds = debug, debug_port, share, hash_seeds
        self.open_files = 0
        self.cursors = {1: Cursor(), 2: Cursor()}  # of standard output and standard error
        self.children: dict[int, tuple[ChildProcess, Relay]] = {}

    def for_spawn(self, command: Sequence[str]) -> ProcessProgram:
        """Return a program for a command that a rank spawns, with the same options, but without a debugger."""
        spawned = ProcessProgram(
            command, self.label, self.seed, share=self.allowed, mpi=self.mpi, hash_seeds=self.hash_seeds
        )
        spawned.codes, spawned.open_files, spawned.cursors = self.codes, self.open_files, self.cursors
        return spawned

    def __call__(self, comm: Intracomm) -> int:
        """Execute the command in a child process, serve its calls, and return its exit code."""
        process = running_process()
        if self.universe is None:
            self.universe = process.universe
            self.universe.program_of_command, self.universe.can_spawn_functions = self.for_spawn, False
            self.universe.at_end.append(self.end)
            others = self.universe.processes if process.number < self.universe.started else []
            before = raise_limit(len(others) or comm.size)
            self.open_files = self.open_files or before
            for other in others:
                self._start(other)
        if process.number not in self.children:
            self._start(process)
        server = RankServer(process, self.children[process.number][0])
        server.resume = partial(self._serve, server)
        return server.resume()

    def _serve(self, server: RankServer) -> int:
        number = server.process.number
        try:
            code = self.codes[number] = server.serve()
            return code
        finally:
            if not server.is_abandoned():
                child, relay = self.children.pop(number)
                child.kill()
                relay.finish()

    def end(self) -> None:
        """Kill the children of ranks that have not started, restore the limit of open files, and record the known files."""
        self.files |= {os.path.abspath(file) for file in files_of_places()}
        for child, _ in self.children.values():
            child.kill()
        self.children.clear()
        restore_limit(self.open_files)

    def _start(self, process: Process) -> None:
        """Start the child of a rank. It initializes and runs until its first MPI call, while other ranks run."""
        debug, reads = process.number in self.debug, process.number == 0 and sys.stdin is not None
        relay = Relay(self.label_of(process), reads and sys.stdin.isatty(), self.cursors)
        template = process.universe.state(Template) if Template.is_possible() and not self.hash_seeds else None
        fork = None if template is None else partial(template.fork, preload=self._may_preload())
        port = self.debug_port + list(self.debug).index(process.number) if debug and self.debug_port else 0
        on_terminal = debug and not port
        with _standard_input(process.number == 0 or on_terminal) as stdin:
            child = ChildProcess(relay.write, stdin, fork, on_terminal, self._hash_seed(process))
        self.children[process.number] = child, relay
        found = interface()
        calls = list(enumerate(found.calls))
        start = {
            "code": None if child.is_forked else found.code, "local": LOCAL, "all": list(MPI.__all__),
            "argv": list(self.argv), "orig_argv": self.as_typed(), "path": self.search_path(),
            "file": self.file, "application": self.is_application, "module": self.module, "text": self.text,
            "number": process.number, "seed": self.seed,
            "share": list(self.allowed), "debug": debug, "debug_port": port, "open_files": self.open_files,
            "cpu_scale": process.universe.cpu_scale, "directory": os.getcwd(),
            "variables": {**launcher_variables(self.mpi, process), HASH_SEED: os.environ.get(HASH_SEED)},
            "private": list(private_names.NAMES),
            "frees": [number for number, call in calls if call.name in FREES],
            "starts": [number for number, call in calls if call.owner is Prequest and call.name in STARTS],
        }  # fmt: skip
        with suppress(BrokenPipeError):
            write(child.target, marshal.dumps(start))

    def _hash_seed(self, process: Process) -> dict[str, str]:
        """Return the variable that gives the interpreter of a rank its own hashes of texts, the same in each run."""
        return {HASH_SEED: str((self.seed << 16) + process.number + 1 & 0xFFFFFFFF)} if self.hash_seeds else {}

    def _may_preload(self) -> bool:
        """Return whether numpy can be imported before the program: its text must not set variables that numpy reads."""
        return not any(name.encode() in self.source for name in READ_BY_NUMPY)


class _standard_input:
    """The standard input of a child: that of the parent if `inherited` (rank 0 and pdb), otherwise an empty file."""

    def __init__(self, inherited: bool) -> None:
        self.inherited = inherited
        self.file: Any = None

    def __enter__(self) -> int:
        text = ""
        if self.inherited and sys.stdin is not None:
            try:
                return sys.stdin.fileno()
            except (OSError, ValueError, AttributeError):
                pass
            with suppress(OSError, ValueError):  # pytest captures it
                text = sys.stdin.read()
        self.file = tempfile.TemporaryFile() if text else open(os.devnull, "rb")
        if text:
            self.file.write(text.encode())
            self.file.seek(0)
        number: int = self.file.fileno()
        return number

    def __exit__(self, *error: object) -> None:
        if self.file is not None:
            self.file.close()
