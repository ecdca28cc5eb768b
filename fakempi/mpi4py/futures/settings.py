"""Environment variables, and what an executor is told by keyword."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Mapping
from typing import Any

from fakempi import MPI

PREFIX = "MPI4PY_FUTURES_"
BACKOFF = 0.001
"""Seconds between two looks, at most, where it must be looked again and again (see `Turns`)."""

YES, NO = ("1", "true", "yes", "on", "y"), ("0", "false", "no", "off", "n")


def backoff(options: Mapping[str, Any]) -> float:
    """How long to sleep between two looks."""
    given = options.get("backoff")
    return max(0.0, float(os.environ.get(PREFIX + "BACKOFF", BACKOFF) if given is None else given))


def use_pkl5(options: Mapping[str, Any]) -> bool:
    """Whether large buffers travel as messages of their own (mpi4py.util.pkl5)."""
    given = options.get("use_pkl5")
    if given is not None:
        return bool(given)
    name = PREFIX + "USE_PKL5"
    word = os.environ.get(name, "no")
    if word.lower() not in YES + NO:
        warnings.warn(f"environment variable {name}: {word!r} is neither yes nor no", RuntimeWarning, stacklevel=2)
    return word.lower() in YES


def number_of_workers(options: Mapping[str, Any]) -> int:
    """How many workers to spawn: as told, or as many as the universe has place for."""
    given = options.get("max_workers", os.environ.get(PREFIX + "MAX_WORKERS"))
    if given is not None:
        return int(given)
    places = MPI.COMM_WORLD.Get_attr(MPI.UNIVERSE_SIZE)
    return max(1, (places or 0) - MPI.COMM_WORLD.Get_size())


def check(options: Mapping[str, Any]) -> None:
    """Refuse what workers cannot have that are ranks of this process, and say what changes nothing."""
    if "service" in options:
        raise NotImplementedError("MPIPoolExecutor: service is not emulated: workers are spawned, or are ranks of the run.")
    wdir = options.get("wdir")
    if wdir is not None and os.path.realpath(wdir) != os.getcwd():
        raise NotImplementedError(
            f"MPIPoolExecutor: wdir is {os.fspath(wdir)!r}, but all ranks share one working directory, {os.getcwd()!r}."
        )
    for name, value in dict(options.get("env") or ()).items():
        if os.environ.get(name) != value:
            there = f"where it is {os.environ[name]!r}" if name in os.environ else "where it is not set"
            raise NotImplementedError(
                f"MPIPoolExecutor: env sets {name} to {value!r}, but all ranks share one environment, {there}. "
                "Set it before the run."
            )
    if options.get("python_args"):
        given = list(options["python_args"])
        words = f"MPIPoolExecutor: python_args {given} change nothing: workers are ranks of this process."
        warnings.warn(words, RuntimeWarning, stacklevel=3)
    exe = options.get("python_exe")
    if exe is not None and os.path.realpath(exe) != os.path.realpath(sys.executable):
        raise NotImplementedError(
            f"MPIPoolExecutor: python_exe is {os.fspath(exe)!r}, but workers are ranks of this process, {sys.executable!r}."
        )
