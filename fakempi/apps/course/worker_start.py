"""Start worker processes: by a fork server on Unix, otherwise as a new process of Python each."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import threading
from contextlib import suppress
from pathlib import Path
from typing import IO, Protocol

from fakempi.apps.course.worker_job import WorkerJob

ROOT = str(Path(__file__).parents[3])
"""The directory that contains the package fakempi."""


class WorkerHandle(Protocol):
    """A started worker: its streams, its end."""

    requests: IO[str]
    answers: IO[str]

    def kill(self) -> None:
        """Kill the worker and its child processes."""

    def wait(self) -> int:
        """Return its exit status."""


class Starter(Protocol):
    """Starts workers."""

    def start(self, job: WorkerJob) -> WorkerHandle:
        """Start a worker."""


def _environment() -> dict[str, str]:
    path = os.pathsep.join(filter(None, (ROOT, os.environ.get("PYTHONPATH"))))
    changed = {
        "PYTHONPATH": path, "OPENBLAS_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1",
        "MALLOC_ARENA_MAX": "2",  # by default each of 256 threads reserves 64 MiB of the limited address space
    }  # fmt: skip
    return {**os.environ, **changed}


class NewProcess:
    """A worker that is a new process of Python; it is its own starter."""

    def __init__(self, job: WorkerJob) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "fakempi.apps.course.worker", job.text()], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL, encoding="utf-8", cwd=job.file.parent, env=_environment(), start_new_session=True,
        )  # fmt: skip
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.requests: IO[str] = self.process.stdin
        self.answers: IO[str] = self.process.stdout

    def kill(self) -> None:
        """Kill the worker and its child processes."""
        with suppress(OSError):
            if hasattr(os, "killpg"):
                os.killpg(self.process.pid, signal.SIGKILL)
            else:
                self.process.kill()

    def wait(self) -> int:
        """Return its exit status."""
        return self.process.wait()


class NewProcesses:
    """Starts each worker as a new process of Python."""

    def start(self, job: WorkerJob) -> WorkerHandle:
        """Start a worker."""
        return NewProcess(job)


class ForkServer:
    """Starts workers as forks of a process that has loaded the emulator; a context manager, for use by several threads."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self._begin()

    def _begin(self) -> None:
        ours, theirs = socket.socketpair()
        with theirs:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "fakempi.apps.course.fork_server", str(theirs.fileno())], stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, pass_fds=[theirs.fileno()], env=_environment(),
                start_new_session=True,
            )  # fmt: skip
        self.connection, self.replies = ours, ours.makefile("r", encoding="utf-8")

    def start(self, job: WorkerJob) -> WorkerHandle:
        """Start a worker."""
        (read, requests), (answers, write) = os.pipe(), os.pipe()
        try:
            process = self._request({"start": job.text()}, [read, write])
            if process <= 0:  # the server has ended: an earlier program may have managed that, and this one is not to blame
                self._restart()
                process = self._request({"start": job.text()}, [read, write])
        finally:
            os.close(read)
            os.close(write)
        return ForkedWorker(self, process, requests, answers)

    def status(self, process: int) -> int:
        """Return the exit status of a worker that ends now."""
        return self._request({"wait": process}, [])

    def _request(self, request: dict[str, object], descriptors: list[int]) -> int:
        with self.lock:
            try:
                socket.send_fds(self.connection, [json.dumps(request).encode()], descriptors)
                return int(self.replies.readline() or -1)
            except OSError:
                return -1

    def _restart(self) -> None:
        with self.lock:
            if self.process.poll() is not None:
                self.replies.close()
                self.connection.close()
                self._begin()

    def __enter__(self) -> ForkServer:
        return self

    def __exit__(self, *error: object) -> None:
        self.replies.close()
        self.connection.close()
        self.process.wait()


class ForkedWorker:
    """A worker that the fork server has started."""

    def __init__(self, server: ForkServer, process: int, requests: int, answers: int) -> None:
        self.server, self.process, self.code = server, process, None if process > 0 else -1
        self.requests: IO[str] = os.fdopen(requests, "w", encoding="utf-8")
        self.answers: IO[str] = os.fdopen(answers, "r", encoding="utf-8")

    def kill(self) -> None:
        """Kill the worker and its child processes."""
        if self.code is None:  # its process id is not reused before `wait`
            for kill in (os.killpg, os.kill):  # it may not have its group yet
                with suppress(OSError):
                    kill(self.process, signal.SIGKILL)

    def wait(self) -> int:
        """Return its exit status."""
        if self.code is None:
            self.code = self.server.status(self.process)
        return self.code


def can_fork() -> bool:
    """Whether this system has what the fork server needs."""
    return hasattr(os, "fork") and hasattr(socket, "send_fds") and sys.platform != "darwin"
