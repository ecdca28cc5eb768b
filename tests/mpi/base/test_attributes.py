"""Attributes on objects: keys, inheritance, deletion, and a rank's own values on what all ranks share."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

import pytest

from fakempi.error_classes import ERR_ARG, ERR_COMM, ERR_KEYVAL, ERR_OTHER
from fakempi.errors import MPIError, MPITypeError
from fakempi.mpi.base import constants as c
from fakempi.mpi.base.attributes import Attributed
from fakempi.mpi.base.complain import complaint
from fakempi.mpi.base.current import here


class Comm(Attributed):
    """A stand-in for a communicator, with the life of one."""

    __slots__ = ("_attributes", "alive")

    def __init__(self) -> None:
        self._attributes = None
        self.alive = True

    def _check_alive(self) -> None:
        if not self.alive:
            raise complaint(ERR_COMM, "the communicator is null.")

    def _predefined_attr(self, keyval: int) -> Any:
        return {c.TAG_UB: 2**31 - 1, c.WTIME_IS_GLOBAL: True}.get(keyval)

    def dup(self) -> Comm:
        other = Comm()
        self._copy_attributes_to(other)
        return other

    def free(self) -> None:
        self._delete_attributes()
        self.alive = False


class Intracomm(Comm):
    """A kind of communicator, so it has communicators' keys."""

    __slots__ = ()


class Datatype(Attributed):
    """A stand-in for a predefined datatype, which all ranks share."""

    __slots__ = ("_attributes",)
    _shared = True


@contextmanager
def running(number: int, attributes: dict[int, Any] | None = None) -> Iterator[SimpleNamespace]:
    """As if a rank were running."""
    process = SimpleNamespace(number=number, name=f"rank {number}", attributes=attributes)
    here.loop = SimpleNamespace(running=SimpleNamespace(owner=process))
    try:
        yield process
    finally:
        here.loop = None


@pytest.fixture
def log() -> list[tuple[Any, ...]]:
    return []


@pytest.fixture
def keyval(log: list[tuple[Any, ...]]) -> Iterator[int]:
    """A key that writes down what its functions are called with."""

    def copy(what: Comm, keyval: int, value: Any) -> Any:
        log.append(("copy", what, keyval, value))
        return value

    def delete(what: Comm, keyval: int, value: Any) -> None:
        log.append(("delete", what, keyval, value))

    keyval = Comm.Create_keyval(copy, delete)
    yield keyval
    assert Comm.Free_keyval(keyval) == c.KEYVAL_INVALID


@contextmanager
def fails(words: str, code: int, kind: type[MPIError] = MPIError) -> Iterator[None]:
    """The block must raise an error of this class that says exactly these words."""
    with pytest.raises(kind) as caught:
        yield
    assert (str(caught.value), caught.value.Get_error_class()) == (words, code)


def test_a_value_is_found_under_its_key_and_nowhere_else(keyval: int) -> None:
    """Unset attributes are None."""
    one, other = Comm(), Comm()
    one.Set_attr(keyval, "value")
    assert one.Get_attr(keyval) == "value"
    assert other.Get_attr(keyval) is None


def test_objects_without_attributes_store_nothing(keyval: int) -> None:
    """Asking, deleting, duplicating and freeing cost no memory."""
    comm = Comm()
    comm.Get_attr(keyval)
    comm.Delete_attr(keyval)
    assert comm.dup()._attributes is None
    comm._delete_attributes()
    assert comm._attributes is None


def test_a_value_set_over_another_deletes_it_first(keyval: int, log: list[Any]) -> None:
    """The delete function sees the old value."""
    comm = Comm()
    comm.Set_attr(keyval, 1)
    comm.Set_attr(keyval, 2)
    assert log == [("delete", comm, keyval, 1)]
    assert comm.Get_attr(keyval) == 2


