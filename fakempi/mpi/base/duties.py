"""What a process has taken on and must bring to an end: things to free, to detach, to start, to finalize.

Whoever makes such a thing calls `owes` with the kind of finding that it would be to forget it, and `done` when it has been
freed. What is still owed when a run ends well is found, with the line that made it. What mpi4py programs leave to the
garbage collector by custom is looked for in strict runs only. There it is kept alive until then: collected is not freed.
"""

from __future__ import annotations

import sys
from typing import Any, NamedTuple

from fakempi.checks.findings import CUSTOMARY, KINDS
from fakempi.mpi.base.complain import public_call, site_of
from fakempi.mpi.base.current import current_process

_OURS = "fakempi.mpi."
_OTHERS_OF_OURS = ("fakempi.", "collectives.", "mpi4py.")  # what these make, they look after themselves


class Duty(NamedTuple):
    """What is owed, and where that began."""

    call: str
    place: str
    sentence: str
    thing: Any  # kept, since it is known by its address


def owes(kind: str, thing: Any, sentence: str = "", *, once: bool = False) -> None:
    """The running process has made a thing; `once` if it may have done so before, and has to free it once all the same.

    What the process does not know of owes nobody anything: nothing is kept outside a run, nor of what our own modules make.
    """
    process = current_process()
    if process is None or (kind in CUSTOMARY and not process.universe.strict):
        return
    frame: Any = sys._getframe(1)
    while frame is not None and frame.f_globals.get("__name__", "").startswith(_OURS):
        frame = frame.f_back
    if frame is None or frame.f_globals.get("__name__", "").startswith(_OTHERS_OF_OURS):
        return
    if process.duties is None:
        process.duties = {}
    known = process.duties.setdefault((kind, id(thing)), [])
    if not (known and once):
        call = public_call(sys._getframe(1))[0]
        known.append(Duty(call, site_of(frame), sentence or KINDS[kind], thing))


def done(kind: str, thing: Any) -> None:
    """The running process has freed it; whether it was owed or not."""
    process = current_process()
    if process is not None and process.duties:
        known = process.duties.get((kind, id(thing)))
        if known:
            known.pop()
            if not known:
                del process.duties[kind, id(thing)]


def tell_late(process: Any) -> None:
    """A process calls MPI after Finalize: say so, once for each call and place, and let it go on."""
    call, frame = public_call(sys._getframe(1))
    sentence, place = "it comes after this rank's Finalize", site_of(frame)
    known = process.universe.ledger.entries.get(("after-finalize", call, place, sentence))
    if known is None or process.number not in known[0]:
        process.universe.found("after-finalize", process.number, sentence, call=call, place=place)
