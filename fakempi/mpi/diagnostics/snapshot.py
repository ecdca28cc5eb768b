"""Snapshot of the Python objects that code can reach: a value that is equal as long as none of them has changed.

The walk starts at values, and follows containers, attributes, closures, default arguments, classes, modules, and the
global variables that code names. Installed packages, the standard library and fakempi itself are compared
by identity only: a program that uses numpy reaches every object of numpy.

`Opaque` is raised where the content of an object cannot be compared: the caller must then assume that it changes.
"""

from __future__ import annotations

import logging
import os
import re
import sys
import sysconfig
import types
import weakref
from array import array
from collections import OrderedDict, defaultdict, deque
from collections.abc import Iterable, Iterator
from enum import Enum
from functools import lru_cache, partial
from pathlib import PurePath
from threading import Lock, RLock
from types import CodeType, FunctionType, GeneratorType, MethodType, ModuleType
from typing import Any

import numpy as np

from fakempi.mpi.base.call_site import cached_by_code
from fakempi.mpi.base.status import Status

MAX_OBJECTS = 20_000
"""Upper limit of the objects in a snapshot. A walk takes about half a microsecond for each."""

MAX_NBYTES = 1 << 24
"""Upper limit of the bytes of arrays and strings in a snapshot."""

MAX_VERBATIM = 64
"""Bytes above which a digest represents the content."""

ATOMS = frozenset({int, bool, str, bytes, type(None), type(...), type(NotImplemented), range, slice, re.Pattern})
INEXACT = frozenset({float, complex})
BY_IDENTITY: tuple[type, ...] = (
    types.BuiltinFunctionType, types.MethodDescriptorType, types.WrapperDescriptorType, types.MethodWrapperType,
    types.GetSetDescriptorType, types.MemberDescriptorType, types.ClassMethodDescriptorType, CodeType, np.ufunc, np.dtype,
    logging.Logger, Enum, weakref.ref,
)  # fmt: skip
NOT_CONTENT = frozenset({
    "__dict__", "__weakref__", "__doc__", "__module__", "__qualname__", "__annotations__", "__abstractmethods__",
    "_abc_impl", "__slotnames__",
    "__dataclass_fields__", "__dataclass_params__", "__match_args__", "__slots__", "__hash__", "__builtins__", "__spec__",
    "__loader__", "__file__", "__cached__", "__name__", "__package__", "__path__", "__parameters__", "__orig_bases__",
    "__static_attributes__", "__firstlineno__", "__annotate__", "__annotate_func__", "__annotations_cache__",
})  # fmt: skip
"""Entries of modules and classes that programs do not change."""

BY_NAME = frozenset({"globals", "exec", "eval", "import_module", "__import__"})
"""Functions that reach objects whose names are not in the code."""

LOCKS = (type(Lock()), type(RLock()))
OWN_PACKAGES = ("fakempi", "collectives", "mpi4py")
IGNORED_PACKAGES = ("typing", "pytest", "_pytest", "pluggy", "hypothesis")
"""Packages whose objects refer to a large part of all objects of the process, but contain no data of a program."""


class Opaque(Exception):
    """The content of an object cannot be compared; the message names the object."""


def snapshot(
    values: Iterable[object], kept: list[object] | None = None, by_identity: tuple[type, ...] = ()
) -> tuple[object, ...]:
    """Return a hashable value that represents all objects that can be reached from these values.

    Parameters
    ----------
    values
        Where the walk starts.
    kept
        Receives the objects that are compared by their addresses. As long as the list exists, no address is reused.

    by_identity
        Further types whose instances are compared by their addresses alone.

    Raises
    ------
    Opaque
        If something cannot be compared.
    """
    return _SnapshotWalk([] if kept is None else kept, (*BY_IDENTITY, *by_identity)).run(values)


def named_globals(code: CodeType, variables: dict[str, Any]) -> list[Any]:
    """The values of the global variables, and the loaded modules, that code names."""
    names = names_of(code)
    if BY_NAME & names.keys():
        raise Opaque(f"the objects that {min(BY_NAME & names.keys())}() reaches")
    values = [variables[name] for name in names if name in variables]
    return values + [sys.modules[name] for name in _imports(code) if name in sys.modules and not is_installed(name)]


@cached_by_code
def names_of(code: CodeType) -> dict[str, None]:
    """The names of global variables and attributes in code, and in functions and classes that are defined there."""
    names = dict.fromkeys(code.co_names)
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            names.update(names_of(inner))
    return names


@cached_by_code
def _imports(code: CodeType) -> tuple[str, ...]:
    """Names in code that may be names of modules."""
    return tuple(name for name in names_of(code) if not name.startswith("__"))


