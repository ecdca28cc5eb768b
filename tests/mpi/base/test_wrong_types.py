"""Each parameter of methods of each class, with values of wrong types: errors are MPI's, and name ranks and tags."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fakempi
from fakempi import MPI
from tests.helpers.call_table import public_calls

VALUES: dict[str, Callable[[], Any]] = {
    **dict.fromkeys(("buf", "recvbuf", "origin", "result", "inoutbuf"), lambda: np.zeros(1)),
    **dict.fromkeys(("sendbuf", "compare", "inbuf", "sendobj", "obj"), lambda: np.ones(1)),
    **dict.fromkeys(("dest", "source", "tag", "sendtag", "recvtag", "root", "color", "key", "rank", "assertion"), lambda: 0),
    **dict.fromkeys(("local_leader", "remote_leader", "target_rank", "offset", "disp"), lambda: 0),
    **dict.fromkeys(("lb", "position", "direction"), lambda: 0),
    **dict.fromkeys(("partitions", "count", "ndims", "disp_unit", "blocklength", "stride", "nelem"), lambda: 1),
    "displacement": lambda: 1,
    **dict.fromkeys(("sources", "degrees", "displacements", "starts", "coords", "ranks", "index"), lambda: [0]),
    **dict.fromkeys(("dims", "blocklengths", "subsizes"), lambda: [1]),
    **dict.fromkeys(("edges", "destinations", "requests"), list),
    **dict.fromkeys(("size", "extent"), lambda: 8),
    **dict.fromkeys(("memory", "outbuf"), lambda: bytearray(8)),
    **dict.fromkeys(("group", "group1", "group2"), lambda: MPI.GROUP_EMPTY),
    **dict.fromkeys(("comm", "peer_comm"), lambda: MPI.COMM_SELF),
    **dict.fromkeys(("amode", "mode"), lambda: MPI.MODE_RDONLY),
    "periods": lambda: [False], "remain_dims": lambda: [True], "info": lambda: MPI.INFO_NULL, "value": lambda: "v",
    "errhandler": lambda: MPI.ERRORS_RETURN, "name": lambda: "x", "split_type": lambda: MPI.COMM_TYPE_SHARED,
    "datatype": lambda: MPI.INT, "datatypes": lambda: [MPI.INT], "sizes": lambda: [2], "lock_type": lambda: MPI.LOCK_SHARED,
    "op": lambda: MPI.SUM, "filename": lambda: "no such file", "typeclass": lambda: MPI.TYPECLASS_INTEGER,
    "errorcode": lambda: 0, "flag": lambda: True, "error": lambda: 0, "nbytes": lambda: 8,
}  # fmt: skip
"""A value for each required parameter. A method that has others is not called."""

WRONG = ("a", 1.5, object(), [1], None, {"x": 1})

OBJECTS: dict[str, Callable[[Any, Path], Any]] = {
    "Comm": lambda comm, path: comm,
    "Intracomm": lambda comm, path: comm,
    "Cartcomm": lambda comm, path: comm.Create_cart([1]),
    "Win": lambda comm, path: MPI.Win.Allocate(64, 1, comm=comm),
    "File": lambda comm, path: MPI.File.Open(comm, path / "file", MPI.MODE_CREATE | MPI.MODE_RDWR),
    "Datatype": lambda comm, path: MPI.INT.Dup(),
    "Group": lambda comm, path: comm.Get_group(),
    "Op": lambda comm, path: MPI.SUM,
    "Status": lambda comm, path: MPI.Status(),
    "Info": lambda comm, path: MPI.Info.Create(),
    "Request": lambda comm, path: comm.Isend(b"x", MPI.PROC_NULL),
    "Message": lambda comm, path: MPI.MESSAGE_NO_PROC,
}

CALLS = cache(public_calls)

ENDS = ("Abort", "Free", "free", "Disconnect", "Join", "Accept", "Connect", "Spawn", "Spawn_multiple")
"""Methods that are not called: they end something, wait for another program or start one."""

MAPPING = ("pop", "update", "fromkeys", "setdefault", "get")
"""Methods of a dict, with Python's errors."""

NAMED = ("dest", "source", "tag", "sendtag", "recvtag", "root", "status", "statuses", "recvcounts", "partitions")
"""Parameters whose errors contain their names, if the other arguments are valid. Other errors describe values."""


def _problem(call: str, name: str, value: object, make: Callable[[Any, Path], Any], path: Path) -> str:
    """Call a method with a wrong argument; return what is wrong with the error, or an empty string."""
    method = call.partition(".")[2]
    parameters = list(inspect.signature(CALLS()[call]).parameters.values())[1:]
    arguments = {one.name: VALUES[one.name]() for one in parameters if one.default is one.empty and one.name != name}
    failures: list[BaseException] = []

    def main(comm: Any) -> None:
        target = make(comm, path)
        for given in ({**arguments, name: value}, {**arguments, **({name: VALUES[name]()} if name in VALUES else {})}):
            try:
                getattr(target, method)(**given)
            except Exception as error:
                failures.append(error)
            else:
                break

    try:
        fakempi.run(main, 1)
    except fakempi.RunError:
        if not failures:
            return ""  # a deadlock: the value is accepted
    if not failures or isinstance(failures[0], NotImplementedError):
        return ""
    error, *with_valid_value = failures
    if not isinstance(error, MPI.Exception):
        return f"{call}({name}={value!r}): {type(error).__name__}: {error}"
    if name not in NAMED or name in str(error) or with_valid_value:
        return ""
    return f"{call}({name}={value!r}) does not name it: {error}"


@pytest.mark.slow
@pytest.mark.parametrize("values", [pytest.param(WRONG[:2], marks=pytest.mark.sample), WRONG[2:]], ids=["two", "more"])
@pytest.mark.parametrize("kind", OBJECTS)
def test_an_argument_of_a_wrong_type_is_reported(kind: str, values: tuple[object, ...], tmp_path: Path) -> None:
    """By an exception of MPI, not by one of our code."""
    problems = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # receive buffers of objects are deprecated
        for call, function in CALLS().items():
            owner, _, method = call.partition(".")
            if owner != kind or method in ENDS or (kind == "Info" and method in MAPPING):
                continue
            parameters = list(inspect.signature(function).parameters.values())[1:]
            if any(one.default is one.empty and one.name not in VALUES for one in parameters):
                continue
            for one in parameters:
                if one.kind is one.POSITIONAL_OR_KEYWORD:
                    wrong = [value for value in values if value is not None or one.default is not None]
                    problems += [_problem(call, one.name, value, OBJECTS[kind], tmp_path) for value in wrong]
    assert list(filter(None, problems)) == []
