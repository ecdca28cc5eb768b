"""Runs the command `fakempi` in a Python that lacks the modules and names of POSIX, as on Windows.

    python tests/cli/without_posix.py run -n 2 work.py
    python tests/cli/without_posix.py --import        # imports every module of fakempi and collectives

`os.name` and `sys.platform` stay, since the standard library would look for Windows' own modules. Modules that look at the
platform and need the names here are imported before the names are removed. `os.getuid` stays for textual.
"""

from __future__ import annotations

import os
import pkgutil
import select
import signal
import socket
import sys
import time
from importlib import import_module
from importlib.abc import MetaPathFinder
from typing import Any

OTHERS = "asyncio concurrent.futures.process multiprocessing.pool multiprocessing.shared_memory numpy rich.console tempfile"
MODULES = {
    "_curses", "_curses_panel", "_dbm", "_gdbm", "crypt", "curses", "fcntl", "grp", "nis", "ossaudiodev", "posix", "pty",
    "pwd", "readline", "resource", "spwd", "syslog", "termios", "tty",
}  # fmt: skip
NAMES: dict[Any, str] = {
    os: "chroot confstr ctermid fchdir fchmod fork forkpty get_blocking getegid geteuid getgid getgroups getloadavg "
    "getpgid getpgrp getpriority getresgid getresuid getsid killpg lchown memfd_create mkfifo mknod nice O_ASYNC O_CLOEXEC "
    "O_DIRECTORY O_NONBLOCK openpty pidfd_open pipe2 posix_fallocate posix_spawn pread preadv pwrite pwritev "
    "register_at_fork sched_getaffinity sched_setaffinity sendfile set_blocking setgid setpgid setpriority setsid setuid "
    "statvfs sync sysconf uname wait wait3 wait4 waitid WNOHANG",
    signal: "SIG_BLOCK SIG_SETMASK SIG_UNBLOCK SIGALRM SIGCHLD SIGCONT SIGHUP SIGIO SIGKILL SIGPIPE SIGQUIT SIGRTMAX "
    "SIGRTMIN SIGSTOP SIGTSTP SIGUSR1 SIGUSR2 SIGWINCH SIGXCPU alarm getitimer pause pthread_kill pthread_sigmask setitimer "
    "siginterrupt sigpending sigwait",
    select: "epoll poll",
    socket: "AF_UNIX",
    time: "clock_getres clock_gettime clock_settime pthread_getcpuclockid tzset",
}
IN_CHILDREN = "fakempi.processes.child.", "fakempi.apps.watch.rank."
"""Modules that only processes of ranks import, on Linux or POSIX."""


class Absent(MetaPathFinder):
    """Finds no module of POSIX."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> None:
        """Raise the error that Windows raises."""
        if name.partition(".")[0] in MODULES:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)


def remove() -> None:
    """Remove modules and names."""
    for name in OTHERS.split():
        import_module(name)
    sys.meta_path.insert(0, Absent())
    for name in MODULES:
        sys.modules.pop(name, None)
    for module, names in NAMES.items():
        for name in names.split():
            if hasattr(module, name):
                delattr(module, name)


def import_all() -> list[str]:
    """Import every module; returns those that need POSIX."""
    failed = []
    for package in ("fakempi", "collectives"):
        for module in pkgutil.walk_packages(import_module(package).__path__, f"{package}."):
            if not module.name.startswith(IN_CHILDREN) and not module.name.endswith("__main__"):
                try:
                    import_module(module.name)
                except (ImportError, AttributeError) as error:
                    if isinstance(error, ModuleNotFoundError) and error.name not in MODULES:
                        continue  # an optional package is not installed
                    failed.append(f"{module.name}: {error}")
    return failed


if __name__ == "__main__":
    remove()
    if sys.argv[1:] == ["--import"]:
        sys.exit("\n".join(import_all()) or 0)
    from fakempi.apps.cli import main

    sys.exit(main())
