"""Source code of the proxy module that children use as `mpi4py.MPI`, made from the emulator's classes by introspection.

Each public method, property and function becomes a function with the same parameters and defaults, which sends its arguments
to the parent. A child can therefore offer the same signatures without the emulator's modules, which take 0.6 s to import.
"""

from __future__ import annotations

import inspect
import marshal
import pickle
from collections.abc import Iterator
from contextlib import AbstractContextManager
from functools import cache
from types import FunctionType, ModuleType
from typing import Any, NamedTuple

from fakempi import MPI
from fakempi.errors.classes import ERR_ARG
from fakempi.isolation.mpi4py.util import dtlib
from fakempi.isolation.sockets import poll_outside
from fakempi.mpi.base.current import running_process
from fakempi.mpi.base.environment import compute
from fakempi.mpi.base.mpi_errors import mpi_error
from fakempi.mpi.base.process import RunState, Universe
from fakempi.mpi.base.region import region
from fakempi.mpi.comms.port import rendezvous_at_addresses
from fakempi.mpi.failures.kill import die
from fakempi.processes.protocol import CLASS_METHOD, DELETE, GET, METHOD, NEW, PLAIN, SET

LOCAL = {
    "buffer": "fakempi.mpi.buffers.memory", "memory": "fakempi.mpi.buffers.memory:buffer",
    "Alloc_mem": "fakempi.mpi.buffers.memory", "Free_mem": "fakempi.mpi.buffers.memory",
    "Pickle": "fakempi.mpi.buffers.pickling", "pickle": "fakempi.mpi.buffers.pickling",
    "Get_address": "fakempi.mpi.buffers.addresses", "Exception": "fakempi.errors:MPIError",
    "Is_thread_main": "fakempi.processes.child.threads:is_main_thread",
    **dict.fromkeys(
        ("BOTTOM", "BottomType", "IN_PLACE", "InPlaceType", "BUFFER_AUTOMATIC", "BufferAutomaticType"),
        "fakempi.mpi.buffers.address_constants",
    ),
}  # fmt: skip
"""Names of `MPI` that a child implements itself, because they concern its memory or interpreter -> the module with the
implementation, which the child imports when the name is used."""

OPERATORS = (
    "__eq__", "__bool__", "__repr__", "__len__", "__getitem__", "__setitem__", "__delitem__", "__contains__", "__iter__",
    "__int__", "__index__", "__call__",
)  # fmt: skip
"""Special methods that are forwarded."""

OBJECTS = ("obj", "sendobj")
"""Parameters of lower-case methods that are pickled in the child."""

BUFFERS = ("buf", "sendbuf", "recvbuf")
"""Parameters of communicator methods that are buffers. They are used until the call returns, or its request completes."""

SENDS = ("Send", "Bsend", "Ssend", "Rsend", "Isend", "Ibsend", "Issend", "Irsend")
"""Methods that only read `buf`. `sendbuf` is only read by every method."""

BLOCKING = ("Send", "Recv", "Ssend", "Bsend", "Sendrecv", "Bcast", "Allreduce", "Reduce", "Gather", "Allgather", "Scatter")
"""Frequent communicator methods that, if they return None, complete no earlier operation and use no buffer afterwards."""

LISTS = ("scatter", "alltoall", "ialltoall", "neighbor_alltoall")
"""Methods whose object is a sequence of objects, each pickled on its own."""

UNUSED = {
    **dict.fromkeys(("send", "ssend", "bsend", "isend", "issend", "ibsend", "sendrecv"), "dest == PROC_NULL"),
    **dict.fromkeys(("bcast", "scatter"), "_is_unused(self, root, True)"),
    **dict.fromkeys(("gather", "reduce"), "_is_unused(self, root, False)"),
}
"""Methods -> when their object is ignored. Then it is not pickled: it may be of a type that has no pickle."""


