"""Whether a process has moved since the last sample.

A thread that is sampled twice at the same instruction may have run in between: `while not comm.Iprobe(): time.sleep(0.1)`
is always seen in the same call, since the interpreter lock is released there. Therefore a pending call of CPython is
registered for the main thread, once two samples are equal: the interpreter calls it as soon as the main thread executes
bytecode, and never while it is blocked in C. If it was called, the main thread has moved.

A loop that executes bytecode and cannot change anything (`while True: pass`) has not moved: see `loops_without_effect`.

A long call of compiled code, such as the solution of a linear system, executes no bytecode. It is told from a wait by the
processor time of the main thread, unless the call is one of mpi4py: an MPI library polls while it waits.
"""

from __future__ import annotations

from collections.abc import Callable
from types import CodeType, FrameType
from typing import Any

OUTERMOST = 200
"""The number of frames of a stack that are compared."""

EFFECTLESS = ("LOAD_", "COMPARE_", "POP_JUMP", "JUMP_", "UNARY_", "BINARY_", "CONTAINS_", "IS_OP", "TO_BOOL", "NOP",
              "COPY", "SWAP", "POP_TOP", "CACHE", "EXTENDED_ARG", "DUP_TOP", "ROT_", "PUSH_NULL", "PRECALL",
              "NOT_TAKEN")  # fmt: skip
"""Beginnings of the names of instructions that change only the evaluation stack."""


class Tripwire:
    """Counts how often the main thread was found executing bytecode; at most one pending call at any time."""

    def __init__(self) -> None:
        self.fired = 0
        self.armed = False
        self.usable = True
        self._callback: Any = None

    def _prepare(self) -> None:
        try:
            import ctypes  # takes milliseconds: only once a process has not moved

            self._callback = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_void_p)(self._called)
            self._add = ctypes.pythonapi.Py_AddPendingCall
        except (ImportError, AttributeError, OSError, MemoryError):
            self.usable = False  # another interpreter: samples of frames only

    def _called(self, _: object) -> int:
        self.fired += 1
        self.armed = False
        return 0

    def arm(self) -> None:
        """Request the call, unless one is pending."""
        if self._callback is None and self.usable:
            self._prepare()
        if self.usable and not self.armed:
            self.armed = True
            if self._add(self._callback, None):
                self.armed = False  # the queue is full


class Motion:
    """The samples of one process."""

    def __init__(self, main: int, describe: Callable[[FrameType], dict[str, Any] | None]) -> None:
        self.main, self.describe = main, describe
        self.last: dict[int, tuple[int, int, int]] = {}  # thread -> callers, innermost frame and its instruction
        self.tripwire = Tripwire()
        self.seen = 0
        self.stored = 0
        self.clock = ThreadClock(main)

    def sample(self, threads: dict[int, FrameType]) -> dict[str, Any]:
        """Return whether the process has moved since the last call, and whether it executes a loop without effect."""
        import _thread

        this = _thread.get_ident()
        frames = {ident: frame for ident, frame in threads.items() if ident != this}
        current = {ident: (signature(frame.f_back), id(frame), frame.f_lasti) for ident, frame in frames.items()}
        main, before = current.get(self.main), self.last.get(self.main)
        looping = main is not None and main[:2] == (before or ())[:2] and loops_without_effect(frames[self.main])
        busy = self.clock.is_busy() and main == before and main is not None and not looping
        computing = busy and (self.describe(frames[self.main]) or {}).get("module") not in ("mpi4py.MPI", "mpi4py")
        frames.clear()
        threads.clear()
        if looping and main is not None:  # the instruction within such a loop does not matter
            current[self.main] = (*main[:2], -1)
            if before is not None:
                self.last[self.main] = (*before[:2], -1)
        stored = stored_bytes()
        moved = current != self.last or stored != self.stored
        self.last, self.stored = current, stored
        if self.tripwire.fired != self.seen:
            self.seen = self.tripwire.fired
            moved = moved or not looping
        if not moved:
            self.tripwire.arm()
        return {"moved": moved, "looping": looping, "computing": computing}


class ThreadClock:
    """The processor time of a thread."""

    def __init__(self, thread: int) -> None:
        import time

        self.wall, self.read = time.monotonic, time.clock_gettime
        self.identity = time.pthread_getcpuclockid(thread)
        self.last = self.wall(), self.read(self.identity)

    def is_busy(self) -> bool:
        """Return whether the thread has used a tenth of the time since the last call of this method, or more."""
        before, self.last = self.last, (self.wall(), self.read(self.identity))
        return self.last[1] - before[1] > (self.last[0] - before[0]) / 10


def signature(frame: FrameType | None) -> int:
    """Return a number that changes if the stack or an instruction of it changes."""
    stack: list[object] = []
    while frame is not None and len(stack) < 3 * OUTERMOST:
        stack += (id(frame), id(frame.f_code), frame.f_lasti)
        frame = frame.f_back
    return hash(tuple(stack))


def stored_bytes() -> int:
    """Return the bytes that this process has read from and written to storage, which a long call into C may still do."""
    try:
        with open("/proc/self/io", encoding="ascii") as file:
            lines = dict(line.split(": ") for line in file)
        return int(lines["read_bytes"]) + int(lines["write_bytes"])
    except (OSError, KeyError, ValueError):
        return 0


_loops: dict[CodeType, list[tuple[int, int]]] = {}


def loops_without_effect(frame: FrameType) -> bool:
    """Return whether the frame is in a loop whose instructions only load, compare and jump, such as `while not done: pass`.

    Such a loop ends at its first pass or not at all, unless another thread or process changes a value that it loads.
    An attribute that is a property may do more: this is a heuristic.
    """
    code = frame.f_code
    if code not in _loops:
        _loops[code] = _effectless_loops(code)
    return any(first <= frame.f_lasti <= last for first, last in _loops[code])


def _effectless_loops(code: CodeType) -> list[tuple[int, int]]:
    import dis

    instructions = list(dis.get_instructions(code))
    jumps = {*dis.hasjabs, *dis.hasjrel}
    found = []
    for one in instructions:
        if one.opcode in jumps and one.argval <= one.offset:
            body = [each for each in instructions if one.argval <= each.offset <= one.offset]
            if all(each.opname.startswith(EFFECTLESS) for each in body):
                found.append((one.argval, one.offset))
    return found
