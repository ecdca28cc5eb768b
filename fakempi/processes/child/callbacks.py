"""Functions of the child that the parent calls while the child waits for the result of a call."""

from __future__ import annotations

import operator
import traceback
from typing import Any

from fakempi.processes.child.encoding import Encoder, OpaquePickle, Reference
from fakempi.processes.child.memory import Memory
from fakempi.processes.child.sites import is_ours
from fakempi.processes.protocol import CALLBACK_RESULT, OPERATORS, PICKLE, REFER


class CallbackService:
    """Calls functions for the parent, and sends the results."""

    encoder: Encoder

    def _callback(self, number: int, args: tuple[Any, ...], kwargs: dict[str, Any], result_use: int) -> bytes:
        """Call a function, and return the message with its result."""
        encoder = self.encoder
        copies, encoder.copies = encoder.copies, {}
        failed, result, answer = False, None, None  # type: bool, Any, Any
        try:
            result = self._function(number)(*args, **kwargs)
            if result_use == PICKLE:
                result = OpaquePickle(self.dumps(result))
            elif result_use == REFER:
                result = Reference(result)
        except BaseException as error:
            failed, result = True, error
        written = [(one, bytes(memory)) for one, memory in copies.items()]
        if failed:
            from fakempi.processes.child.failures import record

            answer = CALLBACK_RESULT, True, (encoder.reference(result, 0)[1], record(result)), written
        else:
            answer = CALLBACK_RESULT, False, result, written
        before, encoder.sent = encoder.sent, {}
        try:
            return encoder.dumps(answer)
        finally:
            encoder.sent = before

    def _function(self, number: int) -> Any:
        if number > 0:
            return self.encoder.kept[number]
        name = OPERATORS[-number - 1] if number else ""
        others = {
            "": pickle_value, "len": len, "print_error": traceback.print_exception, "memory_at": self._memory_at,
            "variables": variables_of_caller,
        }  # fmt: skip
        return others.get(name) or getattr(operator, name)

    def _memory_at(self, address: int, nbytes: int) -> tuple[int, bytes]:
        """Return the number and the contents of memory that a call specifies by its address."""
        self.encoder.count += 1
        memory = Memory(None, (), None, True, None, (address, nbytes))
        memory.number = self.encoder.count
        self.encoder.memory[memory.number] = memory
        return memory.number, memory.contents()

    def dumps(self, obj: Any) -> bytes:
        """Return the pickle of an object by MPI.pickle."""
        raise NotImplementedError


def pickle_value(value: Any) -> Any:
    """Return the argument. This is the callback with number 0, which only pickles."""
    return value


def variables_of_caller() -> tuple[int, dict[str, int]]:
    """Return the first line of the function that makes the current call, and its variables that are integers."""
    frames = (frame for frame, _ in traceback.walk_stack(None) if not is_ours(frame))
    frame: Any = next(frame for frame in frames if frame.f_globals.get("__name__") != "mpi4py.MPI")  # the proxies
    names = {name: frame.f_globals[name] for name in frame.f_code.co_names if name in frame.f_globals} | frame.f_locals
    return frame.f_code.co_firstlineno, {name: value for name, value in names.items() if type(value) is int}
