"""How operations, names and values are written in sentences."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from typing import Any, Final, TypeAlias

from collectives import Algorithm
from collectives.entries import home
from fakempi.error_classes import ERR_ARG
from fakempi.errors import MPIValueError

Key: TypeAlias = tuple[str, str]
"""Kind and operation."""

SPLIT: Final[Key] = ("split", "split")
"""Making communicators: free, unless an algorithm is asked for."""


SHOWN: Final = 4
"""How much of a list is shown."""


def spelled(key: Key) -> str:
    """As users write it: allgather, inter:allgather.

    >>> spelled(("intra", "allgather")), spelled(("inter", "allgather"))
    ('allgather', 'inter:allgather')
    """
    kind, operation = key
    return operation if kind == home(operation) else f"{kind}:{operation}"


def typed(value: Any) -> str:
    """What was asked for, as one types it: with parameters in parentheses. Of a long list the beginning is shown.

    >>> typed(("full_duplex", {"allgatherv": ("blocked_ring", {"block_bytes": "sqrt"})})), typed([0, "a"]), typed([0] * 99)
    ('full_duplex(allgatherv=blocked_ring(block_bytes=sqrt))', '[0,a]', '[0,0,0,0,...]')
    """
    match value:
        case Mapping():
            return ",".join(f"{key}={typed(each)}" for key, each in value.items())
        case (what, Mapping() as parameters):
            return f"{typed(what)}({typed(parameters)})" if parameters else typed(what)
        case list() | tuple():
            return f"[{','.join([*map(typed, value[:SHOWN]), *['...'] * (len(value) > SHOWN)])}]"
        case Algorithm():
            return value.name
    return value.__name__ if hasattr(value, "__name__") else str(value)


def listed(names: Iterable[str], last: str = "and") -> str:
    """Names as in a sentence.

    >>> listed(["ring", "bruck", "circulant"]), listed(["ring"]), listed([]), listed(["a list", "a rule"], "or")
    ('ring, bruck and circulant', 'ring', 'none', 'a list or a rule')
    """
    *most, end = list(names) or ["none"]
    return f"{', '.join(most)} {last} {end}" if most else end


def unknown(place: str, name: str, known: Iterable[str]) -> MPIValueError:
    """The error for a name that is not there: what there is, and what may have been meant."""
    names = list(known)
    close = get_close_matches(str(name), names, n=1)
    hint = f"; did you mean {close[0]}?" if close else "."
    return MPIValueError(ERR_ARG, f"{place} {name!r}; there {'is' if len(names) < 2 else 'are'} {listed(names)}{hint}")
