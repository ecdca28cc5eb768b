"""Hooks: a feature observes or changes a run without replacing methods of objects that it does not own.

The loop, the network and the universe of a run are `Hooked`: each lists its hook points, which are methods that other
objects may subscribe to. A subscriber is an object with a method of the same name for each point that it subscribes to. Its
first argument is `proceed`, a function that does what the point does without the subscriber; then follow the arguments of
the point:

    class Count(OnSend[Envelope]):
        layer = Layer.TRACE

        def send(self, proceed: Callable[[Envelope], None], envelope: Envelope) -> None:
            self.sent += 1
            proceed(envelope)

    network.subscribe(Count())

There is a Protocol for each point (`OnSend`, `OnWait` ...). If a subscriber inherits from those of its points, the type
checker compares the signatures. Points are called with positional arguments only.

Order: the subscribers of a point are called by `Layer`, the outermost first; within a layer, the latest first. Each one
proceeds to the next, and the innermost to the method itself. Code inside a hooked object that calls the method of its class
(`Loop.wait(loop)`) passes no subscriber.

A subscriber may act before and after it proceeds, proceed with other arguments, proceed later, or not at all; it
may subscribe and unsubscribe itself or others, which takes effect at the next call. An exception passes through all outer
subscribers to the code that reached the point: the task that runs, or the code that drives the loop.

Cost: a point without a subscriber is the method of the class; nothing is looked up and nothing is called. While a point has
subscribers, the composed call is kept in the object's own dictionary, where Python finds it first: a `functools.partial`
for each subscriber. Only this module writes there. Public calls are a hook point of another kind (mpi/public_calls.py).
"""

from __future__ import annotations

from _thread import RLock
from abc import abstractmethod
from collections.abc import Callable
from contextlib import AbstractContextManager, suppress
from enum import IntEnum
from functools import lru_cache, partial
from types import FunctionType
from typing import Any, ClassVar, Protocol, TypeVar

Task = TypeVar("Task")
Envelope = TypeVar("Envelope")
PostedReceive = TypeVar("PostedReceive")
Port = TypeVar("Port")
Mailbox = TypeVar("Mailbox")
Process = TypeVar("Process")
Time = float

_acquire, _release = RLock.acquire, RLock.release  # a run may replace the methods (extensions/threads/locks.py)


class Layer(IntEnum):
    """Order of subscribers. A layer may rely on all layers below it, and may undo or reject their actions."""

    CALLER = -1  # rejects calls by threads and greenlets that may not make them, before anything acts on the call
    TIME_LIMIT = 0  # rejects everything after the time limit, so it precedes the layers that would act
    FUSED = 1  # undoes a pending fused call before anything else happens
    ISOLATION = 2  # exchanges the process-wide state of scripts, before any of it is used
    RANK_STATE = 3  # stores the state that Python keeps by thread, before another rank runs
    CPU_TIME = 4  # stops counting while a rank waits, and does not count the work of the layers above
    FAILURES = 5  # rejects messages with dead ranks before they are recorded
    SCHEDULES = 6  # lets the other ranks continue where a failure would end the run
    UNSAFE_SENDS = 7  # records which sends depend on buffering; changes nothing
    MEMORY = 8  # checks buffers next to the copy itself, so nothing else happens in between
    CHECKS = 9  # observes only what was not rejected
    TRACE = 10  # records only what was not rejected


# -- hook points of the loop ------------------------------------------------------------------------------------------


class OnBegin(Protocol[Task]):
    """Point `begin` of the loop: around the whole life of a task, in the task's own thread or greenlet."""

    @abstractmethod
    def begin(self, proceed: Callable[[Task], bool], task: Task, /) -> bool:
        """Run the task to its end. Reached once per task. Return what `proceed` returned."""


class OnWait(Protocol):
    """Point `wait` of the loop: around a wait of the running task; other tasks run before `proceed` returns."""

    @abstractmethod
    def wait(self, proceed: Callable[[], None], /) -> None:
        """Proceed exactly once, or raise. Reached at every switch, about once per message, so keep it short.

        `proceed` raises `Ended` when the run is over: undo what was done before in a `finally` block.
        """


