"""How objects are sent, and MPI.pickle."""

from __future__ import annotations

import pickle as standard
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from fakempi.errors import MPITypeError
from fakempi.mpi.base.current import os_thread
from fakempi.mpi.buffers import pickling
from fakempi.mpi.buffers.memory import buffer
from fakempi.mpi.buffers.objects import Pickle, PickleSettings, pack, pickle, unpack
from fakempi.mpi.buffers.payload import describe
from fakempi.mpi.buffers.phantom import phantom
from tests.helpers.loops import for_each

HIGHEST = standard.HIGHEST_PROTOCOL
SIMPLE = (
    st.none() | st.booleans() | st.integers() | st.floats() | st.complex_numbers() | st.binary(max_size=300) | st.text()
)


@pytest.fixture(autouse=True)
def default_settings() -> Iterator[None]:
    """Settings of a test are reset after it."""
    yield
    pickling.process_wide.settings = None


# -- simple values -----------------------------------------------------------------------------------------------------


@given(SIMPLE)
@example("\ud800")
@example("é" * 200)
@example(b"")
@example("")
def test_simple_values_are_sent_unpickled_with_the_size_of_their_pickle(value: Any) -> None:
    """The formulas agree with pickle to the byte."""
    payload, nbytes = pack(value)
    assert type(payload) is tuple
    assert payload[0] is value
    assert nbytes == len(standard.dumps(value, HIGHEST))
    assert unpack(payload, nbytes) is value


@for_each("bits", [0, 1, 7, 8, 15, 16, 31, 32, 63, 64, 500, 2031, 2032, 2039, 2040, 3000])
def test_integers_have_the_size_of_their_pickle_around_powers_of_two(bits: int) -> None:
    """Where the encoding changes; very long ones are pickled."""
    for value in range(2**bits - 2, 2**bits + 3):
        for number in (value, -value):
            assert pack(number)[1] == len(standard.dumps(number, HIGHEST))
            assert unpack(*pack(number)) == number


