"""Spawn: new processes while a program runs. It is a meeting, like all that makes communicators: free in modelled time.

What is to be run is a Python function, called as `command(comm, *args)` with the new world, or a Python script, given as
mpi4py's users give it: the script itself, or the interpreter with the script (or `-m` and a module) first in `args`.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Sequence
from typing import Any

from fakempi.error_classes import ERR_ARG, ERR_INFO, ERR_NOT_SAME, ERR_ROOT, ERR_SPAWN, SUCCESS
from fakempi.errors import MPIError, MPITypeError, MPIValueError
from fakempi.mpi.base.complain import call_site, complaint, integer
from fakempi.mpi.base.context import Context
from fakempi.mpi.base.info import INFO_NULL, Info
from fakempi.mpi.comms.birth import Order, spawn
from fakempi.mpi.comms.comm import Comm
from fakempi.mpi.comms.intercomm import Intercomm

Command = Any
"""A function, or what mpi4py takes: the path of a script, or of the interpreter."""

PYTHON = re.compile(r"(python|pypy)[\d.]*(\.exe)?")

NOT_IGNORED = ("wdir", "path")
"""Keys that say where to look for a script or where it runs; the others (host, arch, soft ...) change nothing here."""


class Spawning(Comm):
    """The part of an intracommunicator that makes processes."""

    __slots__ = ()

    def Spawn(
        self,
        command: Command,
        args: Sequence[str] | None = None,
        maxprocs: int = 1,
        info: Info = INFO_NULL,
        root: int = 0,
        errcodes: list[int] | None = None,
    ) -> Intercomm:
        """Start `maxprocs` processes that run a program, in a world of their own, and join them with this group.

        Only the root's command, args, maxprocs and info matter. The command may be a function: it is called as
        `command(comm, *args)` on each new rank. `errcodes` becomes a list of SUCCESS, one for each new process.
        """
        joined = self._spawn("Spawn", root, lambda: [_order(self._process.universe, command, args, maxprocs, info)])
        if errcodes is not None:
            errcodes[:] = [SUCCESS] * joined.Get_remote_size()
        return joined

    def Spawn_multiple(
        self,
        command: Sequence[Command],
        args: Sequence[Sequence[str]] | None = None,
        maxprocs: Sequence[int] | None = None,
        info: Sequence[Info] | Info = INFO_NULL,
        root: int = 0,
        errcodes: list[list[int]] | None = None,
    ) -> Intercomm:
        """Start several programs at once, whose processes share one world; each has the number of its program as APPNUM."""
        joined = self._spawn("Spawn_multiple", root, lambda: _orders(self._process.universe, command, args, maxprocs, info))
        if errcodes is not None:
            children = [self._process.universe.processes[number] for number in joined._remote().members]
            codes: list[list[int]] = [[] for _ in range(children[-1].appnum + 1)]
            for child in children:
                codes[child.appnum].append(SUCCESS)
            errcodes[:] = codes
        return joined

    def _spawn(self, call: str, root: int, read: Callable[[], list[Order]]) -> Intercomm:
        """Meet; the root says what is to be run, or what is wrong with it, which all are told then."""
        root = checked_root(self, root)
        if self._process.universe.alone:
            words = "outside a run nobody can be spawned: start this by fakempi.run(main, 1), or by fakempi run -n 1."
            self._raise(complaint(ERR_SPAWN, words))
        orders: Any = None
        if self._rank == root:
            try:
                orders = read()
            except MPIError as error:
                orders = error
        context = self._meet(call, (root, orders, call, call_site()), self._conclude_spawn)
        joined: Intercomm = Intercomm._make(self._process, context.sides[0], context.sides[1], self._rank)
        return joined

    def _conclude_spawn(self, values: dict[int, tuple[int, Any, str, str]]) -> Context:
        root = one_root(values[0][2], values)
        _, orders, call, site = values[root]
        if isinstance(orders, MPIError):
            raise orders
        here = self._local()
        universe = here.context.universe
        try:
            return spawn(universe, here.members, orders, site)
        except MPIError as error:  # of the cost model
            count = sum(order.copies for order in orders)
            there = f"{len(universe.processes)} are there"
            words = f"{call} at {site}: no place for {count} new processes, {there}. {error}"
            raise MPIError(ERR_SPAWN, words) from None


def checked_root(comm: Comm, root: Any) -> int:
    """The root, which must be one of the communicator's ranks."""
    root, size = integer("root", root), comm.Get_size()
    if not 0 <= root < size:
        comm._raise(complaint(ERR_ROOT, f"root {root} is not in 0..{size - 1}."))
    return int(root)


