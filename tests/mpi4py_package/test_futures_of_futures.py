"""`collect`, `compose`, and futures in chains."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import CancelledError, Future
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fakempi.isolation.mpi4py.futures import collect, compose
from fakempi.isolation.mpi4py.futures.aplus import ThenableFuture, catch, then


def outcome(future: Future[Any]) -> Any:
    """The state of a future that must be done: its result, its exception, or a word."""
    assert future.done()
    return "cancelled" if future.cancelled() else future.exception() or future.result()


class Own(Future[Any]):
    """A user-defined class."""


def test_results_are_collected_in_order() -> None:
    """For any order of completion; at once for an empty list; a future of a user-defined class is created."""
    futures: list[Future[Any]] = [Own() for _ in range(3)]
    whole = collect(futures)
    assert type(whole) is Own
    for i in (2, 0, 1):
        assert not whole.done()
        futures[i].set_result(i)
    assert whole.result() == [0, 1, 2]
    assert collect(futures).result() == [0, 1, 2]
    assert collect([]).result() == []


@given(st.permutations(range(4)), st.integers(0, 3), st.sampled_from(["cancel", "fail"]))
def test_after_a_failure_pending_futures_are_cancelled(order: list[int], at: int, how: str) -> None:
    """The first that fails or is cancelled decides."""
    futures: list[Future[int]] = [Future() for _ in range(4)]
    whole, error = collect(futures), ValueError("no")
    for i in order[:at]:
        futures[i].set_result(i)
    bad = futures[order[at]]
    if how == "cancel":
        bad.cancel()
    else:
        bad.set_exception(error)
    assert outcome(whole) == ("cancelled" if how == "cancel" else error)
    assert [outcome(futures[i]) for i in order[at + 1 :]] == ["cancelled"] * (3 - at)
    assert [outcome(futures[i]) for i in order[:at]] == order[:at]


def test_cancelling_the_whole_cancels_all() -> None:
    """Also if futures cannot be cancelled, and complete later."""

    class Uncancellable(Future[int]):
        def cancel(self) -> bool:
            return False

    futures: list[Future[int]] = [Future(), Uncancellable()]
    whole = collect(futures)
    whole.cancel()
    futures[1].set_result(1)
    assert [outcome(whole), *map(outcome, futures)] == ["cancelled", "cancelled", 1]


@pytest.mark.parametrize(
    ("hooks", "result", "error"),
    [
        ((None, None), 42, None),
        ((str, None), "42", None),
        ((lambda result: 1 // 0, None), ZeroDivisionError, None),
        ((None, None), ValueError, ValueError("a")),
        ((str, lambda error: error.args), ("a",), ValueError("a")),
        ((None, lambda error: KeyError(*error.args)), KeyError, ValueError("a")),
        ((None, lambda error: 1 // 0), ZeroDivisionError, ValueError("a")),
    ],
)
def test_hooks_transform_the_result(hooks: Any, result: Any, error: BaseException | None) -> None:
    """Of the result or of the exception, whether it is available before or after."""
    for late in (True, False):
        base: Future[int] = Own()
        made = compose(base, *hooks) if late else None
        if error is None:
            base.set_result(42)
        else:
            base.set_exception(error)
        made = made or compose(base, *hooks)
        found = outcome(made)
        assert (type(found) if isinstance(found, Exception) else found) == result
        assert type(made) is Own


def test_cancellation_propagates_in_both_directions() -> None:
    """Between the two futures."""
    for which in (0, 1):
        base: Future[int] = Future()
        pair = base, compose(base)
        pair[which].cancel()
        assert [outcome(each) for each in pair] == ["cancelled"] * 2


def following(value: Any) -> Future[Any]:
    """A future that is done."""
    future = ThenableFuture()
    future.set_result(value)
    return future


@pytest.mark.parametrize(
    ("success", "failure", "expected"),
    [
        (None, None, 1),
        (lambda value: value + 1, None, 2),
        (lambda value: following(following(value + 2)), None, 3),
        (lambda value: 1 // 0, None, ZeroDivisionError),
        (lambda value: 1 // 0, lambda error: "caught", "caught"),
        (lambda value: 1 // 0, lambda error: KeyError(1), KeyError),
        (lambda value: 1 // 0, lambda error: following("later"), "later"),
    ],
)
def test_then_uses_the_result(success: Callable[..., Any] | None, failure: Callable[..., Any] | None, expected: Any) -> None:
    """Its result may be a future; another function takes the exception."""
    base = ThenableFuture()
    made = base.then(success, failure)
    assert not made.done()
    base.set_result(1)
    found = outcome(made)
    assert (type(found) if isinstance(found, Exception) else found) == expected


def test_exceptions_are_caught() -> None:
    """By a function, or without one, which gives None; results pass."""
    for hook, expected in ((None, None), (str, "no")):
        base = ThenableFuture()
        made = base.catch(hook)
        base.set_exception(ValueError("no"))
        assert made.result() == expected
    assert catch(following(3)).result() == 3


def test_cancellation_of_a_chain_propagates_forward_only() -> None:
    """Dependent futures are cancelled; the source is not."""
    base = ThenableFuture()
    first, second = base.then(), then(base)
    first.cancel()
    base.set_result(1)
    assert first.cancelled()
    assert second.result() == 1
    base = ThenableFuture()
    last = base.then().then()  # type: ignore[attr-defined]
    base.cancel()
    with pytest.raises(CancelledError):
        last.result()


def test_a_future_that_depends_on_itself_is_rejected() -> None:
    """Directly, or through another one."""
    base, one, other = ThenableFuture(), ThenableFuture(), ThenableFuture()
    made: Future[Any] = base.then(lambda value: made)
    around = base.then(lambda value: one)
    one.set_result(other)
    other.set_result(one)
    base.set_result(1)
    for future, length in ((made, 1), (around, 3)):
        with pytest.raises(RuntimeError, match=f"^chain cycle detected: .* depends on itself after {length} futures.$"):
            future.result()
