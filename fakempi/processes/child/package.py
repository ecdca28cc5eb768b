"""Creates the modules `mpi4py` and `mpi4py.MPI` of a child, and modules of fakempi that other parts of mpi4py import."""

from __future__ import annotations

import functools
import marshal
import os
import sys
from collections.abc import Callable
from importlib import import_module
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any, NoReturn

from fakempi.core.import_hooks import ImportHooks
from fakempi.processes.child.channel import Channel
from fakempi.processes.child.encoding import Default, OpaquePickle, Proxy, Reference
from fakempi.processes.child.ending import abort_through_report
from fakempi.processes.child.patches.sockets import join_by_addresses, let_others_run_first
from fakempi.processes.child.shared import Shared
from fakempi.processes.protocol import CONSTANT

VERSION = "4.1.2"
"""The emulated version of mpi4py."""


def install(channel: Channel, start: dict[str, Any], imports: ImportHooks) -> Callable[[float], None]:
    """Put the modules into `sys.modules`; return the function that advances the modeled clock of the rank."""
    from fakempi.processes.child import names, process

    process.install(channel)
    api = ProxyModule(channel, start).make()
    channel.module = api
    package_names = vars(sys.modules[__name__.partition(".")[0]])
    package_names["MPI"] = api
    names.replace(package_names, vars(api))
    sys.modules["fakempi.mpi.base.current"].rank_of_child.add_note = vars(api).pop("add_note")
    channel.set_options, channel.pickle_object = vars(api).pop("set_options"), vars(api).pop("pickle_object")
    vars(api)["_unpickle_object"] = vars(api).pop("unpickle_object")
    sys.modules["fakempi.MPI"] = api
    dtlib: Any = ModuleType("mpi4py.util.dtlib", "Conversion of numpy and MPI datatypes, in the parent.")
    dtlib.from_numpy_dtype, dtlib.to_numpy_dtype = vars(api).pop("from_numpy_dtype"), vars(api).pop("to_numpy_dtype")
    sys.modules["mpi4py.util.dtlib"] = sys.modules["fakempi.isolation.mpi4py.util.dtlib"] = dtlib
    package = ChildPackage(api)
    sys.modules.update({"mpi4py": package, "mpi4py.MPI": api, "mpi4py.rc": package.__dict__["_rc"]})
    abort_through_report(api.Comm, channel)
    let_others_run_first(channel.can_call, vars(api).pop("let_others_run"), imports)
    join_by_addresses(api.Comm, vars(api).pop("join_at"))
    compute: Callable[[float], None] = package_names["compute"]
    return compute


class ChildPackage(ModuleType):
    """The module `mpi4py`. Options apply when the program imports `MPI`."""

    def __init__(self, api: Any) -> None:
        super().__init__("mpi4py", "The emulator, under mpi4py's name.")
        from fakempi.isolation.mpi4py.options import Rc

        directory = os.path.join(sys.modules["fakempi.isolation"].__path__[0], "mpi4py")
        self.__dict__.update(_api=api, _rc=Rc(), __path__=[directory], __file__=os.path.join(directory, "__init__.py"))
        self.__spec__ = ModuleSpec("mpi4py", None, origin=self.__file__, is_package=True)
        self.__spec__.submodule_search_locations = [directory]
        self.__package__, self.__version__, self.__all__ = "mpi4py", VERSION, ["MPI"]
        self.Rc, self.rc = Rc, self.__dict__["_rc"]
        self.get_config, self.get_include, self.profile = dict, _not_supported, _not_supported

    @property
    def MPI(self) -> Any:
        """The proxy module. Accessing it applies the options."""
        from fakempi.isolation.mpi4py.options import APPLIED, apply_options
        from fakempi.mpi.base.current import running_process

        rank: Any = running_process()
        if not rank.options or APPLIED not in rank.options:
            apply_options(rank)
            if len(rank.options) > 1:
                rank.channel.set_options(rank.options, rank.initialized, rank.thread_level)
        return self.__dict__["_api"]

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), "MPI"} - {"_api", "_rc"})


