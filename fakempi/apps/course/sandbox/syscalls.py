"""Linux's seccomp: the kernel rejects system calls that start processes or programs, send signals, or open sockets.

The filter is a small program of the classic Berkeley Packet Filter, which reads the number of the call and its arguments.
A new thread is permitted, since ranks may be threads; a new process is not.
"""

from __future__ import annotations

import ctypes
import os
import platform
import struct
import sys
from typing import NamedTuple

LOAD, EQUAL, ANY_BIT, AT_LEAST, RETURN = 0x20, 0x15, 0x45, 0x35, 0x06
"""Instructions: load a word, jump if equal, if any bit is set, if at least; return."""

NUMBER, ARCHITECTURE, FIRST_ARGUMENT, THIRD_ARGUMENT = 0, 4, 16, 32
"""Offsets in the data of a call."""

ALLOW, REJECT, ABSENT = 0x7FFF0000, 0x00050000 | 1, 0x00050000 | 38
"""Results: permit; fail with EPERM; fail with ENOSYS, so that the C library uses an older call."""

CLONE_THREAD, FOREIGN = 0x10000, 0x40000000
SECCOMP, FILTER, NO_NEW_PRIVILEGES = 22, 2, 38


class Numbers(NamedTuple):
    """The numbers of system calls of an architecture."""

    architecture: int
    clone: int
    clone3: int
    kill: int
    tgkill: int
    prlimit64: int
    rejected: tuple[int, ...]


ARCHITECTURES = {
    "x86_64": Numbers(
        0xC000003E, 56, 435, 62, 234, 302,
        (41, 57, 58, 59, 101, 160, 165, 200, 272, 308, 310, 311, 321, 322, 424, 425),
    ),
    "aarch64": Numbers(
        0xC00000B7, 220, 435, 129, 131, 261, (198, 40, 97, 117, 130, 164, 221, 268, 270, 271, 280, 281, 424, 425)
    ),
}  # fmt: skip
"""Rejected: socket, fork, vfork, execve, execveat, ptrace, setrlimit, mount, tkill, unshare, setns, process_vm_readv and
process_vm_writev, bpf, pidfd_send_signal, io_uring_setup."""


def confine() -> bool:
    """Install the filter in this thread and those that it starts; return whether the system has one."""
    if sys.platform != "linux" or platform.machine() not in ARCHITECTURES:
        return False
    code = filter_program(platform.machine(), os.getpid())
    text = ctypes.create_string_buffer(code, len(code))
    header = struct.pack("HxxxxxxP", len(code) // 8, ctypes.addressof(text))
    libc = ctypes.CDLL(None)
    libc.prctl(NO_NEW_PRIVILEGES, 1, 0, 0, 0)
    return bool(libc.prctl(SECCOMP, FILTER, header, 0, 0) == 0)


def filter_program(machine: str, process: int) -> bytes:
    """Return the filter: each rule tests the number of the call, and returns if it applies."""
    numbers = ARCHITECTURES[machine]
    lines = [
        (LOAD, 0, 0, ARCHITECTURE), (EQUAL, 1, 0, numbers.architecture), (RETURN, 0, 0, REJECT),
        (LOAD, 0, 0, NUMBER), (AT_LEAST, 0, 1, FOREIGN), (RETURN, 0, 0, REJECT),
    ]  # fmt: skip
    for number in numbers.rejected:
        lines += [(EQUAL, 0, 1, number), (RETURN, 0, 0, REJECT)]
    lines += [(EQUAL, 0, 1, numbers.clone3), (RETURN, 0, 0, ABSENT)]
    lines += _if_argument(numbers.clone, FIRST_ARGUMENT, ANY_BIT, CLONE_THREAD)
    for number in (numbers.kill, numbers.tgkill):
        lines += _if_argument(number, FIRST_ARGUMENT, EQUAL, process)
    lines += _if_argument(numbers.prlimit64, THIRD_ARGUMENT, EQUAL, 0)
    lines.append((RETURN, 0, 0, ALLOW))
    return b"".join(struct.pack("=HBBI", *line) for line in lines)


def _if_argument(number: int, offset: int, test: int, value: int) -> list[tuple[int, int, int, int]]:
    """Return a rule that permits a call only if a test of the lower half of an argument succeeds."""
    return [
        (EQUAL, 0, 4, number),
        (LOAD, 0, 0, offset),
        (test, 0, 1, value),
        (RETURN, 0, 0, ALLOW),
        (RETURN, 0, 0, REJECT),
    ]
