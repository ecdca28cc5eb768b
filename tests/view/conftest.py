"""Fixtures for tests of views."""

from __future__ import annotations

from collections.abc import Callable
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

HERE = Path(__file__).parent


def _printed(thing: object, width: int = 80) -> str:
    file = StringIO()
    Console(file=file, width=width).print(thing)
    return "".join(line.rstrip() + "\n" for line in file.getvalue().splitlines())


@pytest.fixture
def printed() -> Callable[..., str]:
    """The text that a file gets: plain characters, at a width."""
    return _printed


@pytest.fixture
def golden() -> Callable[..., Any]:
    """Compare the text of a file with the stored one. `FAKEMPI_GOLDEN=write pytest ...` writes it: review it."""
    import os

    def check(thing: object, name: str, width: int = 80) -> None:
        text, path = _printed(thing, width), HERE / f"{name}.txt"
        if os.environ.get("FAKEMPI_GOLDEN") == "write":
            path.write_text(text, encoding="utf-8")
        assert text == path.read_text(encoding="utf-8")
        assert max(map(len, text.splitlines())) <= width

    return check
