"""The main function of a child process: prepare the interpreter, execute the program as `__main__`, report how it ended."""

from __future__ import annotations

import atexit
import builtins
import contextlib
import functools
import importlib.util
import marshal
import os
import random
import resource
import signal
import sys
import threading
from importlib.machinery import PathFinder, SourceFileLoader
from types import CodeType, FrameType, ModuleType
from typing import Any, NoReturn

from fakempi.errors import MPIError
from fakempi.errors.classes import ERR_UNSUPPORTED_OPERATION
from fakempi.errors.tracebacks import hide_frames, shorten
from fakempi.processes.child.channel import Channel, ChildFiles
from fakempi.processes.child.ending import RunEnded, end_with, hide_end_of_threads, leave_threads_and_processes
from fakempi.processes.child.failures import record
from fakempi.processes.child.package import FirstImport, install
from fakempi.processes.child.patches.debugging import ignore_breakpoints
from fakempi.processes.child.patches.extension_modules import reject_mpi_libraries
from fakempi.processes.child.patches.numpy_seed import ImportedNumpy, SeedNumpy
from fakempi.processes.child.patches.workers import end_workers_with
from fakempi.processes.child.signals import defer_handlers
from fakempi.processes.protocol import EXIT, FAILED, Closed, read

PROCESSES = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
"""The directory of the code that runs in children and is not part of the program."""

INSTEAD_OF_EXEC = "If this sets environment variables, set them before fakempi run; to start a program, use subprocess."


def start_child(
    files: ChildFiles, code: CodeType | None = None, stash: dict[str, Any] | None = None
) -> None:
    """Execute the program of a rank, which the first message describes.

    Parameters
    ----------
    code : the proxy module, if it is known already
    stash : modules that were imported in advance
    """
    _die_with_parent(files.lifeline)
    try:
        start = marshal.loads(read(files.source))
    except Closed:
        os._exit(1)
    if code is not None:
        start["code"] = code
    main(files, start, stash or {})


def main(files: ChildFiles, start: dict[str, Any], stash: dict[str, Any]) -> None:
    """Execute the program of a rank.

    `start` has `code` (the proxy module), `starts`, `local`, `argv`, `path`, `orig_argv`, `file`, `module`, `text`,
    `number`, `seed`, `debug`, `debug_port`, `cpu_scale`, `directory`, `variables`, `share`, `open_files`.
    """
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (start["open_files"], hard))  # the parent may have raised it for itself
    for fd in files:
        os.set_inheritable(fd, False)
    if os.getcwd() != start["directory"]:
        os.chdir(start["directory"])
    for name, value in start["variables"].items():
        if value is not None:
            os.environ[name] = value
        else:
            os.environ.pop(name, None)
    channel = Channel(files)
    hide_end_of_threads()
    sys.path[:] = start["path"]
    sys.argv[:] = start["argv"]
    sys.orig_argv[:] = start["orig_argv"]
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            stream.reconfigure(line_buffering=True)  # type: ignore[union-attr]  # a TextIOWrapper
    install(channel, start)
    _reject_exec(channel, start["number"])
    end_workers_with(files.lifeline)
    reject_mpi_libraries(start["share"])
    has_own_hook = sys.excepthook is not sys.__excepthook__
    hide_frames()
    if not has_own_hook:
        sys.excepthook = sys.__excepthook__
    threading.excepthook = _print_failed_thread
    _seed(start["seed"], start["number"], stash)
    if start["cpu_scale"]:
        _measure_cpu(channel, start["cpu_scale"])
    code = _run(channel, start)
    _flush()
    sys.exit(code)


def _reject_exec(channel: Channel, number: int) -> None:
    """Make `os.execv` and `os.execve` raise an error: the parent has no connection to the new program."""

    def rejecting(name: str, original: Any) -> Any:
        @functools.wraps(original)
        def call(*args: Any, **named: Any) -> NoReturn:
            if channel.forked:
                original(*args, **named)
            sentence = f"os.{name} on rank {number}: the program that replaces this one would not be a rank."
            raise MPIError(ERR_UNSUPPORTED_OPERATION, f"{sentence} {INSTEAD_OF_EXEC}")

        return call

    os.execv, os.execve = rejecting("execv", os.execv), rejecting("execve", os.execve)


def _print_failed_thread(args: threading.ExceptHookArgs) -> None:
    """Print the exception of a thread as Python does, without our frames."""
    if args.exc_value is not None:
        shorten(args.exc_value)
    threading.__excepthook__(args)


def _run(channel: Channel, start: dict[str, Any]) -> int:
    try:
        try:
            _handle_interrupts(channel)
            _execute(start)
            code = 0
        except SystemExit as error:
            code = _exit_code(error)
        threading._shutdown()  # type: ignore[attr-defined]  # wait for threads, as at the end of Python
        atexit._run_exitfuncs()
        _flush()
        if not channel.forked:
            channel.close(EXIT, code)
        return code
    except RunEnded:  # functions registered with atexit are not called, as in ranks of one process
        atexit._clear()
        leave_threads_and_processes()
        return 1
    except BaseException as error:
        if channel.forked:  # the error of a process that the rank has forked: the rank gets the exit status
            return _failed_fork(error)
        if isinstance(error, KeyboardInterrupt):  # Ctrl-C, of which the parent knows, or the end of the run
            channel.raises_interrupts = False
        if not (channel.ended and isinstance(error, (RunEnded, KeyboardInterrupt))):
            if sys.excepthook is not sys.__excepthook__:
                shorten(error)
                with contextlib.suppress(BaseException):
                    sys.excepthook(type(error), error, error.__traceback__)
            _flush()
            channel.close(FAILED, record(error, uncaught=True))
    leave_threads_and_processes()
    with contextlib.suppress(BaseException):
        atexit._run_exitfuncs()
    return 1


