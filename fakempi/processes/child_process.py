"""The operating-system process of a rank: start, messages, output, end."""

from __future__ import annotations

import errno
import os
import pickle
import select
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

from fakempi.processes.protocol import ABORT, ENDED, HEADER, MAIN, MAIN_WAITS, THREAD, Closed, read, write
from fakempi.processes.template import ForkedProcess, interrupts_blocked, python

GRACE = 1.0
"""Seconds that a child has for its `finally` blocks once it has to end; then it is killed."""

POLL_MS = 200
"""The longest wait for a child: a signal that arrives just before a wait does not interrupt it, and is handled after it.

Where there are no pidfds, it is also checked after each wait whether the child has ended.
"""

PIPE_SIZE = 1 << 20
"""Bytes that a pipe holds: large messages then take fewer switches between processes."""

Fork = Callable[[list[int]], ForkedProcess | None]
"""Forks a child with given file descriptors; None if that is not possible."""

Report = Callable[[Any], None]
"""Called with the report of the child about the end of its program."""

Output = Callable[[int, bytes], None]
"""Called with the output of the child to its standard output (1) and standard error (2); with no bytes at the end."""


def _arena() -> int:
    """Return a file without a name, which the child and the parent map for large arrays."""
    if hasattr(os, "memfd_create"):
        return os.memfd_create("fakempi")
    fd, path = tempfile.mkstemp()
    os.unlink(path)
    return fd


def _start_interpreter(
    fds: tuple[int, ...], stdin: Any, outputs: list[int], variables: Mapping[str, str] | None
) -> subprocess.Popen[bytes]:
    """Start a child that is not forked; without `outputs`, it writes to the parent's streams."""
    out, err = outputs or (None, None)
    with interrupts_blocked():
        return subprocess.Popen(
            python(*map(str, fds)), stdin=stdin, stdout=out, stderr=err, pass_fds=fds, close_fds=True,
            env={**os.environ, **(variables or {})},
        )  # fmt: skip


def _pidfd(pid: int) -> int:
    """Return a file descriptor that is ready once the process has ended; -1 where there are none."""
    if hasattr(os, "pidfd_open"):
        with suppress(OSError):
            return os.pidfd_open(pid)
    return -1


