"""A table of all public calls of the MPI module, and scripts that make each call on a separate line."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterable
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any, NamedTuple

from fakempi import MPI

NO_HANDLES = ("BottomType", "BufferAutomaticType", "InPlaceType", "MPIError", "Pickle", "buffer", "memory")
"""Classes of the module whose methods do not communicate and that MPI does not define."""


class Row(NamedTuple):
    """A call: its name in reports, Python code that makes it, and code that must run before."""

    call: str
    code: str
    before: str = ""


Script = list[tuple[Row, Callable[..., Any], str]]
"""Rows, the functions of the module written for them, and the place of each call."""


def public_calls() -> dict[str, Callable[..., Any]]:
    """Functions and methods of the module by name, such as `Comm.Send`; an inherited method belongs to its base class.
    """
    found: dict[str, Callable[..., Any]] = {}
    classes = [getattr(MPI, name) for name in MPI.__all__ if isinstance(getattr(MPI, name), type)]
    for cls in sorted(classes, key=lambda cls: len(cls.__mro__)):
        for name in dir(cls):
            entry = inspect.getattr_static(cls, name)
            function = entry.__func__ if isinstance(entry, (classmethod, staticmethod)) else entry
            is_call = inspect.isfunction(function) and not name.startswith("_") and cls.__name__ not in NO_HANDLES
            if is_call and function not in found.values():
                found[f"{cls.__name__}.{name}"] = function
    functions = {name: getattr(MPI, name) for name in MPI.__all__ if inspect.isfunction(getattr(MPI, name))}
    return found | {name: function for name, function in functions.items() if function not in found.values()}


WRONG = {
    "Status.Get_count": "MPI.Status().Get_count(MPI.DATATYPE_NULL)",
    "Status.Get_elements": "MPI.Status().Get_elements(MPI.DATATYPE_NULL)",
    "Group.Create_from_session_pset": "MPI.Group.Create_from_session_pset(MPI.Session(), 'mpi://WORLD')",
    "Message.Iprobe": "MPI.Message.Iprobe(MPI.COMM_NULL)",
    "Message.Probe": "MPI.Message.Probe(MPI.COMM_NULL)",
    "Prequest.Pready_list": "MPI.Prequest().Pready_list([0])",
    "Prequest.Pready_range": "MPI.Prequest().Pready_range(0, 1)",
    "Prequest.Startall": "MPI.Prequest.Startall([MPI.Prequest()])",
    "Request.Test": "names['foreign'].Test()",
    "Request.Wait": "names['foreign'].Wait()",
    "Request.test": "names['foreign'].test()",
    "Request.wait": "names['foreign'].wait()",
    "Prequest.Wait": "names['persistent'].Wait()",
    "Prequest.wait": "names['persistent'].wait()",
    "File.Delete": "MPI.File.Delete('/no/such/file')",
    "Win.Create": "MPI.Win.Create(None, comm=MPI.COMM_NULL)",
    "Win.Create_dynamic": "MPI.Win.Create_dynamic(comm=MPI.COMM_NULL)",
    "Register_datarep": "[MPI.Register_datarep('one', None, None, None) for _ in 'ab']",
}
"""Calls that have to fail, where None and a null handle would be accepted; `foreign` is a request of another rank."""

_NO_ERROR = "cannot fail, and makes nothing that has to be freed"
_MAPPING = "a method of dict, with Python's errors"
_NULL = "leaves a null handle alone"
_ENDS = "ends MPI, or the run"

EXCLUDED = {
    **dict.fromkeys(("Status.Get_error", "Status.Get_source", "Status.Get_tag", "Status.Is_cancelled"), _NO_ERROR),
    **dict.fromkeys(("Status.Set_cancelled", "Status.f2py", "Status.py2f", "Status.tomemory"), _NO_ERROR),
    **dict.fromkeys(("Errhandler.py2f", "Errhandler.toint", "Comm.Get_name", "Comm.Get_parent"), _NO_ERROR),
    **dict.fromkeys(("Win.Get_name", "Datatype.Get_name", "Request.Get_status", "Request.get_status"), _NO_ERROR),
    **dict.fromkeys(("Session.Init", "Add_error_class", "Detach_buffer", "Flush_buffer", "Get_abi_fortran_info"), _NO_ERROR),
    **dict.fromkeys(("Get_abi_info", "Get_abi_version", "Get_address", "Get_hw_resource_info", "Pcontrol"), _NO_ERROR),
    **dict.fromkeys(("Get_library_version", "Get_processor_name", "Get_version", "Init_thread", "Is_finalized"), _NO_ERROR),
    **dict.fromkeys(("Is_initialized", "Is_thread_main", "Query_thread", "Wtick", "Wtime", "get_vendor"), _NO_ERROR),
    **{f"Info.{name}": _MAPPING for name in ("clear", "copy", "items", "keys", "pop", "popitem", "update", "values")},
    **{f"{cls}.free": _NULL for cls in ("Errhandler", "Group", "Info", "Message", "Op", "Request")},
    **{f"{cls}.free": _NULL for cls in ("Session", "Datatype", "File", "Win", "Comm")},
    **dict.fromkeys(("Comm.Abort", "Init", "Finalize"), _ENDS),
    "Comm.Join": "waits for another program, on a socket",
}
"""Calls that report no line, and why."""


def wrong_call(name: str, function: Callable[..., Any]) -> Row:
    """A call that has to fail: on a null handle, if there is one, with None for every required argument."""
    if name in WRONG:
        return Row(function.__name__, WRONG[name])
    owner, _, method = name.rpartition(".")
    bound = getattr(getattr(MPI, owner)(), method) if owner else function
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    needed = [one for one in inspect.signature(bound).parameters.values() if one.default is one.empty and one.kind in kinds]
    return Row(function.__name__, f"MPI.{f'{owner}().' if owner else ''}{method}({', '.join(['None'] * len(needed))})")


def written(path: Path, rows: Iterable[Row]) -> Script:
    """Write a module that has a function for each row, and import it."""
    lines, numbers = [BEGINNING], []
    rows = list(rows)
    for number, row in enumerate(rows):
        lines += [f"def call_{number}(comm, me, other, **names):", f"    {row.before or 'pass'}", f"    return {row.code}"]
        numbers.append(len("\n".join(lines).split("\n")))
    path.write_text("\n".join(lines), encoding="utf-8")
    spec = spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    sys.modules[path.stem] = module
    try:
        spec.loader.exec_module(module)
    finally:
        del sys.modules[path.stem]
    functions = [getattr(module, f"call_{number}") for number in range(len(rows))]
    return list(zip(rows, functions, (f"{path.name}:{line}" for line in numbers), strict=True))


BEGINNING = """import numpy as np
from fakempi import MPI