def _failed_fork(error: BaseException) -> int:
    """End a process that the rank has forked as Python does: print the traceback, call exit functions."""
    shorten(error)
    with contextlib.suppress(BaseException):
        sys.excepthook(type(error), error, error.__traceback__)
    with contextlib.suppress(BaseException):
        atexit._run_exitfuncs()
    return 1


def _flush() -> None:
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(Exception):  # the program may have closed or replaced it; Python reports errors at its end
            stream.flush()


def _handle_interrupts(channel: Channel) -> None:
    """Raise KeyboardInterrupt in the program only: within a call, after the answer has arrived.

    Ctrl-C in a terminal interrupts all processes. The parent then ends the run, and answers the calls of its children so.
    """

    def interrupted(number: int, frame: FrameType | None) -> None:
        if frame is not None and frame.f_code.co_filename.startswith((PROCESSES, "<fakempi")):
            channel.defer(signal.default_int_handler, number, frame)
        elif channel.raises_interrupts:
            raise KeyboardInterrupt

    signal.signal(signal.SIGINT, interrupted)
    defer_handlers(channel)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})


def _execute(start: dict[str, Any]) -> None:
    module = ModuleType("__main__")
    sys.modules["__main__"] = module
    names: Any = vars(module)
    names["__builtins__"] = builtins
    if sys.version_info < (3, 14):
        names["__annotations__"] = {}
    if start["module"] or start["application"]:
        spec: Any = _module_to_run(start["module"]) if start["module"] else PathFinder.find_spec("__main__", [start["file"]])
        code = spec.loader.get_code(spec.name)
        if start["module"]:
            sys.argv[0] = spec.origin
        names.update(__spec__=spec, __file__=spec.origin, __package__=spec.parent, __loader__=spec.loader)
    elif start["text"] is not None:
        code = compile(start["text"], "<string>", "exec")
    else:
        with open(start["file"], "rb") as file:
            code = compile(file.read(), start["file"], "exec", dont_inherit=True)
        names.update(__file__=start["file"], __cached__=None, __loader__=SourceFileLoader("__main__", start["file"]))
    if start["debug"] and not start["debug_port"]:
        import pdb

        pdb.Pdb(skip=["fakempi.*", "mpi4py.*"]).run(code, names)
        return
    if start["debug"]:
        _wait_for_debugger(start["number"], start["debug_port"])
    has_input = start["number"] == 0 and not os.path.samestat(os.fstat(0), os.stat(os.devnull))
    if not (start["debug"] or has_input):
        ignore_breakpoints(start["number"])
    sys.meta_path.insert(0, FirstImport())
    exec(code, names)


def _wait_for_debugger(rank: int, port: int) -> None:
    """Wait until an editor is connected to this process."""
    # Otherwise pydevd prints four lines about frozen modules of the standard library; breakpoints in programs work anyway.
    os.environ.setdefault("PYDEVD_DISABLE_FILE_VALIDATION", "1")
    import debugpy  # optional

    debugpy.listen(("127.0.0.1", port))
    sys.stderr.write(f"fakempi: rank {rank} waits for a debugger on port {port}\n")
    debugpy.wait_for_client()


def _module_to_run(name: str) -> Any:
    """Return the spec of the module that `-m name` executes: the module or its `__main__`."""
    try:
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.submodule_search_locations is not None:
            spec = importlib.util.find_spec(f"{name}.__main__")
    except ModuleNotFoundError as error:
        if not f"{name}.".startswith(f"{error.name}."):  # an import of the package failed
            raise
        spec = None
    if spec is None or not hasattr(spec.loader, "get_code"):
        raise ModuleNotFoundError(f"No module named {name!r} that can be executed with -m", name=name)
    return spec


def _exit_code(error: SystemExit) -> int:
    if error.code is None:
        return 0
    if isinstance(error.code, int):
        return error.code & 0xFF
    sys.stderr.write(f"{error.code}\n")
    return 1


def _die_with_parent(lifeline: int) -> None:
    """End this process when the parent's end of the pipe is closed."""
    if os.getppid() == 1:
        os._exit(1)
    signal.signal(signal.SIGIO, signal.SIG_DFL)
    end_with(lifeline)


def _seed(seed: int, number: int, stash: dict[str, Any]) -> None:
    """Seed the random generators of the standard library, and those of numpy once it is imported."""
    random.seed(f"{seed}:{number}")
    seeds = [seed % 2**32, number]
    sys.meta_path.insert(0, SeedNumpy(seeds))
    if "numpy" in stash:
        sys.meta_path.insert(0, ImportedNumpy(stash, seeds))


def _measure_cpu(channel: Channel, scale: float) -> None:
    from time import process_time

    last = process_time()

    def used() -> float:
        nonlocal last
        now = process_time()
        seconds, last = now - last, now
        return seconds * scale

    channel.cpu = used
