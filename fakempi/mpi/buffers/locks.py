"""Make arrays read-only while an operation uses them, so that a write to a buffer in use raises an error at its line.

An array is locked, which means made read-only by numpy's flag `writeable`, if the operation uses all of its memory: then no
correct program writes to it before the operation completes. Each view has a separate flag. A view that the program made
before the lock remains writable; a write through it is detected when the operation completes. A view that the program makes
while the array is locked stays read-only after the lock, so `unlock` searches the program's variables for such views and
makes them writable.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from linecache import getline
from os.path import basename
from re import findall
from types import BuiltinFunctionType, FrameType, FunctionType, ModuleType, TracebackType

from numpy import ndarray

from fakempi.mpi.base.call_site import is_library, is_ours
from fakempi.mpi.buffers.raw import U1, address_of, flat
from fakempi.mpi.buffers.regions import root_of
from fakempi.mpi.interfaces.arrays import Array

MAX_LINE = 60
"""Maximum number of characters of a source line in a report; longer lines are cut."""

_WITHOUT_ARRAYS = frozenset([FunctionType, BuiltinFunctionType, ModuleType, type, int, float, str, bool, bytes, type(None)])
"""Types whose values contain no arrays. Most variables have one of them, so the search skips them early."""


class Lock:
    """A locked array, the number of operations that use it, and a writable view of it (`alias`)."""

    __slots__ = ("alias", "array", "count")

    def __init__(self, array: Array) -> None:
        self.array, self.count = array, 1
        self.alias = array.view(ndarray)  # writable, since it is made before the flag is set
        array.flags.writeable = False


class Locks:
    """All locked arrays of a run. Operations of several ranks may use one array."""

    def __init__(self) -> None:
        self.held: dict[int, Lock] = {}
        self.delayed: list[Array] = []  # arrays to unlock later: they are views of arrays that are still locked
        self.locked_roots: set[int] = set()  # id() of each object that owns memory of an array that is or was locked

    def lock(self, arrays: Iterable[Array | None], nbytes: int) -> list[Array]:
        """Lock those arrays that have exactly `nbytes` bytes and can be locked; return them."""
        return [array for array in arrays if isinstance(array, ndarray) and array.nbytes == nbytes and self._lock(array)]

    def _lock(self, array: Array) -> bool:
        lock = self.held.get(id(array))
        if lock is not None:
            lock.count += 1
        elif array.flags.writeable and array.flags.forc and _can_be_unlocked(array):
            self.held[id(array)] = Lock(array)
            self.locked_roots.add(id(root_of(array)))
        else:
            return False
        return True

    def unlock(self, arrays: Iterable[Array], frame: FrameType | None) -> None:
        """Release the locks that one operation holds; an array becomes writable when no other operation uses it.

        Views that were made while an array was locked are searched for in the variables of `frame` and of its callers.
        """
        released = []
        for array in arrays:
            lock = self.held[id(array)]
            lock.count -= 1
            if not lock.count:
                released.append(self.held.pop(id(array)).array)
        if released:
            self.delayed = [array for array in (*self.delayed, *reversed(released)) if not _try_unlock(array)]
            roots = {id(root_of(array)) for array in released}
            for view in _arrays(frame):
                if not view.flags.writeable and id(root_of(view)) in roots and id(view) not in self.held:
                    _try_unlock(view)

    def may_have_locked(self, arrays: list[Array]) -> bool:
        """Whether one of the arrays may be read-only because of a lock; without arrays, whether any array was locked."""
        return any(id(root_of(array)) in self.locked_roots for array in arrays) if arrays else bool(self.locked_roots)

    def alias(self, array: Array) -> Array | None:
        """Return a writable view of the memory of an array, if a locked array contains that memory; otherwise None."""
        root = root_of(array)
        for lock in self.held.values():
            if root_of(lock.array) is root:
                memory = flat(lock.alias if lock.alias.flags.c_contiguous else lock.alias.T)
                offset = address_of(array) - address_of(memory)
                if 0 <= offset <= memory.nbytes - array.nbytes:
                    return ndarray(array.shape, array.dtype, memory.view(U1), offset, array.strides)
        return None


def _can_be_unlocked(array: Array) -> bool:
    """Whether numpy can make the array writable again: the owner of its memory must be a numpy array."""
    root = root_of(array)
    return isinstance(root, ndarray) and root.flags.owndata


def _try_unlock(array: Array) -> bool:
    """Make an array writable; return False if it is a view of a read-only array."""
    try:
        array.flags.writeable = True
    except ValueError:
        return False
    return True


def _arrays(frame: FrameType | None) -> Iterator[Array]:
    """Yield the arrays in variables of the program: locals and globals of all functions on the stack, and their contents."""
    scopes: dict[int, Mapping[str, object]] = {}
    while frame is not None:
        if not is_ours(frame):
            scopes[id(frame)], scopes[id(frame.f_globals)] = frame.f_locals, frame.f_globals
        frame = frame.f_back
    for scope in scopes.values():
        for value in list(scope.values()):
            if type(value) not in _WITHOUT_ARRAYS:
                yield from (item for item in (value, *_contents(value)) if isinstance(item, ndarray))


def _contents(value: object) -> Iterable[object]:
    """Return the items of a list, tuple or dict, or the attributes of another object."""
    if isinstance(value, (list, tuple)):
        return value
    return list((value if type(value) is dict else _attributes(value)).values())


def _attributes(value: object) -> dict[str, object]:
    """Return the attributes of an object; an empty dict for modules and classes."""
    attributes = None if isinstance(value, (type, ModuleType)) else getattr(value, "__dict__", None)
    return attributes if type(attributes) is dict else {}


def read_only_arrays(error: BaseException) -> tuple[list[Array], str, str]:
    """Find the program's line that raised an error; return the read-only arrays that it names, its text, and `file:line`."""
    step, in_program, last = error.__traceback__, None, None
    while step is not None:
        if not is_ours(step.tb_frame) and not is_library(step.tb_frame) and not _is_numpy(step.tb_frame):
            in_program = step
        last, step = step, step.tb_next
    raising = in_program or last
    if raising is None:
        return [], "", "?"
    path, number, frame = raising.tb_frame.f_code.co_filename, raising.tb_lineno, raising.tb_frame
    line = getline(path, number, frame.f_globals).strip()
    names = dict.fromkeys(findall(r"[^\W\d]\w*", _failed_expression(raising) or line))
    values = [scope[name] for name in names for scope in (frame.f_locals, frame.f_globals) if name in scope]
    for value in values[:]:  # also attributes: a.b and a.b.c
        attributes = _attributes(value)
        named = [attributes[name] for name in names if name in attributes]
        values += named + [_attributes(parent)[name] for parent in named for name in names if name in _attributes(parent)]
    values += [item for value in values for item in _contents(value)]
    arrays = [value for value in values if isinstance(value, ndarray) and not value.flags.writeable]
    return arrays, line if len(line) <= MAX_LINE else f"{line[: MAX_LINE - 4]} ...", f"{basename(path)}:{number}"


def _failed_expression(step: TracebackType) -> str:
    """Return the part of the line that raised the error, such as `a[0]` in `a[0] = b[0]`; "" before Python 3.11."""
    code = step.tb_frame.f_code
    if not hasattr(code, "co_positions"):
        return ""
    first, last, start, end = next(islice(code.co_positions(), step.tb_lasti // 2, None))
    line = getline(code.co_filename, step.tb_lineno, step.tb_frame.f_globals).encode()
    return line[start:end].decode() if first == last == step.tb_lineno else ""


def _is_numpy(frame: FrameType) -> bool:
    return str(frame.f_globals.get("__name__", "")).partition(".")[0] == "numpy"
