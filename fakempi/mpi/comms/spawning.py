"""Spawn: create processes while a program runs. It is a rendezvous of the parents and takes no modeled time.

The command is a Python function, called as `command(comm, *args)` with the new COMM_WORLD, or a Python script as in mpi4py:
the script itself, or the interpreter with the script (or `-m` and a module) first in `args`. `core.world` passes the
function that loads scripts, so that this package does not depend on `isolation`.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Sequence
from os import PathLike
from typing import Any, AnyStr, SupportsIndex

from fakempi.errors import MPIError, MPITypeError, MPIValueError
from fakempi.errors.classes import ERR_ARG, ERR_INFO, ERR_NOT_SAME, ERR_ROOT, ERR_SPAWN, SUCCESS
from fakempi.mpi.base.call_site import place_of_call
from fakempi.mpi.base.context import Context
from fakempi.mpi.base.info import INFO_NULL, Info
from fakempi.mpi.base.mpi_errors import integer, mpi_error
from fakempi.mpi.base.process import Universe
from fakempi.mpi.comms.comm import Comm
from fakempi.mpi.comms.console_scripts import console_script
from fakempi.mpi.comms.intercomm import Intercomm
from fakempi.mpi.comms.process_creation import SpawnRequest, spawn
from fakempi.mpi.comms.python_options import python_options

Command = Any
"""A function, or as in mpi4py the path of a script or of the interpreter."""

PYTHON = re.compile(r"(python|pypy)[\d.]*(\.exe)?")

NOT_IGNORED = ("wdir", "path")
"""Info keys that are checked: the directory of a script. Other keys (host, arch, soft ...) have no effect here."""


class Spawning(Comm):
    """The methods of an intracommunicator that create processes."""

    __slots__ = ()

    def Spawn(
        self,
        command: PathLike[AnyStr] | str | bytes | Callable[..., object],
        args: Sequence[str] | None = None,
        maxprocs: int = 1,
        info: Info = INFO_NULL,
        root: int = 0,
        errcodes: list[int] | None = None,
    ) -> Intercomm:
        """Start `maxprocs` processes that run a program; return the intercommunicator to them.

        Only the root's command, args, maxprocs and info matter. The command may be a function: it is called as
        `command(comm, *args)` on each new rank. `errcodes` becomes a list of SUCCESS, one for each new process.
        """
        joined = self._spawn("Spawn", root, lambda: [_spawn_request(self._process.universe, command, args, maxprocs, info)])
        if errcodes is not None:
            errcodes[:] = [SUCCESS] * joined.Get_remote_size()
        return joined

    def Spawn_multiple(
        self,
        command: Sequence[PathLike[AnyStr] | str | bytes | Callable[..., object]],
        args: Sequence[Sequence[str]] | None = None,
        maxprocs: Sequence[int] | None = None,
        info: Sequence[Info] | Info = INFO_NULL,
        root: int = 0,
        errcodes: list[list[int]] | None = None,
    ) -> Intercomm:
        """Start several programs whose processes share one COMM_WORLD; APPNUM is the index of a process's program."""
        joined = self._spawn(
            "Spawn_multiple", root, lambda: _spawn_requests(self._process.universe, command, args, maxprocs, info)
        )
        if errcodes is not None:
            children = [self._process.universe.processes[number] for number in joined._remote().members]
            codes: list[list[int]] = [[] for _ in range(children[-1].appnum + 1)]
            for child in children:
                codes[child.appnum].append(SUCCESS)
            errcodes[:] = codes
        return joined

    def _spawn(self, call: str, root: int, read: Callable[[], list[SpawnRequest]]) -> Intercomm:
        """Wait for all parents. Only the root reads its arguments; an error in them is raised on all parents."""
        root = checked_root(self, root)
        if self._process.universe.is_singleton:
            sentence = "processes cannot be spawned outside a run: call fakempi.run(main, 1), or use fakempi run -n 1 SCRIPT"
            self._raise(mpi_error(ERR_SPAWN, sentence))
        requests: Any = None
        if self._rank == root:
            try:
                requests = read()
            except MPIError as error:
                requests = error
        context = self._rendezvous(call, (root, requests, call, place_of_call()), self._conclude_spawn)
        joined: Intercomm = Intercomm._make(self._process, context.sides[0], context.sides[1], self._rank)
        return joined

    def _conclude_spawn(self, values: dict[int, tuple[int, Any, str, str]]) -> Context:
        root = one_root(values[0][2], values)
        _, requests, call, place = values[root]
        if isinstance(requests, MPIError):
            raise requests
        here = self._local()
        universe = here.context.universe
        try:
            return spawn(universe, here.members, requests, place)
        except MPIError as error:  # raised by the cost model
            count = sum(request.copies for request in requests)
            problem = f"no place for {count} new processes in addition to the {len(universe.processes)} that exist"
            sentence = f"{call} at {place}: {problem}. {error}"
            raise MPIError(ERR_SPAWN, sentence) from None


