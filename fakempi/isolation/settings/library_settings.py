"""Functions of the standard library that change the whole process: each rank gets its own value when one first calls them.

A function is replaced by one that calls `Settings.follow` first. Functions whose effect cannot be undone, or that apply to
all ranks in any case, are reported once if there are other ranks. docs/run_a_script.md has a table of both.
"""

from __future__ import annotations

import builtins
import functools
import gc
import os
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from itertools import count
from types import FrameType
from typing import Any, NamedTuple

import numpy as np

from fakempi.core.stack_depth import exchange, getrecursionlimit, show_own_limit
from fakempi.errors.paths import short_path
from fakempi.isolation.patches import Patches, RunningState
from fakempi.isolation.rank_state import RankState
from fakempi.isolation.settings.exchange import (
    Attribute,
    ProcessSetting,
    Settings,
    Value,
    executes_shared_module,
    is_emulator,
)
from fakempi.mpi.base.call_site import frame_at
from fakempi.mpi.base.current import current_process

SettingsOf = Callable[[Any, tuple[Any, ...]], Iterable[ProcessSetting]]
"""The settings that a call changes, from the module and the arguments."""


class Changed(NamedTuple):
    """Global variables of a module, or attributes of an object in it, that functions of the module change."""

    functions: tuple[str, ...]
    names: tuple[str, ...]
    owner: str = ""  # the object, if the names are not those of the module

    def settings(self, module: Any, args: tuple[Any, ...]) -> Iterator[ProcessSetting]:
        """Return the settings."""
        namespace = vars(getattr(module, self.owner) if self.owner else module)
        return (Attribute(namespace, name) for name in self.names if name in namespace)


VARIABLES: dict[str, tuple[Changed, ...]] = {
    "warnings": (Changed(("filterwarnings", "simplefilter", "resetwarnings"), ("filters",)),),
    "logging": (
        Changed(("addLevelName",), ("_levelToName", "_nameToLevel")),
        Changed(("setLoggerClass",), ("_loggerClass",)),
        Changed(("setLogRecordFactory",), ("_logRecordFactory",)),
        Changed(("captureWarnings",), ("_warnings_showwarning",)),
    ),
    "tempfile": (Changed(("_gettempdir",), ("tempdir",)),),
    "fileinput": (Changed(("input", "close"), ("_state",)),),
    "calendar": (Changed(("setfirstweekday",), ("_firstweekday",), "c"),),
    "gettext": (Changed(("textdomain",), ("_current_domain",)), Changed(("bindtextdomain",), ("_localedirs",))),
    "shutil": (
        Changed(("register_archive_format", "unregister_archive_format"), ("_ARCHIVE_FORMATS",)),
        Changed(("register_unpack_format", "unregister_unpack_format"), ("_UNPACK_FORMATS",)),
    ),
    "threading": (Changed(("settrace",), ("_trace_hook",)), Changed(("setprofile",), ("_profile_hook",))),
    "asyncio": (Changed(("set_event_loop_policy",), ("_event_loop_policy",), "events"),),
    "urllib.request": (Changed(("install_opener",), ("_opener",)),),
    "xml.etree.ElementTree": (Changed(("register_namespace",), ("_namespace_map",)),),
    "multiprocessing.spawn": (Changed(("set_executable",), ("_python_exe",)),),
    "zoneinfo": (Changed(("reset_tzpath",), ("TZPATH",), "_tzpath"),),
}
"""By module, which is patched when it is loaded."""

MIME_TYPES = ("inited", "_db", "encodings_map", "suffix_map", "types_map", "common_types")
"""Global variables of `mimetypes`."""

REPORTED: dict[str, tuple[str, ...]] = {
    "os": ("nice", "setpriority", "sched_setaffinity", "sched_setscheduler", "chroot", "setuid", "seteuid", "setreuid",
           "setgid", "setegid", "setregid", "setgroups", "setsid", "setpgid"),
    "signal": ("alarm", "setitimer"),
}  # fmt: skip
"""Functions that are reported."""


class ChildProcessCounter:
    """The numbers in names of processes that multiprocessing starts: each rank counts its own."""

    def __init__(self, running_rank: RunningState) -> None:
        self.running_rank, self.counters = running_rank, defaultdict[Any, Any](lambda: count(1))

    def __next__(self) -> int:
        return int(next(self.counters[self.running_rank()]))