class OnDefer(Protocol):
    """Point `defer` of the loop: the running task books itself for a later time."""

    @abstractmethod
    def defer(self, proceed: Callable[[Time], bool], at: Time, /) -> bool:
        """Proceed, with a later time if wanted. Return whether the task has to wait; False if the clock moved instead."""


class OnPoll(Protocol):
    """Point `poll` of the loop: around an unsuccessful test of the running task; other tasks may run in between."""

    @abstractmethod
    def poll(self, proceed: Callable[[], None], /) -> None:
        """Proceed, or raise. Reached at every unsuccessful test: a polling loop reaches it often."""


class OnNext(Protocol[Task]):
    """Point `next` of the loop: it searches the next task, since the running one has ended or none is booked for now."""

    @abstractmethod
    def next(self, proceed: Callable[[], Task | None], /) -> Task | None:
        """Return the task that `proceed` returned, or None to give control back to the code that drives the loop.

        No task runs meanwhile. A switch to a task that is already booked for the present time does not reach this point.
        """


class OnSpawn(Protocol[Task]):
    """Point `spawn` of the loop: a task is created."""

    @abstractmethod
    def spawn(self, proceed: Callable[..., Task], body: Callable[[], None], /, *more: Any) -> Task:
        """Return the task that `proceed` has made and booked for now. `body` may be replaced. Pass `more` on unchanged."""


class OnRunAt(Protocol):
    """Point `run_at` of the loop: a turn is booked. Bookings inlined in `defer` and `settled` do not reach this point."""

    @abstractmethod
    def run_at(self, proceed: Callable[[Time, Any], None], at: Time, item: Any, /) -> None:
        """Proceed, with another time if wanted, but never an earlier one than the present."""


class OnCallAt(Protocol):
    """Point `call_at` of the loop: an action is booked."""

    @abstractmethod
    def call_at(self, proceed: Callable[[Time, Callable[[], None]], None], at: Time, action: Callable[[], None], /) -> None:
        """Proceed, with another time if wanted, but never an earlier one than the present."""


class OnUnwind(Protocol):
    """Point `unwind` of the loop: the end of the run, in which all tasks that are left are ended."""

    @abstractmethod
    def unwind(self, proceed: Callable[[], None], /) -> None:
        """Proceed exactly once. Reached once per run, more often if a time limit interrupts it."""


class OnMakeResume(Protocol[Task]):
    """Point `make_resume` of the loop: the function that switches to a task is set, once per task and backend."""

    @abstractmethod
    def make_resume(
        self, proceed: Callable[[Task, Callable[[], Any]], Callable[[], Any]], task: Task, switch: Callable[[], Any], /
    ) -> Callable[[], Any]:  # fmt: skip
        """Return a function that calls what `proceed` returned; it is called at every switch to the task."""


class OnCheckCaller(Protocol[Task]):
    """Point `check_caller` of the loop: a call on behalf of a task whose caller is not known to be that task."""

    @abstractmethod
    def check_caller(self, proceed: Callable[[Task], None], task: Task, /) -> None:
        """Proceed, or raise to reject the call before it changes anything."""


# -- hook points of the network ---------------------------------------------------------------------------------------


class OnSend(Protocol[Envelope]):
    """Point `send` of the network: a message is sent."""

    @abstractmethod
    def send(self, proceed: Callable[[Envelope], None], envelope: Envelope, /) -> None:
        """Proceed, now or later, or raise to reject the message. Reached once per message, in the sender's task."""


class OnPostReceive(Protocol[PostedReceive]):
    """Point `post_receive` of the network: a receive is posted."""

    @abstractmethod
    def post_receive(self, proceed: Callable[[PostedReceive], None], receive: PostedReceive, /) -> None:
        """Proceed, or raise to reject the receive. Reached once per receive, in the receiver's task."""