def checked_root(comm: Comm, root: SupportsIndex) -> int:
    """Return the root, which must be a rank of the communicator."""
    root, size = integer("root", root), comm.Get_size()
    if not 0 <= root < size:
        comm._raise(mpi_error(ERR_ROOT, f"root {root} is not in 0..{size - 1}."))
    return int(root)


def one_root(call: str, values: dict[int, Any]) -> int:
    """Return the common root; raise an error if ranks passed different roots. `values` is {rank: (root, ...)}."""
    (rank, (root, *_)), *others = values.items()
    for other, (another, *_) in others:
        if another != root:
            raise MPIError(ERR_NOT_SAME, f"{call}: root is {root} on rank {rank} but {another} on rank {other}.")
    return int(root)


def _spawn_requests(universe: Universe, commands: Any, args: Any, maxprocs: Any, infos: Any) -> list[SpawnRequest]:
    """Return the requests of Spawn_multiple; every list must have one entry per command."""
    if _is_path(commands) or callable(commands) or not hasattr(commands, "__iter__"):
        raise mpi_error(ERR_ARG, f"command is {commands!r}, not a sequence of commands.", MPIValueError)
    programs = list(commands)
    if not programs:
        raise mpi_error(ERR_ARG, "the sequence of commands is empty.", MPIValueError)
    if isinstance(infos, Info) or infos is None:
        infos = [infos] * len(programs)
    if maxprocs is None or hasattr(maxprocs, "__index__"):
        maxprocs = [1 if maxprocs is None else maxprocs] * len(programs)
    if args is None or _is_path(args):
        args = [args] * len(programs)
    lists = [programs, *(list(given) for given in (args, maxprocs, infos))]
    for name, items in zip(("command", "args", "maxprocs", "info"), lists, strict=True):
        if len(items) != len(programs):
            sentence = f"expecting {len(programs)} items of {name}, one for each command, got {len(items)}."
            raise mpi_error(ERR_ARG, sentence, MPIValueError)
    return [_spawn_request(universe, *items) for items in zip(*lists, strict=True)]


def _spawn_request(universe: Universe, command: Command, args: Any, maxprocs: Any, info: Info) -> SpawnRequest:
    """Return the program to run and the number of processes."""
    count = integer("maxprocs", maxprocs)
    if count < 1:
        raise mpi_error(ERR_ARG, f"maxprocs is {count}; at least 1 process must be spawned.", MPIValueError)
    if info is not None and not isinstance(info, Info):
        raise mpi_error(ERR_INFO, f"info is {info!r}, not an Info.", MPITypeError)
    if callable(command):
        if not universe.can_spawn_functions:
            raise mpi_error(ERR_SPAWN, "a function cannot be spawned if ranks are processes: spawn a script.")
        values = () if args is None else (args,) if _is_path(args) else tuple(args)
        return SpawnRequest(lambda comm: command(comm, *values), count)
    if not _is_path(command):
        raise mpi_error(ERR_ARG, f"command is {command!r}, not a function or the path of a script.", MPITypeError)
    _check_info(info)
    arguments = _command_line(os.fsdecode(command), args)
    try:
        return SpawnRequest(universe.program_of_command(arguments), count)
    except (MPIError, SyntaxError) as error:
        raise mpi_error(ERR_SPAWN, f"cannot run {' '.join(arguments)!r}. {error}") from None


def _command_line(command: str, args: Any) -> list[str]:
    """Return the command line after `python`."""
    given = [] if args is None else [args] if _is_path(args) else list(args)
    for argument in given:
        if not _is_path(argument):
            raise mpi_error(ERR_ARG, f"a script's args are strings, not {argument!r}.", MPITypeError)
    arguments = [os.fsdecode(argument) for argument in given]
    if command == sys.executable or PYTHON.fullmatch(os.path.basename(command)):
        options, program = python_options(arguments)
        if not program:
            raise mpi_error(ERR_SPAWN, f"{command} has nothing to run: args must begin with a script or -m and a module.")
        ours, _ = python_options(sys.orig_argv[1:])
        if options := [option for option in options if option not in (*ours, "-B", "-q")]:  # -B and -q change no result
            sentence = f"the options {' '.join(options)} of Python cannot be applied to spawned ranks only."
            raise mpi_error(ERR_SPAWN, f"{sentence} Start fakempi with them: python {' '.join(options)} -m fakempi run ...")
        return program
    if not command.endswith((".py", ".pyw")) and not os.path.isdir(command):
        if path := console_script(command):
            return [path, *arguments]
        sentence = f"{command!r} is not a Python script (.py); other programs cannot run in this process."
        raise mpi_error(ERR_SPAWN, sentence)
    return [command, *arguments]


def _check_info(info: Info | None) -> None:
    """Reject a directory other than the current one, since all ranks share one working directory."""
    for key in NOT_IGNORED if info else ():
        value = info.Get(key) if info else None
        if value is not None and os.path.realpath(value) != os.getcwd():
            sentence = f"{key} is {value!r}, but all ranks share one working directory, {os.getcwd()!r}."
            raise mpi_error(ERR_SPAWN, sentence)


def _is_path(value: object) -> bool:
    return isinstance(value, (str, bytes, os.PathLike))
