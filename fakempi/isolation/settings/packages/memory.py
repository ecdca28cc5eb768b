"""State of random generators in the memory of compiled modules, which is copied without a call of the module.

The functions of torch that return and set the state take 8 us, as long as a message; a copy of the memory takes 0.5 us.
"""

from __future__ import annotations

import ctypes
import struct
from typing import Any

from fakempi.isolation.settings.exchange import MISSING, ProcessSetting, Value


class GeneratorMemory(ProcessSetting):
    """A block of memory that stays where it is; `fresh` is its content in a new process."""

    __slots__ = ("block",)

    def __init__(self, address: int, size: int, fresh: Any = MISSING) -> None:
        super().__init__(("memory", address), fresh)
        self.block = (ctypes.c_char * size).from_address(address)

    def read(self) -> bytes:
        """Return a copy."""
        return self.block.raw

    def write(self, value: bytes) -> None:
        """Replace the content."""
        self.block.raw = value


class _NumbaState(ctypes.Structure):
    """`rnd_state_t` of numba/_random.h."""

    _fields_ = (
        ("index", ctypes.c_int), ("mt", ctypes.c_uint * 624), ("has_gauss", ctypes.c_int),
        ("gauss", ctypes.c_double), ("is_initialized", ctypes.c_int),
    )  # fmt: skip


def numba_generators(helpers: Any) -> list[ProcessSetting]:
    """Return the generators of this OS thread that compiled functions use for `numpy.random` and `random`.

    In a new process they are not initialized: the first use takes a seed from the operating system.
    """
    size, found = ctypes.sizeof(_NumbaState), list[ProcessSetting]()
    for pointer in (helpers.rnd_get_np_state_ptr(), helpers.rnd_get_py_state_ptr()):
        index, words = helpers.rnd_get_state(pointer)
        state = _NumbaState.from_address(pointer)
        if state.index == index and list(state.mt) == list(words):
            found.append(GeneratorMemory(pointer, size, bytes(size)))
    return found


_OBJECT = 256  # bytes at the start of a generator object of torch that are searched for its state
_WORDS = 624
_HEAD = struct.Struct("<Qi4xI")  # seed, numbers left before the next 624 words, index of the next word
_STATE = _HEAD.size + 4 * _WORDS
_AFTER = 28  # to the end of the cached numbers of the normal distribution


def torch_generator(torch: Any) -> ProcessSetting:
    """Return the default generator of torch: a block of memory, or its functions if the memory is not as expected."""
    generator = torch.default_generator
    offset = _offset(torch, torch.Generator())
    if offset is not None and offset == _position(generator):
        return GeneratorMemory(generator._cdata + offset, _STATE + _AFTER)
    frombuffer, uint8 = torch.frombuffer, torch.uint8
    return Value(
        "torch.default_generator",
        lambda: generator.get_state().numpy().tobytes(),
        lambda state: generator.set_state(frombuffer(bytearray(state), dtype=uint8)),
    )


def _position(generator: Any) -> int | None:
    """Return where the state is in the memory of a generator, None if it is not found."""
    state = generator.get_state().numpy().tobytes()
    seed, left, _, following = struct.unpack_from("<QiiQ", state)
    words = struct.pack(f"<{_WORDS}I", *struct.unpack_from(f"<{_WORDS}Q", state, 24))
    place: int = ctypes.string_at(generator._cdata, _OBJECT).find(words[:16]) - _HEAD.size
    if place < 0:
        return None
    found = ctypes.string_at(generator._cdata + place, _STATE)
    head = _HEAD.unpack_from(found)
    return place if found[_HEAD.size :] == words and head == (seed, left, following) else None


def _offset(torch: Any, scratch: Any) -> int | None:
    """Return the offset if a copy of the memory restores all numbers that a generator draws, else None."""
    scratch.manual_seed(12345)

    def draw() -> list[Any]:
        return [torch.randn(1, generator=scratch, dtype=kind).item() for kind in (torch.float32, torch.float64)]

    draw()
    torch.randn(1, generator=scratch)
    offset = _position(scratch)
    if offset is None:
        return None
    block = GeneratorMemory(scratch._cdata + offset, _STATE + _AFTER)
    before, state = block.read(), scratch.get_state()
    first = draw() + draw()
    scratch.manual_seed(54321)
    block.write(before)
    return offset if bool((scratch.get_state() == state).all()) and first == draw() + draw() else None
