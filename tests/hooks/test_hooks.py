"""Hooks: subscribers compose by layer, in any order of subscription; without subscribers a point is the method itself.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack
from inspect import signature
from types import FrameType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import fakempi
from fakempi.core import hooks
from fakempi.core.hooks import Hooked, HookedCalls, Layer
from fakempi.core.kernel.loop import Loop
from fakempi.core.network.delivery import Delivery
from fakempi.mpi.base.process import Universe
from fakempi.mpi.public_calls import PublicCalls


class Box(Hooked):
    """Stores items."""

    HOOK_POINTS = ("put", "look")

    def __init__(self) -> None:
        self.content: list[str] = []

    def put(self, item: str) -> None:
        """Store an item."""
        self.content.append(item)

    def look(self) -> list[str]:
        """The stored items."""
        return list(self.content)


class Prefix:
    """Appends its name to each item; subscribes to no other point."""

    def __init__(self, name: str, layer: Layer) -> None:
        self.name, self.layer = name, layer

    def put(self, proceed: Callable[[str], None], item: str) -> None:
        """Proceed with another item."""
        proceed(f"{item}{self.name}")


class Refuse:
    """Stops every call."""

    layer = Layer.TIME_LIMIT

    def put(self, proceed: Callable[[str], None], item: str) -> None:
        """Do not proceed."""


def test_a_method_of_one_object_is_called_too() -> None:
    """The points of a class are stored, and an object may have another method than its class."""
    box, one, other = Box(), Prefix("a", Layer.CHECKS), Prefix("b", Layer.CHECKS)
    other.look = lambda proceed: [*proceed(), "more"]  # type: ignore[attr-defined]  # an attribute of this object only
    for subscriber, found in ((one, ["x"]), (other, ["x", "more"])):
        box.content = ["x"]
        box.subscribe(subscriber)
        assert box.look() == found
    box.put("y")
    assert box.content == ["x", "yba"]


@given(st.lists(st.tuples(st.integers(0, 5), st.booleans()), max_size=20))
def test_subscribers_are_called_by_layer_for_any_order_of_subscription(steps: list[tuple[int, bool]]) -> None:
    """The outermost first; within a layer the latest first. The model is a sorted list."""
    box = Box()
    known = [Prefix(str(number), list(Layer)[number // 2]) for number in range(6)]
    present: list[Prefix] = []
    for number, comes in steps:
        one = known[number]
        if comes and one not in present:
            box.subscribe(one)
            present.insert(0, one)
        elif not comes:
            box.unsubscribe(one)
            present = [other for other in present if other is not one]
        box.put("")
        assert box.content[-1] == "".join(each.name for each in sorted(present, key=lambda each: each.layer))
        assert ("put" in vars(box)) == bool(present)
        assert "look" not in vars(box)
        assert list(box.subscribers) == sorted(present, key=lambda each: each.layer)


def test_subscribers_of_several_threads_are_all_there() -> None:
    """A time limit subscribes in a separate thread while ranks subscribe and unsubscribe."""
    box, names = Box(), "abcd"
    ready = threading.Barrier(len(names))

    def come_and_go(one: Prefix, other: Prefix) -> None:
        ready.wait()
        for _ in range(200):
            box.subscribe(one)
            box.subscribe(other)
            box.unsubscribe(one)
            box.unsubscribe(other)
        box.subscribe(one)

    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        pairs = [(Prefix(name, Layer(i)), Prefix(name.upper(), Layer.TRACE)) for i, name in enumerate(names)]
        threads = [threading.Thread(target=come_and_go, args=pair) for pair in pairs]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(before)
    box.put("")
    assert (box.content, box.subscribers) == ([names], tuple(one for one, _ in pairs))


def test_a_signal_handler_may_subscribe_at_every_step_of_a_subscription() -> None:
    """Both subscribers are there afterwards."""
    step, interrupted = 0, True
    while interrupted:
        step += 1
        box = Box()
        interrupted = _subscribe_with_interrupt(step, box, *PAIR)
        box.put("")
        expected = (["sf"], PAIR[::-1]) if interrupted else (["f"], PAIR[:1])
        assert (box.content, box.subscribers) == expected, step
    assert step > 50


PAIR = Prefix("f", Layer.CHECKS), Prefix("s", Layer.TIME_LIMIT)


def _subscribe_with_interrupt(step: int, box: Box, first: Prefix, second: Prefix) -> bool:
    """Subscribe `first`, and `second` at a step of that; return whether there are that many steps."""
    left = step

    def trace(frame: FrameType, event: str, argument: object) -> Any:
        nonlocal left
        frame.f_trace_opcodes = True
        if frame.f_code.co_filename != hooks.__file__:
            return None
        left -= event == "opcode"
        if left == 0 and event == "opcode":
            box.subscribe(second)
        return trace

    before = sys.gettrace()
    sys._getframe().f_trace_opcodes = True  # before `settrace`: Python 3.12 reports no opcodes otherwise
    sys.settrace(trace)
    try:
        box.subscribe(first)
    finally:
        sys.settrace(before)
    return left <= 0


def test_a_subscriber_may_refuse() -> None:
    """It is called before the subscribers that would act."""
    box, refuse = Box(), Refuse()
    box.subscribe(refuse)
    box.subscribe(Prefix("x", Layer.TRACE))
    box.put("")
    assert box.look() == []
    assert box.has_layer(Layer.TIME_LIMIT)
    box.unsubscribe(refuse)
    box.put("")
    assert box.look() == ["x"]
    assert not box.has_layer(Layer.TIME_LIMIT)


def test_a_point_may_be_a_function_chosen_at_construction() -> None:
    """It is restored when the last subscriber leaves."""
    box, prefix = Box(), Prefix("x", Layer.TRACE)
    put: list[str] = []
    box.set_functions(put=put.append)
    box.put("a")
    box.subscribe(prefix)
    box.put("b")
    box.unsubscribe(prefix)
    box.put("c")
    assert put == ["a", "bx", "c"]
    assert box.look() == []


@pytest.mark.parametrize("kind", [Loop, Delivery, Universe])
def test_every_hook_point_has_a_protocol_with_the_same_parameters(kind: type[Hooked]) -> None:
    """Each has a class in fakempi.core.hooks that cannot be instantiated without the method."""
    for point in kind.HOOK_POINTS:
        protocol = getattr(hooks, "On" + point.title().replace("_", ""))
        described = list(signature(getattr(protocol, point)).parameters)
        assert described[:2] == ["self", "proceed"]
        assert protocol.__abstractmethods__ == {point}
        if hasattr(kind, point):
            own = list(signature(getattr(kind, point)).parameters)[1:]
            assert described[2:] == ([*own[:1], "more"] if "more" in described else own)
        else:
            assert point == "matched"  # a parameter of the constructor


def test_public_calls_are_entered_while_there_are_subscribers() -> None:
    """The latest subscriber first, also for class methods; afterwards the classes have their original methods."""
    log: list[str] = []

    class Enter:
        def __init__(self, name: str) -> None:
            self.name = name

        def enter(self) -> AbstractContextManager[object] | None:
            log.append(self.name)
            return ExitStack() if self.name == "a" else None

    class Called(HookedCalls):
        def one(self, number: int) -> int:
            return number + 1

        @classmethod
        def two(cls, *, number: int) -> tuple[type, int]:
            return cls, number

        def _three(self) -> int:
            return 3

    before = dict(vars(Called))
    calls, first, second = PublicCalls(Called), Enter("a"), Enter("b")
    calls.subscribe(first)
    calls.subscribe(second)
    assert (Called().one(1), Called.two(number=5), Called()._three()) == (2, (Called, 5), 3)
    assert log == ["b", "a", "b", "a"]
    calls.unsubscribe(second)
    assert Called().one(2) == 3
    assert log[4:] == ["a"]
    calls.unsubscribe(first)
    assert dict(vars(Called)) == before


def test_features_that_subscribe_to_the_same_points_compose() -> None:
    """A trace, measured CPU time and failed ranks in one run, with the outcome of the run in which ranks only fail."""

    def main(comm: fakempi.MPI.Intracomm) -> object:
        found: list[object] = []
        if comm.rank == 2:
            fakempi.die()
        for other in range(comm.size):
            try:
                found.append(comm.sendrecv(comm.rank, other, source=other))
            except fakempi.MPI.Exception as error:
                found.append(error.Get_error_class() == fakempi.MPI.ERR_PROC_FAILED)
        return found

    plain = fakempi.run(main, 4)
    all_of_it = fakempi.run(main, 4, trace=True, cpu_scale=1e-9, timeout=60)
    assert all_of_it.returns == plain.returns
    assert plain.returns[0] == [0, 1, True, 3]
    assert all_of_it.trace is not None
    assert len(all_of_it.trace.transfers) == all_of_it.messages


def test_a_collective_call_is_fused_while_a_buffered_send_is_followed() -> None:
    """The check of unsafe sends subscribes to the network, but changes nothing that a fused call depends on."""
    followed: list[bool] = []

    def main(comm: fakempi.MPI.Intracomm) -> object:
        network = comm._process.network
        if comm.rank == 0:
            comm.send("early", 1)
        comm.Barrier()
        followed.append(network.has_layer(Layer.UNSAFE_SENDS))
        comm.Barrier()
        return comm.recv(source=0) if comm.rank == 1 else None

    assert fakempi.run(main, 16, fused="always").returns[1] == "early"
    assert any(followed)
