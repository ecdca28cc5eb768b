"""Coverage measurement: coverage.py loses lines at switches between greenlets, unless its configuration names greenlets."""

from __future__ import annotations

import sys
from typing import Any


def needs_threads() -> bool:
    """Return whether coverage.py measures this thread without the setting `concurrency = greenlet`."""
    trace = sys.gettrace()
    if trace is None or not type(getattr(trace, "__self__", trace)).__module__.startswith("coverage"):
        return False
    coverage: Any = sys.modules.get("coverage")
    current = None if coverage is None else coverage.Coverage.current()
    return current is not None and "greenlet" not in (current.get_option("run:concurrency") or ())
