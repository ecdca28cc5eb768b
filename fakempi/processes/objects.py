"""Encoding of the parent's messages: MPI objects by number, memory as mirrors, functions of a child as callables."""

from __future__ import annotations

import io
import pickle
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from fakempi import MPI
from fakempi.mpi.base.identity import Handled
from fakempi.mpi.buffers.pickling import PickleSettings
from fakempi.mpi.point.request import Request
from fakempi.mpi.windows.win import Win
from fakempi.processes.generate import Interface
from fakempi.processes.mirrors import Mirror
from fakempi.processes.protocol import (
    BUFFER,
    CLASS,
    CONSTANT,
    COPY,
    ERROR_OF_CHILD,
    FUNCTION,
    HANDLE,
    OBJECT,
    OPERATORS,
    PART,
    PICKLE,
    PICKLED,
    PLAINLY,
    REFER,
    SAME_BUFFER,
    SHARED,
)

Callback = Callable[[int, tuple[Any, ...], dict[str, Any], int], Any]
"""Calls a function of the child, by number, with arguments; the last argument specifies the use of the result."""


class Operand:
    """An object that only a child has. The child performs the operations on it."""

    call: Callback
    result_use = REFER  # what the child does with results

    def _operate(self, name: str, *others: Any, plainly: bool = False) -> Any:
        return self.call(-OPERATORS.index(name) - 1, (self, *others), {}, PLAINLY if plainly else self.result_use)

    def __iter__(self) -> Iterator[Any]:
        return iter([self._operate("getitem", index) for index in range(self._operate("len", plainly=True))])

    def __bool__(self) -> bool:
        return bool(self._operate("truth", plainly=True))

    def __add__(self, other: Any) -> Any:
        return self._operate("add", other)

    def __mul__(self, other: Any) -> Any:
        return self._operate("mul", other)

    def __and__(self, other: Any) -> Any:
        return self._operate("and_", other)

    def __or__(self, other: Any) -> Any:
        return self._operate("or_", other)

    def __xor__(self, other: Any) -> Any:
        return self._operate("xor", other)

    def __lt__(self, other: Any) -> bool:
        return bool(self._operate("lt", other, plainly=True))

    def __gt__(self, other: Any) -> bool:
        return bool(self._operate("gt", other, plainly=True))


class ChildObject(Operand):
    """An object that stays in the child."""

    def __init__(self, number: int, name: str, call: Callback) -> None:
        self.number, self.name, self.call = number, name, call

    def __repr__(self) -> str:
        return f"<{self.name} object of the child>"


class ChildFunction(ChildObject):
    """A function of the child: the call is made there."""

    def __init__(self, number: int, name: str, call: Callback) -> None:
        super().__init__(number, name, call)
        self.__qualname__ = name

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        result_use = next((arg.result_use for arg in args if type(arg) in (PickledObject, ChildObject)), PLAINLY)
        return self.call(self.number, args, kwargs, result_use)

    def __bool__(self) -> bool:
        return True


class PickledObject(Operand):
    """An object that a child has pickled."""

    result_use = PICKLE

    def __init__(self, data: bytes, call: Callback) -> None:
        self.data, self.call = data, call


def pickle_settings(call: Callback) -> PickleSettings:
    """Return settings of MPI.pickle that leave pickling to the child, so that sizes are those of the child's pickles."""

    def dumps(obj: Any) -> bytes:
        found = obj if type(obj) is PickledObject else call(0, (obj,), {}, PICKLE)
        data: bytes = found.data
        return data

    return PickleSettings(dumps, lambda data: PickledObject(bytes(data), call))


