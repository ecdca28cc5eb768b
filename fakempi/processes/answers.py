"""Makes the calls of a child on the emulator, and sends the results back; calls functions of the child meanwhile."""

from __future__ import annotations

import marshal
import warnings
from typing import Any

import numpy as np

from fakempi import MPI
from fakempi.core.kernel.loop import Ended
from fakempi.mpi.base.environment import compute
from fakempi.mpi.base.process import Process
from fakempi.mpi.base.status import Status
from fakempi.mpi.windows.win import Win
from fakempi.processes.child_process import ChildProcess
from fakempi.processes.compact import ArrayMirror, CompactMessages
from fakempi.processes.generate import BLOCKING, EXTRA, interface
from fakempi.processes.mirrors import Mirror, overwrite
from fakempi.processes.objects import Objects
from fakempi.processes.pending_memory import PendingMemory
from fakempi.processes.protocol import (
    CALL,
    CALLBACK,
    CALLBACK_RESULT,
    CLASS_METHOD,
    DELETE,
    ENDED,
    ERROR,
    EXTENDED,
    GET,
    MARSHAL_VERSION,
    METHOD,
    NEW,
    OPERATORS,
    PICKLE_MARK,
    PLAIN,
    PLAINLY,
    RESULT,
    SET,
    WARNED,
)
from fakempi.processes.shared_memory import SharedMemory
from fakempi.processes.sites import Caller, caller, exception, to_send

WARNING = ("recv", "irecv", "sendrecv")
"""Calls that warn if they have the argument `buf`, which mpi4py has deprecated."""

NO_OPTIONS: dict[str, Any] = {}

ADDRESSES = "the emulator cannot use addresses of memory in the process of a rank."
"""The reason why calls that use addresses are rejected."""

REJECTIONS = 100
"""Number of calls after the end of the run that a child may make before it is killed."""


