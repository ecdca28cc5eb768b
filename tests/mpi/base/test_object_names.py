"""Names of communicators, windows and datatypes, and error handlers that return."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import fakempi
from fakempi import MPI


def on_each_object(check: Any) -> None:
    """Run checks on a rank for a communicator, a window and a datatype."""

    def main(comm: Any) -> None:
        for thing in (comm.Dup(), MPI.Win.Create(bytearray(4), comm=comm), MPI.INT.Dup(), MPI.INT.Create_contiguous(2)):
            check(thing)
            thing.Free()

    fakempi.run(main, 1)


def test_names_are_truncated_at_the_longest_that_mpi_allows() -> None:
    """127 bytes and C's final zero; characters of several bytes are not split."""

    def check(thing: Any) -> None:
        for length in (0, 1, 126, 127, 128, 129, 1000):
            thing.Set_name("x" * length)
            assert thing.Get_name() == "x" * min(length, MPI.MAX_OBJECT_NAME - 1)
        for given, kept in (("ä" * 100, "ä" * 63), ("x" + "ä" * 100, "x" + "ä" * 63), ("€" * 50, "€" * 42)):
            thing.name = given
            assert thing.name == kept
        thing.Set_name(b"bytes")
        assert thing.name == "bytes"

    on_each_object(check)


def test_invalid_names_are_rejected_and_the_old_name_stays() -> None:
    """As mpi4py does."""

    def check(thing: Any) -> None:
        thing.Set_name("old")
        for wrong in (None, 3, ["name"]):
            with pytest.raises(TypeError, match=r"not a string"):
                thing.Set_name(wrong)
        with pytest.raises(ValueError, match=r"null character"):
            thing.Set_name("a\0b")
        assert thing.name == "old"

    on_each_object(check)


def test_an_error_handler_that_returns_does_not_swallow_the_error(tmp_path: Path) -> None:
    """It gets "the error code to be returned by the MPI routine" (MPI 4.1, 9.3.1), and the routine raises that.
    """
    seen: list[tuple[str, int]] = []

    def handler(thing: Any, code: int) -> None:
        seen.append((type(thing).__name__, MPI.Get_error_class(code)))

    def main(comm: Any) -> None:
        comm = comm.Dup()
        window = MPI.Win.Create(bytearray(4), comm=comm)
        file = MPI.File.Open(comm, str(tmp_path / "file"), MPI.MODE_CREATE | MPI.MODE_RDWR)
        for kind, thing in ((MPI.Comm, comm), (MPI.Win, window), (MPI.File, file)):
            made = kind.Create_errhandler(handler)
            thing.Set_errhandler(made)
            made.Free()
        for call, name, code in (
            (lambda: comm.Send(b"", 99), "Intracomm", MPI.ERR_RANK),
            (lambda: comm.isend("", 99), "Intracomm", MPI.ERR_RANK),
            (lambda: comm.recv(source=0, tag=-7), "Intracomm", MPI.ERR_TAG),
            (lambda: comm.Bcast(bytearray(1), 99), "Intracomm", MPI.ERR_ROOT),
            (lambda: window.Lock(99), "Win", MPI.ERR_RANK),
            (lambda: file.Write_at(-1, b"x"), "File", MPI.ERR_ARG),
        ):
            with pytest.raises(MPI.Exception) as caught:
                call()
            assert caught.value.Get_error_class() == code
            assert seen == [(name, code)]
            seen.clear()
        comm.Call_errhandler(MPI.ERR_OTHER)  # no routine fails there
        assert seen == [("Intracomm", MPI.ERR_OTHER)]
        file.Close()
        window.Free()
        comm.Free()

    fakempi.run(main, 1)
