"""`-i`: look around in a run, in the terminal, if the extra for it is there."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from fakempi import options as typed


def explorer() -> Callable[[Any, str], None]:
    """What shows a trace under a title until somebody leaves; asked for before a run, so that it is not made in vain."""
    try:
        from fakempi.explorer.app import explore  # an extra, and not before it is needed
    except ImportError as error:
        raise typed.wrong("-i needs the package textual, which is not installed: pip install 'fakempi[tui]'.") from error
    return explore
