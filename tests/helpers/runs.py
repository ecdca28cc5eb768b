"""Runs whose return values matter, and calls that must fail."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

import fakempi
from fakempi import MPI


def run(
    main: Callable[..., Any], nprocs: int = 1, backend: Any = "auto", args: tuple[Any, ...] = (), **options: Any
) -> list[Any]:
    """The return values of the ranks."""
    return fakempi.run(main, nprocs, *args, backend=backend, **options).returns


@contextmanager
def fails(words: str, code: int, kind: type[BaseException] = MPI.Exception) -> Iterator[None]:
    """The block must raise an MPI error of this class with exactly this message."""
    with pytest.raises(kind) as caught:
        yield
    assert isinstance(caught.value, MPI.Exception)
    assert (str(caught.value), caught.value.Get_error_class()) == (words, code)
