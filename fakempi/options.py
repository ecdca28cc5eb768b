"""What people type, as what `run` takes: cost models, algorithms, sizes, numbers of ranks. For the command line and pytest.

    >>> cost_model("hockney:t_s=1e-6,t_w=0,eager_limit=4k")
    Hockney(t_s=1e-06, t_w=0, eager_limit=4096, duplex=True, ports=1, compute_per_byte=0)
    >>> cost_model("two_level:ranks_per_node=4,inter.t_s=5e-6").inter.t_s
    5e-06
    >>> algorithms("mpich,allgather=ring,bcast=chain(segment_bytes=4k)")
    {'table': 'mpich', 'allgather': 'ring', 'bcast': ('chain', {'segment_bytes': 4096})}
    >>> sizes("0,1k,64k"), sizes("1k..8k"), groups("2,4,6+2")
    ([0, 1024, 65536], [1024, 2048, 4096, 8192], [(2, 0), (4, 0), (6, 2)])
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable, Mapping
from difflib import get_close_matches
from fractions import Fraction
from typing import Any

from fakempi.error_classes import ERR_ARG
from fakempi.errors import MPIValueError
from fakempi.own_models import own_model
from fakempi.wire.cost import CostModel
from fakempi.wire.models.free import Free
from fakempi.wire.models.hockney import Hockney
from fakempi.wire.models.loggp import LogGP
from fakempi.wire.models.presets import PRESETS
from fakempi.wire.models.two_level import TwoLevel

MODELS: Mapping[str, Callable[..., CostModel]] = {
    "hockney": Hockney, "two_level": TwoLevel, "loggp": LogGP, "free": Free, **PRESETS,
}  # fmt: skip
"""Cost models and machines, by the names that people type."""

_UNITS = {"": 1, "k": 2**10, "m": 2**20, "g": 2**30}


def wrong(sentence: str) -> MPIValueError:
    """The error to raise."""
    return MPIValueError(ERR_ARG, sentence)


def unknown(what: str, name: str, known: Iterable[str]) -> MPIValueError:
    """The error for a name that is not there: what there is, and what may have been meant."""
    names = list(known)
    close = get_close_matches(name, names, n=1)
    hint = f"did you mean {close[0]}? " if close else ""
    return wrong(f"{what} {name!r} is unknown: {hint}There {'is' if len(names) == 1 else 'are'} {', '.join(names)}.")


def cost_model(text: str) -> CostModel:
    """A cost model from `name:parameter=value,...`; the models within a two-level one by `intra.t_s=...`.

    One's own is `./tree.py:Tree(arity=4)`, or `./tree.py` if that defines only one, or `package.module:Tree(arity=4)`.
    """
    name, _, rest = text.partition(":")
    name = name.strip().lower().replace("-", "_")
    if name not in MODELS:
        own = own_model(text, number)
        if own is None:
            raise unknown("cost model", name, MODELS)
        return own
    model = MODELS[name]
    known = _parameters(model)
    given: dict[str, Any] = {}
    within: dict[str, dict[str, Any]] = {}
    for key, value in _pairs(text, rest):
        part, dot, inner = key.partition(".")
        if dot and part in ("intra", "inter") and part in known:
            if inner not in _parameters(Hockney):
                raise unknown(f"{text}: parameter", key, (f"{part}.{each}" for each in ("t_s", "t_w")))
            within.setdefault(part, {})[inner] = number(value)
        elif key in known and key not in ("intra", "inter"):
            given[key] = value.split("+") if key == "placement" else number(value)
        else:
            names = [each for each in known if each not in ("intra", "inter")]
            names += [f"{each}.{inner}" for each in ("intra", "inter") if each in known for inner in ("t_s", "t_w")]
            raise unknown(f"{text}: parameter", key, names)
    defaults = TwoLevel()
    for part, numbers in within.items():
        base: Hockney = getattr(defaults, part)
        given[part] = Hockney(**{"t_s": base.t_s, "t_w": base.t_w, **numbers})
    return model(**given)


def _parameters(model: Callable[..., Any]) -> list[str]:
    """The names of a model's parameters; a machine's are those of the model that it makes, without its costs."""
    named = inspect.signature(model).parameters
    names = [name for name, parameter in named.items() if parameter.kind is not inspect.Parameter.VAR_KEYWORD]
    if len(names) < len(named):
        names += [name for name in _parameters(TwoLevel) if name not in (*names, "intra", "inter")]
    return names


def _pairs(text: str, rest: str) -> Iterable[tuple[str, str]]:
    for part in filter(None, _split(rest)):
        key, equals, value = part.partition("=")
        if not equals or not value:
            raise wrong(f"{text}: {part!r} should be a parameter and its value, such as t_s=1e-6.")
        yield key.strip(), value.strip()


def _split(text: str) -> list[str]:
    """At commas that are not in parentheses."""
    return [part.strip() for part in re.split(r",(?![^(]*\))", text)]


def number(text: str) -> Any:
    """A number: whole, with k, M or G for powers of 1024, decimal, a fraction such as 1/3, or true and false."""
    low = text.strip().lower()
    if low in ("true", "yes", "on", "false", "no", "off"):
        return low in ("true", "yes", "on")
    match = re.fullmatch(r"([+-]?\d+)([kmg]?)(?:i?b)?", low)
    if match:
        return int(match[1]) * _UNITS[match[2]]
    try:
        return Fraction(low) if "/" in low else float(low)
    except (ValueError, ZeroDivisionError):
        raise wrong(f"{text!r} is not a number.") from None


def whole(text: str) -> int:
    """A whole number that is not negative, with k, M or G for powers of 1024."""
    found = number(text)
    if isinstance(found, bool) or not isinstance(found, int) or found < 0:
        raise wrong(f"{text!r} is not a number of bytes: say 0, 1500, 64k or 1M.")
    return found


def sizes(text: str) -> list[int]:
    """Sizes in bytes: `0,1k,64k`, or `1k..1M` for every power of two between."""
    return _several(text, whole)


def groups(text: str) -> list[tuple[int, int]]:
    """Numbers of ranks: `2,4,8`, `2..64`, and `6+2` for two groups."""
    found = []
    for part in _split(text):
        first, plus, second = part.partition("+")
        if plus:
            found.append((whole(first), whole(second)))
        else:
            found += [(size, 0) for size in _several(part, whole)]
    for p, q in found:
        if p < 1:
            raise wrong(f"{text!r}: {p} ranks are too few; there must be at least 1.")
        if q < 0:
            raise wrong(f"{text!r}: {q} ranks are too few.")
    return found


def _several(text: str, read: Callable[[str], int]) -> list[int]:
    found: list[int] = []
    for part in _split(text):
        first, dots, last = part.partition("..")
        if not dots:
            found.append(read(first))
            continue
        low, high = read(first), read(last)
        if low > high:
            raise wrong(f"{part!r} goes from {low} down to {high}: put the smaller first.")
        if low == 0:
            found.append(0)
            low = 1
        while low <= high:
            found.append(low)
            low *= 2
    return found


def ranks(text: str, size: int) -> list[int]:
    """Some of so many ranks: `0-3,8`.

    >>> ranks("0-3,8", 16)
    [0, 1, 2, 3, 8]
    """
    found: dict[int, None] = {}
    for part in _split(text):
        first, dash, last = part.partition("-")
        low = whole(first)
        high = whole(last) if dash else low
        if not low <= high < size:
            raise wrong(f"{part!r} is not among the ranks 0-{size - 1}.")
        found.update(dict.fromkeys(range(low, high + 1)))
    return list(found)


def seconds(text: str) -> float:
    """A time: `2e-6`, `2us`, `1.5 ms`.

    >>> seconds("2us"), seconds("1.5 ms"), seconds("3")
    (2e-06, 0.0015, 3.0)
    """
    match = re.fullmatch(r"\s*([0-9.]+(?:e[+-]?[0-9]+)?)\s*(ns|us|µs|ms|s|)\s*", text, re.IGNORECASE)
    try:
        if match:
            return float(match[1]) / {"ns": 1e9, "us": 1e6, "µs": 1e6, "ms": 1e3}.get(match[2].lower(), 1)
    except ValueError:
        pass
    raise wrong(f"{text!r} is not a time: say 2us, 1.5ms or 3e-6.")


def window(text: str, end: float) -> tuple[float, float]:
    """A part of a run: `2us..5us`, `..5us`, `2us..`.

    >>> window("2us..", 1.0), window("..1ms", 1.0)
    ((2e-06, 1.0), (0.0, 0.001))
    """
    first, dots, last = text.partition("..")
    if not dots:
        raise wrong(f"{text!r} is not a window of time: say 2us..5us.")
    found = (seconds(first) if first.strip() else 0.0, seconds(last) if last.strip() else end)
    if not found[0] < found[1]:
        raise wrong(f"{text!r} ends before it begins.")
    return found


def algorithms(text: str) -> Any:
    """`plain`, `mpich`, `openmpi`, or `operation=name` with parameters in parentheses, and a table's name before it."""
    asked: dict[str, Any] = {}
    for part in _split(text):
        operation, equals, name = part.partition("=") if "(" not in part else _operation(part)
        if not equals:
            asked["table"] = part
            continue
        match = re.fullmatch(r"(\w+)(?:\((.*)\))?", name.strip())
        if not match:
            raise wrong(f"{part!r} should be an operation and an algorithm, such as allgather=ring.")
        parameters = {key: number(value) for key, value in _pairs(part, match[2] or "")}
        asked[operation.strip()] = (match[1], parameters) if parameters else match[1]
    return asked["table"] if list(asked) == ["table"] else asked


def algorithm_names(text: str) -> list[tuple[str, dict[str, Any]]]:
    """Algorithms of one operation, with parameters in parentheses, which are numbers or algorithms' names.

    >>> algorithm_names("ring, chain(segment_bytes=4k), gather_bcast(bcast=chain)")
    [('ring', {}), ('chain', {'segment_bytes': 4096}), ('gather_bcast', {'bcast': 'chain'})]
    """
    found = []
    for part in filter(None, _split(text)):
        match = re.fullmatch(r"(\w+)(?:\((.*)\))?", part)
        if not match:
            raise wrong(f"{part!r} should be an algorithm, such as ring or chain(segment_bytes=4k).")
        pairs = _pairs(part, match[2] or "")
        found.append((match[1], {key: value if value[0].isalpha() else number(value) for key, value in pairs}))
    return found


def _operation(part: str) -> tuple[str, str, str]:
    before, _, inside = part.partition("(")
    operation, equals, name = before.partition("=")
    return operation, equals, f"{name}({inside}"
