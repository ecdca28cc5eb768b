"""Resources of a process that its program has to free, detach, start or finalize.

The code that creates a resource calls `track` with the kind of finding that applies if it is never freed, and `untrack` when
it is freed. Resources that are left when a run ends without an error are reported, with the line that created them. Kinds
that mpi4py programs usually leave to the garbage collector are tracked in strict runs only. A tracked resource is kept alive
until the end of the run: if the program has lost its last reference without freeing it, the resource is still reported.
"""

from __future__ import annotations

from types import FrameType

from fakempi.core.reports.findings import KINDS, STRICT_ONLY
from fakempi.mpi.base.call_site import call_and_place, frame_at, place_of, public_call_name
from fakempi.mpi.base.current import current_process
from fakempi.mpi.base.process import Process
from fakempi.mpi.interfaces.records import TrackedResource

_OURS = "fakempi.mpi."
_OTHER_PACKAGES = ("fakempi.", "collectives.", "mpi4py.")  # these free the resources that they create


def track(kind: str, resource: object, sentence: str = "", *, once: bool = False) -> None:
    """Record that the program of the running process has to free a resource.

    With `once`, a resource that is tracked already is not tracked twice. Objects created outside a run, or by fakempi
    itself, are not tracked.
    """
    process = current_process()
    if process is None or (kind in STRICT_ONLY and not process.universe.strict):
        return
    frame: FrameType | None = frame_at(1)
    while frame is not None and frame.f_globals.get("__name__", "").startswith(_OURS):
        frame = frame.f_back
    if frame is None or frame.f_globals.get("__name__", "").startswith(_OTHER_PACKAGES):
        return
    if process.tracked is None:
        process.tracked = {}
    known = process.tracked.setdefault((kind, id(resource)), [])
    if not (known and once):
        known.append(TrackedResource(public_call_name(), place_of(frame), sentence or KINDS[kind], resource))


def untrack(kind: str, resource: object) -> None:
    """Record that the running process has freed a resource; it need not be tracked."""
    process = current_process()
    if process is not None and process.tracked:
        known = process.tracked.get((kind, id(resource)))
        if known:
            known.pop()
            if not known:
                del process.tracked[kind, id(resource)]


def report_after_finalize(process: Process) -> None:
    """Report a call of MPI after Finalize, once for each call and place. The call is carried out."""
    sentence, (call, place) = "this rank has already called Finalize", call_and_place()
    if process.number not in process.universe.ledger.ranks_of("after-finalize", call, place, sentence):
        process.universe.report("after-finalize", process.number, sentence, call=call, place=place)
