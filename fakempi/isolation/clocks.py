"""The clocks of the standard library while scripts run: they agree with `time.sleep`, which takes modeled time.

A rank reads the real clock plus its modeled clock. A modeled sleep of 0.6 s therefore takes 0.6 s on every clock,
computation takes real time, no clock of a rank goes backward, and a sender's reading before a send is not later than the
receiver's reading after the receive. `MPI.Wtime` is the modeled clock alone, and reproducible; the difference of two
readings here is the modeled time plus the real time between them. If computation is charged to the modeled clock
(`run(cpu_scale=...)`), the rank's `ProcessCpuMeter` returns the reading.

Code outside ranks, such as a thread that a rank has started, reads the real clock. Functions that a module bound before the
run (`from time import monotonic` in an installed package) also read the real clock.
"""

from __future__ import annotations

import datetime
import functools
import time
import timeit
from collections.abc import Callable
from typing import Any

from fakempi.core.interpreter import is_tested
from fakempi.extensions.threads.types import set_in_compiled
from fakempi.mpi.base.current import os_thread

CLOCKS = ("time", "monotonic", "perf_counter")
"""Clocks that advance while a process sleeps; `process_time` and `thread_time` do not, and are not patched."""

Replace = Callable[[Any, str, Any], None]
"""Replaces an attribute until the end of the run."""


def patch_clocks(replace: Replace, compute: Callable[[float], None], is_rank: Callable[[], bool]) -> None:
    """Make `time.sleep` advance the modeled clock of a rank, by `compute`, and add that clock to the real ones.

    `is_rank` returns whether the caller is one. Other threads, and processes that a rank forks, sleep in real time.
    """
    replace(time, "sleep", _of_modeled_time(time.sleep, compute, is_rank))
    for name in CLOCKS:
        replace(time, name, _of_rank(getattr(time, name), float))
        replace(time, f"{name}_ns", _of_rank(getattr(time, f"{name}_ns"), lambda seconds: int(seconds * 1e9)))
    replace(timeit, "default_timer", time.perf_counter)
    for name in ("localtime", "gmtime", "ctime"):
        replace(time, name, _of_now(getattr(time, name), time.time, 0))
    replace(time, "asctime", _of_now(time.asctime, time.localtime, 0))
    replace(time, "strftime", _of_now(time.strftime, time.localtime, 1))
    if is_tested():
        for cls, method in ((datetime.datetime, now), (datetime.datetime, utcnow), (datetime.date, today)):
            replace(_ExtensionType(cls), method.__name__, classmethod(method))


def _of_modeled_time(
    original: Callable[[float], None], compute: Callable[[float], None], is_rank: Callable[[], bool]
) -> Callable[[float], None]:
    def sleep(seconds: float, /) -> None:
        if not is_rank():
            original(seconds)
        elif seconds < 0:
            raise ValueError("sleep length must be non-negative")
        else:
            compute(seconds)

    return LikeBuiltin(sleep, original)


def _of_rank(original: Callable[[], Any], units: Callable[[Any], Any]) -> Callable[[], Any]:
    """Return a clock that adds the modeled time of the rank; `units` converts seconds to the clock's unit."""
    start = original()

    def read() -> Any:
        loop = os_thread.loop
        if loop is None or loop.running is None:
            return original()
        owner = loop.running.owner
        owner.universe.clock_reads += 1  # a polling loop that reads clocks is not a livelock
        meter = owner.meter
        return original() + units(loop.now) if meter is None else start + units(meter.seconds())

    return LikeBuiltin(read, original)


def _of_now(original: Any, clock: Callable[[], Any], needed: int) -> Any:
    """Return a function such as `time.localtime` that reads `clock` if its time argument is omitted or None.

    `needed` is the number of arguments before the time argument.
    """

    def of_time(*args: Any) -> Any:
        return original(*args[:needed], clock()) if all(arg is None for arg in args[needed:]) else original(*args)

    return LikeBuiltin(of_time, original)


class LikeBuiltin:
    """A function in place of a built-in one: it does not become a method of a class that has it as an attribute.

    `logging.Formatter.converter` is `time.localtime`, for example.
    """

    def __init__(self, function: Callable[..., Any], original: Callable[..., Any]) -> None:
        self.function, self.name = function, original.__name__
        functools.update_wrapper(self, original)

    def __call__(self, *args: Any, **options: Any) -> Any:
        return self.function(*args, **options)

    def __reduce__(self) -> str:
        """Pickle by name, as functions are."""
        return self.name


class _ExtensionType:
    """Sets attributes of an extension type.

    A subclass is not sufficient: existing objects would not be instances of it, names bound before the run would refer to
    the original, and its instances would not be pickled as `datetime.datetime`.
    """

    def __init__(self, cls: type) -> None:
        self.__dict__["cls"] = cls

    def __getattr__(self, name: str) -> Any:
        return vars(self.cls)[name]

    def __setattr__(self, name: str, value: Any) -> None:
        set_in_compiled(self.cls, {name: value})


def now(cls: Any, tz: datetime.tzinfo | None = None) -> Any:
    """Return the current time in a time zone, by default the local one."""
    return cls.fromtimestamp(time.time(), tz)


def utcnow(cls: Any) -> Any:
    """Return the current time in UTC, without a time zone."""
    return cls.fromtimestamp(time.time(), datetime.timezone.utc).replace(tzinfo=None)


def today(cls: Any) -> Any:
    """Return the current date (of `date`) or time (of `datetime`) in the local time zone."""
    return cls.fromtimestamp(time.time())