class OnMatchWaiting(Protocol[Envelope, PostedReceive]):
    """Point `match_waiting` of the network: a message that waited in the mailbox is given to a receive.

    Reached for rendezvous messages and for messages that a probe has found. A receive that takes a buffered message
    immediately reaches `matched` only.
    """

    @abstractmethod
    def match_waiting(
        self, proceed: Callable[[Envelope, PostedReceive], None], envelope: Envelope, receive: PostedReceive, /
    ) -> None:
        """Proceed exactly once, or raise."""


class OnSendMatched(Protocol[Envelope]):
    """Point `send_matched` of the network: a message departs that bypasses the mailbox (one-sided operations)."""

    @abstractmethod
    def send_matched(self, proceed: Callable[[Envelope, Any], None], envelope: Envelope, receive: Any, /) -> None:
        """Proceed, or raise."""


class OnMatched(Protocol[Envelope, PostedReceive]):
    """Point `matched` of the network: a message and a receive match, and the content is copied to the receiver's buffer."""

    @abstractmethod
    def matched(
        self, proceed: Callable[[Envelope, PostedReceive], None], envelope: Envelope, receive: PostedReceive, /
    ) -> None:
        """Proceed exactly once: it copies. Reached once per message, in any task or in none."""


class OnAllArrivedAt(Protocol[Mailbox]):
    """Point `all_arrived_at` of the network: when will everything sent to a mailbox so far have arrived?"""

    @abstractmethod
    def all_arrived_at(self, proceed: Callable[[Mailbox], Time], box: Mailbox, /) -> Time:
        """Return that time."""


# -- hook points of the universe, and of public calls -----------------------------------------------------------------


class OnFail(Protocol[Process]):
    """Point `fail` of the universe: the program of a process has raised an exception."""

    @abstractmethod
    def fail(self, proceed: Callable[[Process, BaseException], None], process: Process, error: BaseException, /) -> None:
        """Proceed to record the failure and end the run; if the subscriber does not proceed, the other ranks continue."""


class OnEnd(Protocol):
    """Point `end` of the universe: the run is ended early, for a reason other than a failed rank."""

    @abstractmethod
    def end(self, proceed: Callable[[BaseException], None], verdict: BaseException, /) -> None:
        """Proceed, with another exception if wanted: `run` raises it."""


class OnCall(Protocol):
    """The point of mpi/public_calls.py: a public call, of a program or of fakempi itself, of any run in the Python process.

    It has no `proceed` and no arguments: one more function around a call takes 0.3 microseconds, which would be counted as
    CPU time of the program.
    """

    @abstractmethod
    def enter(self) -> AbstractContextManager[object] | None:
        """Return a context manager that surrounds the call, or None if it needs none."""


class HookedCalls:
    """A class whose public calls are a hook point: its own public methods, without those that it inherits."""

    __slots__ = ()

    @classmethod
    def _own_calls(cls) -> dict[str, Any]:
        """Return the methods, by name."""
        kinds = (FunctionType, classmethod, staticmethod)
        return {name: value for name, value in vars(cls).items() if name[0] != "_" and isinstance(value, kinds)}

    @classmethod
    def _set_calls(cls, calls: dict[str, Any]) -> None:
        """Replace methods that `_own_calls` has returned, or restore them."""
        for name, method in calls.items():
            setattr(cls, name, method)


# -- mechanism --------------------------------------------------------------------------------------------------------


class Subscriber(Protocol):
    """An object with a layer, and methods named as hook points."""

    @property
    def layer(self) -> Layer:
        """The place of the object among the subscribers of a point."""


Calls = dict[str, Callable[..., Any]]
Me = TypeVar("Me", bound="Hooked")