class Objects:
    """The objects that a child knows, by number, and its memory."""

    def __init__(self, interface: Interface, world: Any, callback: Callback, shared: Callable[[Any], Any]) -> None:
        self.classes: list[Any] = list(interface.classes)
        self.class_numbers: dict[type, int] = {kind: number for number, kind in enumerate(self.classes)}
        self.constants = dict(interface.constants)
        self.constants |= {name: getattr(MPI, name) for name in ("BOTTOM", "IN_PLACE", "BUFFER_AUTOMATIC")}
        self.constants["COMM_WORLD"] = world
        self.constant_names = {id(value): name for name, value in self.constants.items()}
        self.callback, self.shared = callback, shared
        self.by_number: dict[int, Any] = {}
        self.numbers: dict[int, int] = {}
        self.count = 0
        self.functions: dict[int, ChildObject] = {}
        self.mirrors: dict[int, Mirror] = {}  # memory of the current call and of pending operations
        self.by_object: dict[int, int] = {}  # id of the object of a mirror -> its number
        self.arrived: list[Mirror] = []
        self.targets: list[Any] = []  # requests and windows in the current call
        self.copies: list[Any] = []

    def find_class(self, described: Any) -> Any:
        """Return a class by number. For a class that the program has derived, create a counterpart from its description."""
        if type(described) is int:
            return self.classes[described]
        number, name, bases = described
        parents = tuple(self.find_class(base) for base in bases)
        if number == len(self.classes):
            kind = type(name, parents, {"__slots__": ()})
            self.classes.append(kind)
            self.class_numbers[kind] = number
        return self.classes[number]

    def release(self, numbers: list[int]) -> None:
        """Forget objects that the child no longer has."""
        for number in numbers:
            obj = self.by_number.pop(number, None)
            if obj is not None:
                self.numbers.pop(id(obj), None)

    # -- reading ------------------------------------------------------------------------------------------------------

    def read(self, data: Any) -> Any:
        """Return a message from bytes; its memory is in `arrived`, its requests and windows in `targets`."""
        unpickler = _Unpickler(io.BytesIO(data))
        unpickler.objects = self
        return unpickler.load()

    def value(self, kind: int, *rest: Any) -> Any:
        """Return the object of a placeholder."""
        if kind == HANDLE:
            found = self.by_number[rest[0]]
            if isinstance(found, (Request, Win)) or type(found).__name__ == "File":
                self.targets.append(found)
            return found
        if kind == CONSTANT:
            return self.constant(rest[0])
        if kind == CLASS:
            return self.find_class(rest[0])
        if kind == BUFFER:
            mirror = Mirror(*rest)
            self.keep(mirror)
            self.arrived.append(mirror)
            return mirror.obj
        if kind == SAME_BUFFER:
            return self.mirrors[rest[0]].obj
        if kind == PICKLED:
            return PickledObject(rest[0], self.callback)
        if kind in (FUNCTION, OBJECT):
            return self._child_object(kind, *rest)
        raise ValueError(f"unknown kind of value {kind}")

    def keep(self, mirror: Mirror) -> None:
        """Keep memory that results and operations may refer to."""
        self.mirrors[mirror.number] = mirror
        self.by_object[id(mirror.obj)] = mirror.number

    def constant(self, name: str) -> Any:
        """Return a predefined object."""
        if name == "COMM_SELF" and name not in self.constants:
            found = self.constants[name] = MPI.COMM_SELF
            self.constant_names[id(found)] = name
        return self.constants[name]

    def _child_object(self, kind: int, number: int, name: Any) -> Any:
        if number < 0:
            return name
        found = self.functions.get(number)
        if found is None:
            found = (ChildFunction if kind == FUNCTION else ChildObject)(number, name, self.callback)
            self.functions[number] = found
        return found

    # -- writing ------------------------------------------------------------------------------------------------------

    def dumps(self, message: Any, copies: bool = False) -> bytes:
        """Return a message as bytes; with `copies`, memory in it is recorded, since the child may write to it."""
        stream = io.BytesIO()
        pickler = _Pickler(stream, 5)
        pickler.objects, pickler.copies = self, copies
        pickler.dump(message)
        return stream.getvalue()

    def placeholder(self, obj: Any, copies: bool) -> Any:
        """Return the placeholder of an object; None if it is to be pickled."""
        kind = type(obj)
        number = self.class_numbers.get(kind)
        if number is not None or isinstance(obj, Handled) or id(obj) in self.constant_names:
            return self._handle(obj, kind, number)
        if kind is PickledObject:
            return PICKLED, obj.data
        if isinstance(obj, ChildObject):
            return OBJECT, obj.number, obj.name
        mirrored = self.by_object.get(id(obj))
        if mirrored is not None and mirrored in self.mirrors:
            return BUFFER, mirrored
        if isinstance(obj, (np.ndarray, memoryview)):
            return self._memory(np.asarray(obj), copies, type(obj) is np.ndarray)
        return None

    def _handle(self, obj: Any, kind: Any, number: int | None) -> tuple[Any, ...]:
        name = self.constant_names.get(id(obj))
        if name is not None:
            return CONSTANT, name
        if number is None:
            number = next(self.class_numbers[base] for base in kind.__mro__ if base in self.class_numbers)
        key = self.numbers.get(id(obj))
        if key is None:
            self.count += 1
            key = self.numbers[id(obj)] = self.count
            self.by_number[key] = obj
        return HANDLE, key, number

    def _memory(self, obj: Any, copies: bool, plain: bool) -> Any:
        found = self.shared(obj)
        if found is not None:
            return SHARED, *found
        for number, mirror in () if copies else self.mirrors.items():  # results of callbacks belong to the parent's copy
            offset = mirror.offset_of(obj)
            if offset is not None:
                return PART, number, offset, obj.nbytes
        if plain and not copies:
            return None
        index = -1
        if copies and obj.flags.writeable:
            index = len(self.copies)
            self.copies.append(obj)
        return COPY, index, obj.tobytes(), bool(obj.flags.writeable)

    def child_error(self, error: BaseException) -> Any:
        """Return the placeholder of an exception that a callback of the child has raised; None for others."""
        number = getattr(error, "child_number", None)
        return None if number is None else (ERROR_OF_CHILD, number)


class _Unpickler(pickle.Unpickler):
    objects: Objects

    def persistent_load(self, what: Any) -> Any:
        return self.objects.value(*what)


class _Pickler(pickle.Pickler):
    objects: Objects
    copies: bool

    def persistent_id(self, obj: Any) -> Any:
        if type(obj) in PLAIN:
            return None
        if isinstance(obj, BaseException):
            return self.objects.child_error(obj)
        return self.objects.placeholder(obj, self.copies)

    def reducer_override(self, obj: Any) -> Any:
        return (iter, (list(obj),)) if isinstance(obj, Iterator) else NotImplemented


PLAIN = frozenset((int, str, float, bool, type(None), tuple, list, dict, bytes))