class CallServer:
    """Makes the calls of the child of one rank.

    Attributes
    ----------
    abandoned : tasks that wait in a call of a thread of the child whose program has ended; they are not resumed
    """

    def __init__(self, process: Process, child: ChildProcess) -> None:
        self.process, self.child = process, child
        self.interface = interface()
        shared = process.universe.state(SharedMemory)
        self.objects = Objects(self.interface, process.comm_world, self.callback, shared.locate)
        self.compact = CompactMessages(self.objects, self.interface.calls, self.interface.blocking, child.arena)
        self.sites: dict[int, Caller] = {0: caller("?", 0, "?", "")}
        self.call_from = self.sites[0]  # the last line that made a call
        self.memory = PendingMemory(self.objects)
        self.by_address: list[Mirror] = []  # memory that the current call specifies by its address
        self.last_error: tuple[int, BaseException | None] = (0, None)  # the last exception that a call has raised
        self.warned: list[Any] = []  # warnings of the current call
        self.warns = False  # whether the current call may issue a warning
        self.ended = 0  # the number of calls that were rejected because the run has ended
        self.abandoned: list[Any] = []

    # -- calls --------------------------------------------------------------------------------------------------------

    def _answer_message(self, data: Any) -> Any:
        """Answer a call; return a message that is none."""
        if data[0] == PICKLE_MARK:
            message = self.objects.read(data)
            if message[0] != CALL:
                return message
            self._answer(*message[1:])
            return None
        number, site, notes, target, args = self.compact.read(data)
        name, objects = self.interface.blocking.get(number), self.objects
        if name is None or notes is not None or type(site) is tuple or self.memory.windows or objects.targets:
            for mirror in objects.arrived:
                objects.keep(mirror)
            self._answer(number, target, args, None, site, notes)
        else:
            self._answer_blocking(name, target, args, site)
        return None

    def _answer_blocking(self, name: str, target: Any, args: Any, site: int) -> None:
        """Answer a frequent call, as `_answer` does, without the steps that such a call does not need."""
        arrived, self.objects.arrived = self.objects.arrived, []
        before, self.by_address = self.by_address, []
        call_from = self.call_from = self.sites[site]
        kind = RESULT
        try:
            value = call_from(getattr(target, name), args, NO_OPTIONS)
        except BaseException as error:
            kind, value = self._failed(error)
        if value is not None or kind != RESULT or self.by_address:
            self._send_answer(name, args, kind, value, before, arrived, [], ())
            return
        self.by_address = before
        answer: list[Any] = [float(self.process.loop.now)]
        if arrived:
            answer += [mirror.data for mirror in arrived if not mirror.shared]
        self.child.send(marshal.dumps(answer, MARSHAL_VERSION))

    def _answer(self, number: int, target: Any, args: tuple[Any, ...], kwargs: Any, site: Any, notes: Any) -> None:
        objects = self.objects
        arrived, targets = objects.arrived, objects.targets
        objects.arrived, objects.targets = [], []
        before, self.by_address = self.by_address, []
        if notes is not None:
            self._note(*notes)
        kind, value = RESULT, None  # type: int, Any
        self.warns = bool(arrived)
        lengths = ()  # type: Any
        for arg in args:
            if type(arg) is list:
                lengths = [(index, len(arg)) for index, arg in enumerate(args) if type(arg) is list]
                break
        try:
            value = self._make(number, target, args, kwargs or {}, site)
        except BaseException as error:
            kind, value = self._failed(error)
        self._send_answer(self.interface.calls[number].name, args, kind, value, before, arrived, targets, lengths)

    def _failed(self, error: BaseException) -> tuple[int, Any]:
        """Return the kind and the value of the answer to a call that has raised an exception."""
        if isinstance(error, Ended):
            if self.process.loop.running in self.abandoned:
                raise error
            self.ended += 1
            if self.ended > REJECTIONS:
                self.child.end()
                raise error
            return ENDED, None
        self.last_error = self.last_error[0] + 1, error
        return ERROR, error

    def _send_answer(
        self, name: str, args: Any, kind: int, value: Any, before: list[Mirror], arrived: Any, targets: Any, lengths: Any
    ) -> None:
        by_address, self.by_address = self.by_address, before
        arrived += by_address
        kept: dict[int, int] = {}
        writes: list[Any] = []
        if self.warned:
            self.warned, writes = [], self.warned
        if targets or self.memory.windows or not (value is None and name in BLOCKING):
            writes += self.memory.writes(name, args, value, arrived, targets, kept)
        else:
            for mirror in arrived:
                changes = mirror.changes(mirror.exact)
                if changes:
                    writes.append((mirror.number, changes, False))
        writes += [(one.number, [], True) for one in by_address if one.number not in kept]
        extended = [(EXTENDED, (index, args[index]), False) for index, length in lengths if len(args[index]) != length]
        writes += extended
        clock = float(self.process.loop.now)
        answer = self.compact.result(value, writes, kept, clock) if kind == RESULT and not extended else None
        if answer is None:
            answer = self._pickled_answer(name, kind, value, writes, kept, clock)
        if arrived:
            self.memory.forget(arrived, kept)
        self.child.send(answer)

    def _pickled_answer(self, name: str, kind: int, value: Any, writes: Any, kept: Any, clock: float) -> bytes:
        if kind == ERROR:
            value = to_send(value, self.last_error[0])
        try:
            return self.objects.dumps((kind, value, writes, kept, clock))
        except Exception as error:  # the object cannot be sent to another process
            words = f"{name} {'raises' if kind == ERROR else 'returns'} {type(value).__name__} {value}"
            rejection = NotImplementedError(f"{words}, which cannot be sent to the process of a rank: {error}")
            return self.objects.dumps((ERROR, rejection, writes, kept, clock))

    def _make(self, number: int, target: Any, args: tuple[Any, ...], kwargs: dict[str, Any], site: Any) -> Any:
        """Make a call from the line of the child's program."""
        if type(site) is tuple:
            key, *line, _ = site
            self.sites[key] = caller(*line)
            site = key
        call_from = self.call_from = self.sites[site]
        kind, owner, name = self.interface.calls[number]
        if name == "Attach" and isinstance(target, Win):
            raise NotImplementedError(f"{name}: {ADDRESSES}")
        if name == "tomemory" and isinstance(target, Status):
            return target._move_to(self.process.universe.state(SharedMemory).zeros)
        if kind == METHOD:
            function: Any = getattr(target, name)
        elif kind == CLASS_METHOD:
            function = getattr(target if isinstance(target, type) else owner, name)
        elif kind == PLAIN:
            function = EXTRA.get(name) or getattr(MPI, name)
        elif kind == NEW:
            function = target
        else:
            function, args = {GET: getattr, SET: setattr, DELETE: delattr}[kind], (target, name, *args)
        if name not in WARNING or not self.warns:
            return call_from(function, args, kwargs)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            result = call_from(function, args, kwargs)
        self.warned += [(WARNED, (one.category.__name__, str(one.message)), False) for one in caught]
        return result

    def _note(self, released: list[int], refreshed: Any, clock_reads: int, cpu: float | None) -> None:
        objects = self.objects
        if released:
            objects.release(released)
        for number, data in refreshed or ():
            mirror = objects.mirrors.get(number)
            if mirror is not None:
                mirror.refresh(data)
        self.process.universe.clock_reads += clock_reads
        if cpu:
            compute(cpu)

    # -- callbacks ----------------------------------------------------------------------------------------------------

    def memory_at(self, address: int, nbytes: int) -> Any:
        """Return a copy of memory of the child at an address; changes are written back."""
        number, data = self.callback(-OPERATORS.index("memory_at") - 1, (address, nbytes), {}, PLAINLY)
        memory = bytearray(data)
        mirror = ArrayMirror(number, np.frombuffer(memory, "u1"), memory, False, True)
        mirror.exact = True
        self.objects.mirrors[number] = mirror
        self.by_address.append(mirror)
        return mirror.obj

    def variables_of_call(self) -> Any:
        """Return the first line of the function that makes the current call, and its variables that are integers."""
        return self.callback(-OPERATORS.index("variables") - 1, (), {}, PLAINLY)

    def callback(self, number: int, args: tuple[Any, ...], kwargs: dict[str, Any], result_use: int) -> Any:
        """Call a function in the child, which is waiting for the result of a call; the function may make further calls."""
        objects = self.objects
        before, objects.copies = objects.copies, []
        try:
            data = objects.dumps((CALLBACK, number, args, kwargs, result_use), copies=True)
            copies = objects.copies
        finally:
            objects.copies = before
        self.child.send(data)
        while True:
            answer = self.child.receive()
            if answer is None:
                raise Ended
            message = self._answer_message(answer)
            if message is not None:
                break
        assert message[0] == CALLBACK_RESULT
        _, failed, result, written = message
        for index, contents in written:
            overwrite(copies[index], contents)
        if failed:
            key, record = result
            error = exception(record)
            error.child_number = key  # type: ignore[attr-defined]  # read when it is sent back
            show = -OPERATORS.index("print_error") - 1
            error.print_traceback = lambda: self.callback(show, (error,), {}, PLAINLY)  # type: ignore[attr-defined]  # read by mpi_errors
            raise error
        return result