class Hooked:
    """An object that has `HOOK_POINTS`."""

    HOOK_POINTS: ClassVar[tuple[str, ...]] = ()

    subscribers: tuple[Subscriber, ...] = ()
    """All of them, the outermost first."""

    _in_use: Calls = {}  # noqa: RUF012  never changed, only replaced
    _provided: Calls = {}  # noqa: RUF012  the same

    _lock: RLock  # the time limit's thread subscribes while ranks do
    _present: dict[Subscriber, None]  # in the order in which they subscribed
    _composed: dict[tuple[Subscriber, ...], tuple[tuple[Subscriber, ...], Calls]]
    """`_present` -> its composition. A cache, since some objects subscribe and unsubscribe at every collective call."""

    def __new__(cls: type[Me], *args: Any, **kwargs: Any) -> Me:
        """Create the object with the records of its subscribers."""
        self = super().__new__(cls)
        self._lock, self._present, self._composed = RLock(), {}, {}
        return self

    def set_functions(self, **functions: Callable[..., Any]) -> None:
        """Set hook points of this object that are functions chosen at its construction, not methods of its class."""
        self._provided = functions
        for point, function in functions.items():
            setattr(self, point, function)  # not by `vars`: Python finds attributes faster while nothing has used that

    def subscribe(self, subscriber: Subscriber) -> None:
        """Add a subscriber at every point that it has a method for. A second call with the same one does nothing.

        This and `unsubscribe` may be called in any OS thread, and in signal handlers.
        """
        if subscriber not in self._present:
            self._present[subscriber] = None
            self._install()

    def unsubscribe(self, subscriber: Subscriber) -> None:
        """Undo `subscribe`; does nothing if there is nothing to undo."""
        if subscriber in self._present:
            self._present.pop(subscriber, None)
            self._install()

    def has_layer(self, layer: Layer) -> bool:
        """Whether any subscriber is of this layer."""
        return any(subscriber.layer is layer for subscriber in self.subscribers)

    def below_layer(self, layer: Layer, point: str) -> Callable[..., Any]:
        """Return a point as a subscriber of this layer reaches it by `proceed`: through the layers below only."""
        below = tuple(subscriber for subscriber in self.subscribers if subscriber.layer > layer)
        return self._compose(below).get(point) or self._method(point)

    def _install(self) -> None:
        """Set the composed calls of all points. Repeat it if a signal handler has called this in between."""
        _acquire(self._lock)
        try:
            while True:
                present = tuple(self._present)
                composed = self._composed.get(present)
                if composed is None:
                    ordered = tuple(sorted(reversed(present), key=_layer))
                    composed = self._composed[present] = ordered, self._compose(ordered)
                calls = composed[1]
                for point in self._in_use:
                    if point not in calls:
                        self._remove(point)
                for point, call in calls.items():
                    setattr(self, point, call)
                self.subscribers, self._in_use = composed
                if tuple(self._present) == present:
                    return
        finally:
            _release(self._lock)

    def _remove(self, point: str) -> None:
        if point in self._provided:
            setattr(self, point, self._provided[point])
        else:
            with suppress(AttributeError):  # a signal handler has removed it in between
                delattr(self, point)

    def _compose(self, subscribers: tuple[Subscriber, ...]) -> Calls:
        """Return, for each point that has subscribers, the call that goes through all of them."""
        calls: Calls = {}
        for subscriber in reversed(subscribers):  # the innermost first
            for point in _points_of(subscriber, self.HOOK_POINTS):
                calls[point] = partial(getattr(subscriber, point), calls.get(point) or self._method(point))
        return calls

    def _method(self, point: str) -> Any:
        return self._provided.get(point) or getattr(type(self), point).__get__(self)


def _points_of(subscriber: Subscriber, points: tuple[str, ...]) -> tuple[str, ...]:
    """Return the points that a subscriber has a method for: usually those of its class."""
    if getattr(subscriber, "__dict__", {}).keys().isdisjoint(points):
        return _points_of_class(type(subscriber), points)
    return tuple(point for point in points if hasattr(subscriber, point))


@lru_cache(1024)
def _points_of_class(kind: type, points: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(point for point in points if hasattr(kind, point))


def _layer(subscriber: Subscriber) -> int:
    return subscriber.layer
