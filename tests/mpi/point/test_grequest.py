"""Generalized requests: user-defined operations."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

import fakempi
from fakempi import MPI
from tests.helpers.runs import fails, run

Start = MPI.Grequest.Start


class Log:
    """Functions that record their arguments."""

    def __init__(self) -> None:
        self.lines: list[Any] = []

    def query(self, status: MPI.Status, *args: Any, **kwargs: Any) -> None:
        """Fill the status."""
        self.lines.append(("query", args, kwargs))
        status.source, status.tag = 3, 4

    def free(self, *args: Any, **kwargs: Any) -> None:
        """The request is freed."""
        self.lines.append(("free", args, kwargs))

    def cancel(self, completed: bool, *args: Any, **kwargs: Any) -> None:
        """The request is cancelled."""
        self.lines.append(("cancel", completed, args, kwargs))

    def start(self, *args: Any, **kwargs: Any) -> MPI.Grequest:
        """A request that calls the functions of this log."""
        return Start(self.query, self.free, self.cancel, args, kwargs)


def test_the_functions_are_called_at_the_right_time() -> None:
    """Cancel at once, query whenever a status is requested, free at the end; each with the arguments."""

    def main(comm: Any) -> Any:
        log = Log()
        request = log.start(1, k=2)
        early = request.Test(), request.Get_status()
        request.Cancel()
        request.Complete()
        request.cancel()
        looked, waited = MPI.Status(), MPI.Status()
        answers = request.Get_status(looked), request.Wait(waited), bool(request)
        return early, answers, (looked.source, looked.tag), (waited.source, waited.tag), log.lines

    given = (1,), {"k": 2}
    lines = [("cancel", False, *given), ("cancel", True, *given), ("query", *given), ("query", *given), ("free", *given)]
    assert run(main) == [((False, False), (True, True, False), (3, 4), (3, 4), lines)]


def test_without_functions_the_status_is_empty() -> None:
    """Except for the error field, which is unchanged."""

    def main(comm: Any) -> Any:
        request, status = Start(), MPI.Status()
        status.source, status.error, status.cancelled = 9, 8, True
        request.complete([1])
        return request.wait(status), status.source == MPI.ANY_SOURCE, status.tag, status.error, status.cancelled

    assert run(main) == [([1], True, MPI.ANY_TAG, 8, False)]


def test_the_query_function_gets_an_empty_status_if_none_is_passed() -> None:
    """For example in Wait without a status."""
    seen = []

    def query(status: MPI.Status) -> None:
        seen.append((status.source == MPI.ANY_SOURCE, status.tag, status.count, status.cancelled))

    def main(comm: Any) -> None:
        request = Start(query)
        request.Complete()
        request.Wait()

    run(main)
    assert seen == [(True, MPI.ANY_TAG, 0, False)]


def test_generalized_requests_mix_with_other_requests(backend: Any) -> None:
    """In lists, with their own results."""

    def main(comm: Any) -> Any:
        requests = [Start(), comm.irecv(source=0), Start()]
        requests[2].complete("c")
        first = MPI.Request.waitany(requests)
        comm.send("b", 0)
        requests[0].complete("a")
        return first, MPI.Request.waitall(requests)

    assert run(main, 1, backend) == [((2, "c"), ["a", "b", None])]


def test_a_request_freed_before_completion_calls_its_function_later() -> None:
    """When another handle completes it."""

    def main(comm: Any) -> Any:
        log = Log()
        request = log.start()
        other = MPI.Grequest(request)
        request.Free()
        before = list(log.lines)
        other.Complete()
        return before, log.lines, bool(request)

    assert run(main) == [([], [("free", (), {})], False)]


def test_a_request_freed_after_completion_calls_its_function_at_once() -> None:
    """The query function is not called."""

    def main(comm: Any) -> Any:
        log = Log()
        request = log.start()
        request.Complete()
        request.Free()
        return log.lines

    assert run(main) == [[("free", (), {})]]


def test_copies_are_equal_and_other_kinds_are_rejected() -> None:
    """A generalized request is not persistent."""

    def main(comm: Any) -> Any:
        request = Start()
        equal = MPI.Grequest(request) == request == MPI.Request(request) == MPI.Grequest.fromhandle(request.handle)
        with pytest.raises(TypeError, match="^Prequest on rank 0: expecting a persistent request, not "):
            MPI.Prequest(request)
        with pytest.raises(TypeError, match="^Grequest on rank 0: expecting a generalized request, not "):
            MPI.Grequest(comm.Recv_init(bytearray(1)))
        request.Complete()
        request.Wait()
        return equal

    assert run(main) == [True]


# -- errors --------------------------------------------------------------------------------------------------------


def test_it_is_completed_once() -> None:
    """A second completion is an error, and so is completing a freed one."""

    def main(comm: Any) -> None:
        request = Start()
        request.Complete()
        with fails("Complete on rank 0: the request is already complete.", MPI.ERR_REQUEST):
            request.Complete()
        request.Wait()
        for call in (request.Complete, request.complete, request.Cancel):
            words = f"{call.__name__} on rank 0: the request is null: it was freed, or has been waited for."
            with fails(words, MPI.ERR_REQUEST):
                call()

    run(main)


@pytest.mark.parametrize(("error", "code"), [(ValueError("no"), MPI.ERR_OTHER), (MPI.Exception(MPI.ERR_ARG), MPI.ERR_ARG)])
@pytest.mark.parametrize("which", ["query", "free", "cancel"])
def test_a_function_that_fails_makes_the_call_fail(which: str, error: Exception, code: int) -> None:
    """With its error class and the reason chained."""

    def failing(*_: Any) -> None:
        raise error

    def main(comm: Any) -> Any:
        functions: dict[str, Any] = {f"{which}_fn": failing}
        request = Start(**functions)
        call: Callable[[], Any] = request.Cancel
        if which != "cancel":
            request.Complete()
            call = request.Wait
        words = f"{call.__name__} on rank 0: the {which} function failed with {type(error).__name__}: {error}"
        with pytest.raises(MPI.Exception, match=f"^{re.escape(words)}$") as caught:
            call()
        assert caught.value.__cause__ is error
        return caught.value.Get_error_class()

    assert run(main) == [code]


def test_waiting_for_one_that_is_never_completed_is_a_deadlock(backend: Any) -> None:
    """The program waits for itself."""
    with pytest.raises(fakempi.DeadlockError, match="^deadlock at t = 0 s: the only rank "):
        run(lambda comm: Start().Wait(), 1, backend)


def test_a_request_whose_query_function_fails_is_freed() -> None:
    """Its free function is called, and a strict run does not report that the request was never waited for."""

    def main(comm: Any) -> list[str]:
        log: list[str] = []

        def query(status: MPI.Status) -> None:
            log.append("query")
            raise KeyError("no status")

        def complete_by(call: Any) -> None:
            request = MPI.Grequest.Start(query, lambda: log.append("free"))
            request.Complete()
            with pytest.raises(MPI.Exception):
                call(request)
            assert request == MPI.REQUEST_NULL

        complete_by(lambda request: request.Wait())
        complete_by(lambda request: request.Test())
        complete_by(lambda request: MPI.Request.Waitall([request]))
        return log

    assert fakempi.run(main, 1, strict=True).returns == [["query", "free"] * 3]
