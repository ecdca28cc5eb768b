"""Encoding of the messages of a child process: pickled values, and placeholders of objects that stay in one process.

Numbers, strings and containers of them are pickled. MPI objects are identified by the number that the parent gave them.
Memory is sent with its contents, and is overwritten if the parent returns other contents. Functions and other objects stay
in the child; the parent receives a number for each.
"""

from __future__ import annotations

import io
import operator
import pickle
import sys
from collections.abc import Mapping, Sequence
from types import BuiltinFunctionType, FunctionType, MethodType
from typing import Any

from fakempi.processes.child.memory import Memory, describe
from fakempi.processes.protocol import (
    BUFFER,
    CLASS,
    CONSTANT,
    COPY,
    ERROR_OF_CHILD,
    FUNCTION,
    HANDLE,
    OBJECT,
    PART,
    PICKLED,
    SAME_BUFFER,
    SHARED,
)

PLAIN = frozenset((int, str, float, bool, type(None), tuple, list, dict, bytes, complex, slice, range, set, frozenset))
IMMUTABLE = frozenset((int, str, float, bool, type(None), bytes, complex, type(NotImplemented), type(...)))
FUNCTIONS = (FunctionType, BuiltinFunctionType, MethodType)
IMPORTED = ("numpy", "builtins", "fakempi", "datetime", "decimal", "fractions", "array")
"""Packages whose objects the parent can unpickle."""


