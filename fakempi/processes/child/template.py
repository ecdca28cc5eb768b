"""The template of children: an interpreter that imports their modules, and forks a child for each request of the parent."""

from __future__ import annotations

import gc
import io
import marshal
import os
import select
import signal
import socket
import struct
import sys
import warnings
from contextlib import suppress
from typing import Any

from fakempi.processes.child import failures, threads  # noqa: F401  children need them
from fakempi.processes.child.files import ChildFiles
from fakempi.processes.child.main import start_child
from fakempi.processes.child.patches.loaded import taken

NUMBER_OF_FDS = 10
"""Descriptors in a request: three standard streams, source, target, lifeline, arena, ending, reentry, status."""


def serve(control: int, preload: str) -> None:
    """Fork children until the parent closes the connection. Does not return."""
    connection = socket.socket(fileno=control)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    header = connection.recv(4, socket.MSG_WAITALL)
    if len(header) < 4:  # the parent is gone
        os._exit(0)
    (size,) = struct.unpack("<I", header)
    code = marshal.loads(connection.recv(size, socket.MSG_WAITALL))
    stash = _preload(preload)
    wake_read, wake_write = os.pipe()
    for fd in (wake_read, wake_write):
        os.set_blocking(fd, False)
    signal.set_wakeup_fd(wake_write)
    signal.signal(signal.SIGCHLD, lambda number, frame: None)
    children: dict[int, int] = {}  # process -> where its exit status is written
    gc.collect()
    gc.freeze()  # a child that collects garbage, also at its end, does not copy the memory of all these objects
    poll = select.poll()
    poll.register(control, select.POLLIN)
    poll.register(wake_read, select.POLLIN)
    while True:
        ready = [fd for fd, _ in poll.poll()]
        if wake_read in ready:
            with suppress(BlockingIOError):
                os.read(wake_read, 1 << 12)
            _report(children)
        if control not in ready:
            continue
        data, fds, _, _ = socket.recv_fds(connection, 1, NUMBER_OF_FDS)
        if not data:
            os._exit(0)
        with warnings.catch_warnings():
            # Python warns because of threads of numpy's library for linear algebra, which supports forks
            warnings.simplefilter("ignore")
            pid = os.fork()
        if pid == 0:
            for fd in (control, wake_read, wake_write, fds[-1], *children.values()):
                os.close(fd)
            connection.detach()
            break
        children[pid] = fds[-1]
        for fd in fds[:-1]:
            os.close(fd)
        with suppress(OSError):  # the parent is gone, which the next poll reports
            connection.sendall(struct.pack("<i", pid))
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})  # until the child can handle it
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for number, fd in enumerate(fds[:3]):
        os.dup2(fd, number)
        os.close(fd)
    _renew_streams()
    start_child(ChildFiles(*fds[3:9]), code, stash)


def _renew_streams() -> None:
    """Open the standard streams again: those of the template know whether its files are terminals and can be searched."""
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        before: Any = getattr(sys, name)
        if before is None:  # it was closed
            continue
        buffering = 0 if number and before.write_through else -1
        file: Any = open(number, "wb" if number else "rb", buffering, closefd=False)  # noqa: SIM115  for the whole process
        getattr(file, "raw", file).name = before.name
        stream: Any = io.TextIOWrapper(file, before.encoding, before.errors, write_through=before.write_through)
        stream.mode = before.mode
        for attribute in (name, f"__{name}__"):
            setattr(sys, attribute, stream)


def _report(children: dict[int, int]) -> None:
    """Write the exit status of each child that has ended, then let its process number be used again."""
    while children:
        try:
            ended = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        except ChildProcessError:
            return
        if ended is None:
            return
        code = ended.si_status if ended.si_code == os.CLD_EXITED else -ended.si_status
        fd = children.pop(ended.si_pid, -1)
        if fd >= 0:
            with suppress(BrokenPipeError):
                os.write(fd, struct.pack("<i", code))
            os.close(fd)
        os.waitpid(ended.si_pid, 0)


def _preload(name: str) -> dict[str, Any]:
    """Import a package and return its modules, after they have been removed from `sys.modules`."""
    if name:
        with suppress(ImportError):
            __import__(name)
            __import__(f"{name}.random")
    return taken(name)
