"""The main function of a child process: prepare the interpreter, execute the program as `__main__`, report how it ended."""

from __future__ import annotations

import atexit
import contextlib
import marshal
import os
import random
import resource
import signal
import sys
import threading
from functools import partial
from types import CodeType, FrameType, ModuleType
from typing import Any

from fakempi.core.import_hooks import ImportHooks
from fakempi.errors.tracebacks import hide_frames, shorten
from fakempi.processes.child.channel import Channel
from fakempi.processes.child.ending import RunEnded, end_with, hide_end_of_threads, leave_threads_and_processes
from fakempi.processes.child.failures import record
from fakempi.processes.child.files import ChildFiles
from fakempi.processes.child.package import install
from fakempi.processes.child.patches.debugging import ignore_breakpoints
from fakempi.processes.child.patches.extension_modules import reject_mpi_libraries
from fakempi.processes.child.patches.loaded import LoadedPackage, is_on_path, taken
from fakempi.processes.child.patches.workers import end_workers_with
from fakempi.processes.child.signals import defer_handlers
from fakempi.processes.protocol import EXIT, FAILED, Closed, read

GENERATOR = "numpy.random.mtrand"
"""The module of numpy's global random generator."""

PROCESSES = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
"""The directory of the code that runs in children and is not part of the program."""


def start_child(files: ChildFiles, code: CodeType | None = None, stash: dict[str, Any] | None = None) -> None:
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
    imports = ImportHooks()
    compute = install(channel, start, imports)
    # not at the top: `install` replaces the package first
    from fakempi.core.stack_depth import deepen_stack
    from fakempi.isolation.clocks import patch_clocks
    from fakempi.isolation.os_exec import patch_exec

    patch_clocks(setattr, compute, channel.is_rank)
    deepen_stack(setattr)
    exec_reason = f"rank {start['number']}: the program that replaces this one would not be a rank."
    patch_exec(setattr, lambda: "" if channel.forked else exec_reason)
    end_workers_with(files.lifeline, imports)
    reject_mpi_libraries(start["share"])
    has_own_hook = sys.excepthook is not sys.__excepthook__
    hide_frames()
    if not has_own_hook:
        sys.excepthook = sys.__excepthook__
    threading.excepthook = _print_failed_thread
    _seed(start["seed"], start["number"], stash, imports)
    if start["cpu_scale"]:
        channel.cpu = CpuClock(start["cpu_scale"])
    code = _run(channel, start, imports)
    _flush()
    sys.exit(code)


def _print_failed_thread(args: threading.ExceptHookArgs) -> None:
    """Print the exception of a thread as Python does, without our frames."""
    if args.exc_value is not None:
        shorten(args.exc_value)
    threading.__excepthook__(args)


def _run(channel: Channel, start: dict[str, Any], imports: ImportHooks) -> int:
    # not at the top: `child.process` replaces the package first
    from fakempi.isolation.main_module import call_excepthook, call_own_excepthook, exit_code

    try:
        try:
            _handle_interrupts(channel)
            _execute(start, imports)
            code = 0
        except SystemExit as error:
            code = exit_code(error)
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
        if channel.forked:  # a process that the rank has forked ends as Python does; the rank gets the exit status
            call_excepthook(error)
            with contextlib.suppress(BaseException):
                atexit._run_exitfuncs()
            return 1
        if isinstance(error, KeyboardInterrupt):  # Ctrl-C, of which the parent knows, or the end of the run
            channel.raises_interrupts = False
        if not (channel.ended and isinstance(error, (RunEnded, KeyboardInterrupt))):
            call_own_excepthook(error)
            _flush()
            channel.close(FAILED, record(error, uncaught=True))
    leave_threads_and_processes()
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


def _execute(start: dict[str, Any], imports: ImportHooks) -> None:
    from fakempi.isolation.main_module import begin_main, compiled

    module = sys.modules["__main__"] = ModuleType("__main__")
    names, file = vars(module), start["file"]
    code = begin_main(names, start["module"], file, start["application"])
    if code is None and start["text"] is None:
        with open(file, "rb") as opened:
            code = compiled(opened.read(), file)
    code = code or compiled(start["text"], "")
    if start["debug"] and not start["debug_port"]:
        import pdb

        pdb.Pdb(skip=["fakempi.*", "mpi4py.*"]).run(code, names)
        return
    if start["debug"]:
        _wait_for_debugger(start["number"], start["debug_port"])
    has_input = start["number"] == 0 and not os.path.samestat(os.fstat(0), os.stat(os.devnull))
    if not (start["debug"] or has_input):
        ignore_breakpoints(start["number"], imports)
    sys.meta_path.insert(0, LoadedPackage("mpi4py", taken("mpi4py"), bool))  # programs look for it in `sys.modules`
    exec(code, names)


def _wait_for_debugger(rank: int, port: int) -> None:
    """Wait until an editor is connected to this process."""
    # Otherwise pydevd prints four lines about frozen modules of the standard library; breakpoints in programs work anyway.
    os.environ.setdefault("PYDEVD_DISABLE_FILE_VALIDATION", "1")
    import debugpy  # optional

    debugpy.listen(("127.0.0.1", port))
    sys.stderr.write(f"fakempi: rank {rank} waits for a debugger on port {port}\n")
    debugpy.wait_for_client()


def _die_with_parent(lifeline: int) -> None:
    """End this process when the parent's end of the pipe is closed."""
    if os.getppid() == 1:
        os._exit(1)
    signal.signal(signal.SIGIO, signal.SIG_DFL)
    end_with(lifeline)


def _seed(seed: int, number: int, stash: dict[str, Any], imports: ImportHooks) -> None:
    """Seed the random generators of the standard library, and those of numpy once it is imported."""
    random.seed(f"{seed}:{number}")

    def seed_numpy(generator: Any) -> None:
        generator._rand.seed([seed % 2**32, number])

    imports.add(GENERATOR, seed_numpy)
    if "numpy" in stash:
        found = stash.get(GENERATOR)
        sys.meta_path.insert(0, LoadedPackage("numpy", stash, is_on_path, partial(seed_numpy, found) if found else bool))


class CpuClock:
    """The CPU time of the program between calls, times a factor."""

    def __init__(self, scale: float) -> None:
        from time import process_time

        self._scale, self._clock = scale, process_time
        self._last = process_time()

    def used(self) -> float:
        """Return the time since the last call has ended, or since the start."""
        return (self._clock() - self._last) * self._scale

    def restart(self) -> None:
        """A call has ended."""
        self._last = self._clock()
