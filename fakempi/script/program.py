"""What a rank does with a command: find the code, run it as `__main__`, and exit."""

from __future__ import annotations

import builtins
import importlib.util
import os
import sys
import traceback
from collections.abc import Sequence
from contextlib import suppress
from types import CodeType, ModuleType
from typing import Any

from fakempi.error_classes import ERR_ARG
from fakempi.errors import MPIValueError
from fakempi.kernel.loop import Ended
from fakempi.mpi.base.current import running_process
from fakempi.mpi.comms.intracomm import Intracomm
from fakempi.script.imports import choices
from fakempi.script.patches import new_root
from fakempi.script.place import Place
from fakempi.script.stage import STAGE
from fakempi.threads.ending import finish


def program(
    command: Sequence[str], *, label: str = "", seed: int = 0, share: Sequence[str] = (), private: Sequence[str] = ()
) -> Program:
    """A program for `fakempi.run`: a script or module, with its arguments, as one types them after `python`.

    Parameters
    ----------
    command : `["work.py", "a", "b"]`, `["-m", "module", "a"]` or `["-c", "code", "a"]`
    label : what stands before each line of output; `{rank}` in it is the rank
    seed : for random numbers of ranks that do not seed them: the same numbers in each run
    share : packages and modules that all ranks share, though they import mpi4py or are the script's own
    private : installed packages that every rank has a copy of, though no file of theirs says that they lead to mpi4py
    """
    return Program(command, label, seed, share, private)


class Program:
    """A command that every rank runs for itself. Called on a rank, it returns the rank's exit code.

    Attributes
    ----------
    command : as given
    codes : exit codes of the ranks that have ended, by process number; those of spawned ones come after the others'
    universe : that of the run, once a rank has started
    """

    def __init__(
        self, command: Sequence[str], label: str = "", seed: int = 0, share: Sequence[str] = (), private: Sequence[str] = ()
    ) -> None:
        self.command, self.label, self.seed = [str(part) for part in command], label, seed
        self.share, self.private = share, private
        self.codes: dict[int, int] = {}
        self.universe: Any = None
        first, *rest = _without_mpi4py(self.command) or [""]
        if first in ("-m", "-c") and not rest:
            raise MPIValueError(ERR_ARG, f"program: {first} needs {'a module' if first == '-m' else 'code'} after it.")
        self.module = rest.pop(0) if first == "-m" else ""
        self.text = rest.pop(0) if first == "-c" else None
        self.file = "" if first in ("-m", "-c") else first
        self.folder = os.path.dirname(os.path.abspath(self.file)) if self.file else os.getcwd()
        self.argv = [first, *rest]
        self.chosen = choices(share, private, self.folder)
        self.code: CodeType | None = None if self.module else self._compiled()

    def _compiled(self) -> CodeType:
        if self.text is not None:
            return compile(self.text, "<string>", "exec")
        if not os.path.isfile(self.file):
            raise MPIValueError(ERR_ARG, f"program: there is no file {self.file!r} to run.")
        with open(self.file, "rb") as file:
            text = file.read()
        if b"\0" in text:  # of which Python 3.10 and some of 3.11 raise a ValueError
            raise SyntaxError("source code cannot contain null bytes", (self.file, 1, None, None))
        return compile(text, self.file, "exec", dont_inherit=True)

    def __call__(self, comm: Intracomm) -> int:
        """Run it on the rank whose communicator this is."""
        process = running_process()
        self.universe = process.universe
        self.universe.program = self.another
        STAGE.open(process.loop, self.seed)
        STAGE.finder.chosen.update(self.chosen)
        STAGE.enter(process, self._place(process), self.folder)
        try:
            code = self.codes[process.number] = self._run(process)
            return code
        finally:
            STAGE.leave(process)

    def another(self, command: Sequence[str]) -> Program:
        """What a rank spawns that runs this program: labelled alike, and its exit codes count among these."""
        spawned = Program(command, self.label, self.seed, self.share, self.private)
        spawned.codes = self.codes
        return spawned

    def _place(self, process: Any) -> Place:
        """What a process has that has just started."""
        path = [self.folder, *(entry for entry in sys.path if entry not in ("", self.folder))]
        seats = (list(self.argv), path, STAGE.input, STAGE.out, STAGE.err, sys.__excepthook__)
        place = Place(process.number, self.label.format(rank=process.universe.names.short(process.number)), seats)
        place.root, place.codes = new_root(), self.codes
        place.own.add("__main__")
        place.modules["__main__"] = ModuleType("__main__")
        return place

    def _run(self, process: Any) -> int:
        try:
            try:
                self._execute()
                code = 0
            except SystemExit as error:
                code = _exit_code(error)
            if process.threads:
                finish(process)
            _run_exits()
            return code
        except Ended:
            raise
        except BaseException as error:
            if all(error is not failure for _, failure in process.universe.failures):
                _tell_hook(error)
                process.universe.fail(process, error)
            with suppress(BaseException):  # the run is over, and says so to whoever sends
                _run_exits()
            raise

    def _execute(self) -> None:
        main: Any = sys.modules["__main__"]
        code = self.code
        if self.module:
            spec = _module_to_run(self.module)
            code = spec.loader.get_code(spec.name)
            sys.argv[0] = spec.origin
            vars(main).update(__spec__=spec, __file__=spec.origin, __package__=spec.parent, __loader__=spec.loader)
        elif self.file:
            vars(main).update(__file__=self.file, __cached__=None)
        assert code is not None
        vars(main)["__builtins__"] = builtins
        exec(code, vars(main))


def _without_mpi4py(command: list[str]) -> list[str]:
    """`-m mpi4py work.py` is `work.py`: what mpi4py adds is that a failing rank ends the run, which it does anyway.

    With options of its own (`--rc threads=False`) it is run, by each rank.
    """
    if command[:1] != ["-m"] or command[1:2] not in (["mpi4py"], ["mpi4py.run"]):
        return command
    rest = command[2:]
    return rest if rest and (rest[0] in ("-m", "-c") or not rest[0].startswith("-")) else command


def _module_to_run(name: str) -> Any:
    """What `-m name` runs: the module, or a package's `__main__`. Packages that it is in are imported, on this rank."""
    try:
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.submodule_search_locations is not None:
            spec = importlib.util.find_spec(f"{name}.__main__")
    except ModuleNotFoundError as error:
        if not f"{name}.".startswith(f"{error.name}."):  # something else, which the package imports
            raise
        spec = None
    if spec is None or not hasattr(spec.loader, "get_code"):
        raise ModuleNotFoundError(f"No module named {name!r} that could be run", name=name)
    return spec


def _exit_code(error: SystemExit) -> int:
    """As Python's: nothing is 0, a number is itself, and anything else is printed and 1."""
    if error.code is None:
        return 0
    if isinstance(error.code, int):
        return error.code & 0xFF
    sys.stderr.write(f"{error.code}\n")
    return 1


def _run_exits() -> None:
    """Call what was registered for the rank's end, the last first; one that fails does not keep the others from it."""
    place = STAGE.who()
    while place is not None and place.exits:
        function, args, kwargs = place.exits.pop()
        try:
            function(*args, **kwargs)
        except (Exception, SystemExit):
            sys.stderr.write(f"Exception ignored in atexit callback {function!r}:\n{traceback.format_exc()}")


def _tell_hook(error: BaseException) -> None:
    """Programs set `sys.excepthook` to end the other ranks by Abort."""
    if sys.excepthook is not sys.__excepthook__:
        with suppress(BaseException):
            sys.excepthook(type(error), error, error.__traceback__)
