"""Operations, names and values as users write them, for messages."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final, TypeAlias

from collectives import Algorithm
from collectives.entries import default_kind
from fakempi.errors import MPIValueError
from fakempi.errors.classes import ERR_ARG
from fakempi.errors.similar import get_close_matches

Key: TypeAlias = tuple[str, str]
"""Kind and operation."""

SPLIT: Final[Key] = ("split", "split")
"""Comm_split: free in modeled time, unless an algorithm is requested."""


SHOWN: Final = 4
"""Elements of a list that are shown."""

MANY = 20
"""More names than this are not listed next to a similar one."""


def spelled(key: Key) -> str:
    """Return kind and operation as users write them: allgather, inter:allgather.

    >>> spelled(("intra", "allgather")), spelled(("inter", "allgather"))
    ('allgather', 'inter:allgather')
    """
    kind, operation = key
    return operation if kind == default_kind(operation) else f"{kind}:{operation}"


def typed(value: Any) -> str:
    """Return a request as typed on a command line, with parameters in parentheses. Long lists are truncated.

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
    """Return names joined by commas and a final word.

    >>> listed(["ring", "bruck", "circulant"]), listed(["ring"]), listed([]), listed(["a list", "a rule"], "or")
    ('ring, bruck and circulant', 'ring', 'none', 'a list or a rule')
    """
    *most, end = list(names) or ["none"]
    return f"{', '.join(most)} {last} {end}" if most else end


def unknown(place: str, name: str, known: Iterable[str]) -> MPIValueError:
    """Return the error for an unknown name, with the closest of the known names, and with all of them if they are few."""
    names = list(known)
    close = get_close_matches(str(name), names, n=1)
    hint = f"; did you mean {close[0]}?" if close else "."
    every = "" if close and len(names) > MANY else f"; there {'is' if len(names) < 2 else 'are'} {listed(names)}"
    return MPIValueError(ERR_ARG, f"{place} {name!r}{every}{hint}")
