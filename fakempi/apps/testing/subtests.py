"""`subTest` of a TestCase on a rank: a failed part does not end the method, and the report names its parameters."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest import SkipTest


class SubTests:
    """The method `subTest` of one rank's TestCase."""

    def __init__(self, kind: type[Exception]) -> None:
        self.kind, self.count = kind, 0
        self.failed: list[tuple[str, Exception]] = []
        self.names: list[str] = []  # of the parts that are open

    @contextmanager
    def __call__(self, msg: object = None, **params: Any) -> Iterator[None]:
        """Run a part of the method; keep its exception until the end of the method."""
        __tracebackhide__ = True
        named = ", ".join(f"{name}={value!r}" for name, value in params.items())
        parts = ([f"[{msg}]"] if msg is not None else []) + ([f"({named})"] if named else [])
        self.names.append(" ".join(parts) or "(<subtest>)")  # as unittest names it
        try:
            self.count += 1
            yield
        except SkipTest:
            pass
        except Exception as error:
            self.failed.append((" ".join(self.names), error))
        finally:
            self.names.pop()

    def finish(self) -> None:
        """Raise an exception if a part has failed."""
        __tracebackhide__ = True
        if not self.failed:
            return
        (name, first), *others = self.failed
        head, *rest = str(first).split("\n")
        more = f" ({len(self.failed)} of {self.count} subtests failed)" if others else ""
        texts = (f"{type(error).__name__}: {error}, in subtest {other}" for other, error in others)
        text = "\n".join([f"{head}, in subtest {name}{more}", *rest, *texts])
        if isinstance(first, self.kind):
            first.args = (text,)
            raise first  # with its traceback
        raise self.kind(text) from first
