"""Keyword arguments of executors, and environment variables."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Mapping
from typing import Any

from fakempi import MPI
from fakempi.isolation.mpi4py.private_modules import registry

PREFIX = "MPI4PY_FUTURES_"
BACKOFF = 0.001
"""Maximum seconds between two polls (see `SerializedComm`)."""

YES, NO = ("1", "true", "yes", "on", "y"), ("0", "false", "no", "off", "n")


def backoff(options: Mapping[str, Any]) -> float:
    """Return the maximum seconds between two polls."""
    given = options.get("backoff")
    return max(0.0, float(os.environ.get(PREFIX + "BACKOFF", BACKOFF) if given is None else given))


def use_pkl5(options: Mapping[str, Any]) -> bool:
    """Return whether large buffers are sent out of band (mpi4py.util.pkl5)."""
    given = options.get("use_pkl5")
    if given is not None:
        return bool(given)
    name = PREFIX + "USE_PKL5"
    text = os.environ.get(name, "no")
    if text.lower() not in YES + NO:
        warnings.warn(f"environment variable {name}: {text!r} must be yes or no", RuntimeWarning, stacklevel=2)
    return text.lower() in YES


def number_of_workers(options: Mapping[str, Any]) -> int:
    """Return the number of workers to spawn: as specified, or the number of free slots in the universe."""
    given = options.get("max_workers", os.environ.get(PREFIX + "MAX_WORKERS"))
    if given is not None:
        return int(given)
    slots = MPI.COMM_WORLD.Get_attr(MPI.UNIVERSE_SIZE)
    return max(1, (slots or 0) - MPI.COMM_WORLD.Get_size())


def has_own_environment() -> bool:
    """Return whether each rank has its own environment variables: in `fakempi run`, also with --processes."""
    in_script = registry.make_private is not type(registry).make_private
    return in_script or "fakempi.processes.child.channel" in sys.modules


def check(options: Mapping[str, Any]) -> None:
    """Reject options that in-process workers cannot honor, and warn of options without effect."""
    if "service" in options:
        raise NotImplementedError("MPIPoolExecutor: service is not emulated; workers are spawned, or are ranks of the run.")
    wdir = options.get("wdir")
    if wdir is not None and os.path.realpath(wdir) != os.getcwd():
        raise NotImplementedError(
            f"MPIPoolExecutor: wdir is {os.fspath(wdir)!r}, but workers start in the current directory, {os.getcwd()!r}."
        )
    for name, value in dict(options.get("env") or ()).items():
        if not has_own_environment() and os.environ.get(name) != value:
            current = f"where it is {os.environ[name]!r}" if name in os.environ else "where it is not set"
            raise NotImplementedError(
                f"MPIPoolExecutor: env sets {name} to {value!r}, but workers inherit the environment, {current}. "
                "Set it before the run."
            )
    if options.get("python_args"):
        given = list(options["python_args"])
        message = f"MPIPoolExecutor: python_args {given} have no effect: workers are ranks of this process."
        warnings.warn(message, RuntimeWarning, stacklevel=3)
    exe = options.get("python_exe")
    if exe is not None and os.path.realpath(exe) != os.path.realpath(sys.executable):
        raise NotImplementedError(
            f"MPIPoolExecutor: python_exe is {os.fspath(exe)!r}, but workers are ranks of this process, {sys.executable!r}."
        )