def test_deleting_calls_the_function_once(keyval: int, log: list[Any]) -> None:
    """Deleting what is not there is allowed and calls nothing."""
    comm = Comm()
    comm.Set_attr(keyval, 1)
    comm.Delete_attr(keyval)
    comm.Delete_attr(keyval)
    assert log == [("delete", comm, keyval, 1)]
    assert comm.Get_attr(keyval) is None


def test_a_duplicate_inherits_by_the_copy_function(keyval: int, log: list[Any]) -> None:
    """The function sees the original."""
    comm = Comm()
    comm.Set_attr(keyval, "value")
    assert comm.dup().Get_attr(keyval) == "value"
    assert log == [("copy", comm, keyval, "value")]


@pytest.mark.parametrize(
    ("copy_fn", "inherited"),
    [(None, None), (False, None), (True, 7), (lambda *_: NotImplemented, None), (lambda _o, _k, value: value + 1, 8)],
)
def test_what_a_duplicate_inherits(copy_fn: Any, inherited: int | None) -> None:
    """Nothing, the same, or what the function says."""
    keyval = Comm.Create_keyval(copy_fn)
    comm = Comm()
    comm.Set_attr(keyval, 7)
    assert comm.dup().Get_attr(keyval) == inherited


def test_copying_and_freeing_go_from_the_latest_to_the_first(log: list[Any]) -> None:
    """The order MPI wants where it is told, and MPICH's."""
    keys = [Comm.Create_keyval(lambda _, k, v: log.append(k), lambda _, k, v: log.append(-k)) for _ in range(3)]
    comm = Comm()
    for keyval in keys:
        comm.Set_attr(keyval, None)
    comm.dup()
    comm.free()
    assert log == [keys[2], keys[1], keys[0], -keys[2], -keys[1], -keys[0]]


def test_a_freed_key_lives_on_in_its_values(log: list[Any]) -> None:
    """Its functions still run when objects are duplicated and freed, but nobody can name it."""
    keyval = Comm.Create_keyval(True, lambda _, k, v: log.append(v))
    comm = Comm()
    comm.Set_attr(keyval, "value")
    Comm.Free_keyval(keyval)
    other = comm.dup()
    other.free()
    comm.free()
    assert log == ["value", "value"]
    with fails(f"Get_attr: there is no keyval {keyval}: it was never made, or was freed.", ERR_KEYVAL):
        Comm().Get_attr(keyval)


def test_a_nopython_key_holds_integers() -> None:
    """As a C program would find them."""
    keyval = Comm.Create_keyval(True, nopython=True)
    comm = Comm()
    comm.Set_attr(keyval, True)
    assert comm.Get_attr(keyval) == 1
    assert comm.dup().Get_attr(keyval) == 1
    with fails("Set_attr: a nopython keyval holds integers, not 'a'.", ERR_ARG, MPITypeError):
        comm.Set_attr(keyval, "a")


def test_subclasses_share_the_keys_of_their_kind() -> None:
    """A key made by Intracomm is a communicator's key."""
    keyval = Intracomm.Create_keyval()
    comm = Comm()
    comm.Set_attr(keyval, 1)
    assert comm.Get_attr(keyval) == 1


def test_mpi_answers_its_own_keys_and_nobody_changes_them() -> None:
    """TAG_UB and its like."""
    comm = Intracomm()
    assert comm.Get_attr(c.TAG_UB) == 2**31 - 1
    assert comm.Get_attr(c.WTIME_IS_GLOBAL) is True
    assert comm.Get_attr(c.APPNUM) is None
    for name, call in (
        ("Set_attr", lambda: comm.Set_attr(c.TAG_UB, 1)),
        ("Delete_attr", lambda: comm.Delete_attr(c.TAG_UB)),
        ("Free_keyval", lambda: Comm.Free_keyval(c.TAG_UB)),
    ):
        with fails(f"{name}: keyval TAG_UB is MPI's own and read-only.", ERR_KEYVAL):
            call()