@pytest.mark.parametrize("size", [0, 1, 254, 255, 256, 257, 65533, 65534, 65535, 65536, 65537, 70000, 1 << 20])
def test_strings_have_the_size_of_their_pickle_where_the_rules_change(size: int) -> None:
    """Short lengths, long lengths, and strings that are too long for a frame."""
    for value in ("x" * size, b"x" * size, "é" * (size // 2)):
        payload, nbytes = pack(value)
        assert payload == (value,)
        assert nbytes == len(standard.dumps(value, HIGHEST))


@given(st.lists(SIMPLE, max_size=6).map(tuple))
def test_tuples_have_the_size_of_their_pickle(values: tuple[Any, ...]) -> None:
    """Computed or measured."""
    payload, nbytes = pack(values)
    assert nbytes == len(standard.dumps(values, HIGHEST))
    assert str(unpack(payload, nbytes)) == str(values)


def test_short_tuples_of_numbers_are_sent_unpickled() -> None:
    """Ranks, tags, costs and flags."""
    value: Any
    for value in ((1,), (3, 2.5), (None, True, -70000), (1, 2, 3, 2**70)):
        assert pack(value)[0] == (value,)
        assert unpack(*pack(value)) is value
    for value in ((), (1, 2, 3, 4, 5), ("a", "a"), ([],), (2**3000,)):
        assert type(pack(value)[0]) is bytes


class SubclassOfInt(int):
    """A subclass of a simple type is not simple."""


@pytest.mark.parametrize(
    "value", [[1, 2], {"a": 1}, {1}, SubclassOfInt(3), bytearray(b"ab"), (1, [2]), np.float64(2), np.arange(3)]
)
def test_other_objects_are_pickled_and_arrive_as_copies(value: Any) -> None:
    """Later changes of the sender are not visible."""
    payload, nbytes = pack(value)
    assert payload == standard.dumps(value, HIGHEST)
    assert nbytes == len(payload)
    arrived = unpack(payload, nbytes)
    assert type(arrived) is type(value)
    assert np.array_equal(arrived, value) if isinstance(value, np.ndarray) else arrived == value
    assert arrived is not value


def test_a_buffer_that_holds_a_pickle_is_received_as_an_object() -> None:
    """One side uses Send, the other recv."""
    wire = standard.dumps([1, 2])
    room = np.frombuffer(wire + bytes(5), "u1")
    assert unpack(room, len(wire)) == [1, 2]
    assert unpack(*describe([room, len(wire), "B"])) == [1, 2]
    with pytest.raises(standard.UnpicklingError):
        unpack(np.frombuffer(b"garbage", "u1"), 7)
    with pytest.raises(MPITypeError, match=r"^unpack: a phantom of 9 bytes arrived: it has no contents\.$"):
        unpack(phantom(9), 9)


# -- settings ----------------------------------------------------------------------------------------------------------


class Recorder:
    """A pair of functions that record their calls."""

    def __init__(self) -> None:
        self.calls: list[Any] = []

    def dumps(self, *args: Any) -> bytes:
        self.calls.append(args)
        return standard.dumps(*args)

    def loads(self, *args: Any) -> Any:
        self.calls.append("loads")
        return standard.loads(*args)


def test_a_pickle_uses_the_highest_protocol() -> None:
    """mpi4py's defaults."""
    made = Pickle()
    assert (made.PROTOCOL, made.THRESHOLD) == (HIGHEST, 262144)
    assert made.dumps([1]) == standard.dumps([1], HIGHEST)
    assert made.loads(memoryview(made.dumps([1]))) == [1]
    assert made.loads(buffer(made.dumps([1]))) == [1]


def test_custom_functions_get_a_protocol_only_if_one_is_set() -> None:
    """dill and cloudpickle have their own defaults."""
    log = Recorder()
    made = Pickle(log.dumps, log.loads)
    assert made.PROTOCOL is None
    assert made.loads(made.dumps(7)) == 7
    assert log.calls == [(7,), "loads"]
    made.PROTOCOL = 2
    made.dumps(7)
    assert log.calls[-1] == (7, 2)
    made.PROTOCOL = None
    made.dumps(8)
    assert log.calls[-1] == (8,)
    loads: Any = standard.loads
    assert Pickle(standard.dumps, loads).PROTOCOL == HIGHEST
    assert Pickle(log.dumps, log.loads, 3, 9).PROTOCOL == 3
    assert Pickle(None, log.loads).PROTOCOL == HIGHEST


def test_none_restores_the_defaults() -> None:
    """Of protocol and threshold, and of all settings."""
    settable: Any = Pickle  # mpi4py's stubs require the functions as well
    made: Any = settable(protocol=2, threshold=5)
    assert (made.PROTOCOL, made.THRESHOLD) == (2, 5)
    made.PROTOCOL, made.THRESHOLD = None, None
    assert (made.PROTOCOL, made.THRESHOLD) == (HIGHEST, 262144)
    made.__init__(Recorder().dumps)
    assert made.PROTOCOL is None
    made.__init__()
    assert made.PROTOCOL == HIGHEST


def test_large_memory_stays_out_of_band() -> None:
    """From the threshold on; smaller pieces are part of the pickle."""
    small, large = np.arange(3), np.zeros(262144, "u1")
    data, pieces = Pickle().dumps_oob([small, large])
    assert [type(piece) for piece in pieces] == [buffer]
    assert pieces[0].nbytes == large.nbytes
    assert len(data) < 1000
    again = Pickle().loads_oob(data, pieces)
    assert np.array_equal(again[0], small)
    assert np.shares_memory(again[1], large)
    assert Pickle().dumps_oob(large[:-1])[1] == []
    settable: Any = Pickle  # mpi4py's stubs require the functions as well
    eager = settable(protocol=2, threshold=0)
    assert len(eager.dumps_oob(small)[1]) == 1
    assert eager.dumps_oob(5) == (standard.dumps(5, 5), [])
    assert settable(protocol=-1).dumps_oob(5) == (standard.dumps(5, HIGHEST), [])


def test_a_pickle_cannot_be_pickled() -> None:
    """As in mpi4py."""
    with pytest.raises(TypeError, match=r"^cannot pickle an MPI.Pickle: .*$"):
        standard.dumps(Pickle())


def test_settings_made_outside_a_run_are_the_default_of_ranks() -> None:
    """`MPI.pickle.__init__(dill.dumps, dill.loads)` at the top of a script."""
    log = Recorder()
    pickle.__init__(log.dumps, log.loads)  # type: ignore[misc]
    payload, nbytes = pack(5)
    assert payload == standard.dumps(5)
    assert unpack(payload, nbytes) == 5
    assert unpack((5,), 5) == 5
    assert log.calls == [(5,), "loads", "loads"]
    pickle.__init__()  # type: ignore[misc]
    assert pack(5) == ((5,), 5)


@pytest.fixture
def ranks() -> Iterator[list[Any]]:
    """Two processes; the first one in the list is running."""
    processes = [SimpleNamespace(name=f"rank {i}", pickle=None) for i in range(2)]
    before = os_thread.loop
    os_thread.loop = cast(Any, SimpleNamespace)(running=SimpleNamespace(owner=processes[0]))
    yield processes
    os_thread.loop = before


def current_settings() -> tuple[Any, Any]:
    """Protocol and threshold of the running process."""
    return pickle.PROTOCOL, pickle.THRESHOLD


def switch(process: Any) -> None:
    """Let another process run."""
    loop: Any = os_thread.loop
    loop.running.owner = process


def test_settings_belong_to_the_rank_that_makes_them(ranks: list[Any]) -> None:
    """Ranks share a module, but not its settings."""
    log = Recorder()
    assert (pickle.PROTOCOL, ranks[0].pickle) == (HIGHEST, None)
    pickle.PROTOCOL = 3
    assert isinstance(ranks[0].pickle, PickleSettings)
    assert pack(5, ranks[0].pickle) == (standard.dumps(5, 3), 5)
    switch(ranks[1])
    assert (pickle.PROTOCOL, ranks[1].pickle) == (HIGHEST, None)
    pickle.__init__(log.dumps, log.loads, threshold=7)  # type: ignore[misc]
    assert current_settings() == (None, 7)
    assert pickle.loads(pickle.dumps([1])) == [1]
    switch(ranks[0])
    assert current_settings() == (3, 262144)
    pickle.THRESHOLD = 9
    assert current_settings() == (3, 9)
    pickle.__init__()  # type: ignore[misc]
    assert ranks[0].pickle is None
    assert pickling.process_wide.settings is None


def test_a_rank_starts_with_the_settings_made_outside(ranks: list[Any]) -> None:
    """It can restore the defaults for itself."""
    pickling.process_wide.settings = PickleSettings(protocol=2, threshold=4)
    pickle.PROTOCOL = 3
    assert (pickle.PROTOCOL, pickle.THRESHOLD, pickling.process_wide.settings.protocol) == (3, 4, 2)
    pickle.__init__()  # type: ignore[misc]
    assert current_settings() == (HIGHEST, 262144)
    assert pack(5, ranks[0].pickle) == (standard.dumps(5, HIGHEST), 5)
    switch(ranks[1])
    assert current_settings() == (2, 4)
    assert isinstance(pickle, Pickle)


def test_an_unpickled_object_passes_through_the_receivers_functions() -> None:
    """Only the receiver has changed its settings."""
    log = Recorder()
    assert unpack((5,), 5, PickleSettings(log.dumps, log.loads)) == 5
    assert log.calls == ["loads"]
