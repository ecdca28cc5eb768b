"""Info objects, compared with a dict; their limits; and null handles."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fakempi.errors import MPITypeError, MPIValueError
from fakempi.errors.classes import ERR_ARG, ERR_INFO, ERR_INFO_KEY, ERR_INFO_NOKEY, ERR_INFO_VALUE
from fakempi.mpi.base.constants import MAX_INFO_KEY, MAX_INFO_VAL
from fakempi.mpi.base.info import INFO_ENV, INFO_NULL, Info
from tests.helpers.runs import fails

KEYS = st.sampled_from(["a", "b", "ä", " spaced "])
STEPS = st.lists(st.tuples(st.sampled_from(["set", "pop", "delete", "popitem"]), KEYS, st.text("xyz", max_size=3)))


@given(STEPS)
def test_an_info_is_a_dict_of_strings(steps: list[tuple[str, str, str]]) -> None:
    """Equal contents in equal order after any steps."""
    info, oracle = Info.Create(), dict[str, str]()
    for step, key, value in steps:
        if step == "set":
            info[key] = oracle[key] = value
        elif step == "pop":
            assert info.pop(key, "none") == oracle.pop(key, "none")
        elif step == "delete" and key in oracle:
            del info[key]
            del oracle[key]
        elif step == "popitem" and oracle:
            assert info.popitem() == oracle.popitem()
    assert info.items() == list(oracle.items())
    assert (info.keys(), info.values(), list(info)) == (list(oracle), list(oracle.values()), list(oracle))
    assert len(info) == info.Get_nkeys() == len(oracle)
    assert [info.Get_nthkey(n) for n in range(len(oracle))] == list(oracle)
    for key in ("a", "b", "c"):
        assert (key in info) == (key in oracle)
        assert info.get(key) == info.Get(key) == oracle.get(key)
        assert info.get(key, "none") == oracle.get(key, "none")


def test_creating_an_info_with_items() -> None:
    """From a mapping, from pairs, or from another info; later items take precedence."""
    assert Info.Create({"a": "1"}).items() == [("a", "1")]
    assert Info.Create([("a", "1"), ("b", "2"), ("a", "3")]).items() == [("a", "3"), ("b", "2")]
    assert Info.Create(Info.Create({"a": "1"})).items() == [("a", "1")]
    assert Info.Create(INFO_NULL).items() == []
    info = Info.Create()
    info.update({"a": "1"}, b="2")
    info.update([("c", "3")])
    assert info.items() == [("a", "1"), ("b", "2"), ("c", "3")]
    info.clear()
    assert info.items() == []
    assert info


def test_bytes_are_decoded_as_utf8() -> None:
    """As mpi4py does."""
    info = Info.Create()
    info.Set(b"key", b"value")  # type: ignore[arg-type]
    assert info.items() == [("key", "value")]
    assert info[b"key"] == "value"  # type: ignore[index]


def test_a_copy_of_the_handle_shares_and_a_duplicate_does_not() -> None:
    """As with MPI's handles."""
    info = Info.Create({"a": "1"})
    copy, duplicate = Info(info), info.Dup()
    info["a"] = "2"
    assert copy == info
    assert copy["a"] == "2"
    assert duplicate != info
    assert duplicate["a"] == info.copy().pop("x", "1") == "1"
    info.Free()
    assert info == INFO_NULL
    assert copy["a"] == "2"
    with pytest.raises(TypeError):
        hash(copy)


def test_handles_and_pickles() -> None:
    """Predefined ones by name, others by contents."""
    info = Info.Create({"a": "1"})
    assert Info.fromint(info.toint()) == info
    assert Info.f2py(INFO_NULL.py2f()) == INFO_NULL
    assert Info.fromhandle(INFO_ENV.handle) == INFO_ENV
    assert pickle.loads(pickle.dumps(INFO_NULL)) is INFO_NULL
    assert pickle.loads(pickle.dumps(INFO_ENV)) is INFO_ENV
    assert pickle.loads(pickle.dumps(Info())) == INFO_NULL
    assert pickle.loads(pickle.dumps(info)).items() == [("a", "1")]
    assert (repr(info), repr(INFO_NULL)) == ("<Info: {'a': '1'}>", "<Info: null>")


@pytest.mark.parametrize(
    ("args", "items"),
    [
        (None, []),
        ([], []),
        (["prog"], [("command", "prog")]),
        (["prog", "a", "b"], [("command", "prog"), ("argv", "a b")]),
        ("prog", [("command", "prog")]),
    ],
)
def test_the_environment_info_of_a_program(args: Any, items: list[tuple[str, str]]) -> None:
    """The result of MPI_Info_create_env for a command line."""
    assert Info.Create_env(args).items() == items


