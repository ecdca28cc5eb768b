"""The versions of Python that fakempi was tested with, and what is switched off on a newer one.

Some features change objects in ways that the interpreter's documentation does not describe: dictionaries of compiled types,
fields of type objects, storage of `threading.local`. On a version that has not been tested, such a change could crash the
interpreter or have no effect. Each of these features asks `is_tested` first.
"""

from __future__ import annotations

import sys
import warnings

NEWEST = (3, 13)
"""The newest version that .ci/full has run. A test compares it with the classifiers in pyproject.toml."""

TESTED = f"Python 3.10 to {NEWEST[0]}.{NEWEST[1]}"

WITHOUT = (
    "Switched off: threads of ranks (to start one is an error); separate values of threading.local on greenlets, and of "
    "attributes that a rank sets on shared modules; datetime.now() in modeled time; livelocks before 100,000 polls."
)


class _Warned:
    """Whether the warning has been issued in this process."""

    once = False


def is_tested() -> bool:
    """Return whether fakempi was tested with this version of CPython."""
    return sys.implementation.name == "cpython" and sys.version_info[:2] <= NEWEST


def this() -> str:
    """Return the interpreter's name and version."""
    return f"{sys.implementation.name.replace('cpython', 'Python')} {'.'.join(map(str, sys.version_info[:2]))}"


def warn_if_untested() -> None:
    """Issue one warning per process if this version has not been tested."""
    if not is_tested() and not _Warned.once:
        _Warned.once = True
        warnings.warn(f"fakempi was tested with {TESTED}, and this is {this()}. {WITHOUT}", RuntimeWarning, stacklevel=3)
