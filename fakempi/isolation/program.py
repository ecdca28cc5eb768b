"""Running a command on a rank: find the code, execute it as `__main__`, and exit."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from types import CodeType, ModuleType
from typing import Any, NoReturn

from fakempi.core.kernel.loop import Ended
from fakempi.errors import MPIValueError
from fakempi.errors.classes import ERR_ARG
from fakempi.extensions.threads.changes import follow_code
from fakempi.extensions.threads.ending import finish
from fakempi.isolation.imports import requested_packages
from fakempi.isolation.main_module import begin_main, call_excepthook, call_own_excepthook, compiled, exit_code, main_in
from fakempi.isolation.namespace import NAMESPACES
from fakempi.isolation.output import finish_output
from fakempi.isolation.packages.package_failures import explanation
from fakempi.isolation.patches import new_root
from fakempi.isolation.rank_state import RankState
from fakempi.isolation.settings.launchers import check_launcher, launcher_variables
from fakempi.isolation.workers import end_workers, workers
from fakempi.mpi.base.current import running_process
from fakempi.mpi.comms.intracomm import Intracomm
from fakempi.mpi.comms.python_options import python_options

Main = tuple[ModuleType, Any, Any]
"""A module `__main__`, and COMM_WORLD and COMM_SELF of the run in which it was executed."""


class Program:
    """A program for `fakempi.run`: a command that every rank executes. Calling it on a rank returns its exit code.

    Parameters
    ----------
    command : `["work.py", "a", "b"]`, `["-m", "module", "a"]` or `["-c", "code", "a"]`
    label : prefix of each line of output; `{rank}` in it is replaced by the rank
    seed : seed of each rank's random generators, unless the program seeds them
    share : packages and modules that all ranks share, although they import mpi4py or belong to the script
    private : installed packages that every rank gets a copy of, although their sources do not require it
    mpi : the launcher whose environment variables each rank has (`PMI_RANK` ...): mpich, openmpi or slurm

    Attributes
    ----------
    command : the command, as a list of strings
    codes : exit codes of the processes that have ended, by process number; spawned processes have the highest numbers
    mains : None, or process number -> module `__main__` of an earlier run, with its communicators; this run continues it
    universe : the universe of the run, once a rank has started
    files : the files of the script and of the modules that each rank has a copy of, once the rank has ended
    in_processes : whether each rank is a process
    """

    in_processes = False

    def __init__(
        self,
        command: Sequence[str],
        label: str = "",
        seed: int = 0,
        share: Sequence[str] = (),
        private: Sequence[str] = (),
        mpi: str = "mpich",
    ) -> None:
        self.command, self.label, self.seed = [str(part) for part in command], label, seed
        self.share, self.private, self.mpi = share, private, check_launcher(mpi)
        self.codes: dict[int, int] = {}
        self.files: set[str] = set()
        self.mains: dict[int, Main] | None = None
        self.universe: Any = None
        first, *rest = _without_mpi4py(self.command) or [""]
        if first in ("-m", "-c") and not rest:
            needed = "a module name" if first == "-m" else "code"
            raise MPIValueError(ERR_ARG, f"program: {first} must be followed by {needed}.")
        self.module = rest.pop(0) if first == "-m" else ""
        self.text = rest.pop(0) if first == "-c" else None
        self.file = "" if first in ("-m", "-c") else first
        self.is_application = os.path.isdir(self.file) or (os.path.isfile(self.file) and _is_archive(self.file))
        path = os.path.abspath(self.file) if self.file else os.path.join(os.getcwd(), "-c")
        self.directory = path if self.is_application else os.path.dirname(os.path.realpath(path))
        self.argv = [first, *rest]
        if os.path.isfile(self.file) and not self.is_application:
            self.files.add(path)
        if self.file:
            self.file = os.path.join(os.getcwd(), self.file)  # as Python does: `./` and `..` remain
        self.chosen = requested_packages(share, private, self.directory)
        self.source = b""
        self.code: CodeType | None = None if self.module else self._compiled()

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the command; another process reads the file again."""
        return Program, (self.command, self.label, self.seed, list(self.share), list(self.private), self.mpi)

    def _compiled(self) -> CodeType:
        if self.text is not None:
            self.source = self.text.encode(errors="replace")
            return compiled(self.text, "")
        if self.is_application:
            spec = main_in(self.file)
            if spec is None:
                raise MPIValueError(ERR_ARG, f"program: {self.argv[0]!r} has no module __main__, so it cannot be run.")
            self.source = (spec.loader.get_source("__main__") or "").encode(errors="replace")
            code: CodeType = spec.loader.get_code("__main__")
            return code
        if not os.path.isfile(self.file):
            raise MPIValueError(ERR_ARG, f"program: no such file: {self.argv[0]!r}.")
        with open(self.file, "rb") as file:
            text = file.read()
        if b"\0" in text:  # Python 3.10 and some releases of 3.11 raise ValueError
            raise SyntaxError("source code cannot contain null bytes", (self.file, 1, None, None))
        self.source = text
        return compiled(text, self.file)

    def __call__(self, comm: Intracomm) -> int:
        """Execute the command on the calling rank and return its exit code."""
        process = running_process()
        is_first = self.universe is not process.universe
        if is_first:
            self.universe = process.universe
            self.universe.at_end.append(partial(end_workers, self.universe, workers()))
        self.universe.program_of_command = self.for_spawn
        NAMESPACES.open(process.loop, self.seed)
        if is_first and process.number < self.universe.started:  # not a spawned program
            NAMESPACES.patches.set(sys, "orig_argv", self.as_typed())
        NAMESPACES.finder.chosen.update(self.chosen)
        state = self._new_state(process)
        NAMESPACES.launcher_variables.add(state, partial(launcher_variables, self.mpi, process))
        NAMESPACES.enter(process, state, self.directory, self.source)
        try:
            code = self.codes[process.number] = self._run(process)
            return code
        finally:
            NAMESPACES.leave(process)
            files = [vars(module).get("__file__") for module in state.modules.values() if isinstance(module, ModuleType)]
            self.files.update(os.path.abspath(file) for file in files if isinstance(file, str))

    def for_spawn(self, command: Sequence[str]) -> Program:
        """Return a program for a command that a rank spawns, with the same options and the same dictionary of exit codes."""
        spawned = Program(command, self.label, self.seed, self.share, self.private, self.mpi)
        spawned.codes, spawned.files = self.codes, self.files | spawned.files
        return spawned

    def as_typed(self) -> list[str]:
        """Return the command with the interpreter and its options, for `sys.orig_argv`."""
        options, _ = python_options(sys.orig_argv[1:])
        return [sys.executable, *options, *self.command]

    def search_path(self) -> list[str]:
        """Return `sys.path`: the directory of the script, or empty, for the working directory, after `-c`; other entries."""
        first = self.directory if self.text is None else ""
        return [first, *(entry for entry in sys.path if entry not in ("", self.directory))]

    def label_of(self, process: Any) -> str:
        """Return the prefix of the lines of a rank."""
        return self.label.format(rank=process.universe.names.short(process.number))

    def _new_state(self, process: Any) -> RankState:
        """Return the initial state of a rank."""
        values = (list(self.argv), self.search_path(), NAMESPACES.input, NAMESPACES.out, NAMESPACES.err, sys.__excepthook__)
        state = RankState(process.number, self.label_of(process), values)
        state.root, state.codes = new_root(), self.codes
        state.private.add("__main__")
        state.modules["__main__"] = ModuleType("__main__") if self.mains is None else _continued(self.mains, process)
        if b"sys.modules" in self.source and b"mpi4py.rc" in self.source:  # the script may delete this module
            state.private.add("mpi4py.rc")
            state.modules["mpi4py.rc"] = NAMESPACES.modules["mpi4py.rc"]
        return state

    def _run(self, process: Any) -> int:
        pid = os.getpid()
        try:
            try:
                self._execute()
                code = 0
            except SystemExit as error:
                code = exit_code(error)
            except BaseException as error:
                if os.getpid() == pid:
                    raise
                call_excepthook(error)
                code = 1
            if os.getpid() != pid:
                _end_fork(code)
            if process.threads:
                finish(process)
            _run_exit_functions()
            return code
        except Ended:
            raise
        except BaseException as error:
            if all(error is not failure for _, failure in process.universe.failures):
                others_have_started = process.number > 0 or len(NAMESPACES.states) > 1
                if text := explanation(error, NAMESPACES.finder) if others_have_started else "":
                    sys.stderr.write(f"{text}\n")  # now, because the hook may call Abort
                call_own_excepthook(error)
                process.universe.fail(process, error)
            with suppress(BaseException):  # communication raises, because the run has failed
                _run_exit_functions()
            raise

    def _execute(self) -> None:
        main = vars(sys.modules["__main__"])
        code = begin_main(main, self.module, self.file, self.is_application) or self.code
        assert code is not None
        follow_code(code)
        NAMESPACES.attributes.follow_builtins(code)
        exec(code, main)


