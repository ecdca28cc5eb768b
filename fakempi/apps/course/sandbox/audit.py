"""Reject calls by Python's audit hook (PEP 578), with an exception that names the call."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from fakempi.mpi.base.call_site import frame_at

OURS = str(Path(__file__).parents[3]) + os.sep
"""The directory of the package fakempi."""

REJECTED = (
    "os.fork", "os.forkpty", "os.exec", "os.spawn", "os.posix_spawn", "os.system", "os.startfile", "os.kill", "os.killpg",
    "subprocess.Popen", "pty.spawn", "socket.connect", "socket.bind", "socket.sendto", "socket.sendmsg",
    "resource.setrlimit", "resource.prlimit", "os.setxattr", "os.removexattr", "os.chroot", "_posixsubprocess.fork_exec",
)  # fmt: skip
"""Events: processes, signals, network, and limits."""

PRIVATE = (
    "gc.get_objects", "gc.get_referrers", "gc.get_referents", "sys._current_frames", "ctypes.dlopen", "ctypes.dlsym",
    "ctypes.cdata", "ctypes.call_function",
)  # fmt: skip
"""Events: objects and frames of other code, and native code. fakempi itself needs them, to report and to end runs."""

CHANGES = (
    "os.remove", "os.rename", "os.rmdir", "os.mkdir", "os.link", "os.symlink", "os.truncate", "os.chmod", "os.chown",
    "os.utime", "os.chflags", "os.mkfifo", "os.mknod",
)  # fmt: skip
"""Events of changes of files; their texts are paths, and integers may be file descriptors of directories."""

WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND


def install(directory: Path, hidden: Sequence[Path]) -> None:
    """Install the hook, which cannot be removed."""
    home, secret = f"{directory}{os.sep}", tuple(f"{path}{os.sep}" for path in hidden)
    rejected, changes, private = frozenset(REJECTED), frozenset(CHANGES), frozenset(PRIVATE)
    join, realpath, current = os.path.join, os.path.realpath, os.getcwd

    watched = rejected | changes | private | {"open"}

    def inside(path: Any, places: str | tuple[str, ...]) -> bool:
        text = os.fsdecode(path)
        return f"{realpath(join(current(), text))}{os.sep}".startswith(places)

    def hook(event: str, values: tuple[Any, ...]) -> None:
        if event not in watched:  # nearly all events, such as imports
            return
        if event == "open":
            path, _, flags = values
            if isinstance(path, int) or path is None:
                return
            if flags & WRITES and not inside(path, home) and os.fsdecode(path) != os.devnull:
                raise PermissionError(f"a check permits no changes of files outside of its directory: {path!r}")
            if inside(path, secret):
                raise PermissionError(f"a check does not permit to read {path!r}")
        elif event in changes:
            paths = [value for value in values if isinstance(value, str | bytes | os.PathLike)]
            descriptors = [value for value in values if type(value) is int and value >= 0]
            if (descriptors and event in ("os.remove", "os.rmdir", "os.rename")) or not all(
                inside(path, home) for path in paths
            ):
                raise PermissionError(f"a check permits no changes of files outside of its directory: {event}")
        elif event in rejected or (event in private and not frame_at(1).f_code.co_filename.startswith(OURS)):
            raise PermissionError(f"a check does not permit this call: {event}")

    sys.addaudithook(hook)
