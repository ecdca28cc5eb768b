"""`for_each`: one test over many values, as a loop inside it; pytest's marks create one item, with its cost, per value."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable
from typing import Any


def for_each(names: str | tuple[str, ...], values: Iterable[Any]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Call the test once per value, like `pytest.mark.parametrize`, in one item.

    A failure reports the values of its case.
    """
    arguments = [name.strip() for name in names.split(",")] if isinstance(names, str) else list(names)
    cases = list(values)  # it may be an iterator, and an outer loop needs it repeatedly

    def loop(test: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(test)
        def looped(*args: Any, **kwargs: Any) -> None:
            assert cases, f"{test.__name__} has no values for {', '.join(arguments)}"
            for case in cases:
                chosen = dict(zip(arguments, case if len(arguments) > 1 else (case,), strict=True))
                try:
                    test(*args, **kwargs, **chosen)
                except Exception as error:
                    if hasattr(error, "add_note"):  # from Python 3.11 on
                        error.add_note("with " + ", ".join(f"{name} = {value!r}" for name, value in chosen.items()))
                    raise

        signature = inspect.signature(test)
        rest = [parameter for name, parameter in signature.parameters.items() if name not in arguments]
        looped.__signature__ = signature.replace(parameters=rest)  # type: ignore[attr-defined]  # pytest reads it
        return looped

    return loop