def _not_supported(*args: Any, **kwargs: Any) -> NoReturn:
    raise NotImplementedError("there is no MPI library: no header files, and nothing to profile.")


class MPIObject(Proxy):
    """Base class of the generated classes, whose calls go through the channel of this process."""

    __slots__ = ()

    _channel: Channel

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        proxy = cls._channel.call(cls._new, cls, args, kwargs)  # the frame of the program is two frames up
        return proxy

    def __reduce__(self) -> Any:
        if self._key[0] == CONSTANT:
            return self._key[1]
        kind: Any = type(self)
        if "_definition" in self.__dict__:  # a user-defined operation, whose function is in this process
            return kind.Create, self.__dict__["_definition"]
        data = self._channel.pickle_object(self)
        return unpickle_object, (data,) if kind.__module__ == "fakempi.MPI" else (data, kind)

    def __getattr__(self, name: str) -> Any:
        if name == "_n_peers":  # for mpi4py.util.pkl5: the number of ranks that messages can be sent to
            return self.Get_remote_size() if self.Is_inter() else self.Get_size()
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")


class ProxyModule:
    """Makes the module `mpi4py.MPI` by executing the generated code, which uses the functions of `_helpers`."""

    def __init__(self, channel: Channel, start: dict[str, Any]) -> None:
        self.channel, self.call, self.start = channel, channel.call, start
        self.api: Any = ModuleType("mpi4py.MPI", "Proxies: calls are made by the emulator in the parent process.")
        self.api.__package__, self.api.__file__ = "mpi4py", os.path.join(os.path.dirname(__file__), "package.py")
        self.api.__spec__ = ModuleSpec("mpi4py.MPI", None)
        self.names = vars(self.api)
        MPIObject._channel = channel

    def make(self) -> Any:
        """Return the module."""
        names, channel, code = self.names, self.channel, self.start["code"]
        names.update(self._helpers())
        exec(marshal.loads(code) if isinstance(code, bytes) else code, names)
        for value in list(names.values()):
            if isinstance(value, type) and issubclass(value, MPIObject) and value is not MPIObject:
                value.__module__ = "fakempi.MPI"
                channel.classes.append(value)
        channel.classes.sort(key=lambda kind: kind._number)  # type: ignore[attr-defined]  # set on every generated class
        _use_own_addresses(self.api)
        _export_memory(self.api.Win)
        _show_integers(self.api.Status)
        _remember_functions(self.api)
        names.update(__getattr__=self._local, __all__=self.start["all"])
        channel.encoder.shared = Shared().find
        channel.starts, channel.frees = frozenset(self.start["starts"]), frozenset(self.start["frees"])
        from fakempi.mpi.buffers import address_constants

        for name in ("BOTTOM", "IN_PLACE", "BUFFER_AUTOMATIC"):
            channel.encoder.constants[type(getattr(address_constants, name))] = name
        return self.api

    def _helpers(self) -> dict[str, Any]:
        """Return the names that the generated code uses."""
        call, dumps = self.call, self.channel.dumps
        return {
            "_Proxy": MPIObject, "_Default": Default, "_constant": self._constant, "_call": call,
            "_object": lambda value: OpaquePickle(dumps(value)), "_objects": self._objects, "_is_unused": self._is_unused,
            "_reference": Reference, "_path": self._path, "_cached": self._cached,
            "_reader": lambda number, name: _named(lambda self: call(number, self, ()), name),
            "_writer": lambda number, name: _named(lambda self, value: call(number, self, (value,)), name),
            "_deleter": lambda number, name: _named(lambda self: call(number, self, ()), name),
            "__builtins__": __builtins__,
        }  # fmt: skip

    def _constant(self, kind: Any, name: str) -> Any:
        proxy: Any = object.__new__(kind)
        proxy._key = (CONSTANT, name)
        self.channel.constants[name] = proxy
        return proxy

    def _path(self, name: Any) -> Any:
        text = os.fspath(name) if isinstance(name, (str, bytes, os.PathLike)) else name
        moved = os.getcwd() != self.start["directory"]
        return os.path.abspath(text) if moved and isinstance(text, (str, bytes)) else text

    def _objects(self, values: Any) -> Any:
        try:
            values = values if values is None else list(values)
        except TypeError:
            return values  # the parent raises the error that names the call
        return values and [OpaquePickle(self.channel.dumps(value)) for value in values]

    def _is_unused(self, comm: Any, root: Any, only_root: bool) -> bool:
        names = self.names
        if isinstance(comm, names["Intercomm"]):
            return root != names["ROOT"] if only_root else root in (names["ROOT"], names["PROC_NULL"])
        try:
            return only_root and root != comm.rank
        except sys.modules["fakempi.MPI"].Exception:  # a null communicator: the parent raises the error that names the call
            return True

    def _cached(self, number: int, name: str, doc: str) -> Any:
        key, call = f"{name}()", self.call

        def get(self: Any) -> Any:
            attributes = self.__dict__
            if key not in attributes:
                attributes[key] = call(number, self, ())
            return attributes[key]

        get.__doc__ = doc
        return _named(get, name)

    def _local(self, name: str) -> Any:
        """Return a name that a child implements itself, when it is used for the first time."""
        local, names = self.start["local"], self.names
        if name in self.start["private"]:
            names.update(import_module("fakempi.isolation.mpi4py.private_names").NAMES)
            return names[name]
        if name not in local:
            raise AttributeError(f"module 'mpi4py.MPI' has no attribute {name!r}")
        module, _, attribute = local[name].partition(":")
        value = names[name] = getattr(import_module(module), attribute or name)
        if module.endswith(".address_constants") and not name.isupper():
            instance = next(each for each in local if each.isupper() and type(self._local(each)) is value)
            self.channel.encoder.constants[value] = instance
        return value


