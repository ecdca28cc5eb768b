"""The public calls of communicators, requests, messages, windows and files as one hook point.

After `PUBLIC_CALLS.subscribe(subscriber)`, each call of their public methods calls `subscriber.enter`, in all runs of this
Python process. A subscriber that needs arguments and results has a method `around` instead. Groups, datatypes and other
objects that do not communicate are not included.
"""

from __future__ import annotations

import threading
from abc import abstractmethod
from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import cache, wraps
from types import CodeType, FunctionType
from typing import Any, Protocol, TypeAlias, runtime_checkable

from fakempi.core.hooks import HookedCalls, OnCall
from fakempi.mpi.comms.intercomm import Intercomm
from fakempi.mpi.comms.topocomm import Cartcomm, Distgraphcomm, Graphcomm
from fakempi.mpi.files.file import File
from fakempi.mpi.point.grequest import Grequest
from fakempi.mpi.point.persistent import Prequest
from fakempi.mpi.point.probes import Message
from fakempi.mpi.windows.win import Win


@runtime_checkable
class OnArguments(Protocol):
    """A subscriber that needs the arguments and the results of calls."""

    @abstractmethod
    def around(self, kind: type[HookedCalls], name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return a function that is called in place of a method of a class, or the function itself, if it needs none."""


Subscriber: TypeAlias = OnCall | OnArguments


class PublicCalls:
    """The public methods of classes as one hook point (`OnCall`, `OnArguments`).

    While there are subscribers, functions that call them replace these methods in the classes, the latest subscriber first.
    All runs of the Python process share the classes, so a subscriber has to check which run a call belongs to. Subclasses
    for the runs with subscribers are not sufficient: programs call class methods of the public classes
    (`MPI.Request.Waitall`). Without subscribers the classes have their original methods, so calls become no slower.
    """

    def __init__(self, *kinds: type[HookedCalls]) -> None:
        """Take the classes; only the methods that each of them defines are included, not inherited ones."""
        self.kinds = kinds
        self.subscribers: tuple[Subscriber, ...] = ()
        self._methods: dict[type[HookedCalls], dict[str, Any]] = {}  # as they are without subscribers
        self._lock = threading.Lock()  # runs in several threads may subscribe

    def subscribe(self, subscriber: Subscriber) -> None:
        """Call `subscriber.enter` at every public call."""
        with self._lock:
            self._install((subscriber, *self.subscribers))

    def unsubscribe(self, subscriber: Subscriber) -> None:
        """Undo `subscribe`."""
        with self._lock:
            self._install(tuple(other for other in self.subscribers if other is not subscriber))

    def _install(self, subscribers: tuple[Subscriber, ...]) -> None:
        if not self.subscribers:
            self._methods = {kind: kind._own_calls() for kind in self.kinds}
        self.subscribers = subscribers
        for kind, methods in self._methods.items():
            kind._set_calls({name: _hooked(kind, name, method, subscribers) for name, method in methods.items()})


def _hooked(kind: type[HookedCalls], name: str, method: Any, subscribers: tuple[Subscriber, ...]) -> Any:
    """Return a method that calls the subscribers first; the method itself if there are none."""
    if subscribers and not isinstance(method, FunctionType):
        return type(method)(_hooked(kind, name, method.__func__, subscribers))
    for subscriber in reversed(subscribers):
        if isinstance(subscriber, OnArguments):
            method = subscriber.around(kind, name, method)
        else:
            method = _around(method, subscriber.enter)
    return method


def _around(function: Callable[..., Any], enter: Callable[[], AbstractContextManager[object] | None]) -> Callable[..., Any]:
    def call(*args: object, **kwargs: object) -> Any:
        surroundings = enter()
        if surroundings is None:
            return function(*args, **kwargs)
        with surroundings:
            return function(*args, **kwargs)

    return in_place_of(function, call)


def in_place_of(method: Callable[..., Any], call: Any) -> Callable[..., Any]:
    """Give a function the name of the method that it replaces, also in its code, and return it."""
    call.__code__ = _code_of(method.__name__, call.__code__)
    return wraps(method)(call)


@cache
def _code_of(name: str, code: CodeType) -> CodeType:
    """Return code with another name: that of the method, by which traces, reports and tracebacks name the call."""
    return code.replace(co_name=name)


_KINDS = (Cartcomm, Distgraphcomm, Graphcomm, Intercomm, Prequest, Grequest, Message, Win, File)

PUBLIC_CALLS = PublicCalls(
    *dict.fromkeys(base for kind in _KINDS for base in kind.__mro__ if issubclass(base, HookedCalls))
)
"""The hook point of these classes and of fakempi's classes from which they inherit."""