def test_a_null_info_behaves_like_an_empty_dict() -> None:
    """The results are mpi4py's."""
    assert (len(INFO_NULL), list(INFO_NULL), INFO_NULL.items(), "a" in INFO_NULL) == (0, [], [], False)
    assert (INFO_NULL.get("a"), INFO_NULL.get("a", "b"), INFO_NULL.pop("a", "b")) == (None, "b", "b")
    assert INFO_NULL.copy() == INFO_NULL
    assert not INFO_NULL
    INFO_NULL.clear()
    INFO_NULL.free()
    for call in (
        lambda: INFO_NULL["a"],
        lambda: INFO_NULL.pop("a"),
        lambda: INFO_NULL.popitem(),
        lambda: INFO_NULL.update(),
        lambda: INFO_NULL.__setitem__("a", "b"),
        lambda: INFO_NULL.__delitem__("a"),
    ):
        with pytest.raises(KeyError):
            call()


def test_missing_keys_raise_KeyError_in_the_dict_interface() -> None:
    """An empty info has nothing to pop."""
    info = Info.Create()
    for call in (lambda: info["a"], lambda: info.__delitem__("a"), lambda: info.pop("a"), info.popitem):
        with pytest.raises(KeyError):
            call()


@pytest.mark.parametrize(
    ("call", "arguments"),
    [("Dup", ()), ("Free", ()), ("Get", "a"), ("Set", "ab"), ("Delete", "a"), ("Get_nkeys", ()), ("Get_nthkey", (0,))],
)
def test_mpis_calls_reject_a_null_info(call: str, arguments: Any) -> None:
    """INFO_NULL, and one that was freed."""
    freed = Info.Create()
    freed.Free()
    for info in (INFO_NULL, freed):
        with fails(f"{call}: the info object is null: INFO_NULL, or freed.", ERR_INFO):
            getattr(info, call)(*arguments)


def test_the_environment_is_read_only() -> None:
    """All ranks share it."""
    assert INFO_ENV
    calls: list[tuple[str, Callable[[], None]]] = [
        ("Set", lambda: INFO_ENV.Set("a", "b")),
        ("Delete", lambda: INFO_ENV.Delete("a")),
        ("clear", lambda: INFO_ENV.clear()),
        ("Free", lambda: INFO_ENV.Free()),
        ("update", lambda: Info(INFO_ENV).update(a="b")),
    ]
    for name, call in calls:
        with fails(f"{name}: INFO_ENV is read-only.", ERR_INFO):
            call()
    INFO_ENV.free()
    assert INFO_ENV.items() == []


def test_length_limits_hold_in_bytes() -> None:
    """A string at the limit fits, a longer one does not."""
    info = Info.Create()
    info.Set("k" * MAX_INFO_KEY, "v" * MAX_INFO_VAL)
    assert info.Get("k" * MAX_INFO_KEY) == "v" * MAX_INFO_VAL
    long = "the key 'kkkkkkkkkkkkkkkkkkkk'... has 256 bytes; at most 255 are allowed."
    with fails(f"Set: {long}", ERR_INFO_KEY):
        info.Set("k" * 256, "v")
    with fails(f"Get: {long}", ERR_INFO_KEY):
        info.Get("k" * 256)
    with fails("Set: the value of 'k' has 1026 bytes; at most 1024 are allowed.", ERR_INFO_VALUE):
        info.Set("k", "ü" * 513)


def test_invalid_keys_and_values_are_rejected() -> None:
    """Blank, of the wrong type, with null characters, missing, beyond the last."""
    info = Info.Create({"a": "1"})
    with fails("Set: the key ' ' is blank.", ERR_INFO_KEY):
        info.Set(" ", "v")
    with fails("Set: the value is 3, not a string.", ERR_INFO, MPITypeError):
        info.Set("a", 3)  # type: ignore[arg-type]
    with fails("get: the key is 3, not a string.", ERR_INFO, MPITypeError):
        info.get(3)  # type: ignore[arg-type]
    with fails("Set: the key 'a\\x00b' contains a null character.", ERR_INFO, MPIValueError):
        info.Set("a\0b", "v")
    with fails("Delete: there is no key 'b'.", ERR_INFO_NOKEY):
        info.Delete("b")
    for n in (1, -1):
        with fails(f"Get_nthkey: there is no key number {n}: the info object has 1 keys.", ERR_ARG):
            info.Get_nthkey(n)
    with fails("Create_env: args is 3, not a sequence of strings.", ERR_ARG, MPITypeError):
        Info.Create_env(3)  # type: ignore[arg-type]
    with fails("Info: cannot create an Info from {}; use Info.Create.", ERR_INFO, MPITypeError):
        Info({})  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="too many values"):
        info.pop("b", "1", "2")
