"""Reports of ranks that fail, for exceptions that misbehave when they are converted to text."""

from __future__ import annotations

import traceback
from typing import Any

import pytest

import fakempi


class NoText(Exception):
    """str() raises."""

    def __str__(self) -> str:
        raise RuntimeError("no text")


class NoRepr(NoText):
    """repr() raises, too."""

    def __repr__(self) -> str:
        raise RuntimeError("no repr")


class EmptyNoRepr(NoRepr):
    """An empty text, so that its repr would be shown."""

    def __str__(self) -> str:
        return ""


class NumberForText(Exception):
    """str() does not return a string."""

    def __str__(self) -> Any:
        return 5


TEXTS = {NoText: "<exception str() failed>", NoRepr: "<exception str() failed>", NumberForText: "<exception str() failed>"}


def main(comm: Any, kind: type[Exception]) -> None:
    """All ranks fail."""
    raise kind("x")


@pytest.mark.parametrize("kind", [NoText, NoRepr, EmptyNoRepr, NumberForText])
def test_the_report_has_a_text_although_the_exception_has_none(kind: type[Exception]) -> None:
    """str, repr, the text of the others, a notebook's HTML, and Python's traceback."""
    with pytest.raises(fakempi.RankError) as caught:
        fakempi.run(main, 3, kind)
    error = caught.value
    expected = f"{kind.__name__}: {TEXTS[kind]}" if kind in TEXTS else kind.__name__
    assert str(error).startswith(f"rank 0 failed with {expected}")
    assert kind.__name__ in repr(error)
    assert "rank 0 failed" in error._repr_html_()
    assert "rank 0 failed" in "".join(traceback.format_exception(error))
    found = fakempi.explore(main, 1, kind)
    assert f"rank 0 failed with {expected}" in str(found)
    failure = found.failures[0].error
    assert isinstance(failure, fakempi.RankError)
    assert isinstance(failure.exception, kind)
