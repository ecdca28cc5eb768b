"""Starts processes of a run: `launch`."""

from __future__ import annotations

from inspect import GEN_CREATED, getgeneratorstate
from types import AsyncGeneratorType, CoroutineType, GeneratorType
from typing import Any

from fakempi.core.kernel.loop import Ended
from fakempi.errors import MPITypeError
from fakempi.errors.classes import ERR_ARG
from fakempi.errors.paths import short_path
from fakempi.extensions.threads.ending import finish
from fakempi.mpi.base.process import Process, Program
from fakempi.mpi.comms.disconnect import forget_process

PREFIXES = {GeneratorType: "gi", CoroutineType: "cr", AsyncGeneratorType: "ag"}
"""Types of generators and coroutines, and the prefix of their attributes: `gi_code`, `cr_code`, `ag_code`."""

COROUTINES = tuple(PREFIXES)
"""The types of objects that a coroutine or generator function returns when it is called."""


def _not_started(name: str, result: Any) -> str:
    """Return the message for a coroutine or generator that a rank returned without starting it; empty if intended."""
    code = getattr(result, f"{PREFIXES[type(result)]}_code")
    if isinstance(result, GeneratorType) and (getgeneratorstate(result) != GEN_CREATED or code.co_name == "<genexpr>"):
        return ""
    if isinstance(result, CoroutineType):
        result.close()  # otherwise Python warns about it, too
    kind, place = type(result).__name__.replace("_", " "), f"{short_path(code.co_filename)}:{code.co_firstlineno}"
    return f"run: {name} returned the {kind} {code.co_name} ({place}), which has not been started: run it in main."


def launch(returns: list[Any], process: Process, main: Program) -> None:
    """Start a process, which calls `main` with its world; an exception ends the run.

    The return value is kept if the process was not spawned: the numbers of these processes are their ranks.
    """
    universe = process.universe
    if universe.cpu_scale and not getattr(main, "in_processes", False):  # which measures it in its processes
        from fakempi.extensions.cpu_time import measured

        main = measured(process, main)

    def program() -> None:
        try:
            result = main(process.comm_world)
            if process.number < len(returns):
                returns[process.number] = result
                if isinstance(result, COROUTINES) and (message := _not_started(process.name, result)):
                    universe.end(MPITypeError(ERR_ARG, message))
                    raise Ended
            if process.threads:
                finish(process)
        except Ended:
            raise
        except SystemExit as error:
            if error.code not in (None, 0):
                universe.fail(process, error)
            elif process.threads:
                finish(process)
        except BaseException as error:
            if all(error is not failure for _, failure in universe.failures):
                universe.fail(process, error)
        forget_process(universe, process.number)

    process.start(program)