def out(): return np.ones(4)
def into(): return np.zeros(4)
def half(): return np.ones(2)
def parts(array): return [array, [2, 2]]
def typed(array): return [array, [2, 2], [0, 16], [MPI.DOUBLE] * 2]
"""

# -- collective calls --------------------------------------------------------------------------------------------------

_BUFFERS = {
    "Barrier": "",
    "Bcast": "out()",
    "Gather": "half(), into()",
    "Gatherv": "half(), parts(into())",
    "Scatter": "out(), half()",
    "Scatterv": "parts(out()), half()",
    "Allgather": "half(), into()",
    "Allgatherv": "half(), parts(into())",
    "Alltoall": "out(), into()",
    "Alltoallv": "parts(out()), parts(into())",
    "Alltoallw": "typed(out()), typed(into())",
    "Reduce": "out(), into()",
    "Allreduce": "out(), into()",
    "Reduce_scatter_block": "out(), half()",
    "Reduce_scatter": "out(), half(), [2, 2]",
    "Scan": "out(), into()",
    "Exscan": "out(), into()",
}
_NEIGHBORS = {
    f"Neighbor_{name.lower()}": _BUFFERS[name] for name in ("Allgather", "Allgatherv", "Alltoall", "Alltoallv", "Alltoallw")
}
_OBJECTS = {
    "barrier": "", "bcast": "1", "gather": "1", "scatter": "[1, 2]", "allgather": "1", "alltoall": "[1, 2]", "reduce": "1",
    "allreduce": "1", "scan": "1", "exscan": "1",
}  # fmt: skip
_OF_NEIGHBORS = {"neighbor_allgather": "1", "neighbor_alltoall": "[1, 2]"}


def _rows(calls: dict[str, str], before: str = "", after: str = "") -> list[Row]:
    names = {call: f"{before}{call.lower() if before else call}{after}" for call in calls}
    return [Row(names[call], f"comm.{names[call]}({given})") for call, given in calls.items()]


COLLECTIVE = _rows(_BUFFERS | _OBJECTS | _NEIGHBORS | _OF_NEIGHBORS)
NONBLOCKING = _rows(_BUFFERS | _NEIGHBORS, before="I")
PERSISTENT = _rows(_BUFFERS | _NEIGHBORS, after="_init")
"""Calls of both ranks of a ring."""

# -- messages ----------------------------------------------------------------------------------------------------------

ATTACHED = "MPI.Attach_buffer(MPI.Alloc_mem(1000))"

EXCHANGES = [
    *(Row(call, f"comm.{call}(out(), 1) if me == 0 else comm.Recv(into(), 0)") for call in ("Send", "Ssend", "Rsend")),
    *(Row(call, f"comm.{call}(1, 1) if me == 0 else comm.recv(source=0)") for call in ("send", "ssend")),
    Row("Bsend", "comm.Bsend(out(), 1) if me == 0 else comm.Recv(into(), 0)", ATTACHED),
    Row("bsend", "comm.bsend(1, 1) if me == 0 else comm.recv(source=0)", ATTACHED),
    Row("Recv", "comm.Send(out(), 1) if me == 0 else comm.Recv(into(), 0)"),
    Row("recv", "comm.send(1, 1) if me == 0 else comm.recv(source=0)"),
    Row("Sendrecv", "comm.Sendrecv(out(), other, 0, into(), other, 0)"),
    Row("Sendrecv_replace", "comm.Sendrecv_replace(out(), other, 0, other, 0)"),
    Row("sendrecv", "comm.sendrecv(1, other)"),
]
"""Two ranks exchange messages."""

DIRECT = [Row("allgather_bruck", "collectives.find('allgather', 'bruck').run(comm, half(), into())", "import collectives")]
"""An algorithm that the program calls directly: its messages are more frames away from the program than others."""

LOST = [
    *(Row(call, f"comm.{call}(out(), other)", ATTACHED) for call in ("Send", "Bsend", "Isend", "Ibsend")),
    *(Row(call, f"comm.{call}(out(), other)") for call in ("Rsend", "Irsend")),
    *(Row(call, f"comm.{call}(1, other)", ATTACHED) for call in ("send", "bsend", "isend", "ibsend")),
]
"""Messages that no rank receives, and whose sends complete nevertheless."""

STARTED = [
    *(Row(call, f"comm.{call}(out(), other)", ATTACHED) for call in ("Isend", "Ibsend", "Irsend", "Issend")),
    *(Row(call, f"comm.{call}(1, other)", ATTACHED) for call in ("isend", "ibsend", "issend")),
    Row("Irecv", "comm.Irecv(into(), other)"),
    Row("irecv", "comm.irecv(source=other)"),
    Row("Isendrecv", "comm.Isendrecv(out(), other, 0, into(), other, 0)"),
    Row("Isendrecv_replace", "comm.Isendrecv_replace(out(), other, 0, other, 0)"),
    Row("Start", "request.Start()", "request = comm.Send_init(out(), other)"),
    Row("Startall", "MPI.Prequest.Startall([request])", "request = comm.Recv_init(out(), other)"),
    Row("Start", "MPI.Grequest.Start(lambda s: None, lambda: None, lambda c: None)"),
    Row("Idup", "comm.Idup()[1]"),
    Row("Iflush_buffer", "MPI.Iflush_buffer()"),
    Row("Iagree", "comm.Iagree(bytearray(4))"),
]
"""Requests that no call completes."""

PREPARED = [
    *(Row(call, f"comm.{call}(out(), other)") for call in ("Send_init", "Bsend_init", "Ssend_init", "Rsend_init")),
    Row("Recv_init", "comm.Recv_init(into(), other)"),
    *(Row(call, f"comm.{call}(out(), 2, other, 0)") for call in ("Psend_init", "Precv_init")),
]
"""Persistent requests that are never started."""

WAITS = [
    *(Row(call, f"comm.{call}(source=other)") for call in ("Probe", "Mprobe", "probe", "mprobe", "recv")),
    Row("Recv", "comm.Recv(into(), other)"),
    Row("Ssend", "comm.Ssend(out(), other)"),
    Row("ssend", "comm.ssend(1, other)"),
    Row("Sendrecv", "comm.Sendrecv(out(), other, 0, into(), other, 0)"),
    Row("Sendrecv_replace", "comm.Sendrecv_replace(out(), other, 0, other, 0)"),
    Row("sendrecv", "comm.sendrecv(1, other)"),
    *(Row(call, f"comm.Irecv(into(), other).{call}()") for call in ("Wait", "wait")),
    *(
        Row(call, f"MPI.Request.{call}([comm.Irecv(into(), other)])")
        for call in ("Waitall", "Waitany", "Waitsome", "waitall", "waitany", "waitsome")
    ),
    Row("Wait", "request.Wait()", "request = comm.Recv_init(into(), other); request.Start()"),
    Row("Wait", "comm.Ibarrier().Wait()"),
]
"""Calls of a rank that waits for a message that no rank sends."""

# -- objects to free ----------------------------------------------------------------------------------------------------

MAKERS = [
    *(Row(call, f"comm.{call}()") for call in ("Dup", "Split", "Clone")),
    Row("Dup_with_info", "comm.Dup_with_info(MPI.INFO_NULL)"),
    Row("Split_type", "comm.Split_type(MPI.COMM_TYPE_SHARED)"),
    Row("Create", "comm.Create(comm.group)"),
    Row("Create_group", "comm.Create_group(comm.group)"),
    Row("Create_cart", "comm.Create_cart([2])"),
    Row("Create_graph", "comm.Create_graph([1, 2], [1, 0])"),
    Row("Create_dist_graph", "comm.Create_dist_graph([me], [1], [other])"),
    Row("Create_dist_graph_adjacent", "comm.Create_dist_graph_adjacent([other], [other])"),
    Row("Create_intercomm", "half.Create_intercomm(0, comm, other)", "half = comm.Split(me)"),
    Row("Merge", "inter.Merge()", "inter = comm.Split(me).Create_intercomm(0, comm, other)"),
    Row("Sub", "cart.Sub([True])", "cart = comm.Create_cart([2])"),
    Row("Allocate", "MPI.Win.Allocate(8, comm=comm)"),
    Row("Allocate_shared", "MPI.Win.Allocate_shared(8, comm=comm)"),
    Row("Create", "MPI.Win.Create(out(), comm=comm)"),
    Row("Create_dynamic", "MPI.Win.Create_dynamic(comm=comm)"),
    Row("Open", "MPI.File.Open(comm, __file__)"),
    Row("Create_vector", "MPI.INT.Create_vector(1, 1, 1)"),
    Row("Create_contiguous", "MPI.INT.Create_contiguous(2)"),
    Row("Incl", "comm.group.Incl([0])"),
    Row("Get_group", "comm.Get_group()"),
    Row("Create", "MPI.Op.Create(lambda a, b, c: None)"),
    Row("Create", "MPI.Info.Create()"),
    Row("Create_env", "MPI.Info.Create_env()"),
    Row("Create_keyval", "MPI.Datatype.Create_keyval()"),
    Row("Create_keyval", "MPI.Comm.Create_keyval()"),
    Row("Create_errhandler", "MPI.Comm.Create_errhandler(print)"),
    Row("Open_port", "MPI.Open_port()"),
    Row("Attach_buffer", "MPI.Attach_buffer(MPI.Alloc_mem(1000))"),
]
"""Calls that create objects that the program must free."""

# -- windows -----------------------------------------------------------------------------------------------------------

_WIN = "win = MPI.Win.Allocate(64, comm=comm); win.Fence()"
_LOCKED = "win = MPI.Win.Allocate(64, comm=comm); win.Lock(0, MPI.LOCK_SHARED)"

ONE_SIDED = [
    *(Row(call, f"(win.{call}(out(), 0), win)[1]", _WIN) for call in ("Put", "Get", "Accumulate")),
    Row("Put", "(win.Put([out(), 2, MPI.DOUBLE], 0), win)[1]", _WIN),
    Row("Accumulate", "(win.Get_accumulate(out(), into(), 0), win)[1]", _WIN),
    Row("Accumulate", "(win.Fetch_and_op(np.ones(1), np.ones(1), 0), win)[1]", _WIN),
    Row("Accumulate", "(win.Compare_and_swap(np.ones(1, int), np.ones(1, int), np.ones(1, int), 0), win)[1]", _WIN),
    Row("Put", "(win.Rput(out(), 0).Wait(), win)[1]", _LOCKED),
    Row("Get", "(win.Rget(out(), 0).Wait(), win)[1]", _LOCKED),
    Row("Accumulate", "(win.Raccumulate(out(), 0).Wait(), win)[1]", _LOCKED),
    Row("Accumulate", "(win.Rget_accumulate(out(), into(), 0).Wait(), win)[1]", _LOCKED),
]
"""Accesses that conflict with a Put of another rank."""

MADE_ELSEWHERE = {
    "Grequest.Start": STARTED, "Iflush_buffer": STARTED, "Info.Create": MAKERS, "Info.Create_env": MAKERS,
    "Datatype.Create_keyval": MAKERS, "Open_port": MAKERS, "Attach_buffer": MAKERS,
}  # fmt: skip
"""Calls that cannot fail, and the table that has a row for them."""
