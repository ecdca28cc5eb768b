"""`mpi4py.rc`: options that a rank sets before it imports MPI; every rank has its own."""

from __future__ import annotations

import os
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

APPLIED, RC_DELETED, HANDLER, FILE_HANDLER = "applied", "rc_deleted", "handler", "file_handler"
"""Further keys: whether options have been applied, whether the rank has executed `del mpi4py.rc`, the error handler of new
communicators, windows and sessions, and that of new files."""

ENVIRONMENT = "MPI4PY_RC_"
"""Prefix of environment variables, which override options of the program, as in mpi4py."""

_KEYS = {name: os.environ.encodekey(ENVIRONMENT + name.upper()) for name in DEFAULTS}
"""The names of these variables as the environment has them."""

_BOOLEANS = {
    **dict.fromkeys(("", "0", "f", "false", "n", "no", "off"), False),
    **dict.fromkeys(("1", "on", "t", "true", "y", "yes"), True),
}


def options_of(process: Any) -> dict[str, Any]:
    """Return the dictionary of options that a process has set."""
    if process.options is None:
        process.options = {}
    options: dict[str, Any] = process.options
    return options


class Rc:
    """Options of a rank. Options set outside a run are the defaults of its ranks.

    `initialize`, `threads`, `thread_level` and `errors` have the same meaning as in mpi4py. The other options are stored but
    have no effect.
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
        options_of(running_process())[name] = value

    def __delattr__(self, name: str) -> None:
        self._check(name)
        options_of(running_process()).pop(name, None)

    def __call__(self, **options: Any) -> None:
        """Set options."""
        for name in options:
            self._check(name)
        options_of(running_process()).update(options)

    @staticmethod
    def _check(name: str) -> None:
        if name not in DEFAULTS:
            raise TypeError(f"mpi4py.rc has no option {name!r}")

    def __repr__(self) -> str:
        return "<mpi4py.rc>"


def apply_options(process: Any) -> None:
    """Apply the options of a process when it imports MPI. Invalid values are reported by a warning and ignored."""
    options = options_of(process)
    if APPLIED in options:
        return
    options[APPLIED] = True
    options.update(_from_environment())
    valid = {name: value for name, value in options.items() if name in DEFAULTS and _is_valid(name, value)}
    process.initialized = valid.get("initialize", True)
    if not valid.get("threads", True):
        process.thread_level = MPI.THREAD_SINGLE
    elif "thread_level" in valid:
        process.thread_level = LEVELS[valid["thread_level"]]
    if "errors" in valid:
        handler = HANDLERS[valid["errors"]]
        options[HANDLER], options[FILE_HANDLER] = handler, None if valid["errors"] == "default" else handler
        for comm in (MPI.COMM_WORLD, MPI.COMM_SELF):
            comm.Set_errhandler(handler)


def _from_environment() -> dict[str, Any]:
    """Return the options set by environment variables: booleans, integers, or lower-case text."""
    options = {}
    # A lookup in `os.environ` takes longer, and the first one of a rank installs the variables of its launcher.
    variables = getattr(os.environ, "__dict__", {}).get("_data")
    for name, key in _KEYS.items():
        text = os.environ.get(ENVIRONMENT + name.upper()) if variables is None or key in variables else None
        if text is not None:
            text = text.strip().lower()
            number = name not in _ALLOWED and text.isdigit()
            options[name] = int(text) if number else _BOOLEANS.get(text, text) if name in _ALLOWED else text
    return options


def _is_valid(name: str, value: Any) -> bool:
    valid = value in _ALLOWED[name] if name in _ALLOWED else isinstance(value, int)
    if not valid:
        warnings.warn(f"mpi4py.rc.{name}: unexpected value {value!r}", RuntimeWarning, stacklevel=5)
    return valid