def one_root(call: str, values: dict[int, Any]) -> int:
    """The root that all have named, first in what they brought."""
    (place, (root, *_)), *others = values.items()
    for other, (another, *_) in others:
        if another != root:
            raise MPIError(ERR_NOT_SAME, f"{call}: root is {root} on rank {place} but {another} on rank {other}.")
    return int(root)


def _orders(universe: Any, commands: Any, args: Any, maxprocs: Any, infos: Any) -> list[Order]:
    """What Spawn_multiple is told, item by item; all lists must be as long as that of the commands."""
    if _is_path(commands) or callable(commands) or not hasattr(commands, "__iter__"):
        raise complaint(ERR_ARG, f"command is {commands!r}, not a sequence of commands.", MPIValueError)
    programs = list(commands)
    if not programs:
        raise complaint(ERR_ARG, "there are no commands.", MPIValueError)
    if isinstance(infos, Info) or infos is None:
        infos = [infos] * len(programs)
    if maxprocs is None or hasattr(maxprocs, "__index__"):
        maxprocs = [1 if maxprocs is None else maxprocs] * len(programs)
    if args is None or _is_path(args):
        args = [args] * len(programs)
    lists = [programs, *(list(each) for each in (args, maxprocs, infos))]
    for name, items in zip(("command", "args", "maxprocs", "info"), lists, strict=True):
        if len(items) != len(programs):
            words = f"expecting {len(programs)} items of {name}, one for each command, got {len(items)}."
            raise complaint(ERR_ARG, words, MPIValueError)
    return [_order(universe, *items) for items in zip(*lists, strict=True)]


def _order(universe: Any, command: Command, args: Any, maxprocs: Any, info: Any) -> Order:
    """What is to be run, and how many times."""
    count = integer("maxprocs", maxprocs)
    if count < 1:
        raise complaint(ERR_ARG, f"maxprocs is {count}; at least 1 process must be spawned.", MPIValueError)
    if info is not None and not isinstance(info, Info):
        raise complaint(ERR_INFO, f"info is {info!r}, not an Info.", MPITypeError)
    if callable(command):
        values = () if args is None else (args,) if _is_path(args) else tuple(args)
        return Order(lambda comm: command(comm, *values), count)
    if not _is_path(command):
        raise complaint(ERR_ARG, f"command is {command!r}: neither a function nor the path of a script.", MPITypeError)
    _check_info(info)
    typed = _typed(os.fsdecode(command), args)
    try:
        return Order(universe.program(typed), count)
    except (MPIError, SyntaxError) as error:
        raise complaint(ERR_SPAWN, f"cannot run {' '.join(typed)!r}. {error}") from None


def _typed(command: str, args: Any) -> list[str]:
    """What one would type after `python`."""
    given = [] if args is None else [args] if _is_path(args) else list(args)
    for each in given:
        if not _is_path(each):
            raise complaint(ERR_ARG, f"a script's args are strings, not {each!r}.", MPITypeError)
    typed = [os.fsdecode(each) for each in given]
    if command == sys.executable or PYTHON.fullmatch(os.path.basename(command)):
        if not typed:
            raise complaint(ERR_SPAWN, f"{command} is to run nothing: args must begin with a script, or -m and a module.")
        return typed
    if not command.endswith((".py", ".pyw")) and not os.path.isdir(command):
        words = f"{command!r} is no Python script (.py), and other programs cannot be run in this process."
        raise complaint(ERR_SPAWN, words)
    return [command, *typed]


def _check_info(info: Info | None) -> None:
    """Refuse what a script would be missing."""
    for key in NOT_IGNORED if info else ():
        value = info.Get(key) if info else None
        if value is not None and os.path.realpath(value) != os.getcwd():
            words = f"{key} is {value!r}, but all ranks share one working directory, {os.getcwd()!r}."
            raise complaint(ERR_SPAWN, words)


def _is_path(thing: Any) -> bool:
    return isinstance(thing, (str, bytes, os.PathLike))
