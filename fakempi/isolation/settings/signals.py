"""Signal handlers while scripts run: a signal calls the handler of the running rank.

A process has one table of handlers, and only its main thread may change it, so nothing is exchanged at switches. When a rank
sets the first handler of a signal, the process gets `Signals.dispatch` instead. A rank that has set none has the handler
from before the run. A rank that sends a signal to its own process calls its handler at once.

Ranks on the threads backend do not run in the main thread. They have handlers for signals that they send themselves, but
signals from other processes find the handler from before the run.
"""

from __future__ import annotations

import functools
import os
import signal
import threading
from collections.abc import Callable
from contextlib import suppress
from types import FrameType
from typing import Any

from fakempi.isolation.patches import Patches, RunningState
from fakempi.isolation.settings.exchange import Settings, executes_shared_module, is_emulator
from fakempi.mpi.base.call_site import frame_at


class Signals:
    """Patches for `signal` and `os.kill`.

    `running_state` returns the state of the running rank, in any OS thread; `main_thread_state` only in its main thread.
    """

    def __init__(self, settings: Settings, running_state: RunningState, main_thread_state: RunningState) -> None:
        self.settings, self.running_state, self.main_thread_state = settings, running_state, main_thread_state
        self.handlers: dict[int, Any] = {}  # before the run, of signals that ranks have changed
        self.set, self.get = signal.signal, signal.getsignal
        self.installed: Callable[..., None] = self.dispatch  # one bound method, to be recognized

    def patch(self, patches: Patches) -> None:
        """Patch the functions."""
        raise_signal, kill = signal.raise_signal, os.kill

        @functools.wraps(self.set)
        def set_handler(signalnum: int, handler: Any) -> Any:
            state, frame = self.settings.running_rank(), frame_at(1)
            if state is None or is_emulator(state, frame) or executes_shared_module(state, frame):
                return self._set_outside(signalnum, handler)
            if self.main_thread_state() is None:
                return self.set(signalnum, handler)  # which raises an exception in a thread of a rank
            if threading.get_ident() == threading.main_thread().ident:
                return _seen(self._set_in_process(state, signalnum, handler))
            return _seen(self._set_for_rank(state, signalnum, handler))

        @functools.wraps(self.get)
        def get_handler(signalnum: int) -> Any:
            handler = self.get(signalnum) if signalnum not in self.handlers else self._of(self.running_state(), signalnum)
            return _seen(handler)

        @functools.wraps(raise_signal)
        def raise_in_rank(signalnum: int, /) -> None:
            if not self._call(signalnum, frame_at(1)):
                raise_signal(signalnum)

        @functools.wraps(kill)
        def kill_or_call(pid: int, signalnum: int, /) -> None:
            if pid != os.getpid() or not self._call(signalnum, frame_at(1)):
                kill(pid, signalnum)

        patches.set(signal, "signal", set_handler)
        patches.set(signal, "getsignal", get_handler)
        patches.set(signal, "raise_signal", raise_in_rank)
        patches.set(os, "kill", kill_or_call)

    def _of(self, state: Any, number: int) -> Any:
        """Return the handler of a rank, or that outside ranks."""
        before = self.handlers.get(number)
        return before if state is None else state.signal_handlers.get(number, before)

    def _set_outside(self, number: int, handler: Any) -> Any:
        if number not in self.handlers:
            return self.set(number, handler)
        before, self.handlers[number] = self.handlers[number], handler
        return before

    def _set_in_process(self, state: Any, number: int, handler: Any) -> Any:
        before = self.set(number, handler)  # raises an exception if one of them is invalid
        before = self._of(state, number) if number in self.handlers else self.handlers.setdefault(int(number), before)
        state.signal_handlers[int(number)] = handler
        others = (one for one in list(self.settings.states())[1:])
        if callable(handler) or any(self._of(one, number) != handler for one in others):
            self.set(number, self.installed)  # a child process would inherit SIG_IGN, so it stays if all ranks ignore
        return before

    def _set_for_rank(self, state: Any, number: int, handler: Any) -> Any:
        if number not in signal.valid_signals():
            raise ValueError("signal number out of range")
        if number in (getattr(signal, "SIGKILL", 0), getattr(signal, "SIGSTOP", 0)):
            raise OSError(22, os.strerror(22))
        if not callable(handler) and handler not in (signal.SIG_DFL, signal.SIG_IGN):
            raise TypeError("signal handler must be signal.SIG_IGN, signal.SIG_DFL, or a callable object")
        self.handlers.setdefault(int(number), self.get(number))
        before, state.signal_handlers[int(number)] = self._of(state, number), handler
        return before

    def _call(self, number: int, frame: FrameType) -> bool:
        """Call the handler that the running rank has set; return False if the signal has to be sent."""
        state = self.settings.running_rank()
        default = signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL
        handler: Any = None if state is None else state.signal_handlers.get(number, default)
        if callable(handler):
            handler(int(number), frame)
        return callable(handler) or handler == signal.SIG_IGN

    def dispatch(self, number: int, frame: FrameType | None) -> None:
        """Call the handler of the running rank; this is the handler of the process."""
        handler = self._of(self.running_state(), number)
        if callable(handler):
            handler(number, frame)
        elif handler != signal.SIG_IGN:
            self.set(number, signal.SIG_DFL)
            signal.pthread_kill(threading.get_ident(), number)
            self.set(number, self.installed)  # the default action was to ignore it

    def close(self) -> None:
        """Restore the handlers from before the run."""
        for number, handler in self.handlers.items():
            with suppress(ValueError, TypeError):  # not the main thread; a handler that is not Python's
                if self.get(number) is not handler:
                    self.set(number, handler)
        self.handlers.clear()


def _seen(handler: Any) -> Any:
    """Return a handler as programs see it: one of the emulator is what it replaces."""
    return getattr(handler, "in_place_of", handler)
