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
import os
import re
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from difflib import get_close_matches
from fractions import Fraction
from typing import Any

from collectives.loading import is_path
from fakempi.error_classes import ERR_ARG
from fakempi.errors import MPIError, MPIValueError
from fakempi.own_models import own_model
from fakempi.wire.cost import MOST_PROCESSES, CostModel, many
from fakempi.wire.models.dragonfly import Dragonfly
from fakempi.wire.models.fat_tree import FatTree
from fakempi.wire.models.free import Free
from fakempi.wire.models.hockney import Hockney
from fakempi.wire.models.loggp import LogGP
from fakempi.wire.models.presets import PRESETS
from fakempi.wire.models.torus import Torus
from fakempi.wire.models.two_groups import TwoGroups
from fakempi.wire.models.two_level import TwoLevel

MODELS: Mapping[str, Callable[..., CostModel]] = {
    "hockney": Hockney, "two_level": TwoLevel, "loggp": LogGP, "free": Free, "torus": Torus, "fat_tree": FatTree,
    "dragonfly": Dragonfly, "two_groups": TwoGroups, **PRESETS,
}  # fmt: skip
"""Cost models and machines, by the names that people type."""

MOST_BYTES = 2**40
"""Of a message that is compared."""

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
            given[key] = value.split("+") if key == "placement" else numbers_or_one(value)
        else:
            names = [each for each in known if each not in ("intra", "inter")]
            names += [f"{each}.{inner}" for each in ("intra", "inter") if each in known for inner in ("t_s", "t_w")]
            raise unknown(f"{text}: parameter", key, names)
    defaults = TwoLevel()
    for part, numbers in within.items():
        base: Hockney = getattr(defaults, part)
        given[part] = Hockney(**{"t_s": base.t_s, "t_w": base.t_w, **numbers})
    try:
        return model(**given)
    except (TypeError, AttributeError, OverflowError) as error:
        if isinstance(error, MPIError):
            raise
        raise wrong(f"{text}: {error}.") from error


def _parameters(model: Callable[..., Any]) -> list[str]:
    """The names of a model's parameters; a machine's are those of the model that it makes, without its costs."""
    named = inspect.signature(model).parameters
    names = [name for name, parameter in named.items() if parameter.kind is not inspect.Parameter.VAR_KEYWORD]
    if len(names) < len(named):
        names += [name for name in _parameters(TwoLevel) if name not in (*names, "intra", "inter")]
    return names


def _pairs(text: str, rest: str) -> Iterable[tuple[str, str]]:
    seen = set()
    for part in _split(rest) if rest.strip() else ():
        key, equals, value = (each.strip() for each in part.partition("="))
        if not equals or not value:
            raise wrong(f"{text}: {part!r} should be a parameter and its value, such as t_s=1e-6.")
        if key in seen:
            raise wrong(f"{text}: {key} is given twice.")
        seen.add(key)
        yield key, value


def _split(text: str) -> list[str]:
    """At commas that are not in parentheses."""
    return [part.strip() for part in re.split(r",(?![^(]*\))", text)]


def number(text: str) -> Any:
    """A number: whole, with k, M or G for powers of 1024, decimal, a fraction such as 1/3, or true and false."""
    low = text.strip().lower()
    if low in ("true", "yes", "on", "false", "no", "off"):
        return low in ("true", "yes", "on")
    match = re.fullmatch(r"([+-]?[0-9]{1,99})([kmg]?)(?:i?b)?", low)
    if match:
        return int(match[1]) * _UNITS[match[2]]
    try:
        return Fraction(low) if "/" in low else float(low)
    except (ValueError, ZeroDivisionError):
        raise wrong(f"{_shown(text)} is not a number.") from None


def _shown(text: str) -> str:
    return repr(text if len(text) <= 80 else f"{text[:40]}...")


def numbers_or_one(text: str) -> Any:
    """A number, or several with an x between: `8x8x8`; or none."""
    if text.lower() == "none":
        return None
    parts = [number(part) for part in text.lower().split("x")]
    return parts[0] if len(parts) == 1 else tuple(parts)


def whole(text: str, what: str = "bytes: say 0, 1500, 64k or 1M") -> int:
    """A whole number that is not negative, with k, M or G for powers of 1024."""
    found = number(text)
    if isinstance(found, bool) or not isinstance(found, int) or found < 0:
        raise wrong(f"{_shown(text)} is not a number of {what}.")
    return found


def count(text: str) -> int:
    """A number of ranks."""
    return whole(text, "ranks: say 4 or 1k")


def sizes(text: str) -> list[int]:
    """Sizes in bytes: `0,1k,64k`, or `1k..1M` for every power of two between."""
    found = _several(text, whole)
    if max(found, default=0) > MOST_BYTES:
        raise wrong(f"{_shown(text)}: {many(max(found))} bytes are too many; there can be at most {MOST_BYTES:,}.")
    return found


def groups(text: str) -> list[tuple[int, int]]:
    """Numbers of ranks: `2,4,8`, `2..64`, and `6+2` for two groups."""
    found = []
    for part in _split(text):
        first, plus, second = part.partition("+")
        if plus:
            found.append((count(first), count(second)))
        else:
            found += [(size, 0) for size in _several(part, count)]
    for p, q in found:
        if p < 1:
            raise wrong(f"{text!r}: {p} ranks are too few; there must be at least 1.")
        if max(p, q) > MOST_PROCESSES:
            raise wrong(f"{text!r}: {many(max(p, q))} ranks are too many; there can be at most {MOST_PROCESSES:,}.")
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
        low = count(first)
        high = count(last) if dash else low
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


