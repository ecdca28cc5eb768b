"""`mpi4py.rc`: what a rank asks for before it imports MPI."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest

import fakempi
from fakempi.script import program


def play(folder: Path, script: str, nprocs: int = 2, carrier: str = "auto") -> None:
    """Run a script that has imported nothing yet."""
    (folder / "work.py").write_text(dedent(script), encoding="utf-8")
    fakempi.run(program([str(folder / "work.py")]), nprocs, carrier=carrier)


@pytest.mark.parametrize(
    ("errors", "handler"),
    [("exception", "RETURN"), ("default", "ARE_FATAL"), ("fatal", "ARE_FATAL"), ("abort", "ABORT")],
)
def test_errors_choose_the_handler_of_the_predefined_communicators(tmp_path: Path, errors: str, handler: str) -> None:
    """As soon as MPI is imported."""
    script = f"""
    import mpi4py
    mpi4py.rc.errors = {errors!r}
    from mpi4py import MPI
    assert MPI.COMM_WORLD.Get_errhandler() == MPI.COMM_SELF.Get_errhandler() == MPI.ERRORS_{handler}
    """
    play(tmp_path, script)


def test_they_hold_for_the_rank_that_sets_them(tmp_path: Path, carrier: str) -> None:
    """Also if it imports a name from MPI directly; later settings come too late."""
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
    play(tmp_path, script, 2, carrier)


def test_one_may_initialize_by_oneself(tmp_path: Path) -> None:
    """With the level of thread support that is there."""
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
def test_a_level_of_threads_is_asked_for(tmp_path: Path, level: str) -> None:
    """And given."""
    script = f"""
    from mpi4py import rc
    rc.thread_level = {level!r}
    from mpi4py import MPI
    assert MPI.Query_thread() == MPI.THREAD_{level.upper()}
    """
    play(tmp_path, script, 1)


def test_values_that_make_no_sense_are_warned_of(tmp_path: Path) -> None:
    """And all stays as it would be."""
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


def test_options_can_be_deleted_and_so_can_all_of_them(tmp_path: Path, carrier: str) -> None:
    """On each rank for itself; `from mpi4py import rc` still finds them, as it does in mpi4py."""
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
    play(tmp_path, script, 2, carrier)


def test_the_package_says_where_it_is(tmp_path: Path) -> None:
    """And what it cannot give."""
    script = """
    import mpi4py, os, pkgutil
    assert mpi4py.__path__ == [os.path.dirname(mpi4py.__file__)] and mpi4py.__spec__.origin == mpi4py.__file__
    assert {"bench", "run", "typing", "util"} <= {module.name for module in pkgutil.iter_modules(mpi4py.__path__)}
    assert mpi4py.get_config() == {} and mpi4py.__version__.startswith("4.") and {"MPI", "rc"} <= set(dir(mpi4py))
    for call, words in [
        (mpi4py.get_include, "mpi4py.get_include is not emulated: there is nothing to compile against."),
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
