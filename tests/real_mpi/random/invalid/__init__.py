"""Invalid calls by kind; the name of a case is that of the call, with the argument that is invalid."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.real_mpi.random.invalid import collective, comms, files, messages, objects, topologies, types, windows
from tests.real_mpi.random.invalid.scene import Scene

CASES: dict[str, Callable[[Scene], Any]] = {
    **messages.CASES,
    **collective.CASES,
    **comms.CASES,
    **topologies.CASES,
    **types.CASES,
    **windows.CASES,
    **files.CASES,
    **objects.CASES,
}