@lru_cache(4096)
def is_library_file(path: str) -> bool:
    """Whether a file of Python code belongs to an installed package, to the standard library, or to the interpreter."""
    if not path.endswith(".py"):  # a cell of a notebook, or an executed string: part of the program
        return path.startswith("<frozen")
    directories = [sysconfig.get_paths()[name] for name in ("stdlib", "platstdlib", "purelib", "platlib")]
    return _SITE.search(path) is not None or path.startswith(tuple(directory + os.sep for directory in directories))


_SITE = re.compile(r"[/\\](site|dist)-packages[/\\]")


def is_installed(module: str) -> bool:
    """Whether a module is installed, compiled, of the standard library, or of fakempi; not of the program."""
    loaded = sys.modules.get(module)
    path = getattr(loaded, "__file__", None)
    return _is_installed(module, path, path is None and getattr(loaded, "__spec__", None) is not None)


@lru_cache(4096)
def _is_installed(module: str, path: str | None, in_directory: bool) -> bool:
    if module.partition(".")[0] in OWN_PACKAGES:
        return True
    if module == "__main__":
        return False
    if path is None:  # a namespace package or a built-in module; without a spec, the program has created it
        return in_directory or module in sys.builtin_module_names
    return not path.endswith(".py") or is_library_file(path)