def _named(function: Any, name: str) -> Any:
    function.__name__ = function.__qualname__ = name
    function.__code__ = function.__code__.replace(co_name=name)  # for reports of the call that waits
    return function


def _use_own_addresses(api: Any) -> None:
    """Let attributes of windows that are addresses return addresses in this process."""
    win, get, attributes = api.Win, api.Win.Get_attr, api.Win.attrs

    def Get_attr(self: Any, keyval: int) -> Any:
        found = get(self, keyval)
        return self.tomemory().address if keyval == api.WIN_BASE and found else found

    win.Get_attr = Get_attr
    win.attrs = property(lambda self: (Get_attr(self, api.WIN_BASE), *attributes.fget(self)[1:]))


def _export_memory(win: Any) -> None:
    """Let windows export the memory of the rank by the buffer protocol."""
    from fakempi.mpi.buffers.buffer_protocol import export_buffer

    win.__buffer__ = lambda self, flags: memoryview(self.tomemory())  # called from Python 3.12 on
    export_buffer(win, lambda self: self.tomemory()._memory)


def _show_integers(status: Any) -> None:
    """Make `Status.tomemory` return a sequence of integers; the memory of a status is shared with the parent."""
    bytes_of = status.tomemory

    @functools.wraps(bytes_of)
    def tomemory(self: Any) -> memoryview:
        return memoryview(bytes_of(self)).cast("i")

    status.tomemory = tomemory


def _remember_functions(api: Any) -> None:
    """Store the functions of user-defined operations, which pickles need."""
    create = api.Op.Create.__func__

    @functools.wraps(create)
    def Create(cls: Any, function: Any, commute: bool = False) -> Any:
        op = create(cls, function, commute)
        op.__dict__["_definition"] = function, commute
        return op

    api.Op.Create = classmethod(Create)


def unpickle_object(data: bytes, kind: Any = None) -> Any:
    """Return the MPI object that another child has pickled; `kind` is its class if the program has defined it."""
    obj = sys.modules["fakempi.MPI"]._unpickle_object(data)
    return obj if kind is None else kind(obj)
