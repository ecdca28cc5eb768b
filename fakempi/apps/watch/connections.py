"""The socket to which ranks connect, and what is known of each process.

The socket is in a directory with a random name that only the user can enter; with `hosts`, it is a TCP socket. A process has
to send the job's token first. Messages are lines of JSON, which contain data only.
"""

from __future__ import annotations

import json
import os
import selectors
import shutil
import socket
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from hmac import compare_digest
from math import inf
from pathlib import Path
from secrets import token_hex
from time import monotonic
from typing import Any

LONGEST_LINE = 8_000_000
LONGEST_HELLO = 10_000
LONGEST_ADDRESS = 100
"""Bytes of the path of a Unix socket; the limit of Linux is 108."""


@dataclass(eq=False)
class WatchedProcess:
    """A process that has connected, and the last answers of it."""

    connection: socket.socket
    pid: int = 0
    parent: int = 0
    host: str = ""
    rank: int | None = None
    size: int | None = None
    job: str = ""
    signal: int = 0
    python: tuple[int, ...] = ()
    group: int = 0
    started: float = field(default_factory=monotonic)
    moved: float = field(default_factory=monotonic)  # the time when it was last seen to move
    computes_since: float = field(default_factory=monotonic)  # the time of the last movement that was no processor time
    waits_for_answer: str = ""
    sample: dict[str, Any] = field(default_factory=dict)
    answers: dict[str, Any] = field(default_factory=dict)
    left: dict[str, Any] | None = None  # the program has ended; MPI_Finalize may still wait
    closed: bool = False  # the process has ended
    received: bytes = b""
    accepted: bool = False  # it has sent the token

    @property
    def is_rank(self) -> bool:
        """Whether it is a rank of MPI, and not another program of the command."""
        return self.rank is not None or bool(self.sample.get("mpi"))

    def request(self, word: str, number: int) -> None:
        """Request an answer, unless the process has not given the last one: then its thread cannot run."""
        if self.closed or self.left is not None or self.waits_for_answer:
            return
        try:
            self.connection.sendall(f"{word} {number}\n".encode())
            self.waits_for_answer = word
        except OSError:  # it ends, or it has been stopped and its buffer is full
            self.waits_for_answer = word