class LibrarySettings:
    """Patches for the functions; `hooks` has those of modules, to be called when they are loaded."""

    def __init__(self, settings: Settings, patches: Patches, main_thread_state: RunningState, has_own_threads: bool) -> None:
        self.settings, self.patches = settings, patches
        self.main_thread_state, self.has_own_threads = main_thread_state, has_own_threads
        self.zone = os.environ.get("TZ")
        self.reported: set[str] = set()
        self.hooks: dict[str, Callable[[Any], None]] = {
            name: functools.partial(self._patch_variables, variables=variables) for name, variables in VARIABLES.items()
        }
        names = "cProfile", "csv", "gettext", "locale", "mimetypes", "multiprocessing", "resource", "socket", "threading"
        for name in names:
            self.hooks[name] = in_turn(self.hooks.get(name), getattr(self, f"_{name}"))

    def patch(self) -> None:
        """Patch modules that are always loaded."""
        self._before(os, "umask", _value("umask", _read_umask, os.umask))
        show_own_limit(self.patches.set)
        self._before(sys, "setrecursionlimit", _value("recursion", getrecursionlimit, exchange))
        self._before(sys, "setswitchinterval", _value("interval", sys.getswitchinterval, sys.setswitchinterval))
        if hasattr(sys, "setdlopenflags"):
            self._before(sys, "setdlopenflags", _value("dlopen flags", sys.getdlopenflags, sys.setdlopenflags))
        if hasattr(sys, "set_int_max_str_digits"):
            digits = sys.get_int_max_str_digits, sys.set_int_max_str_digits
            self._before(sys, "set_int_max_str_digits", _value("digits", *digits))
        switch = {True: gc.enable, False: gc.disable}
        for name in ("enable", "disable"):
            self._before(gc, name, _value("gc", gc.isenabled, lambda on: switch[on]()))
        set_threshold = gc.set_threshold
        self._before(gc, "set_threshold", _value("gc threshold", gc.get_threshold, lambda value: set_threshold(*value)))
        self._before(gc, "set_debug", _value("gc debug", gc.get_debug, gc.set_debug))
        if hasattr(time, "tzset"):
            self._time_zone()
        for name in ("numpy._core.arrayprint", "numpy.core.arrayprint"):  # later versions have a context variable
            arrayprint = sys.modules.get(name)
            if "_format_options" in vars(arrayprint or object):
                options = Changed(("set_printoptions",), ("_format_options",))
                self._patch_variables(arrayprint, variables=(options,))
                self.patches.set(np, "set_printoptions", arrayprint.set_printoptions)  # type: ignore[union-attr]  # it is loaded
        umath: Any = sys.modules.get("numpy.core.umath")
        if hasattr(umath, "seterrobj") and not self.has_own_threads:  # numpy 1: of the thread; later a context variable
            self._numpy_errors(umath)
        for module, names in REPORTED.items():
            for name in names:
                if hasattr(sys.modules[module], name):
                    self._report(sys.modules[module], name)

    def _numpy_errors(self, umath: Any) -> None:
        """`seterr` and others change the list that they read, and set it afterwards: they get a copy."""
        get, set_errors = umath.geterrobj, umath.seterrobj

        def get_copy() -> list[Any]:
            return list(get())

        self.patches.set(umath, "geterrobj", get_copy)
        self._before(umath, "seterrobj", _value("numpy.errors", get_copy, lambda value: set_errors(list(value))))

    def _before(self, owner: Any, name: str, settings_of: SettingsOf, needed: int = 0) -> None:
        """Follow settings before a function is called with at least `needed` arguments; with fewer it only reads them."""
        self.patches.set(owner, name, self.noticed(getattr(owner, name), functools.partial(settings_of, owner), needed))

    def noticed(
        self, original: Any, settings_of: Callable[[tuple[Any, ...]], Iterable[ProcessSetting]], needed: int = 0
    ) -> Any:
        """Return a function that follows settings before it calls the original one with at least `needed` arguments."""

        @functools.wraps(original)
        def call(*args: Any, **named: Any) -> Any:
            state = self.settings.running_rank()
            if state is None or len(args) + len(named) < needed or is_emulator(state, frame_at(1)):
                return original(*args, **named)
            change = functools.partial(original, *args, **named)
            return self._change(state, frame_at(1), settings_of(args), change)

        return call

    def _change(
        self, state: RankState, frame: FrameType, settings: Iterable[ProcessSetting], change: Callable[[], Any]
    ) -> Any:
        """Change settings for a rank; for all ranks while a shared module is imported."""
        if executes_shared_module(state, frame):
            for setting in settings:
                change = functools.partial(self.settings.change_for_all, setting, change)
            return change()
        return self.settings.change_for_rank(settings, change)

    def _patch_variables(self, module: Any, *, variables: tuple[Changed, ...]) -> None:
        for one in variables:
            for name in one.functions:
                if hasattr(module, name):
                    self._before(module, name, one.settings)

    def _report(self, module: Any, name: str, function: str = "") -> None:
        original = getattr(module, name)
        self.patches.set(module, name, self.reported_call(original, function or f"{module.__name__}.{name}"))

    def reported_call(self, original: Any, name: str) -> Any:
        """Return a function that reports its first call by a rank, under a name, and calls the original one."""

        @functools.wraps(original)
        def call(*args: Any, **named: Any) -> Any:
            state = self.settings.running_rank()
            if state is not None and not is_emulator(state, frame_at(1)):
                self.report(name, frame_at(1))
            return original(*args, **named)

        return call

    def report(self, function: str, frame: FrameType) -> None:
        """Report once that a call applies to all ranks; nothing is reported if there is only one rank."""
        process = current_process()
        if process is None or process.universe.started < 2 or function in self.reported:
            return
        self.reported.add(function)
        place = f"{short_path(frame.f_code.co_filename)}:{frame.f_lineno}"
        sys.stderr.write(
            f"fakempi: {process.name} calls {function} ({place}), which applies to all ranks, because they share a process. "
            "fakempi run --processes gives each rank a process.\n"
        )
        sys.stderr.flush()

    # -- modules with values behind functions ---------------------------------------------------------------------------

    def _cProfile(self, module: Any) -> None:
        """A profiler belongs to an OS thread, so it measures all ranks on greenlets."""
        if not self.has_own_threads:
            self._report(module.Profile, "enable", "cProfile.Profile.enable")

    def _csv(self, csv: Any) -> None:
        def read() -> dict[str, Any]:
            return {name: csv.get_dialect(name) for name in csv.list_dialects()}

        def write(dialects: dict[str, Any]) -> None:
            for name in csv.list_dialects():
                unregister(name)
            for name, dialect in dialects.items():
                register(name, dialect)

        register, unregister = csv.register_dialect, csv.unregister_dialect
        for name in ("register_dialect", "unregister_dialect"):
            self._before(csv, name, _value("csv.dialects", read, write))
        limit = csv.field_size_limit
        self._before(csv, "field_size_limit", _value("csv.limit", limit, limit), 1)

    def _gettext(self, gettext: Any) -> None:
        """`install` writes to the dictionary of `builtins`."""
        kind = gettext.NullTranslations
        self._before(kind, "install", lambda owner, args: [Attribute(vars(builtins), "_")])

    def _locale(self, locale: Any) -> None:
        set_locale = locale.setlocale
        settings = _value("locale", lambda: set_locale(locale.LC_ALL), lambda value: set_locale(locale.LC_ALL, value))
        self._before(locale, "setlocale", settings, 2)

    def _mimetypes(self, mimetypes: Any) -> None:
        """`add_type` changes an object: the rank gets a new one, unless it has its own."""
        add_type = mimetypes.add_type
        settings = [Attribute(vars(mimetypes), name) for name in MIME_TYPES]

        @functools.wraps(add_type)
        def add(*args: Any, **named: Any) -> None:
            state = self.settings.running_rank()
            if state is not None and not executes_shared_module(state, frame_at(1)):
                followed = [self.settings.follow(setting) for setting in settings]
                outside = next(iter(self.settings.states())).settings or {}
                if mimetypes._db is outside[followed[1]]:
                    vars(mimetypes).update(inited=False, _db=None)
            add_type(*args, **named)

        self._before(mimetypes, "init", lambda owner, args: settings, 1)
        self.patches.set(mimetypes, "add_type", add)

    def _multiprocessing(self, multiprocessing: Any) -> None:
        """The start method; `get_context` sets it, too, and is called by pools."""
        context = multiprocessing.context._default_context
        kind = type(context)

        def settings(owner: Any, args: tuple[Any, ...]) -> list[ProcessSetting]:
            return [Attribute(vars(context), "_actual_context", None)]

        for name in ("set_start_method", "get_context"):
            self._before(kind, name, settings)
            self.patches.set(multiprocessing, name, getattr(context, name))
        self.patches.set(multiprocessing.process, "_process_counter", ChildProcessCounter(self.settings.running_rank))

    def _resource(self, resource: Any) -> None:
        """Soft limits are exchanged; a lower hard limit cannot be raised again, so it is reported."""
        get, original = resource.getrlimit, resource.setrlimit

        @functools.wraps(original)
        def set_limit(kind: int, limits: Any, /) -> None:
            state = self.settings.running_rank()
            if state is None:
                original(kind, limits)
                return
            before = get(kind)
            setting = Value(("rlimit", kind), lambda: get(kind), lambda value: _forgiving(original)(kind, value))
            self._change(state, frame_at(1), [setting], lambda: original(kind, limits))
            if get(kind)[1] != before[1]:
                self.report("resource.setrlimit", frame_at(1))

        self.patches.set(resource, "setrlimit", set_limit)

    def _socket(self, socket: Any) -> None:
        self._before(
            socket, "setdefaulttimeout", _value("socket.timeout", socket.getdefaulttimeout, socket.setdefaulttimeout)
        )

    def _threading(self, threading: Any) -> None:
        resize = threading.stack_size

        def size() -> int:
            before: int = resize()  # which also sets it to 0
            resize(before)
            return before

        self._before(threading, "stack_size", _value("stack size", size, resize))
        name: property = threading.Thread.name

        def set_name(thread: Any, value: str) -> None:
            state = self.settings.running_rank()
            if state is not None and thread is threading.main_thread():
                self.settings.follow(Attribute(vars(thread), "_name"))
            name.__set__(thread, value)

        self.patches.set(threading.Thread, "name", property(name.fget, set_name, doc=name.__doc__))
        current = threading.current_thread

        @functools.wraps(current)
        def current_thread() -> Any:
            """Return the main thread on every rank, though the rank has another OS thread."""
            state = self.main_thread_state()
            return current() if state is None or is_emulator(state, frame_at(1)) else threading.main_thread()

        if self.has_own_threads:
            self.patches.set(threading, "current_thread", current_thread)

    def _time_zone(self) -> None:
        """Exchange the time zone of the C library: that of the variable TZ when `tzset` was called."""
        original = time.tzset

        def set_zone(zone: str | None) -> None:
            own = os.environ.get("TZ")
            _put("TZ", zone)
            original()
            self.zone = zone
            _put("TZ", own)

        @functools.wraps(original)
        def tzset() -> None:
            original()
            self.zone = os.environ.get("TZ")

        self.patches.set(time, "tzset", tzset)
        self._before(time, "tzset", _value("time zone", lambda: self.zone, set_zone))


def in_turn(first: Callable[[Any], None] | None, second: Callable[[Any], None]) -> Callable[[Any], None]:
    """Return a function that calls both, if there are two."""
    if first is None:
        return second

    def both(module: Any) -> None:
        first(module)
        second(module)

    return both


def _value(name: str, read: Callable[[], Any], write: Callable[[Any], Any]) -> SettingsOf:
    value = Value(name, read, write)
    return lambda owner, args: (value,)


def _read_umask(write: Callable[[int], int] = os.umask) -> int:
    mask = write(0o77)
    write(mask)
    return mask


def _put(name: str, value: str | None) -> None:
    """Set a variable of the C library only."""
    os.unsetenv(name) if value is None else os.putenv(name, value)


def _forgiving(function: Callable[..., Any]) -> Callable[..., None]:
    """Return a function that ignores values which are not possible at present."""

    def call(*args: Any) -> None:
        with suppress(OSError, ValueError, RecursionError):
            function(*args)

    return call
