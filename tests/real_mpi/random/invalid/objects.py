"""Info objects, error handlers and classes, sessions, ports and the environment: invalid arguments."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.real_mpi.random.invalid.scene import Scene


def _info(s: Scene) -> Any:
    MPI = s.MPI
    info = s.keep(MPI.Info.Create())
    info.Set("a", "1")
    long, value = "k" * (MPI.MAX_INFO_KEY + s.pick(1, 20)), "v" * (MPI.MAX_INFO_VAL + s.pick(1, 20))
    call, args = s.pick(
        ("Set", (long, "1")),
        ("Set", ("", "1")),
        ("Set", ("b", value)),
        ("Get", (long,)),
        ("Get", ("absent",)),
        ("Get", ("",)),
        ("Delete", ("absent",)),
        ("Delete", (long,)),
        ("Get_nthkey", (1,)),
        ("Get_nthkey", (-1,)),
        ("Get_nthkey", (7,)),
        ("Get_nthkey", (0,)),
    )
    return getattr(info, call)(*args)


def _info_null(s: Scene) -> Any:
    call, args = s.pick(
        ("Set", ("a", "b")), ("Get", ("a",)), ("Delete", ("a",)), ("Get_nkeys", ()), ("Dup", ()), ("Free", ())
    )
    return getattr(s.MPI.Info(), call)(*args)


def _error_code(s: Scene) -> Any:
    """Error strings and classes of numbers that are none."""
    MPI = s.MPI
    call = s.pick("Get_error_class", "Add_error_code", "Add_error_string", "Remove_error_class", "Remove_error_code")
    number = s.pick(MPI.ERR_ARG, MPI.ERR_LASTCODE + 5000, -1)
    return getattr(MPI, call)(*([number, "text"] if call == "Add_error_string" else [number])) and "accepted"


def _errhandler(s: Scene) -> Any:
    """Freeing a predefined error handler, or null."""
    MPI = s.MPI
    return MPI.Errhandler(s.pick(MPI.ERRHANDLER_NULL, MPI.ERRORS_RETURN)).Free()


def _session(s: Scene) -> Any:
    MPI = s.MPI
    session = MPI.Session.Init()
    try:
        call, args = s.pick(
            ("Create_group", ("nonsense://set",)),
            ("Create_group", ("",)),
            ("Get_pset_info", ("nonsense://set",)),
            ("Get_nth_pset", (-1,)),
            ("Get_nth_pset", (1000,)),
        )
        return s.keep(getattr(session, call)(*args)) is None
    finally:
        session.Finalize()


def _greq(s: Scene) -> Any:
    """A generalized request whose query function fails."""
    MPI = s.MPI

    def fail(*_: Any) -> None:
        raise MPI.Exception(MPI.ERR_TOPOLOGY)

    request = MPI.Grequest.Start(fail, None, None)
    request.Complete()
    return getattr(request, s.pick("Wait", "Test"))()


CASES: dict[str, Callable[[Scene], Any]] = {
    "Info": _info,
    "Info null": _info_null,
    "error code": _error_code,
    "Errhandler.Free": _errhandler,
    "Session": _session,
    "Session null": lambda s: getattr(s.MPI.Session(), s.pick("Get_num_psets", "Get_info", "Finalize"))(),
    "Grequest": _greq,
    "Lookup_name": lambda s: s.MPI.Lookup_name("never published"),
    "Unpublish_name": lambda s: s.MPI.Unpublish_name("never published", "port"),
    "Close_port": lambda s: s.MPI.Close_port(s.pick("", "nonsense")),
    "Get_address": lambda s: s.MPI.Get_address(None),
    "Request.Waitall: null": lambda s: s.MPI.Request.Waitall([s.MPI.Request(), s.MPI.Request()]) and "accepted",
    "Request.Waitany: null": lambda s: s.MPI.Request.Waitany([s.MPI.Request()]) == s.MPI.UNDEFINED,
    "Request.Waitsome: null": lambda s: s.MPI.Request.Waitsome([s.MPI.Request()]),
    "Prequest.Startall: null": lambda s: s.MPI.Prequest.Startall([s.MPI.Prequest()]),
}