def set_options(options: dict[str, Any], initialized: bool, thread_level: int | None) -> None:
    """Apply the options of a child's `mpi4py.rc` when it imports MPI."""
    process = running_process()
    process.options, process.initialized = options, initialized
    process.thread_level = MPI.THREAD_SERIALIZED if thread_level is None else min(thread_level, MPI.THREAD_SERIALIZED)


def join_at(number: int, here: Any, there: Any) -> Any:
    """Return the result of `Comm.Join` for a socket of a child with these addresses."""
    if there is None or here == there:
        why = "it is listening, or its ends have no addresses that distinguish them"
        raise mpi_error(ERR_ARG, f"file descriptor {number} is not a connected socket: {why}.")
    process = running_process()
    context, mine = rendezvous_at_addresses(process, here, there)
    return MPI.Intercomm._make(process, context.sides[mine], context.sides[1 - mine], 0)


def let_others_run() -> bool:
    """Let other ranks run while a rank waits for a socket; return whether one makes progress."""
    return poll_outside(running_process().loop)


def pickle_object(obj: Any) -> bytes:
    """Return the pickle of an MPI object, without a class that the program has derived."""
    known = interface().classes
    if type(obj) not in known:
        obj = next(kind for kind in type(obj).__mro__ if kind in known)(obj)
    return pickle.dumps(obj, pickle.HIGHEST_PROTOCOL)


def unpickle_object(data: bytes) -> Any:
    """Return an MPI object from its pickle."""
    return pickle.loads(data)


class Notes(RunState):
    """Texts that ranks exchange without messages, such as sessions of pytest their results."""

    def __init__(self, universe: Universe) -> None:
        super().__init__(universe)
        self.texts: dict[str, list[str]] = {}


def add_note(key: str, text: str) -> list[str]:
    """Add a text to those of all ranks with this key, and return them."""
    texts = running_process().universe.state(Notes).texts.setdefault(key, [])
    texts.append(text)
    return texts[:]


class Regions(RunState):
    """Regions that children have begun, by number."""

    def __init__(self, universe: Universe) -> None:
        super().__init__(universe)
        self.open: dict[int, AbstractContextManager[None]] = {}
        self.count = 0


def begin_region(name: str) -> int:
    """Begin a region of the trace and return its number."""
    regions = running_process().universe.state(Regions)
    regions.count += 1
    regions.open[regions.count] = region(name)
    regions.open[regions.count].__enter__()
    return regions.count


def end_region(number: int) -> None:
    """End a region."""
    running_process().universe.state(Regions).open.pop(number).__exit__(None, None, None)


CONSTANT_RESULTS = {
    "Comm": ("Get_rank", "Get_size", "rank", "size", "Is_inter", "Is_intra", "is_inter", "is_intra"),
    "Intercomm": ("Get_remote_size", "remote_size"),
    "Group": ("Get_rank", "Get_size", "rank", "size"),
    "Datatype": ("Get_size", "size", "Get_extent", "extent", "lb", "ub"),
}
"""Calls whose result never changes while the object exists: a child makes each once for an object."""

EXTRA = {
    function.__name__: function
    for function in (
        compute, die, set_options, pickle_object, unpickle_object, join_at, let_others_run, dtlib.from_numpy_dtype,
        dtlib.to_numpy_dtype, begin_region, end_region, add_note,
    )
}  # fmt: skip
"""Functions outside `mpi4py.MPI` that the child calls."""


class ChildCall(NamedTuple):
    """A call that a child can make: its kind, the class, and the name."""

    kind: int
    owner: Any
    name: str


class Interface(NamedTuple):
    """The proxy module: its code, marshaled, and the calls that it makes, by number; names of those that are in BLOCKING."""

    code: bytes
    calls: list[ChildCall]
    blocking: dict[int, str]
    classes: list[type]
    constants: dict[str, Any]


@cache
def interface() -> Interface:
    """Return the proxy module for `fakempi.MPI`."""
    return _Writer(MPI).interface()


