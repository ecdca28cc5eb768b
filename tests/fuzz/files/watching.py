"""An audit hook that records what reading a file must not cause.

These are: code from files of the working directory, imports of modules there, unpickling, other programs, connections, and
access to files other than those of the working directory, of Python, and of this project.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

FORBIDDEN = (
    "pickle.find_class", "os.system", "os.exec", "os.fork", "os.posix_spawn", "subprocess.Popen", "socket.connect",
    "socket.getaddrinfo", "ctypes.dlopen", "marshal.loads", "os.remove", "os.rename", "os.rmdir", "shutil.rmtree",
    "os.chmod", "os.symlink", "os.link", "shutil.move", "webbrowser.open", "os.putenv",
)  # fmt: skip
ROOT = Path(__file__).resolve().parents[3]
OURS = tuple(
    map(str, {ROOT, Path(sys.prefix).resolve(), Path(sys.base_prefix).resolve(), Path(os.__file__).resolve().parent})
)


class Watch:
    """Records forbidden events while it is active; the hook itself cannot be removed."""

    def __init__(self, directory: str) -> None:
        self.directory = directory
        self.active = False
        self.seen: list[str] = []
        sys.addaudithook(self._hook)

    def _hook(self, event: str, arguments: tuple[Any, ...]) -> None:
        if not self.active:
            return
        if event in ("open", "os.rename", "marshal.loads") and _importing():
            return  # bytecode is read and written; the execution of a module is an event of its own
        if event == "open":
            self._open(*arguments)
        elif event == "exec":
            file = getattr(arguments[0], "co_filename", "")
            if (not os.path.isabs(file) and os.path.exists(file)) or file.startswith(self.directory):
                self.seen.append(f"exec of {file}")
        elif event in FORBIDDEN:
            self.seen.append(f"{event}{arguments!r:.200}")

    def _open(self, path: Any, mode: Any, flags: int) -> None:
        if not isinstance(path, (str, bytes)):
            return
        full = os.path.abspath(os.path.expanduser(os.fsdecode(path)))
        writes = bool(flags & (os.O_WRONLY | os.O_RDWR))
        if (
            not full.startswith(self.directory)
            and (writes or not full.startswith(OURS))
            and full not in HARMLESS
            and os.path.basename(full) != "pyproject.toml"
        ):
            self.seen.append(f"open({full[:200]!r})")


HARMLESS = ("/dev/null", "/proc/self/clear_refs", "/proc/self/status", "/etc/localtime")


def _importing() -> bool:
    """Return whether Python's import system is running."""
    frame: Any = sys._getframe(1)
    while frame is not None:
        if "importlib" in frame.f_code.co_filename:
            return True
        frame = frame.f_back
    return False
