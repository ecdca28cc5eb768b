"""The template of children: an interpreter that has imported their modules, and forks a child for each rank.

Starting an interpreter and importing numpy takes more than 0.2 s of CPU time; a fork takes a few milliseconds. The template
runs no program, so a child has the state of a new interpreter.
"""

from __future__ import annotations

import os
import select
import signal
import socket
import struct
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

from fakempi.mpi.base.process import RunState, Universe
from fakempi.processes.generate import interface

BOOTSTRAP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "child", "bootstrap.py")


def python(*args: str) -> list[str]:
    """Return a command for the running interpreter with its options."""
    return [sys.executable, *subprocess._args_from_interpreter_flags(), BOOTSTRAP, *args]  # type: ignore[attr-defined]  # not in typeshed


@contextmanager
def interrupts_blocked() -> Iterator[None]:
    """Block SIGINT in this thread; a process that is started meanwhile unblocks it as soon as it can handle it."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


class ForkedProcess:
    """A process that the template has forked, with the methods of `subprocess.Popen` that are needed."""

    def __init__(self, pid: int, status: int) -> None:
        self.pid, self.status = pid, status
        self.returncode: int | None = None
        self._readable = select.poll()  # not `select.select`, which is limited to descriptors below 1024
        self._readable.register(status, select.POLLIN)

    def poll(self) -> int | None:
        """Return the exit code, negative for a signal; None while the process runs."""
        if self.returncode is None and self._readable.poll(0):
            self._read()
        return self.returncode

    def wait(self) -> int:
        """Wait until the process has ended."""
        if self.returncode is None:
            self._read()
        assert self.returncode is not None
        return self.returncode

    def _read(self) -> None:
        data = os.read(self.status, 4)
        if data:
            self.returncode = struct.unpack("<i", data)[0]
        else:  # the template was killed
            with suppress(ProcessLookupError):
                os.kill(self.pid, signal.SIGKILL)
            self.returncode = -signal.SIGKILL

    def send_signal(self, number: int) -> None:
        """Send a signal unless the process has ended."""
        if self.poll() is None:
            with suppress(ProcessLookupError):
                os.kill(self.pid, number)

    def kill(self) -> None:
        """Send SIGKILL unless the process has ended."""
        self.send_signal(signal.SIGKILL)


class Template(RunState):
    """The template of a run: started with the first child, ended with the run."""

    def __init__(self, universe: Universe) -> None:
        super().__init__(universe)
        self.process: subprocess.Popen[bytes] | None = None
        self.socket: Any = None
        universe.at_end.append(self.close)

    @staticmethod
    def is_possible() -> bool:
        """Return whether children can be forked: elsewhere, system libraries do not allow it."""
        return sys.platform == "linux"

    def fork(self, fds: Sequence[int], preload: bool) -> ForkedProcess | None:
        """Fork a child; returns None if the template cannot do that.

        Parameters
        ----------
        fds : standard input, output and error of the child, then the descriptors that its messages use
        preload : whether a template that has to be started imports numpy
        """
        if self.process is None:
            self._start(preload)
        source, target = os.pipe()
        try:
            socket.send_fds(self.socket, [b"f"], [*fds, target])
            answer = self.socket.recv(4, socket.MSG_WAITALL)
        except OSError:
            answer = b""
        finally:
            os.close(target)
        if len(answer) < 4:
            os.close(source)
            return None
        return ForkedProcess(struct.unpack("<i", answer)[0], source)

    def _start(self, preload: bool) -> None:
        self.socket, other = socket.socketpair()
        fd = other.fileno()
        command = python(str(fd), "numpy" if preload else "")
        with interrupts_blocked():
            self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, pass_fds=(fd,), close_fds=True)
        other.close()
        code = interface().code
        with suppress(OSError):
            self.socket.sendall(struct.pack("<I", len(code)) + code)

    def close(self) -> None:
        """End the template. Children do not depend on it."""
        if self.process is not None:
            self.socket.close()
            self.process.wait()
            self.process = None