class ChildProcess:
    """A child and the pipes to it."""

    def __init__(
        self,
        output: Output,
        stdin: Any,
        fork: Fork | None = None,
        terminal: bool = False,
        variables: Mapping[str, str] | None = None,  # for an interpreter that is started, not forked
    ) -> None:
        self.output = output
        self.on_reentry: Report  # called with a call that the child makes in the middle of another one
        self.on_end: Report
        self.report: Any = None  # about the end of the program, not yet passed to `on_end`
        self.has_reported = False
        self.unread = b""
        self.caller = MAIN  # the last report about the thread that calls
        self.thread = ""  # the name of the last thread, other than the main thread, that has called
        self.waits_at: list[str] = []  # the call, the file and the line of the main thread if it waits for that thread
        self.abort_code: int | None = None  # of Abort in a thread that waits for another one
        self.gone = False
        self.streams: dict[int, int] = {}
        fds, outputs = self._open_pipes(), [] if terminal else [self._open_stream(number) for number in (1, 2)]
        forked = None if fork is None or terminal else fork([stdin, *outputs, *fds])
        self.is_forked = forked is not None
        self.process: Any = _start_interpreter(fds, stdin, outputs, variables) if forked is None else forked
        for fd in (*fds, *outputs):
            if fd != self.arena:
                os.close(fd)
        self.pidfd = _pidfd(self.process.pid) if forked is None else forked.status
        self._register()

    def _open_pipes(self) -> tuple[int, ...]:
        """Open the pipes, the socket and the arena; return the ends that the child gets."""
        source, child_target = os.pipe()
        child_source, target = os.pipe()
        lifeline, self.lifeline = os.pipe()  # the child is informed when the parent's end is closed
        self.ending, ending_target = os.pipe()
        self.reentry, child_reentry = (each.detach() for each in socket.socketpair())
        self.source, self.target = self.pipes = source, target
        self.arena = _arena()
        for fd in (source, target):
            with suppress(AttributeError, OSError):  # not Linux, or too many pipes of this user
                import fcntl  # missing on Windows, where this module can be imported but not used

                fcntl.fcntl(fd, fcntl.F_SETPIPE_SZ, PIPE_SIZE)
        return child_source, child_target, lifeline, self.arena, ending_target, child_reentry

    def _open_stream(self, number: int) -> int:
        """Open a pipe for the output to a file descriptor of the child; return the child's end."""
        read_end, write_end = os.pipe()
        os.set_blocking(read_end, False)
        self.streams[read_end] = number
        return write_end

    def _register(self) -> None:
        """Register all that `receive` and `is_leaving` wait for."""
        self.poll, self.leaving = select.poll(), select.poll()
        self.poll.register(self.source, select.POLLIN)  # first, so that output that precedes a message is read with it
        for fd in (*self.streams, self.ending, self.reentry, self.pidfd):
            if fd >= 0:
                self.poll.register(fd, select.POLLIN)
        for fd in (self.ending, self.pidfd):
            if fd >= 0:
                self.leaving.register(fd, select.POLLIN)

    def send(self, data: bytes) -> None:
        """Send a message; if the child is gone, `receive` reports it."""
        try:
            write(self.target, data)
        except BrokenPipeError:
            self.gone = True

    def receive(self) -> Any:
        """Wait for a message; None if the child has ended, or reports a call of Abort."""
        self.waiting_since = time.monotonic()
        while True:
            ready = False
            for fd, _ in self.poll.poll(POLL_MS):
                if fd == self.source:
                    ready = True
                elif fd == self.pidfd:
                    self.gone = True
                elif fd == self.ending:
                    self.read_report()
                    self.pass_report()
                elif fd == self.reentry:
                    self._pass_reentry()
                elif fd in self.streams:
                    self._relay(fd)
            if ready and self.abort_code is None:
                self.waiting_since = 0.0
                try:
                    return read(self.source)
                except Closed:
                    return None
            if self.gone or self.abort_code is not None or (self.pidfd < 0 and self.process.poll() is not None):
                return None

    def _pass_reentry(self) -> None:
        """Have a call answered that the child makes in the middle of another one, through the same socket."""
        try:
            data = read(self.reentry)
        except (Closed, OSError):
            self.poll.unregister(self.reentry)
            return
        self.waiting_since = 0.0
        self.source = self.target = self.reentry
        try:
            self.on_reentry(data)
        finally:
            self.source, self.target = self.pipes
        self.waiting_since = time.monotonic()

    def is_leaving(self) -> bool:
        """Return whether the child has exited, or its program has ended while another thread is in a call."""
        while self.report is None and self.abort_code is None:
            ready = [fd for fd, _ in self.leaving.poll(0)]
            if self.ending not in ready:
                if self.has_reported and self.caller == THREAD:
                    return True
                return self.pidfd in ready or (self.pidfd < 0 and self.process.poll() is not None)
            self.read_report()
        return True

    def may_leave(self) -> bool:
        """Return whether the program may end although the rank is in a call: that of another thread."""
        return self.caller == THREAD

    def read_report(self) -> None:
        """Read reports that have arrived."""
        data = os.read(self.ending, 1 << 16)
        if not data:
            self.poll.unregister(self.ending)
            self.leaving.unregister(self.ending)
        self.unread += data
        while len(self.unread) >= HEADER.size:
            (size,) = HEADER.unpack_from(self.unread)
            if len(self.unread) < HEADER.size + size:
                break
            message = self.unread[HEADER.size : HEADER.size + size]
            self.unread = self.unread[HEADER.size + size :]
            kind, rest = message[:1], message[1:]
            if kind in (MAIN, THREAD, MAIN_WAITS):
                self.caller = kind
                self.thread = rest.decode(errors="replace") if kind == THREAD else self.thread
                self.waits_at = rest.decode(errors="replace").split("\0") if kind == MAIN_WAITS and rest else []
            elif kind == ABORT:
                self.abort_code = int(rest)
            else:
                self.report = message

    def pass_report(self) -> None:
        """Pass a report about the end of the program on."""
        report, self.report = self.report, None
        if report is not None:
            self.has_reported = True
            self.on_end(report)

    def _relay(self, fd: int) -> bool:
        """Pass output to the parent's streams; return whether there was any."""
        try:
            data = os.read(fd, 1 << 16)
        except OSError as error:
            if error.errno in (errno.EAGAIN, errno.EINTR):
                return False
            data = b""
        if data:
            self.output(self.streams[fd], data)
            return True
        self.poll.unregister(fd)
        os.close(fd)
        del self.streams[fd]
        return False

    def _relay_rest(self) -> None:
        """Pass on all output that is left."""
        for fd in list(self.streams):
            while fd in self.streams and self._relay(fd):
                pass

    def seconds_outside(self) -> float:
        """Return the seconds for which the parent has been waiting for the next call."""
        return time.monotonic() - self.waiting_since if self.waiting_since else 0.0

    def is_asleep(self) -> bool:
        """Return whether the child waits in a system call; False where that is not known."""
        try:
            with open(f"/proc/{self.process.pid}/stat", "rb") as file:
                return file.read().rpartition(b")")[2].split()[0] in (b"S", b"D")
        except OSError:
            return False

    def wait(self) -> int:
        """Wait until the child has exited; returns its status, negative for a signal."""
        try:
            deadline = None
            while self.process.poll() is None:
                for fd, _ in self.poll.poll(50):
                    if fd in self.streams:
                        self._relay(fd)
                    elif fd == self.ending:
                        self.read_report()
                    elif fd in (self.source, self.reentry):
                        with suppress(Closed, OSError):
                            read(fd)  # a call of a finalizer: not answered
                        self.poll.unregister(fd)
                        deadline = time.monotonic() + GRACE
                if deadline is not None and time.monotonic() > deadline:
                    self.process.kill()
            self._relay_rest()
            self.is_leaving()
            self.pass_report()
        except BaseException:
            self.process.kill()
            raise
        finally:
            code: int = self.process.wait()
            self.close()
        return code

    def end(self) -> None:
        """End a child that computes: by SIGINT, so that its `finally` blocks are executed, and at last by SIGKILL."""
        if self.process.poll() is None:
            with suppress(ProcessLookupError):
                self.process.send_signal(signal.SIGINT)
        deadline = time.monotonic() + GRACE
        while self.process.poll() is None and time.monotonic() < deadline:
            for fd, _ in self.poll.poll(20):
                if fd in self.streams:
                    self._relay(fd)
                elif fd == self.ending:
                    self.read_report()
                elif fd in (self.pipes[0], self.reentry):
                    self._reject_call(fd)
        self.kill()

    def _reject_call(self, fd: int) -> None:
        """Answer a call of the child: the run has ended."""
        try:
            read(fd)
        except (Closed, OSError):
            self.poll.unregister(fd)
            return
        if fd == self.reentry:
            self.target = fd
        self.end_call()

    def end_call(self) -> None:
        """Answer a call: the run, or the rank, has ended."""
        self.send(pickle.dumps((ENDED, None, [], {}, 0.0)))
        self.source, self.target = self.pipes

    def kill(self) -> None:
        """Kill the child if it still runs, and free everything."""
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        self._relay_rest()
        self.close()

    def close(self) -> None:
        """Close the pipes."""
        for fd in (*self.pipes, self.lifeline, self.pidfd, self.arena, self.ending, self.reentry, *self.streams):
            if fd >= 0:
                with suppress(OSError):
                    os.close(fd)
        self.source = self.target = self.lifeline = self.pidfd = self.arena = self.ending = self.reentry = -1
        self.pipes = -1, -1
        self.streams = {}
