"""Arrays that refuse to be written to while an operation uses them: the program stops at the very line that is wrong.

numpy has a flag for it. It is put on an array if the operation uses all of its memory: then no correct program writes there.
Views have flags of their own, so one that the program took before still lets it write, which is found when the
operation is over. But a view that it takes meanwhile is read-only for good; so when the flag is taken off, views are looked
for where programs have them, and freed as well.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from linecache import getline
from os.path import basename
from re import findall
from types import BuiltinFunctionType, FrameType, FunctionType, ModuleType, TracebackType
from typing import Any

from numpy import ndarray

from fakempi.mpi.base.complain import is_library, is_ours
from fakempi.mpi.buffers.raw import U1, address_of, flat
from fakempi.mpi.buffers.regions import root_of

LONGEST = 60
"""Of lines of the program, how much is shown."""


_HOLD_NOTHING = frozenset([FunctionType, BuiltinFunctionType, ModuleType, type, int, float, str, bool, bytes, type(None)])
"""What most variables are, and no array is in."""


class Lock:
    """The flag on one array: how many operations want it there, and how we write nevertheless."""

    __slots__ = ("array", "count", "own")

    def __init__(self, array: Any) -> None:
        self.array, self.count = array, 1
        self.own = array.view(ndarray)  # taken before, so it lets us write
        array.flags.writeable = False


class Locks:
    """All of a run: several ranks may use one array."""

    def __init__(self) -> None:
        self.held: dict[int, Lock] = {}
        self.late: list[Any] = []  # arrays that are free, but look at one that is not
        self.ever: set[int] = set()  # addresses of objects whose memory was locked

    def put_on(self, arrays: Iterable[Any], nbytes: int) -> list[Any]:
        """Lock those that have so much memory and no more; returns which."""
        return [array for array in arrays if isinstance(array, ndarray) and array.nbytes == nbytes and self._lock(array)]

    def _lock(self, array: Any) -> bool:
        lock = self.held.get(id(array))
        if lock is not None:
            lock.count += 1
        elif array.flags.writeable and array.flags.forc and _can_be_undone(array):
            self.held[id(array)] = Lock(array)
            self.ever.add(id(root_of(array)))
        else:
            return False
        return True

    def take_off(self, arrays: Iterable[Any], frame: FrameType | None) -> None:
        """One operation less uses them. The frame is where to look for views that were taken meanwhile."""
        free = []
        for array in arrays:
            lock = self.held[id(array)]
            lock.count -= 1
            if not lock.count:
                free.append(self.held.pop(id(array)).array)
        if free:
            self.late = [array for array in (*self.late, *reversed(free)) if not _unlocked(array)]
            roots = {id(root_of(array)) for array in free}
            for found in _arrays(frame):
                if not found.flags.writeable and id(root_of(found)) in roots and id(found) not in self.held:
                    _unlocked(found)

    def may_have_left(self, arrays: list[Any]) -> bool:
        """Whether one of these, or one that nobody knows if there are none, may be read-only because of us."""
        return any(id(root_of(array)) in self.ever for array in arrays) if arrays else bool(self.ever)

    def alias(self, array: Any) -> Any:
        """The memory of an array that is locked, or looks at one that is, as one that lets us write; else None."""
        root = root_of(array)
        for lock in self.held.values():
            if root_of(lock.array) is root:
                memory = flat(lock.own if lock.own.flags.c_contiguous else lock.own.T)
                offset = address_of(array) - address_of(memory)
                if 0 <= offset <= memory.nbytes - array.nbytes:
                    return ndarray(array.shape, array.dtype, memory.view(U1), offset, array.strides)
        return None


def _can_be_undone(array: Any) -> bool:
    """Whether numpy will let it be written to again: it looks for whose memory it is."""
    root = root_of(array)
    return isinstance(root, ndarray) and root.flags.owndata


def _unlocked(array: Any) -> bool:
    """Have it let the program write again; not possible while an array that it looks at does not."""
    try:
        array.flags.writeable = True
    except ValueError:
        return False
    return True


def _arrays(frame: FrameType | None) -> Iterator[Any]:
    """Arrays of the program: in variables of the functions that it is in, and in what those variables hold."""
    scopes: dict[int, Any] = {}
    while frame is not None:
        if not is_ours(frame):
            scopes[id(frame)], scopes[id(frame.f_globals)] = frame.f_locals, frame.f_globals
        frame = frame.f_back
    for scope in scopes.values():
        for value in list(scope.values()):
            if type(value) not in _HOLD_NOTHING:
                yield from (each for each in (value, *_inside(value)) if isinstance(each, ndarray))


def _inside(value: Any) -> Iterable[Any]:
    """What a container or an object holds."""
    if isinstance(value, (list, tuple)):
        return value
    return list((value if type(value) is dict else _attributes(value)).values())


def _attributes(value: Any) -> dict[str, Any]:
    """What an object holds; of modules and classes, nothing."""
    found = None if isinstance(value, (type, ModuleType)) else getattr(value, "__dict__", None)
    return found if type(found) is dict else {}


def read_only_arrays(error: BaseException) -> tuple[list[Any], str, str]:
    """Of an error of numpy's: arrays that the program names there and must not write to; the line, and where it is."""
    step, own, last = error.__traceback__, None, None
    while step is not None:
        if not is_ours(step.tb_frame) and not is_library(step.tb_frame) and not _is_numpy(step.tb_frame):
            own = step
        last, step = step, step.tb_next
    found = own or last
    if found is None:
        return [], "", "?"
    path, number, frame = found.tb_frame.f_code.co_filename, found.tb_lineno, found.tb_frame
    line = getline(path, number, frame.f_globals).strip()
    names = dict.fromkeys(findall(r"[^\W\d]\w*", _named(found) or line))
    values = [scope[name] for name in names for scope in (frame.f_locals, frame.f_globals) if name in scope]
    for value in values[:]:  # and a.b, and a.b.c
        inner = _attributes(value)
        deeper = [inner[name] for name in names if name in inner]
        values += deeper + [_attributes(one)[name] for one in deeper for name in names if name in _attributes(one)]
    values += [each for value in values for each in _inside(value)]
    arrays = [value for value in values if isinstance(value, ndarray) and not value.flags.writeable]
    return arrays, line if len(line) <= LONGEST else f"{line[: LONGEST - 4]} ...", f"{basename(path)}:{number}"


def _named(step: TracebackType) -> str:
    """What of its line was carried out when it failed: of `a[0] = b[0]`, the first; empty before Python 3.11."""
    code = step.tb_frame.f_code
    if not hasattr(code, "co_positions"):
        return ""
    first, last, start, end = next(islice(code.co_positions(), step.tb_lasti // 2, None))
    line = getline(code.co_filename, step.tb_lineno, step.tb_frame.f_globals).encode()
    return line[start:end].decode() if first == last == step.tb_lineno else ""


def _is_numpy(frame: FrameType) -> bool:
    return str(frame.f_globals.get("__name__", "")).partition(".")[0] == "numpy"
