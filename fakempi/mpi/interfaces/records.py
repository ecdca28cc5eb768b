"""Records that a process keeps of requests and of resources that have to be freed."""

from __future__ import annotations

from typing import NamedTuple, Protocol, TypeAlias


class CallSite(Protocol):
    """A call of the program, its file and line, and the number of requests made there that have not been completed."""

    call: str
    place: str
    open: int

    def closed(self) -> CallSite:
        """Return the same call without open requests, for a message whose request has been completed."""


CallSites: TypeAlias = dict["tuple[int, int] | None", CallSite]
"""The call sites of a process's requests, by the address of the program's code and the instruction in it."""


class TrackedResource(NamedTuple):
    """An object that the program has to free, complete or finalize, and the call that created it."""

    call: str
    place: str
    sentence: str
    resource: object  # kept alive, since the key is its address


TrackedResources: TypeAlias = dict["tuple[str, int | tuple[str, str]]", list[TrackedResource]]
"""(kind of finding, address of the object) -> resource; for freed requests, the key has the call and its line."""
