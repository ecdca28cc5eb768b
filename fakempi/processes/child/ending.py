"""The end of a program: calls of its threads, and the processes that it has started."""

from __future__ import annotations

import fcntl
import functools
import os
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from traceback import walk_stack
from typing import Any

from fakempi.errors import Aborted
from fakempi.errors.call_names import call_name
from fakempi.processes.child.sites import description
from fakempi.processes.protocol import ABORT, MAIN, MAIN_WAITS, THREAD

LONGEST_NAME = 200
"""Characters of the name of a thread that are reported."""

CHANNEL = os.path.join(os.path.dirname(__file__), "channel.py")
"""The module whose function `call` makes all calls of proxies."""


class RunEnded(BaseException):
    """The run has ended: raised by calls, so that `finally` blocks are executed."""


class LockOfThreads:
    """The lock for calls once a thread other than the main thread has called. The parent is informed who calls.

    It then knows whether the main thread may continue while another thread is in a call that does not return.
    """

    def __init__(self, lock: Any, report: Callable[[bytes], None]) -> None:
        self.lock, self.report = lock, report

    def __enter__(self) -> None:
        thread = threading.current_thread()
        is_main = thread is threading.main_thread()
        if not self.lock.acquire(blocking=False):
            if is_main:
                self.report(MAIN_WAITS + _line())
            self.lock.acquire()
        try:
            self.report(MAIN if is_main else THREAD + thread.name[:LONGEST_NAME].encode(errors="replace"))
        except BaseException:  # of a signal handler
            self.lock.release()
            raise

    def __exit__(self, *error: object) -> None:
        self.lock.release()


def _line() -> bytes:
    """Return the call that waits for the lock, and its line."""
    codes = ((frame, frame.f_code) for frame, _ in walk_stack(None))
    call_of_channel = next(frame for frame, code in codes if (code.co_filename, code.co_name) == (CHANNEL, "call"))
    function: Any = call_of_channel.f_back  # of a proxy
    found = description(function.f_back)
    if not found:
        return b""
    _, path, line, _, _, ours, _ = found
    call = ours or call_name(function)
    return f"{call}\0{path}\0{line}".encode(errors="surrogateescape")


def abort_through_report(kind: Any, channel: Any) -> None:
    """Make `Comm.Abort` end the run even if another thread is in a call, or in a process that the rank has forked.

    Such a process only ends itself if the communicator is that of one of several ranks.
    """
    abort, leave = kind.Abort, os._exit

    @functools.wraps(abort)
    def Abort(self: Any, errorcode: int = 0) -> Any:
        if type(errorcode) is int and not channel.can_call():
            if not channel.forked or self.size > 1 or channel.module.COMM_WORLD.size == 1:
                with suppress(OSError):  # this process is no worker of multiprocessing, and the rank has ended
                    channel.report(b"%s%d" % (ABORT, errorcode))
            if channel.forked:
                leave(errorcode & 0xFF)
        return abort(self, errorcode)

    kind.Abort = Abort


class LockAfterEnd:
    """The lock for calls after the end of the program: the main thread has it.

    A daemon thread waits forever, as Python's own daemon threads do at the end of a process. Another thread gets `RunEnded`,
    because Python waits for it.
    """

    def __init__(self, report: Callable[[bytes], None]) -> None:
        self.report = report

    def __enter__(self) -> None:
        thread = threading.current_thread()
        if thread is threading.main_thread():
            self.report(MAIN)
            return
        if not thread.daemon:
            raise RunEnded
        forever = threading.Lock()
        while forever.acquire():
            pass

    def __exit__(self, *error: object) -> None:
        pass


def read_before_fork(module: Any, proxies: tuple[Any, ...]) -> dict[str, Any]:
    """Read what a new process may use but cannot request: ranks, which proxies keep, and results of functions, by name."""
    known = {name: getattr(module, name)() for name in ("Is_initialized", "Is_finalized", "Get_processor_name")}
    if known["Is_initialized"] and not known["Is_finalized"]:
        for comm in [proxy for proxy in proxies if isinstance(proxy, module.Comm) and proxy]:
            _ = comm.rank, comm.size, comm.Get_rank(), comm.Get_size()
    return known


def end_with(lifeline: int) -> None:
    """Have the kernel send SIGIO, which ends a process, when the parent's end of the pipe is closed."""
    fcntl.fcntl(lifeline, fcntl.F_SETOWN, os.getpid())
    fcntl.fcntl(lifeline, fcntl.F_SETFL, fcntl.fcntl(lifeline, fcntl.F_GETFL) | os.O_ASYNC)


def end_worker_with(lifeline: int) -> None:
    """In a process that the rank has forked: end it with the rank if it is a worker, so that none outlives a killed rank.

    The owner of a pipe is that of an opened file, so the pipe is opened again. Only Linux can do that.
    """
    from fakempi.isolation.workers import FAMILY

    if any(frame.f_globals.get("__name__", "").partition(".")[0] in FAMILY for frame, _ in walk_stack(None)):
        with suppress(OSError):
            end_with(os.open(f"/proc/self/fd/{lifeline}", os.O_RDONLY | os.O_CLOEXEC))


def hide_end_of_threads() -> None:
    """Print no traceback of a thread or a finalizer that ends with `RunEnded`, or with a call of `Abort`."""
    in_thread, in_finalizer = threading.excepthook, sys.unraisablehook

    def excepthook(args: Any, /) -> Any:
        if not issubclass(args.exc_type, (RunEnded, Aborted)):
            in_thread(args)

    def unraisablehook(unraisable: Any, /) -> Any:
        if not isinstance(unraisable.exc_value, (RunEnded, Aborted)):
            in_finalizer(unraisable)

    threading.excepthook = threading.__excepthook__ = excepthook
    sys.unraisablehook = sys.__unraisablehook__ = unraisablehook  # the program may restore it


def leave_threads_and_processes() -> None:
    """When the run has ended: end the processes that the program has started, and do not wait for its threads.

    Without this, Python waits for both.
    """
    from fakempi.isolation.workers import workers  # not at the top: `child.process` replaces the package first

    for process in workers():
        process.terminate()
    threading._shutdown = bool  # type: ignore[attr-defined]  # called by the interpreter