def algorithms(text: str, folder: str = "") -> Any:
    """`plain`, `mpich`, `openmpi`, or `operation=algorithm`, several with commas between, and a table's name among them.

    An algorithm is a name or a file, with parameters in parentheses: numbers, words, lists in brackets, algorithms. Files
    are looked for in the folder.

    >>> algorithms("inter:allgather=full_duplex(allgatherv=blocked_ring(block_bytes=sqrt)), bcast=./knomial.py(k=4)")
    {'inter:allgather': ('full_duplex', {'allgatherv': ('blocked_ring', {'block_bytes': 'sqrt'})}), \
'bcast': ('./knomial.py', {'k': 4})}
    >>> algorithms("allgatherv=cluster_blocked_ring(nodes=[0,1,0,1])")
    {'allgatherv': ('cluster_blocked_ring', {'nodes': [0, 1, 0, 1]})}
    """
    asked: dict[str, Any] = {}
    for part in _in_list(text):
        operation, equals, rest = (each.strip() for each in part.partition("="))
        if not equals and re.fullmatch(r"\w+", part):
            operation, rest = "table", part
        complaint = f"{part!r} should be an operation and an algorithm, such as allgather=ring."
        if not re.fullmatch(r"[\w:]+", operation):
            raise wrong(complaint)
        if operation in asked:
            raise wrong(f"{text}: {operation} is given twice.")
        name, parameters = _call(rest, complaint)
        what = (name, parameters) if parameters else name
        asked[operation] = _placed(what, folder) if folder else what
    return asked["table"] if list(asked) == ["table"] else asked


def algorithm_names(text: str) -> list[tuple[str, dict[str, Any]]]:
    """Algorithms of one operation, each a name or a file, with parameters in parentheses.

    >>> algorithm_names("ring, chain(segment_bytes=4k), gather_bcast(bcast=chain), ./knomial.py")
    [('ring', {}), ('chain', {'segment_bytes': 4096}), ('gather_bcast', {'bcast': 'chain'}), ('./knomial.py', {})]
    """
    such_as = "should be an algorithm, such as ring, chain(segment_bytes=4k) or ./knomial.py."
    return [_call(part, f"{part!r} {such_as}") for part in _in_list(text)]


def _in_list(text: str) -> list[str]:
    """Split at commas, but not within brackets or quotes.

    >>> _in_list("a(b=[1, 2], c=d(e=3)), 'f, g'")
    ['a(b=[1, 2], c=d(e=3))', "'f, g'"]
    """
    parts, closing, quote = [""], "", ""
    for char in text:
        if quote:
            quote = "" if char == quote else quote
        elif char in "\"'" and not parts[-1].rstrip(" ")[-1:].strip("([=,"):  # an apostrophe within a word is none
            quote = char
        elif char in "([":
            closing += ")" if char == "(" else "]"
        elif char in ")]":
            if closing[-1:] != char:
                raise wrong(f"{text}: there is a {char} too many.")
            closing = closing[:-1]
        if char == "," and not (closing or quote):
            parts.append("")
        else:
            parts[-1] += char
    if quote or closing:
        raise wrong(f"{text}: a {quote or closing[-1]} is missing.")
    return [part.strip() for part in parts if part.strip()]


def _call(text: str, complaint: str) -> tuple[str, dict[str, Any]]:
    """A name or a path, which may stand in quotes, and the parameters in parentheses after it."""
    match = re.fullmatch(r"""(?:(["'])(.*?)\1|([^("'][^(]*?))\s*(?:\((.*)\))?""", text, re.DOTALL)
    name = match and (match[2] or match[3])
    if not match or not name or not (is_path(name) or re.fullmatch(r"[\w.-]+", name)):
        raise wrong(complaint)
    parameters: dict[str, Any] = {}
    for part in _in_list(match[4] or ""):
        key, _, value = (each.strip() for each in part.partition("="))
        if not value:
            raise wrong(f"{part!r} should be a parameter and its value, such as segment_bytes=4k.")
        if key in parameters:
            raise wrong(f"{text}: {key} is given twice.")
        parameters[key] = _value(value)
    return name, parameters


def _value(text: str) -> Any:
    """What a parameter is to be: a number, none, a list, a word, or a name with parameters of its own."""
    if text[0] == "[" and text[-1] == "]":
        return [_value(part) for part in _in_list(text[1:-1])]
    if text[0] in "\"'" and text[0] == text[-1]:
        return text[1:-1]
    if text.endswith(")"):
        return _call(text, f"{text!r} should be a name with parameters, such as chain(segment_bytes=4k).")
    with suppress(MPIValueError):
        return None if text.lower() == "none" else number(text)
    return text


def _placed(asked: Any, folder: str) -> Any:
    """The same with all files in a folder, unless their paths are absolute."""
    match asked:
        case str():
            return os.path.normpath(os.path.join(folder, os.path.expanduser(asked))) if is_path(asked) else asked
        case tuple():
            return _placed(asked[0], folder), {key: _placed(value, folder) for key, value in asked[1].items()}
    return asked
