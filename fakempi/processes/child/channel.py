"""The connection of a child to the parent: makes calls, and closes at the end of the program."""

from __future__ import annotations

import builtins
import marshal
import os
import sys
import threading
import warnings
import weakref
from itertools import repeat
from threading import get_ident
from typing import Any

from fakempi.errors import MPIError
from fakempi.errors.classes import ERR_OTHER
from fakempi.processes.child.callbacks import CallbackService
from fakempi.processes.child.compact import Compact
from fakempi.processes.child.encoding import Encoder, Proxy
from fakempi.processes.child.ending import LockAfterEnd, LockOfThreads, RunEnded, end_worker_with, read_before_fork
from fakempi.processes.child.files import ChildFiles
from fakempi.processes.child.segments import Segments
from fakempi.processes.child.signals import SignalService
from fakempi.processes.child.sites import Sites, call_site, description
from fakempi.processes.protocol import (
    CALL,
    CALLBACK,
    CONSTANT,
    ENDED,
    ERROR,
    EXTENDED,
    HANDLE,
    PICKLE_MARK,
    RESULT,
    WARNED,
    Closed,
    read,
    write,
    write_with_length,
)


class Channel(CallbackService, SignalService):
    """Makes calls of this process.

    Attributes
    ----------
    clock : the modeled time of the rank after its last call
    clock_reads : how often the program has read a clock since its last call
    """

    def __init__(self, files: ChildFiles) -> None:
        self.files, self.source, self.target, self.forked = files, files.source, files.target, False
        os.register_at_fork(before=self._prepare_fork, after_in_child=self._mark_forked)
        self.mutex = threading.RLock()
        self.lock, self.main_thread = self.mutex, get_ident()  # type: Any, int
        self.encoder = Encoder(self._proxy, self._loads, self.call)
        self.compact = Compact(self.encoder, Segments(files.arena))
        self.encoder.describe_class = self._class
        self.clock, self.clock_reads, self.known = 0.0, 0, {}  # type: float, int, dict[str, Any]
        self.cpu: Any = None  # the CPU time since the last call, if that is charged
        self.sites = Sites()
        self.proxies: weakref.WeakValueDictionary[int, Proxy] = weakref.WeakValueDictionary()
        self.constants: dict[str, Proxy] = {}
        self.classes: list[type] = []
        self.released: list[int] = []
        self.windows: dict[int, Any] = {}  # memory of windows, exchanged at each call -> its contents at the last call
        self.requests: dict[int, list[int]] = {}  # request -> its memory
        self.ended = self.interrupted = self.exchanging = False
        self.deferred: list[Any] = []
        self.raises_interrupts = True  # False once KeyboardInterrupt has ended the program
        self.set_options: Any = None  # functions of the parent, as is `pickle_object`
        self.pickle_object: Any = None
        self.starts: frozenset[int] = frozenset()  # calls that start persistent requests
        self.frees: frozenset[int] = frozenset()  # calls that free objects
        self.starting: Any = ()  # the requests that the current call starts

    # -- calls --------------------------------------------------------------------------------------------------------

    def call(
        self, number: int, target: Any, args: tuple[Any, ...], kwargs: dict[str, Any] | None = None, reads: int = -1
    ) -> Any:
        """Make a call in the parent and return its result; `reads` is explained in `child.compact`."""
        __tracebackhide__ = True
        if self.forked:
            raise MPIError(ERR_OTHER, "a process that a rank has forked called MPI: only the rank itself may call MPI.")
        frame: Any = sys._getframe(2)
        if get_ident() != self.main_thread and self.lock is self.mutex:
            self._share()
        with self.lock:
            if self.exchanging:
                return self._call_during_call((CALL, number, target, args, kwargs, description(frame), None), args)
            site: Any = self.sites.get((id(frame.f_code), frame.f_lasti)) or call_site(self.sites, frame)
            memory: list[Any] = []
            data = None
            if reads >= 0 and not (self.released or self.clock_reads or self.windows or self.cpu):
                data = self.compact.short(number, site, target, args, reads, memory)
            if data is None:
                data, memory = self._long_message(number, site, target, args, kwargs, reads)
            try:
                return self._conclude(self._converse(data), memory, args)
            finally:
                if self.cpu is not None:  # a call is not charged: it takes longer than most programs compute between calls
                    self.cpu.restart()

    def _long_message(
        self, number: int, site: Any, target: Any, args: tuple[Any, ...], kwargs: dict[str, Any] | None, reads: int
    ) -> tuple[bytes, list[Any]]:
        """Return the message of a call that is not short, and the memory in it."""
        __tracebackhide__ = True
        if number in self.frees:
            self._forget_results(target)
        if number in self.starts:
            self.starting = (target,) if isinstance(target, Proxy) else args[0]
        notes = self._notes()
        memory: list[Any] = []
        try:
            data = None if kwargs else self.compact.call([number, site, notes, target], args, reads, memory)
            if data is not None:
                return data, memory
            for one in memory:
                self.compact.release(one)
            return self._encode((CALL, number, target, args, kwargs, site, notes))
        # the parent has not received the line and the released objects: send them with a later call
        except BaseException:
            if type(site) is tuple:
                del self.sites[site[-1]]
            if notes is not None:
                self.released += notes[0]
                self.clock_reads += notes[2]
            raise

    def _call_during_call(self, message: tuple[Any, ...], args: tuple[Any, ...]) -> Any:
        """Make a call of a finalizer that Python has called in the middle of a call of the same thread."""
        __tracebackhide__ = True
        before = self.source, self.target
        if before[0] == self.files.reentry:
            raise MPIError(ERR_OTHER, "a finalizer called MPI in the middle of a call of another finalizer.")
        self.source = self.target = self.files.reentry
        try:
            data, memory = self._encode(message)
            return self._conclude(self._converse(data), memory, args)
        finally:
            self.source, self.target = before
            self.exchanging = True

    def close(self, kind: int, what: Any) -> None:
        """Report the end of the program. From now on only the main thread can call, such as from finalizers.

        If another thread is in a call, wait for its answer: the parent ends the call if it would never return.
        """
        self.lock = LockAfterEnd(self.report)
        self.report(self.encoder.dumps((kind, what)))
        with self.mutex:
            pass

    def _share(self) -> None:
        """Prepare calls of several threads."""
        with self.mutex:
            if self.lock is self.mutex:
                self.lock = LockOfThreads(self.mutex, self.report)

    def report(self, data: bytes) -> None:
        """Send a report that is not answered."""
        try:
            write_with_length(self.files.ending, data)
        except BrokenPipeError:
            os._exit(1)  # the parent is gone

    def _encode(self, message: tuple[Any, ...]) -> tuple[bytes, list[Any]]:
        """Return a message as a pickle, and the memory in it."""
        __tracebackhide__ = True
        encoder = self.encoder
        before, encoder.sent = encoder.sent, {}
        try:
            return encoder.dumps(message), list(encoder.sent.values())
        finally:
            encoder.sent = before

    def _conclude(self, reply: Any, memory: list[Any], args: tuple[Any, ...]) -> Any:
        """Carry out callbacks until the answer to a call arrives, write to memory, and return the result of the call."""
        __tracebackhide__ = True
        while reply[0] == PICKLE_MARK:
            self.encoder.memory.update({one.number: one for one in memory})
            kind, *what = self.encoder.read(reply)
            if kind != CALLBACK:
                return self._finish(kind, what, memory, args)
            reply = self._converse(self._callback(*what))
            for one in memory:
                self.encoder.memory.pop(one.number, None)
        answer = marshal.loads(reply)
        if type(answer) is tuple:
            self.encoder.memory.update({one.number: one for one in memory})
            return self._finish(RESULT, (self.compact.value(answer[0]), *answer[1:]), memory, args)
        self.clock = answer.pop(0)
        if memory:
            self.compact.finish(answer, memory)
        return self._handle_signals() if self.interrupted else None

    def _finish(self, kind: int, answer: Any, memory: list[Any], args: tuple[Any, ...]) -> Any:
        """Write to memory, and return the result of a call or raise its exception."""
        __tracebackhide__ = True
        value, writes, kept, self.clock = answer
        if writes:
            self._write(writes, args)
        for one in memory:
            if not kept or one.number not in kept:
                self.compact.release(one)
                self.encoder.memory.pop(one.number, None)
            elif kept[one.number]:
                self.windows[one.number] = one.contents()
        if self.interrupted and kind != ENDED:
            self._handle_signals()
        if kind == RESULT:
            if kept and isinstance(value, self.module.Prequest):
                self.requests[value._key[1]] = list(kept)
            return value
        if kind == ENDED:
            self.ended = True
            raise RunEnded
        assert kind == ERROR
        raise value

    def _converse(self, data: bytes) -> Any:
        """Send a message and return the next one of the parent."""
        try:
            self.exchanging = True
            write(self.target, data)
            reply = read(self.source)
            self.exchanging = False
            return reply
        except (Closed, BrokenPipeError):
            os._exit(1)  # the parent is gone

    def is_rank(self) -> bool:
        """Return whether the caller is the main thread of the rank."""
        return not self.forked and threading.current_thread() is threading.main_thread()

    def can_call(self) -> bool:
        """Return whether the caller can call, and need not wait for a call of another thread."""
        if self.forked or isinstance(self.lock, LockAfterEnd) or not self.mutex.acquire(blocking=False):
            return False
        self.mutex.release()
        return True

    def _prepare_fork(self) -> None:
        if self.is_rank() and self.can_call() and not (self.exchanging or self.ended):
            self.known = read_before_fork(self.module, (*self.constants.values(), *self.proxies.values()))

    def _mark_forked(self) -> None:
        self.forked = True
        vars(self.module).update({name: repeat(value).__next__ for name, value in self.known.items()})
        end_worker_with(self.files.lifeline)
        for fd in self.files:  # the parent is to notice the end of the rank, even if this process continues
            if fd != self.files.ending:  # for a report of `Abort`; the parent waits for no end of these reports
                os.close(fd)

    def _forget_results(self, target: Any) -> None:
        """Forget results that are constant only while an object exists; all of them if MPI is finalized."""
        for proxy in (target,) if target is not None else (*self.constants.values(), *self.proxies.values()):
            for name in [name for name in vars(proxy) if name.endswith("()")]:
                del vars(proxy)[name]

    def _write(self, writes: list[tuple[int, Any, bool]], args: tuple[Any, ...]) -> None:
        for number, parts, done in writes:
            if number == EXTENDED:
                args[parts[0]][:] = parts[1]
                continue
            if number == WARNED:
                warnings.warn(parts[1], getattr(builtins, parts[0]), stacklevel=5)
                continue
            memory = self.encoder.memory.get(number)
            if memory is not None:
                memory.write(parts)
                if number in self.windows:
                    self.windows[number] = memory.contents()
                if done:
                    self.compact.release(self.encoder.memory.pop(number))
                    self.windows.pop(number, None)

    def _notes(self) -> Any:
        """Return the information that the parent needs before a call: released objects, contents, clock readings."""
        refreshed = self._refreshed() if self.windows or self.starting else None
        if not (self.released or self.clock_reads or refreshed or self.cpu is not None):
            return None
        released = [self.released.pop() for _ in range(len(self.released))]  # one by one: a finalizer may call, too
        notes = released, refreshed, self.clock_reads, None if self.cpu is None else self.cpu.used()
        for one in notes[0]:
            self.requests.pop(one, None)
        self.clock_reads = 0
        return notes

    def _refreshed(self) -> list[tuple[int, Any]]:
        """Return the contents of windows that the program has changed, and of requests that it starts."""
        contents = []
        for number, before in self.windows.items():
            now = self.encoder.memory[number].contents()
            if now != before:
                self.windows[number] = now
                contents.append((number, now))
        for request in self.starting:
            numbers = self.requests.get(request._key[1], ()) if isinstance(request, Proxy) else ()
            contents += [(number, self.encoder.memory[number].contents()) for number in numbers]
        self.starting = ()
        return contents

    # -- objects ------------------------------------------------------------------------------------------------------

    def dumps(self, obj: Any) -> bytes:
        """Return the pickle of an object by MPI.pickle."""
        settings = sys.modules.get("fakempi.mpi.buffers.pickling")
        if settings is None:
            from pickle import HIGHEST_PROTOCOL, dumps

            return dumps(obj, HIGHEST_PROTOCOL)
        return bytes(settings.pickle.dumps(obj))

    def _loads(self, data: Any) -> Any:
        settings = sys.modules.get("fakempi.mpi.buffers.pickling")
        if settings is None:
            from pickle import loads

            return loads(data)
        return settings.pickle.loads(data)

    def _proxy(self, kind: int, key: Any, number: int = 0) -> Any:
        """Return the proxy of an object in the parent."""
        if kind == CONSTANT:
            constant = self.constants.get(key)
            return getattr(self.module, key) if constant is None else constant
        known = self.proxies.get(key)
        if known is not None:
            return known
        if key in self.released:
            self.released.remove(key)
        proxy: Any = object.__new__(self.classes[number])
        proxy._key = (HANDLE, key)
        self.proxies[key] = proxy
        weakref.finalize(proxy, self.released.append, key).atexit = False
        return proxy

    module: Any

    def _class(self, kind: Any) -> Any:
        """Return the number of a class of MPI objects; with a description of it if the program has derived it."""
        if "_number" not in vars(kind):
            bases = tuple(self._class(base) for base in kind.__bases__ if issubclass(base, Proxy) and base is not Proxy)
            kind._number = len(self.classes)
            kind._described = kind._number, kind.__name__, bases
            self.classes.append(kind)
        return vars(kind).get("_described", kind._number)