class _SnapshotWalk:
    def __init__(self, kept: list[object], by_identity: tuple[type, ...]) -> None:
        self.out: list[object] = []
        self.visited: dict[int, int] = {}  # by address: the number of an object that was visited
        self.kept, self.by_identity = kept, by_identity
        self.nbytes = 0

    def run(self, values: Iterable[object]) -> tuple[object, ...]:
        todo = deque([iter(values)])
        out = self.out
        while todo:
            for value in todo[-1]:
                inside = self._enter(value)
                if inside is not None:
                    todo.append(inside)
                    break
            else:
                todo.pop()
                out.append(None)
            if len(out) > MAX_OBJECTS:
                raise Opaque(f"more than {MAX_OBJECTS:,} objects")
        return tuple(out)

    def _enter(self, value: object) -> Iterator[Any] | None:
        """Record one object; returns its contents, or None."""
        kind, out = type(value), self.out
        if kind in ATOMS:
            out.append(value if kind is not slice else repr(value))
            if kind is bool or kind is int:
                out.append(kind)
            return None
        if kind in INEXACT:
            out.append(repr(value))  # NaN is not equal to itself
            return None
        number = self.visited.get(id(value))
        if number is not None:
            out.append(("again", number))
            return None
        self.visited[id(value)] = len(self.visited)
        self.kept.append(value)
        out.append(kind)
        inside = self._content(value, kind)
        return None if inside is None else iter(inside)

    def _record_identity(self, value: object) -> None:
        self.out.append(id(value))

    def _bytes(self, content: Any) -> None:
        raw = bytes(content)
        self.nbytes += len(raw)
        if self.nbytes > MAX_NBYTES:
            raise Opaque(f"more than {MAX_NBYTES:,} bytes")
        if len(raw) > MAX_VERBATIM:
            from hashlib import blake2b  # most runs never need it

            raw = blake2b(raw, digest_size=16).digest()
        self.out.append(raw)

    def _content(self, value: Any, kind: type) -> Iterable[object] | None:
        if isinstance(value, (np.ndarray, np.generic)):
            return self._array(np.asarray(value))
        if isinstance(value, (bytearray, memoryview, array)):
            self._bytes(value)
            return None
        if kind is FunctionType:
            return self._function(value)
        if kind is MethodType:
            return [value.__self__, value.__func__]
        if isinstance(value, ModuleType):
            return self._module(value)
        if isinstance(value, type):
            return self._class(value)
        if isinstance(value, self.by_identity):
            self._record_identity(value)
            return None
        if isinstance(value, (staticmethod, classmethod)):
            return [value.__func__]
        if isinstance(value, property):
            return [value.fget, value.fset, value.fdel]
        if isinstance(value, LOCKS):
            self._record_identity(value)
            self.out.append(repr(value).partition(" ")[0])  # "<locked" or "<unlocked"
            return None
        if kind is types.CellType:
            return [value.cell_contents] if _is_full(value) else []
        if kind is GeneratorType:
            return self._generator(value)
        if isinstance(value, PurePath):  # compared by its text, since it caches its hash and parts on first use
            self.out.append(str(value))
            return None
        if kind is Status:
            self.out.append(value._fields())
            return None
        if kind.__module__.partition(".")[0] in (*OWN_PACKAGES, *IGNORED_PACKAGES):
            self._record_identity(value)
            return None
        return self._object(value, kind)

    def _array(self, value: Any) -> Iterable[object] | None:
        self.out.append((value.shape, value.dtype.str))
        if value.dtype.hasobject:
            return list(value.flat)
        self._bytes(value.tobytes())
        return None

    def _function(self, value: Any) -> Iterable[object] | None:
        code = value.__code__
        self._record_identity(code)
        if is_library_file(code.co_filename) or is_installed(value.__module__ or ""):
            if value.__closure__ and not is_installed(value.__module__ or ""):
                return list(value.__closure__)
            return None
        if "random" in names_of(code):
            self._generators()
        cells = [cell for cell in value.__closure__ or () if _is_full(cell)]
        more = [value.__defaults__, value.__kwdefaults__, vars(value) or None]
        return [*more, *cells, *named_globals(code, value.__globals__)]

    def _generators(self) -> None:
        """The global generators of `random` and `numpy.random`: code that names one of these modules can draw from them."""
        if "random" in sys.modules:
            self.out.append(hash(sys.modules["random"].getstate()))
        if "numpy.random" in sys.modules:
            name, words, *more = np.random.get_state()
            self.out.append((name, hash(np.asarray(words).tobytes()), *more))

    def _module(self, value: Any) -> Iterable[object] | None:
        self._record_identity(value)
        if is_installed(value.__name__):
            return None
        return [item for name, item in vars(value).items() if name not in NOT_CONTENT]

    def _class(self, value: Any) -> Iterable[object] | None:
        self._record_identity(value)
        if is_installed(value.__module__) or issubclass(value, Enum):
            return None
        inside = [item for name, item in vars(value).items() if name not in NOT_CONTENT]
        return [*inside, *value.__bases__]

    def _generator(self, value: Any) -> Iterable[object] | None:
        frame = value.gi_frame
        if frame is None:
            return None
        self.out.append(frame.f_lasti)
        return [*frame.f_locals.values(), value.gi_yieldfrom]

    def _object(self, value: object, kind: type) -> Iterable[object] | None:
        """A container, an instance of a Python class, or an object of C that can be pickled."""
        members: list[object] = []
        known = False
        if not is_installed(kind.__module__):
            members.append(kind)
        if isinstance(value, dict):
            known = True
            for key, item in list(dict.items(value)):
                members += (key, item)
        elif isinstance(value, (set, frozenset)):
            known = True
            members += self._sorted(value)
        elif isinstance(value, (list, tuple, deque)):
            known = True
            members += list(value)
        elif isinstance(value, partial):
            known = True
            members += (value.func, value.args, value.keywords)
        self.out.append(len(members))
        inside = getattr(value, "__dict__", None)
        if type(inside) is dict:
            members.append(inside)
            known = True
        slots_set = 0
        for base in kind.__mro__:
            slots = vars(base).get("__slots__", ())
            for name in (slots,) if isinstance(slots, str) else tuple(slots):
                full = name if not name.startswith("__") or name.endswith("__") else f"_{base.__name__.lstrip('_')}{name}"
                member = vars(base).get(full)
                if isinstance(member, types.MemberDescriptorType):
                    known = True
                    slots_set += 1
                    try:
                        members.append(member.__get__(value, kind))
                    except AttributeError:  # not set
                        members.append(AttributeError)
        if known and not _has_hidden_content(kind, slots_set):
            return members
        return [*members, *self._pickled(value, kind)]

    def _sorted(self, value: Any) -> list[Any]:
        """The items of a set in an order that depends on them alone, if all are numbers and strings."""
        try:
            return sorted(value, key=lambda item: (type(item).__name__, item))
        except TypeError:
            return sorted(value, key=id)

    def _pickled(self, value: object, kind: type) -> Iterable[Any]:
        """Return the parts that pickle would store, without storing them."""
        if kind.__module__ in ("itertools", "builtins") and hasattr(value, "__next__"):
            raise Opaque(f"an iterator ({kind.__name__})")
        if hasattr(value, "cache_info") and hasattr(value, "__wrapped__"):
            return [value.cache_info().currsize, value.__wrapped__]
        try:
            parts = value.__reduce_ex__(4)
        except Exception:  # files, sockets, locks of other kinds; or an error in the program's method
            raise Opaque(f"an object of type {kind.__name__}") from None
        if isinstance(parts, str):
            self._record_identity(value)
            return ()
        return [part if not hasattr(part, "__next__") else list(part) for part in parts[1:]]


def _has_hidden_content(kind: type, slots: int) -> bool:
    """Whether instances have contents other than attributes and items: they are larger, so a base class is written in C."""
    plain: type = next((base for base in kind.__mro__ if base in _PLAIN), object)
    return kind.__basicsize__ - plain.__basicsize__ > 8 * (slots + 2)  # two for `__dict__` and `__weakref__`


_PLAIN = frozenset({dict, list, tuple, set, frozenset, deque, partial, defaultdict, OrderedDict})


def _is_full(cell: Any) -> bool:
    try:
        return cell.cell_contents is not cell
    except ValueError:  # the variable has no value yet
        return False
