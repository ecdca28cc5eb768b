"""`os.execv` and `os.execve`, which other functions of this kind call. Processes of ranks import this module, too."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable
from typing import Any

from fakempi.errors import MPIError
from fakempi.errors.classes import ERR_UNSUPPORTED_OPERATION

INSTEAD = "If this sets environment variables, set them before fakempi run; to start a program, use subprocess."


def patch_exec(replace: Callable[[Any, str, Any], None], reason: Callable[[], str]) -> None:
    """Make these functions raise an error with a reason, which is empty if the caller may call them."""

    def rejecting(name: str, original: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(original)
        def call(*args: Any, **named: Any) -> Any:
            why = reason()
            if not why:
                return original(*args, **named)
            raise MPIError(ERR_UNSUPPORTED_OPERATION, f"os.{name} on {why} {INSTEAD}")

        return call

    for name in ("execv", "execve"):
        replace(os, name, rejecting(name, getattr(os, name)))
