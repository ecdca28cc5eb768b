"""Linux's Landlock: a process gives up rights to files, for itself and without privileges.

Rules grant rights beneath a directory, so a hidden directory is one beneath which nothing is granted: each other entry of
the directories above it gets a rule. Names may be listed everywhere, since the import system lists directories.
"""

from __future__ import annotations

import ctypes
import os
import stat
import struct
from collections.abc import Sequence
from pathlib import Path

CREATE_RULESET, ADD_RULE, RESTRICT_SELF = 444, 445, 446
"""System calls, with the same numbers on all architectures."""

VERSION_FLAG, PATH_BENEATH, NO_NEW_PRIVILEGES = 1, 1, 38

EXECUTE, WRITE_FILE, READ_FILE, READ_DIR = 1, 2, 4, 8
ALL_OF_FIRST_VERSION = (1 << 13) - 1
REFER, TRUNCATE = 1 << 13, 1 << 14
OF_FILES = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE
"""The rights that a rule on a file, not a directory, may have."""


def version() -> int:
    """Return the version of Landlock in this kernel; 0 or less if there is none."""
    try:
        return int(ctypes.CDLL(None).syscall(CREATE_RULESET, None, ctypes.c_size_t(0), VERSION_FLAG))
    except (OSError, AttributeError, TypeError):  # not Linux
        return 0


def confine(directory: Path, hidden: Sequence[Path]) -> None:
    """Restrict this process: all rights in `directory`, none in `hidden`, and elsewhere reading only."""
    libc, present = ctypes.CDLL(None), version()
    handled = ALL_OF_FIRST_VERSION | (REFER if present >= 2 else 0) | (TRUNCATE if present >= 3 else 0)
    attribute = struct.pack("=Q", handled)
    ruleset = libc.syscall(CREATE_RULESET, attribute, ctypes.c_size_t(len(attribute)), 0)
    if ruleset < 0:
        return

    def grant(path: str, rights: int) -> None:
        try:
            descriptor = os.open(path, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC)
        except OSError:  # it no longer exists
            return
        try:
            mode = os.fstat(descriptor).st_mode
            if not stat.S_ISLNK(mode):
                allowed = rights if stat.S_ISDIR(mode) else rights & OF_FILES
                libc.syscall(ADD_RULE, ruleset, PATH_BENEATH, struct.pack("=Qi", allowed & handled, descriptor), 0)
        finally:
            os.close(descriptor)

    grant("/", READ_DIR)
    for path in _others(sorted(map(str, hidden))):
        grant(path, READ_FILE | READ_DIR | EXECUTE)
    grant(os.devnull, READ_FILE | WRITE_FILE)
    grant(str(directory), handled)
    libc.prctl(NO_NEW_PRIVILEGES, 1, 0, 0, 0)
    libc.syscall(RESTRICT_SELF, ruleset, 0)
    os.close(ruleset)


def _others(hidden: Sequence[str]) -> list[str]:
    """Return paths beneath which nothing is hidden, and which together are all other files."""
    if not hidden:
        return ["/"]
    found, above = [], {"/"}
    for path in hidden:
        above.update(map(str, Path(path).parents))
    for parent in above:
        try:
            entries = os.listdir(parent)
        except OSError:
            continue
        paths = (os.path.join(parent, entry) for entry in entries)
        found += [path for path in paths if path not in above and path not in hidden]
    return found