def _continued(mains: dict[int, Main], process: Any) -> ModuleType:
    """Return the module of a rank's earlier run, with the predefined communicators of this run, or a new module."""
    main, *old = mains.get(process.number) or (ModuleType("__main__"), None, None)
    new = process.comm_world, process.comm_self
    for before, now in zip(old, new, strict=True):
        vars(main).update({name: now for name, value in vars(main).items() if before is not None and value is before})
    mains[process.number] = main, *new
    return main


def _is_archive(path: str) -> bool:
    """Return whether a file is a ZIP archive; most files are read here, without the modules that unpack archives."""
    with suppress(OSError), open(path, "rb") as file:
        file.seek(max(0, os.path.getsize(path) - (1 << 17)))  # the end record and a comment of at most 64 KiB
        if b"PK\5\6" not in file.read():
            return False
    from zipfile import is_zipfile

    return is_zipfile(path)


def _without_mpi4py(command: list[str]) -> list[str]:
    """Return `work.py` for `-m mpi4py work.py`: mpi4py only makes a failing rank end the run, as fakempi does.

    A command with options of mpi4py (`--rc threads=False`) is returned unchanged.
    """
    if command[:1] != ["-m"] or command[1:2] not in (["mpi4py"], ["mpi4py.run"]):
        return command
    rest = command[2:]
    return rest if rest and (rest[0] in ("-m", "-c") or not rest[0].startswith("-")) else command


def _run_exit_functions() -> None:
    """Call the exit functions of the rank, the last registered first; exceptions are printed and ignored.

    As in Python, a function that another one registers is not called, and one that another one unregisters is not either.
    """
    state = NAMESPACES.running_state()
    functions = [] if state is None else state.exit_functions
    for entry in functions[::-1]:
        index = next((i for i, other in enumerate(functions) if other is entry), None)
        if index is None:
            continue
        function, args, kwargs = functions.pop(index)
        try:
            function(*args, **kwargs)
        except (Exception, SystemExit):
            sys.stderr.write(f"Exception ignored in atexit callback {function!r}:\n{traceback.format_exc()}")


def _end_fork(code: int) -> NoReturn:
    """End a process that the rank has forked: other ranks must not continue in it."""
    try:
        _run_exit_functions()
        state = NAMESPACES.running_state()
        if state is not None:
            finish_output(state)
        sys.stdout.flush()
        sys.stderr.flush()
    finally:
        os._exit(code)
