"""Signal handlers of the program: during a call, they are called after the answer has arrived, as with an MPI library.

A Python handler that raises an exception in the middle of a call would otherwise leave the answer to the next call.
"""

from __future__ import annotations

import functools
import signal
import threading
from typing import Any


class SignalService:
    """Calls signal handlers that were deferred.

    Attributes
    ----------
    exchanging : whether a call has been sent, and its answer has not been read
    interrupted : whether signals have arrived meanwhile
    deferred : their handlers, with the arguments
    """

    exchanging: bool
    interrupted: bool
    deferred: list[Any]
    mutex: Any  # the lock that a thread holds during a call
    source: int
    files: Any

    def defer(self, handler: Any, number: int, frame: Any) -> None:
        """Call a signal handler after the answer to the present call has arrived."""
        self.deferred.append((handler, number, frame))
        self.interrupted = True

    def is_main_exchanging(self) -> bool:
        """Return whether the caller, which is the main thread, has sent a call and not read its answer."""
        return self.exchanging and self.mutex._is_owned()

    def _handle_signals(self) -> None:
        """Call the handlers of signals that arrived during a call. Reentry calls leave them to the outer call."""
        if threading.current_thread() is threading.main_thread() and self.source != self.files.reentry:
            while self.deferred:
                handler, *args = self.deferred.pop(0)
                self.interrupted = bool(self.deferred)
                handler(*args)


class DeferredHandler:
    """Calls a handler of the program: at once, or after the present call."""

    def __init__(self, handler: Any, channel: SignalService) -> None:
        self.handler, self.channel = handler, channel

    def __call__(self, number: int, frame: Any) -> None:
        if self.channel.is_main_exchanging():
            self.channel.defer(self.handler, number, frame)
        else:
            self.handler(number, frame)


def defer_handlers(channel: SignalService) -> None:
    """Replace `signal.signal` and `signal.getsignal`, which return the program's own handlers."""
    set_handler, get_handler = signal.signal, signal.getsignal

    def own(handler: Any) -> Any:
        return handler.handler if isinstance(handler, DeferredHandler) else handler

    @functools.wraps(set_handler)
    def replacement(signalnum: Any, handler: Any) -> Any:
        return own(set_handler(signalnum, DeferredHandler(handler, channel) if callable(handler) else handler))

    @functools.wraps(get_handler)
    def current(signalnum: Any) -> Any:
        return own(get_handler(signalnum))

    signal.signal, signal.getsignal = replacement, current
