"""Requests that are freed before their operation completes, so that the program never learns when it does.

MPI forbids that for collective and one-sided operations, and allows it for messages: if a reply shows that a send is
complete, the program need not wait for it. Such a send is therefore only a note, which is reported at the end of the run if
the rank has received nothing since.
"""

from __future__ import annotations

from fakempi.core.network.envelope import Envelope, PostedReceive
from fakempi.mpi.base.child import ChildTask
from fakempi.mpi.base.process import Process
from fakempi.mpi.base.rendezvous import Rendezvous
from fakempi.mpi.base.waiting import Completion, Reason, parts_of
from fakempi.mpi.interfaces.operations import Operation
from fakempi.mpi.interfaces.records import CallSite, TrackedResource

RECEIVE = "it was freed before it was complete, so no call shows when the message has arrived"
SEND = "it was freed before it was complete, and this rank has since received no message that could show its completion"


def record_early_free(process: Process, operation: Operation, call_site: CallSite) -> None:
    """Record that a request was freed before its operation completed: report it now, or at the end of the run."""
    kinds = {part.__class__ for part in parts_of(operation)}
    why = operation.why if Completion in kinds and operation.__class__ is Completion else None
    is_message = hasattr(why, "partitions")
    if isinstance(why, (ChildTask, Rendezvous, Reason)) and not is_message:
        kind = "one-sided" if hasattr(why, "period") else "collective"
        sentence = f"it was freed before it was complete, which MPI forbids for {kind} operations: wait for it first"
        process.universe.report("missing-wait", process.number, sentence, call=call_site.call, place=call_site.place)
    elif PostedReceive in kinds or (is_message and not hasattr(why, "envelopes")):
        _keep(process, TrackedResource(call_site.call, call_site.place, RECEIVE, None))
    elif Envelope in kinds or is_message:
        _keep(process, TrackedResource(call_site.call, call_site.place, SEND, process.network.into[process.number].received))


def is_open(process: Process, resource: TrackedResource) -> bool:
    """Whether a request that was freed early is reported: for a send, if its rank has received nothing since."""
    return resource.resource is None or resource.resource == process.network.into[process.number].received


def _keep(process: Process, resource: TrackedResource) -> None:
    if process.tracked is None:
        process.tracked = {}
    known = process.tracked.setdefault(("request-freed", (resource.call, resource.place)), [])
    known[:] = [resource]  # one for each source line is enough