class Default:
    """The default value of a parameter: a predefined MPI object."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return self.name


class OpaquePickle:
    """An object that is sent as a pickle, which the parent does not unpickle."""

    __slots__ = ("data",)

    def __init__(self, data: bytes) -> None:
        self.data = data


class Reference:
    """An object that stays in this process."""

    __slots__ = ("value",)

    def __init__(self, value: object) -> None:
        self.value = value


class Proxy:
    """Base class of the proxies of MPI objects: `_key` names the object in the parent."""

    __slots__ = ("__dict__", "__weakref__", "_key")

    _number: int
    _new: int
    _key: tuple[int, Any]


class Encoder:
    """Writes the messages of a child process to its parent, and reads those of the parent.

    Attributes
    ----------
    make_proxy, loads : functions that return the proxy of an MPI object, and the object of a pickle
    constants : type of a constant that stands for an address, such as `IN_PLACE` -> its name
    kept : number -> functions and other objects to which the parent has references
    numbers : id of an object -> its number
    memory : number -> memory that pending operations use
    sent : id of an object -> its memory, for the objects that the current message contains
    describe_class : a function that returns the description of a class of MPI objects for the parent
    shared : a function that returns memory that the child shares with the parent
    copies : number -> copy of memory of the parent that a callback may change
    """

    def __init__(self, make_proxy: Any, loads: Any, call: Any) -> None:
        self.make_proxy, self.loads = make_proxy, loads
        self.constants: dict[type, str] = {}
        self.kept: dict[int, Any] = {}
        self.numbers: dict[int, int] = {}
        self.memory: dict[int, Memory] = {}
        self.sent: dict[int, Memory] = {}
        self.count = 0
        self.describe_class: Any = None
        self.shared: Any = None
        self.copies: dict[int, bytearray] = {}

    # -- writing ------------------------------------------------------------------------------------------------------

    def dumps(self, message: Any) -> bytes:
        """Return a message as bytes."""
        stream = io.BytesIO()
        pickler = _Pickler(stream, 5)
        pickler.encoder = self
        pickler.dump(message)
        return stream.getvalue()

    def reference(self, obj: object, kind: int) -> tuple[Any, ...]:
        """Keep an object and return its placeholder."""
        number = self.numbers.get(id(obj))
        if number is None:
            self.count += 1
            number = self.numbers[id(obj)] = self.count
            self.kept[number] = obj
        name = getattr(obj, "__qualname__", None) or type(obj).__qualname__
        return kind, number, name

    def buffer(self, obj: object) -> tuple[Any, ...] | None:
        """Return the placeholder of an object with memory; None if it has none."""
        known = self.sent.get(id(obj))
        if known is not None:
            return SAME_BUFFER, known.number
        found = describe(obj)
        if found is None:
            return None
        self.count += 1
        found.number = self.count
        self.sent[id(obj)] = found
        return BUFFER, found.number, found.kind, found.contents(), found.shape, found.writable

    def other(self, obj: Any) -> Any:
        """Return the placeholder of an object that is not of a plain type; None if it is to be pickled."""
        kind = type(obj)
        if isinstance(obj, Proxy):
            return obj._key
        if kind in IMMUTABLE:
            return None
        if kind is OpaquePickle:
            return PICKLED, obj.data
        if kind is Default:
            return CONSTANT, obj.name
        if kind is Reference:
            return (OBJECT, -1, obj.value) if type(obj.value) in IMMUTABLE else self.reference(obj.value, OBJECT)
        if isinstance(obj, type):
            return (CLASS, self.describe_class(obj)) if issubclass(obj, Proxy) else None
        if kind in self.constants:
            return CONSTANT, self.constants[kind]
        numpy = sys.modules.get("numpy")
        if numpy is not None and isinstance(obj, numpy.generic):  # a scalar
            return None
        found = self.buffer(obj)
        if found is not None:
            return found
        if isinstance(obj, FUNCTIONS):
            if (obj.__name__, str(obj.__module__).partition(".")[0]) in (("scalar", "numpy"), ("phantom", "fakempi")):
                return None  # in pickles of scalars and phantoms
            return self.reference(obj, FUNCTION)
        home = kind.__module__.partition(".")[0]
        known = home in IMPORTED and home != "builtins"
        if (known and not isinstance(obj, (list, tuple))) or isinstance(obj, BaseException):
            return None
        if isinstance(obj, Mapping) and home != "builtins":
            return OBJECT, -1, dict(obj)
        if isinstance(obj, (list, tuple, Sequence)) and home != "builtins":
            return OBJECT, -1, list(obj) if isinstance(obj, list) else tuple(obj)
        if isinstance(obj, (int, float, str)) and kind.__module__ != "builtins":
            return self.plain(obj)
        if callable(obj):
            return self.reference(obj, FUNCTION)
        if hasattr(kind, "__index__"):
            return OBJECT, -1, operator.index(obj)
        if hasattr(kind, "__fspath__"):
            return OBJECT, -1, kind.__fspath__(obj)
        return self.reference(obj, OBJECT)

    @staticmethod
    def plain(obj: Any) -> tuple[Any, ...]:
        """Return the placeholder of an object of a subclass of int, float or str."""
        base = next(one for one in (int, float, str) if isinstance(obj, one))
        return OBJECT, -1, base(obj)

    # -- reading ------------------------------------------------------------------------------------------------------

    def read(self, data: Any) -> Any:
        """Return a message from bytes."""
        unpickler = _Unpickler(io.BytesIO(data))
        unpickler.encoder = self
        return unpickler.load()

    def value(self, kind: int, *rest: Any) -> Any:
        """Return the object of a placeholder."""
        if kind in (HANDLE, CONSTANT):
            return self.make_proxy(kind, *rest)
        if kind == PICKLED:
            return self.loads(rest[0])
        if kind in (FUNCTION, OBJECT, ERROR_OF_CHILD):
            return self.kept[rest[0]]
        if kind == BUFFER:
            return self.memory[rest[0]].obj
        if kind == PART:
            number, offset, nbytes = rest
            from fakempi.mpi.buffers.memory import buffer

            return buffer.frombuffer(self.memory[number].view[offset : offset + nbytes])
        if kind == SHARED:
            return self.shared(*rest)
        if kind == COPY:
            return self.copied(*rest)
        raise ValueError(f"unknown kind of value {kind}")

    def copied(self, number: int, data: Any, writable: bool) -> Any:
        """Return a copy of memory of the parent, which a callback may change."""
        from fakempi.mpi.buffers.memory import buffer

        if not data:
            return buffer()
        memory = bytearray(data)
        if number >= 0:
            self.copies[number] = memory
        return buffer.frombuffer(memory, not writable)


class _Pickler(pickle.Pickler):
    encoder: Encoder

    def persistent_id(self, obj: Any) -> Any:
        kind = type(obj)
        if kind in PLAIN:
            return None
        return self.encoder.other(obj)


class _Unpickler(pickle.Unpickler):
    encoder: Encoder

    def persistent_load(self, what: Any) -> Any:
        return self.encoder.value(*what)