def test_keys_of_another_kind_do_not_fit() -> None:
    """A datatype's key on a communicator, a communicator's on a datatype."""
    keyval = Datatype.Create_keyval()
    with fails(f"Get_attr: keyval {keyval} was made for Datatype, this is Comm.", ERR_KEYVAL):
        Comm().Get_attr(keyval)
    with fails(f"Free_keyval: keyval {keyval} was made for Datatype, this is Comm.", ERR_KEYVAL):
        Comm.Free_keyval(keyval)
    with fails("Get_attr: keyval TAG_UB belongs to Comm, this is Datatype.", ERR_KEYVAL):
        Datatype().Get_attr(c.TAG_UB)


def test_keys_that_are_none_are_refused() -> None:
    """Unknown, invalid, and not even an integer."""
    comm = Comm()
    with fails("Set_attr: there is no keyval 12345: it was never made, or was freed.", ERR_KEYVAL):
        comm.Set_attr(12345, 1)
    with fails("Get_attr: the keyval is KEYVAL_INVALID: it was never made, or was freed.", ERR_KEYVAL):
        comm.Get_attr(c.KEYVAL_INVALID)
    with fails("Get_attr: keyval is 'x', not an integer.", ERR_KEYVAL, MPITypeError):
        comm.Get_attr("x")  # type: ignore[arg-type]


def test_functions_must_be_functions() -> None:
    """Said at once, not when something is duplicated."""
    with fails("Create_keyval: copy_fn is 3, which cannot be called.", ERR_ARG, MPITypeError):
        Comm.Create_keyval(3)  # type: ignore[arg-type]
    with fails("Create_keyval: delete_fn is 'f', which cannot be called.", ERR_ARG, MPITypeError):
        Comm.Create_keyval(None, "f")  # type: ignore[arg-type]


@pytest.mark.parametrize("call", ["Get_attr", "Delete_attr"])
def test_freed_objects_have_no_attributes(call: str, keyval: int) -> None:
    """The class says what is wrong with them; here the class is a stand-in, so no call of ours is named."""
    comm = Comm()
    comm.free()
    with fails("MPI: the communicator is null.", ERR_COMM):
        getattr(comm, call)(keyval)


def test_a_function_that_fails_fails_the_call(capsys: pytest.CaptureFixture[str]) -> None:
    """With the reason chained, and its traceback on stderr as in mpi4py; the value is gone all the same."""

    def broken(*_: Any) -> None:
        raise ZeroDivisionError("by zero")

    keyval = Comm.Create_keyval(broken, broken)
    comm = Comm()
    comm.Set_attr(keyval, 1)
    words = f"function of keyval {keyval} failed with ZeroDivisionError: by zero"
    with fails(f"MPI: the copy {words}", ERR_OTHER):
        comm.dup()
    with fails(f"Delete_attr: the delete {words}", ERR_OTHER):
        comm.Delete_attr(keyval)
    assert comm.Get_attr(keyval) is None
    shown = capsys.readouterr().err
    assert shown.startswith("Traceback (most recent call last):\n")
    assert shown.count("in broken") == shown.count("ZeroDivisionError: by zero") == 2


def test_ranks_do_not_see_each_others_attributes_of_a_shared_object() -> None:
    """A predefined datatype is one object here, and one per process under MPI."""
    keyval = Datatype.Create_keyval()
    byte = Datatype()
    byte.Set_attr(keyval, "outside")
    with running(0) as zero:
        assert byte.Get_attr(keyval) is None
        byte.Set_attr(keyval, "zero")
    with running(1):
        assert byte.Get_attr(keyval) is None
        byte.Set_attr(keyval, "one")
    with running(0, zero.attributes):
        assert byte.Get_attr(keyval) == "zero"
        byte.Delete_attr(keyval)
        assert byte.Get_attr(keyval) is None
    assert byte.Get_attr(keyval) == "outside"
    byte._delete_attributes()
    assert byte.Get_attr(keyval) is None


def test_errors_name_the_rank() -> None:
    """Inside a run."""
    with running(3), fails("Get_attr on rank 3: there is no keyval 9: it was never made, or was freed.", ERR_KEYVAL):
        Comm().Get_attr(9)