class Listener:
    """The socket of a job."""

    def __init__(self, hosts: bool = False, longest_call: float = inf) -> None:
        self.longest_call = longest_call  # seconds for which processor time in one call of compiled code counts as movement
        self.token = token_hex(16)
        self.processes: list[WatchedProcess] = []
        self.selector = selectors.DefaultSelector()
        base = tempfile.gettempdir()
        self.directory = Path(tempfile.mkdtemp(prefix="fakempi-watch-", dir=base if len(base) < 60 else "/tmp"))
        if hosts:
            self.socket = socket.create_server(("", 0))
            self.address = f"tcp:{socket.gethostname()}:{self.socket.getsockname()[1]}"
        else:
            path = str(self.directory / "socket")
            if len(path) > LONGEST_ADDRESS:
                raise OSError(f"the path of the socket is too long: {path}")
            self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            self.socket.bind(path)
            self.socket.listen(1024)
            self.address = f"unix:{path}"
        self.selector.register(self.socket, selectors.EVENT_READ, None)

    def environment(self) -> dict[str, str]:
        """Return the environment of the command."""
        here = str(Path(__file__).parent / "rank")
        path = os.environ.get("PYTHONPATH")
        path = f"{here}{os.pathsep}{path}" if path else here
        return {**os.environ, "PYTHONPATH": path, "FAKEMPI_WATCH": self.address, "FAKEMPI_WATCH_TOKEN": self.token}

    def receive(self, seconds: float) -> None:
        """Receive messages for some time."""
        end = monotonic() + seconds
        while True:
            for key, _ in self.selector.select(max(0.0, end - monotonic())):
                if key.data is None:
                    connection, _ = self.socket.accept()
                    connection.setblocking(False)
                    self.selector.register(connection, selectors.EVENT_READ, WatchedProcess(connection))
                else:
                    self._read(key.data)
            if monotonic() >= end:
                return

    def collect(self, word: str, number: int, seconds: float) -> None:
        """Request an answer of all processes, and wait until each has given it or the time is over."""
        left = [each for each in self.processes if not each.closed and each.left is None]
        for each in left:
            each.answers.pop(word, None)
        end = monotonic() + seconds
        while left and monotonic() < end:
            for each in left:
                each.request(word, number)  # once its last answer has arrived
            self.receive(0.02)
            left = [each for each in left if not (each.closed or each.left is not None or word in each.answers)]

    def ranks(self) -> list[WatchedProcess]:
        """Return all ranks, those that have ended as well, in the order of groups and ranks."""
        return sorted((each for each in self.processes if each.is_rank), key=lambda each: (each.group, each.rank or 0))

    def close(self) -> None:
        """Close all connections and remove the directory."""
        for key in list(self.selector.get_map().values()):
            if isinstance(key.fileobj, socket.socket):
                key.fileobj.close()
        self.selector.close()
        shutil.rmtree(self.directory, ignore_errors=True)

    # -- messages ----------------------------------------------------------------------------------------------------

    def _read(self, process: WatchedProcess) -> None:
        data = b""
        with suppress(ConnectionError):
            data = process.connection.recv(1 << 16)
        *lines, process.received = (process.received + data).split(b"\n")
        if not data or len(process.received) > (LONGEST_LINE if process.accepted else LONGEST_HELLO):
            self._end(process)
            return
        for line in lines:
            try:
                message = json.loads(line)
            except ValueError:
                message = None
            if not isinstance(message, dict) or not self._take(process, message):
                self._end(process)
                return

    def _end(self, process: WatchedProcess) -> None:
        self.selector.unregister(process.connection)
        process.connection.close()
        process.closed, process.waits_for_answer, process.moved = True, "", monotonic()

    def _take(self, process: WatchedProcess, message: dict[str, Any]) -> bool:
        """Record a message; returns False if it has to be rejected."""
        if not process.accepted:
            if not compare_digest(str(message.get("hello", "")), self.token):
                return False
            self._register(process, message)
            return True
        if "leave" in message and isinstance(message["leave"], dict):
            process.left, process.moved, process.waits_for_answer = message["leave"], monotonic(), ""
        for word in ("sample", "report", "junit", "end", "stop"):
            if isinstance(message.get(word), dict):
                process.waits_for_answer = ""
                process.answers[word] = message[word]
        if isinstance(message.get("sample"), dict):
            process.sample = message["sample"]
            if process.sample.get("moved", True):
                process.moved = process.computes_since = monotonic()
            elif process.sample.get("computing") and monotonic() - process.computes_since < self.longest_call:
                process.moved = monotonic()
        return True

    def _register(self, process: WatchedProcess, message: dict[str, Any]) -> None:
        def number(name: str) -> int | None:
            return message[name] if isinstance(message.get(name), int) else None

        process.accepted = True
        process.pid, process.parent, process.signal = (number(each) or 0 for each in ("pid", "ppid", "signal"))
        process.rank, process.size = number("rank"), number("size")
        process.host, process.job = str(message.get("host", "")), str(message.get("job", ""))
        process.python = tuple(message.get("python", ()))
        process.group = self._group_of(process)
        self.processes.append(process)

    def _group_of(self, process: WatchedProcess) -> int:
        """Return the group of ranks that a process belongs to: the first that has no process of this rank.

        A launcher numbers the ranks of each job, and of each group that MPI_Comm_spawn starts, from 0.
        """
        groups: dict[int, list[WatchedProcess]] = {}
        for each in self.processes:
            groups.setdefault(each.group, []).append(each)
        for group, members in groups.items():
            if any(not each.closed for each in members) and process.rank is not None:
                same_job = all((each.size, each.job) == (process.size, process.job) for each in members)
                if same_job and process.rank not in {each.rank for each in members}:
                    return group
        return max(groups, default=-1) + 1


def live(processes: list[WatchedProcess]) -> Iterator[WatchedProcess]:
    """Yield the processes that have not ended."""
    return (each for each in processes if not each.closed)