class _Writer:
    def __init__(self, module: ModuleType) -> None:
        self.lines: list[str] = []
        self.calls: list[ChildCall] = []
        names = [name for name in module.__all__ if name not in {*LOCAL, "COMM_WORLD", "COMM_SELF"}]
        everything = {name: getattr(module, name) for name in names}
        kinds = {name: value for name, value in everything.items() if isinstance(value, type)}
        self.classes = sorted(kinds.values(), key=lambda kind: len(kind.__mro__))
        self.names = {kind: name for name, kind in kinds.items()}
        self.functions = {name: value for name, value in everything.items() if inspect.isfunction(value)} | EXTRA
        self.plain = {name: value for name, value in everything.items() if type(value) in (int, str)}
        known = {*kinds, *self.functions, *self.plain}
        self.constants = {name: value for name, value in everything.items() if name not in known}
        self.defaults: dict[str, Any] = {}  # other default values of parameters, which children know by name
        self.constant_names = {id(value): name for name, value in reversed(self.constants.items())}

    def interface(self) -> Interface:
        for name, value in self.plain.items():
            self.lines.append(f"{name} = {value!r}")
        for kind in self.classes:
            self._class(kind)
        for name, value in self.constants.items():
            first = self.constant_names[id(value)]  # MPI.SHORT is MPI.SIGNED_SHORT
            made = first if name != first else f"_constant({self.names[type(value)]}, {name!r})"
            self.lines.append(f"{name} = {made}")
        self.lines += [f"{name} = _constant(Intracomm, {name!r})" for name in ("COMM_WORLD", "COMM_SELF")]
        for name, function in self.functions.items():
            self.lines += self._function(name, function, ChildCall(PLAIN, None, name), [], "None")
        code = compile("\n".join(self.lines), "<fakempi: proxies>", "exec")
        blocking = {number: call.name for number, call in enumerate(self.calls) if call.name in BLOCKING}
        return Interface(marshal.dumps(code), self.calls, blocking, self.classes, self.constants | self.defaults)

    def _class(self, kind: type) -> None:
        bases = [base for base in kind.__mro__[1:] if base in self.names]
        base = self.names[bases[0]] if bases else "_Proxy"
        self.lines.append(f"class {self.names[kind]}({base}):")
        new = self._number(ChildCall(NEW, kind, ""))
        body = [repr(kind.__doc__), f"_number = {self.classes.index(kind)}", f"_new = {new}"]
        if kind.__hash__ is None:
            body.append("__hash__ = None")
        for name, value in _members(kind):
            if not bases or inspect.getattr_static(bases[0], name, None) is not value:
                body += self._member(kind, name, value)
        self.lines += [f"    {line}" for line in body]

    def _member(self, kind: type, name: str, value: Any) -> Iterator[str]:
        if name in CONSTANT_RESULTS.get(kind.__name__, ()):
            call = ChildCall(GET if isinstance(value, property) else METHOD, kind, name)
            made = f"_cached({self._number(call)}, {name!r}, {value.__doc__!r})"
            doc = f", doc={value.__doc__!r}"
            yield f"{name} = property({made}{doc})" if isinstance(value, property) else f"{name} = {made}"
        elif isinstance(value, property):
            calls = [f"_reader({self._number(ChildCall(GET, kind, name))}, {name!r})"]
            calls.append(f"_writer({self._number(ChildCall(SET, kind, name))}, {name!r})" if value.fset else "None")
            calls.append(f"_deleter({self._number(ChildCall(DELETE, kind, name))}, {name!r})" if value.fdel else "None")
            yield f"{name} = property({', '.join(calls)}, {value.__doc__!r})"
        elif isinstance(value, classmethod):
            yield "@classmethod"
            yield from self._function(name, value.__func__, ChildCall(CLASS_METHOD, kind, name), ["cls"], "cls")
        elif isinstance(value, staticmethod):
            yield "@staticmethod"
            yield from self._function(name, value.__func__, ChildCall(CLASS_METHOD, kind, name), [], "None")
        else:
            yield from self._function(name, value, ChildCall(METHOD, kind, name), ["self"], "self")

    def _function(self, name: str, function: Any, call: ChildCall, first: list[str], target: str) -> list[str]:
        parameters = list(inspect.signature(function).parameters.values())[len(first) :]
        declared, arguments, named, before = [*first], [], [], None  # type: list[str], list[str], list[str], Any
        for one in parameters:
            star = "*" if one.kind is one.VAR_POSITIONAL else "**" if one.kind is one.VAR_KEYWORD else ""
            default = "" if one.default is one.empty else f"={self._default(one.default)}"
            if before is one.POSITIONAL_ONLY and one.kind is not before:
                declared.append("/")
            if one.kind is one.KEYWORD_ONLY and before not in (one.VAR_POSITIONAL, one.KEYWORD_ONLY):
                declared.append("*")
            declared.append(f"{star}{one.name}{default}")
            if one.kind is one.KEYWORD_ONLY:
                named.append(f"{one.name!r}: {one.name}")
            elif one.kind is one.VAR_KEYWORD:
                named.append(f"**{one.name}")
            else:
                arguments.append(f"*{one.name}" if star else self._argument(call, one.name))
            before = one.kind
        if before is inspect.Parameter.POSITIONAL_ONLY:
            declared.append("/")
        options = f", {{{', '.join(named)}}}" if named else ""
        reads = _reads(call, [one.name for one in parameters])
        if reads is not None and not named:
            options = f", None, {reads}"
        inside = "".join(f"{argument}, " for argument in arguments)
        return [
            f"def {name}({', '.join(declared)}):",
            f"    {function.__doc__!r}",
            f"    return _call({self._number(call)}, {target}, ({inside}){options})",
        ]

    def _argument(self, call: ChildCall, name: str) -> str:
        if name in OBJECTS and call.owner is not None and call.name[0].islower():
            pickled = f"_objects({name})" if call.name in LISTS else f"_object({name})"
            unused = UNUSED.get(call.name)
            return f"None if {unused} else {pickled}" if unused else pickled
        if name == "attrval" or call.name == "__call__":
            return f"_reference({name})"
        if name == "filename":
            return f"_path({name})"
        return name

    def _default(self, value: Any) -> str:
        name = self.constant_names.get(id(value))
        if name is not None:
            return f"_Default({name!r})"
        if type(value) in (int, str, bool, float, type(None), tuple):
            return repr(value)
        name = getattr(value, "_name_in_mpi", "")  # COMM_WORLD or COMM_SELF of the running rank
        if not name:
            name = f"_default_{len(self.defaults)}"
            self.defaults[name] = value
        return f"_Default({name!r})"

    def _number(self, call: ChildCall) -> int:
        self.calls.append(call)
        return len(self.calls) - 1


def _reads(call: ChildCall, parameters: list[str]) -> int | None:
    """Return the arguments that a call of a communicator only reads, as bits; None if it has no buffer or keeps it."""
    name = call.name
    if call.kind != METHOD or not issubclass(call.owner, MPI.Comm) or name.endswith("_init") or not name[0].isupper():
        return None
    if not any(one in BUFFERS for one in parameters):
        return None
    reads = [one == "sendbuf" or (one == "buf" and name in SENDS) for one in parameters]
    return sum(1 << index for index, only in enumerate(reads) if only)


def _members(kind: type) -> Iterator[tuple[str, Any]]:
    """The public members of a class and of its bases that are ours, and its operators."""
    seen = set()
    for base in kind.__mro__:
        if base.__module__.startswith("fakempi"):
            for name, value in vars(base).items():
                if name in seen or (name[0] == "_" and name not in OPERATORS):
                    continue
                seen.add(name)
                if isinstance(value, (FunctionType, classmethod, staticmethod, property)):
                    yield name, value
