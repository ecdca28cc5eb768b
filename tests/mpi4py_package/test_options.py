"""`mpi4py.rc`: options that a rank sets before it imports MPI."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

import fakempi
from fakempi.isolation import Program


def play(directory: Path, script: str, nprocs: int = 2, backend: Any = "auto") -> None:
    """Run a script that has imported nothing yet."""
    (directory / "work.py").write_text(dedent(script), encoding="utf-8")
    fakempi.run(Program([str(directory / "work.py")]), nprocs, backend=backend)


@pytest.mark.parametrize(
    ("errors", "handler"),
    [("exception", "RETURN"), ("default", "ARE_FATAL"), ("fatal", "ARE_FATAL"), ("abort", "ABORT")],
)
def test_errors_selects_the_handler_of_the_predefined_communicators(tmp_path: Path, errors: str, handler: str) -> None:
    """As soon as MPI is imported."""
    script = f"""
    import mpi4py
    mpi4py.rc.errors = {errors!r}
    from mpi4py import MPI
    assert MPI.COMM_WORLD.Get_errhandler() == MPI.COMM_SELF.Get_errhandler() == MPI.ERRORS_{handler}
    """
    play(tmp_path, script)


def test_options_are_private_to_the_rank_that_sets_them(tmp_path: Path, backend: Any) -> None:
    """Also if it imports a name from MPI directly; later settings have no effect."""
    script = """
    import mpi4py, random
    if random.random() >= 0:
        from fakempi import MPI as plain
        me = plain.COMM_WORLD.Get_rank()
    mpi4py.rc(errors="abort" if me else "exception", threads=me == 1)
    from mpi4py.MPI import COMM_WORLD, ERRORS_ABORT, Query_thread, THREAD_SINGLE, THREAD_MULTIPLE
    mpi4py.rc.errors = "fatal"
    from mpi4py import MPI
    assert (COMM_WORLD.Get_errhandler() == ERRORS_ABORT) == (me == 1)
    assert Query_thread() == (THREAD_MULTIPLE if me else THREAD_SINGLE)
    """
    play(tmp_path, script, 2, backend)


def test_a_program_may_initialize_explicitly(tmp_path: Path) -> None:
    """With the available level of thread support."""
    script = """
    import mpi4py
    mpi4py.rc.initialize = mpi4py.rc.finalize = False
    from mpi4py import MPI
    assert not MPI.Is_initialized() and not MPI.Is_finalized()
    assert MPI.Init_thread(MPI.THREAD_SINGLE) == MPI.Query_thread() == MPI.THREAD_SINGLE
    assert MPI.Is_initialized() and MPI.COMM_WORLD.allreduce(1) == 2
    """
    play(tmp_path, script)


@pytest.mark.parametrize("level", ["single", "funneled", "serialized", "multiple"])
def test_a_thread_level_can_be_requested(tmp_path: Path, level: str) -> None:
    """And is provided."""
    script = f"""
    from mpi4py import rc
    rc.thread_level = {level!r}
    from mpi4py import MPI
    assert MPI.Query_thread() == MPI.THREAD_{level.upper()}
    """
    play(tmp_path, script, 1)


def test_invalid_values_cause_a_warning(tmp_path: Path) -> None:
    """The defaults stay."""
    script = """
    import warnings
    import mpi4py
    mpi4py.rc(errors="x", threads=3, irecv_bufsz="y", thread_level=None)
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        from mpi4py import MPI
    said = sorted(str(warning.message) for warning in found)
    assert said == [
        "mpi4py.rc.errors: unexpected value 'x'", "mpi4py.rc.irecv_bufsz: unexpected value 'y'",
        "mpi4py.rc.thread_level: unexpected value None", "mpi4py.rc.threads: unexpected value 3",
    ], said
    assert MPI.COMM_WORLD.Get_errhandler() == MPI.ERRORS_RETURN and MPI.Query_thread() == MPI.THREAD_MULTIPLE
    """
    play(tmp_path, script, 1)


def test_options_and_the_whole_module_can_be_deleted(tmp_path: Path, backend: Any) -> None:
    """On each rank separately; `from mpi4py import rc` still finds them, as in mpi4py."""
    script = """
    import mpi4py
    mpi4py.rc.threads = False
    del mpi4py.rc.threads
    assert mpi4py.rc.threads is True and repr(mpi4py.rc) == "<mpi4py.rc>" and isinstance(mpi4py.rc, mpi4py.Rc)
    del mpi4py.rc
    assert not hasattr(mpi4py, "rc")
    try:
        del mpi4py.rc
    except AttributeError as error:
        assert str(error) == "module 'mpi4py' has no attribute 'rc'"
    else:
        raise AssertionError
    from mpi4py import MPI, rc
    assert rc.threads and MPI.COMM_WORLD.size == 2
    """
    play(tmp_path, script, 2, backend)


def test_the_package_has_its_location(tmp_path: Path) -> None:
    """And raises for unavailable files."""
    script = """
    import mpi4py, os, pkgutil
    assert mpi4py.__path__ == [os.path.dirname(mpi4py.__file__)] and mpi4py.__spec__.origin == mpi4py.__file__
    assert {"bench", "run", "typing", "util"} <= {module.name for module in pkgutil.iter_modules(mpi4py.__path__)}
    assert mpi4py.get_config() == {} and mpi4py.__version__.startswith("4.") and {"MPI", "rc"} <= set(dir(mpi4py))
    for call, words in [
        (mpi4py.get_include, "mpi4py.get_include is not emulated: there are no header files."),
        (lambda: mpi4py.profile("vt"), "mpi4py.profile is not emulated: there is no MPI library to profile."),
    ]:
        try:
            call()
        except NotImplementedError as error:
            assert str(error) == words
        else:
            raise AssertionError
    """
    play(tmp_path, script, 1)


@pytest.mark.parametrize(
    ("errors", "handler", "of_files"),
    [("exception", "RETURN", "RETURN"), ("default", "ARE_FATAL", "RETURN"), ("fatal", "ARE_FATAL", "ARE_FATAL"),
     ("abort", "ABORT", "ABORT")],
)  # fmt: skip
def test_errors_selects_the_handler_of_new_objects(tmp_path: Path, errors: str, handler: str, of_files: str) -> None:
    """Of communicators, windows, sessions and files; FILE_NULL keeps its own. mpi4py with MPICH gives the same."""
    script = f"""
    import mpi4py
    mpi4py.rc.errors = {errors!r}
    from mpi4py import MPI
    session, window = MPI.Session.Init(), MPI.Win.Create(bytearray(8))
    file = MPI.File.Open(MPI.COMM_SELF, {str(tmp_path)!r} + f"/file{{MPI.COMM_WORLD.rank}}", MPI.MODE_CREATE | MPI.MODE_RDWR)
    made = [MPI.COMM_WORLD.Dup(), MPI.COMM_WORLD.Split(0)]
    made.append(MPI.Intracomm.Create_from_group(MPI.Group.Create_from_session_pset(session, "mpi://SELF")))
    for one in (*made, session, window):
        assert one.Get_errhandler() == MPI.ERRORS_{handler}, one
    assert file.Get_errhandler() == MPI.ERRORS_{of_files} and MPI.FILE_NULL.Get_errhandler() == MPI.ERRORS_RETURN
    window.Set_errhandler(MPI.ERRORS_RETURN)
    assert window.Get_errhandler() == MPI.ERRORS_RETURN
    file.Close(), window.Free(), [one.Free() for one in made], session.Finalize()
    """
    play(tmp_path, script)


@pytest.mark.quick(6)
@pytest.mark.parametrize(
    ("name", "value", "check"),
    [
        *(("INITIALIZE", value, "not MPI.Is_initialized() and rc.initialize is False; MPI.Init()")
          for value in ("0", "no", "Off", "FALSE", "n", "")),
        *(("INITIALIZE", value, "MPI.Is_initialized() and rc.initialize is True") for value in ("1", "yes", "ON", "true")),
        ("THREADS", "0", "MPI.Query_thread() == MPI.THREAD_SINGLE and rc.threads is False"),
        ("THREAD_LEVEL", "Funneled", "MPI.Query_thread() == MPI.THREAD_FUNNELED and rc.thread_level == 'funneled'"),
        ("ERRORS", "fatal", "MPI.COMM_WORLD.Get_errhandler() == MPI.ERRORS_ARE_FATAL"),
        ("FINALIZE", "0", "rc.finalize is False"), ("IRECV_BUFSZ", "1", "rc.irecv_bufsz == 1"),
        ("RECV_MPROBE", "False", "rc.recv_mprobe is False"),
    ],
)  # fmt: skip
def test_environment_variables_override_options(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, value: str, check: str
) -> None:
    """Values that the program sets before it imports MPI are overridden, as in mpi4py."""
    monkeypatch.setenv(f"MPI4PY_RC_{name}", value)
    play(tmp_path, f"from mpi4py import rc\nrc.initialize = rc.threads = True\nfrom mpi4py import MPI\nassert {check}")


def test_invalid_environment_variables_cause_a_warning(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """They have no other effect."""
    monkeypatch.setenv("MPI4PY_RC_THREAD_LEVEL", "bad")
    with pytest.warns(RuntimeWarning, match="mpi4py.rc.thread_level: unexpected value 'bad'"):
        play(tmp_path, "from mpi4py import MPI\nassert MPI.Query_thread() == MPI.THREAD_MULTIPLE", 1)


def test_options_can_be_deleted_from_the_modules_on_every_rank(tmp_path: Path, backend: Any) -> None:
    """At the start or later, on each rank separately."""
    script = """
    import sys, mpi4py
    from mpi4py import MPI
    comm = MPI.COMM_WORLD
    if comm.rank != 1:
        comm.Barrier()
    del mpi4py.rc, sys.modules["mpi4py.rc"]
    if comm.rank == 1:
        comm.Barrier()
    comm.Barrier()
    assert "mpi4py.rc" not in sys.modules and not hasattr(mpi4py, "rc")
    """
    play(tmp_path, script, 4, backend)
