"""The clocks of the standard library while scripts run: they agree with `time.sleep`, which takes modelled time.

A rank reads the real clock plus its own modelled one. So a modelled sleep of 0.6 s is 0.6 s to whoever looks at it,
real computing takes the time that it takes, no rank's clock ever goes back, and what one rank has read before it sends a
message is not later than what another reads when it has come. `MPI.Wtime` is the modelled clock alone, and the same in each
run; two readings here differ by what it says and by the real time between them. Where computing is charged to the modelled
clock already (`run(computing=...)`), the rank's `Meter` says what is to be read.

Who runs no rank, such as a thread that a rank has started, reads the real clock. What was taken from `time` before the run
(`from time import monotonic` in an installed package) is the real clock, too.
"""

from __future__ import annotations

import ctypes
import datetime
import functools
import gc
import sys
import time
import timeit
from collections.abc import Callable
from typing import Any

from fakempi.mpi.base.current import here

CLOCKS = ("time", "monotonic", "perf_counter")
"""Those that go on while a process sleeps; `process_time` and `thread_time` do not, and are what they are."""

Set = Callable[[Any, str, Any], None]
"""How to replace an attribute, so that it can be undone."""


def patch_clocks(replace: Set) -> None:
    """Let all of them agree."""
    for name in CLOCKS:
        replace(time, name, _of_rank(getattr(time, name), float))
        replace(time, f"{name}_ns", _of_rank(getattr(time, f"{name}_ns"), lambda seconds: int(seconds * 1e9)))
    replace(timeit, "default_timer", time.perf_counter)
    for name in ("localtime", "gmtime", "ctime"):
        replace(time, name, _of_now(getattr(time, name), time.time, 0))
    replace(time, "asctime", _of_now(time.asctime, time.localtime, 0))
    replace(time, "strftime", _of_now(time.strftime, time.localtime, 1))
    if sys.implementation.name == "cpython":
        for kind, method in ((datetime.datetime, now), (datetime.datetime, utcnow), (datetime.date, today)):
            replace(_Inside(kind), method.__name__, classmethod(method))


def _of_rank(original: Callable[[], Any], units: Callable[[Any], Any]) -> Callable[[], Any]:
    """A clock that counts a rank's modelled time, too; `units` makes of seconds what it counts."""
    start = original()

    @functools.wraps(original)
    def read() -> Any:
        loop = here.loop
        if loop is None or loop.running is None:
            return original()
        owner = loop.running.owner
        owner.universe.glances += 1  # who looks at a clock waits for time to pass: that is no livelock
        meter = owner.meter
        return original() + units(loop.now) if meter is None else start + units(meter.seconds())

    return read


def _of_now(original: Any, clock: Callable[[], Any], needed: int) -> Any:
    """A function of a time which comes after so many other arguments, and is now if it is not given."""

    @functools.wraps(original)
    def of_time(*args: Any) -> Any:
        return original(*args[:needed], clock()) if all(arg is None for arg in args[needed:]) else original(*args)

    return of_time


class _Inside:
    """A class that is written in C, with attributes that can be set.

    To put another class in its place would not do: what others have made, or imported before, would not be of that class,
    nor would it be pickled as `datetime.datetime`.
    """

    def __init__(self, kind: type) -> None:
        self.__dict__["kind"], self.__dict__["inside"] = kind, gc.get_referents(vars(kind))[0]

    def __getattr__(self, name: str) -> Any:
        return self.inside[name]

    def __setattr__(self, name: str, value: Any) -> None:
        self.inside[name] = value
        ctypes.pythonapi.PyType_Modified(ctypes.py_object(self.kind))


def now(kind: Any, tz: datetime.tzinfo | None = None) -> Any:
    """The moment, in a time zone or in the local one."""
    return kind.fromtimestamp(time.time(), tz)


def utcnow(kind: Any) -> Any:
    """The moment in UTC, which it does not say."""
    return kind.fromtimestamp(time.time(), datetime.timezone.utc).replace(tzinfo=None)


def today(kind: Any) -> Any:
    """The date, or the moment, in the local time zone."""
    return kind.fromtimestamp(time.time())
