"""`mpi4py.rc`: what a rank wants before it imports MPI, of which every rank has its own."""

from __future__ import annotations

import warnings
from typing import Any

from fakempi import MPI
from fakempi.mpi.base.current import outside, running_process

DEFAULTS: dict[str, Any] = {
    "initialize": True, "threads": True, "thread_level": "multiple", "finalize": None, "fast_reduce": True,
    "recv_mprobe": True, "irecv_bufsz": 32768, "errors": "exception",
}  # fmt: skip

LEVELS = {
    "single": MPI.THREAD_SINGLE, "funneled": MPI.THREAD_FUNNELED, "serialized": MPI.THREAD_SERIALIZED,
    "multiple": MPI.THREAD_MULTIPLE,
}  # fmt: skip

HANDLERS = {
    "exception": MPI.ERRORS_RETURN, "default": MPI.ERRORS_ARE_FATAL, "abort": MPI.ERRORS_ABORT,
    "fatal": MPI.ERRORS_ARE_FATAL,
}  # fmt: skip

_FLAGS = (False, True)
_ALLOWED: dict[str, Any] = {
    "initialize": _FLAGS, "threads": _FLAGS, "thread_level": LEVELS, "finalize": (None, *_FLAGS), "fast_reduce": _FLAGS,
    "recv_mprobe": _FLAGS, "errors": HANDLERS,
}  # fmt: skip

TAKEN, HIDDEN = "taken", "hidden"
"""Beside the options: that the rank has imported MPI, and that it has said `del mpi4py.rc`."""


def own(process: Any) -> dict[str, Any]:
    """What a process has set."""
    if process.options is None:
        process.options = {}
    options: dict[str, Any] = process.options
    return options


class Rc:
    """Options of one's own. What the program has set outside of runs holds for ranks that have set nothing themselves.

    `initialize`, `threads`, `thread_level` and `errors` mean what they do in mpi4py. The others say how mpi4py is to do
    things that it does in one way here: they are kept, and change nothing.
    """

    def __init__(self, **options: Any) -> None:
        self(**options)

    def __getattr__(self, name: str) -> Any:
        if name not in DEFAULTS:
            raise AttributeError(f"mpi4py.rc has no option {name!r}")
        for process in (running_process(), outside.process):
            if process is not None and process.options and name in process.options:
                return process.options[name]
        return DEFAULTS[name]

    def __setattr__(self, name: str, value: Any) -> None:
        self._check(name)
        own(running_process())[name] = value

    def __delattr__(self, name: str) -> None:
        self._check(name)
        own(running_process()).pop(name, None)

    def __call__(self, **options: Any) -> None:
        """Set options."""
        for name in options:
            self._check(name)
        own(running_process()).update(options)

    @staticmethod
    def _check(name: str) -> None:
        if name not in DEFAULTS:
            raise TypeError(f"mpi4py.rc has no option {name!r}")

    def __repr__(self) -> str:
        return "<mpi4py.rc>"


def take(process: Any) -> None:
    """The process imports MPI: what it has set until now holds. What makes no sense is warned of, and left as it was."""
    options = own(process)
    if TAKEN in options:
        return
    options[TAKEN] = True
    asked = {name: value for name, value in options.items() if name in DEFAULTS and _makes_sense(name, value)}
    process.initialized = asked.get("initialize", True)
    if not asked.get("threads", True):
        process.thread_level = MPI.THREAD_SINGLE
    elif "thread_level" in asked:
        process.thread_level = LEVELS[asked["thread_level"]]
    if "errors" in asked:
        for comm in (MPI.COMM_WORLD, MPI.COMM_SELF):
            comm.Set_errhandler(HANDLERS[asked["errors"]])


def _makes_sense(name: str, value: Any) -> bool:
    fits = value in _ALLOWED[name] if name in _ALLOWED else isinstance(value, int)
    if not fits:
        warnings.warn(f"mpi4py.rc.{name}: unexpected value {value!r}", RuntimeWarning, stacklevel=5)
    return fits
