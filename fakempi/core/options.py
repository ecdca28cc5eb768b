"""Parse cost models, algorithms, sizes and numbers of ranks that users type on the command line or for pytest.

>>> cost_model("hockney:t_s=1e-6,t_w=0,eager_limit=4k")
Hockney(t_w=0, eager_limit=4096)
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
from dataclasses import replace
from fractions import Fraction
from typing import Any

from collectives.loading import is_path
from fakempi.core.network.cost import MAX_PROCESSES, CostModel, format_count
from fakempi.core.network.files import FileServer
from fakempi.core.network.models.hockney import Hockney
from fakempi.core.network.parameters import Parametrized
from fakempi.errors import MPIError, MPIValueError
from fakempi.errors.classes import ERR_ARG
from fakempi.errors.similar import get_close_matches


def __getattr__(name: str) -> Any:
    """Import `MODELS` when it is used, which takes 9 ms: most runs have the default model."""
    if name != "MODELS":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from fakempi.core.network.models.named import MODELS

    return MODELS


NESTED: Mapping[str, type[Hockney | FileServer]] = {"intra": Hockney, "inter": Hockney, "files": FileServer}
"""Parameters that are objects with parameters, which users type as `intra.t_s=1e-6`."""

MAX_BYTES = 2**40
"""Maximum size of a message in a comparison."""

MAX_LENGTH, MAX_DEPTH = 20_000, 50  # of algorithms with parameters
_UNITS = {"": 1, "k": 2**10, "m": 2**20, "g": 2**30}


def usage_error(sentence: str) -> MPIValueError:
    """Return the error to raise for an invalid option."""
    return MPIValueError(ERR_ARG, sentence)


def unknown_name(what: str, name: str, known: Iterable[str], command: str = "") -> MPIValueError:
    """Return the error for an unknown name, with the closest names, and all names or the command that lists them."""
    names = list(known)
    close = get_close_matches(name, names, n=3 if command else 1)
    hint = f" Did you mean {' or '.join(filter(None, [', '.join(close[:-1]), close[-1]]))}?" if close else ""
    others = f"(For all names, run: {command})" if command else f"Known: {', '.join(names)}."
    return usage_error(f"{what} {name!r} is unknown.{hint} {others}")


def cost_model(text: str) -> CostModel:
    """Return the cost model for a text `name:parameter=value,...`.

    `intra.t_s=...` sets a parameter of a model inside a two-level one, `files.t_s=...` one of a file server. A user-defined
    model is `./tree.py:Tree(arity=4)`, or `./tree.py` if the file defines only one, or `package.module:Tree(arity=4)`.
    A machine file is `cluster.toml`, or `cluster.toml:ranks_per_node=4` to override options of the file.
    """
    from fakempi.core.network.models.loading import user_model  # these take 9 ms
    from fakempi.core.network.models.machine_file import is_machine_file, load_machine, machine_parameters
    from fakempi.core.network.models.named import MODELS
    from fakempi.core.network.models.two_level import TwoLevel

    if is_machine_file(text):
        path, overrides = machine_parameters(text, number)
        return load_machine(path, overrides)
    name, _, rest = text.partition(":")
    name = name.strip().lower().replace("-", "_")
    if name not in MODELS:
        user_defined = user_model(text, number)
        if user_defined is None:
            raise unknown_name("cost model", name, MODELS)
        return user_defined
    model = MODELS[name]
    known = _parameters(model)
    given: dict[str, Any] = {}
    nested: dict[str, dict[str, Any]] = {}
    for key, value in _pairs(text, rest):
        part, dot, inner = key.partition(".")
        if dot and part in NESTED and part in known:
            if inner not in _parameters(NESTED[part]):
                raise unknown_name(f"{text}: parameter", key, _nested_names(part))
            nested.setdefault(part, {})[inner] = _parameter_value(text, key, value, number)
        elif key in known and key not in NESTED:
            given[key] = value.split("+") if key == "placement" else _parameter_value(text, key, value, number_or_tuple)
        else:
            names = [each for each in known if each not in NESTED]
            names += [each for part in ("intra", "inter") if part in known for each in _nested_names(part)]
            raise unknown_name(f"{text}: parameter", key, names)
    try:
        for part, numbers in nested.items():
            given[part] = replace(getattr(TwoLevel(), part) or NESTED[part](), **numbers)
        return model(**given)
    except (TypeError, AttributeError, OverflowError) as error:
        if isinstance(error, MPIError):
            raise
        raise usage_error(f"{text}: {error}.") from error


def _parameter_value(text: str, key: str, value: str, read: Callable[[str], Any]) -> Any:
    """Return the value of a parameter; the error names the parameter."""
    try:
        return read(value)
    except MPIValueError:
        raise usage_error(f"{text}: {key} must be a number such as 1e-6 or 64k, not {_quoted(value)}.") from None


def _parameters(model: Callable[..., Any]) -> list[str]:
    """Return the names of a model's parameters; those of a machine are TwoLevel's without `intra` and `inter`."""
    from fakempi.core.network.models.two_level import TwoLevel

    if isinstance(model, type) and issubclass(model, Parametrized):
        return [each.name for each in model.parameters()]
    own = [each.name for each in inspect.signature(model).parameters.values() if each.kind is not each.VAR_KEYWORD]
    return [*own, *(name for name in _parameters(TwoLevel) if name not in (*own, "intra", "inter"))]


def _nested_names(part: str) -> list[str]:
    """Return the names of the parameters of a nested object that users set most."""
    return [f"{part}.{each.name}" for each in NESTED[part].parameters() if each.kind is each.POSITIONAL_OR_KEYWORD]


def _pairs(text: str, rest: str) -> Iterable[tuple[str, str]]:
    seen = set()
    for part in _split(rest) if rest.strip() else ():
        key, equals, value = (text_part.strip() for text_part in part.partition("="))
        if not equals or not value:
            raise usage_error(f"{text}: {part!r} is not a parameter with a value, such as t_s=1e-6.")
        if key in seen:
            raise usage_error(f"{text}: {key} is given twice.")
        seen.add(key)
        yield key, value


def _split(text: str) -> list[str]:
    """Split a text at commas that are not in parentheses."""
    return [part.strip() for part in re.split(r",(?![^(]*\))", text)]


def number(text: str) -> Any:
    """Return the number in a text: an int, with k, M or G for powers of 1024; a float; a fraction such as 1/3; or a bool."""
    low = text.strip().lower()
    if low in ("true", "yes", "on", "false", "no", "off"):
        return low in ("true", "yes", "on")
    match = re.fullmatch(r"([+-]?[0-9]{1,99})([kmg]?)(?:i?b)?", low)
    if match:
        return int(match[1]) * _UNITS[match[2]]
    try:
        return Fraction(low) if "/" in low else float(low)
    except (ValueError, ZeroDivisionError):
        raise usage_error(f"{_quoted(text)} is not a number.") from None


def _quoted(text: str) -> str:
    return repr(text if len(text) <= 80 else f"{text[:40]}...")


def number_or_tuple(text: str) -> Any:
    """Return a number, a tuple for several with an x between (`8x8x8`), or None for `none`."""
    if text.lower() == "none":
        return None
    parts = [number(part) for part in text.lower().split("x")]
    return parts[0] if len(parts) == 1 else tuple(parts)


def integer(text: str, expected: str = "a number of bytes: use 0, 1500, 64k or 1M") -> int:
    """Return the integer of at least 0 in a text, with k, M or G for powers of 1024."""
    value = None
    with suppress(MPIValueError):
        value = number(text)
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise usage_error(f"{_quoted(text)} is not {expected}.")
    return value


def count(text: str) -> int:
    """Return a number of ranks."""
    return integer(text, "a number of ranks: use 4 or 1k")


def sizes(text: str) -> list[int]:
    """Return the sizes in bytes in a text: `0,1k,64k`, or `1k..1M` for every power of two between the two."""
    values = _several(text, integer)
    if max(values, default=0) > MAX_BYTES:
        raise usage_error(f"{_quoted(text)}: {format_count(max(values))} bytes are too many; the maximum is {MAX_BYTES:,}.")
    return values


def groups(text: str) -> list[tuple[int, int]]:
    """Return the numbers of ranks in a text as (p, q): `2,4,8`, `2..64`, and `6+2` for two groups; q is 0 for one group."""
    pairs = []
    for part in _split(text):
        first, plus, second = part.partition("+")
        if plus:
            pairs.append((count(first), count(second)))
        else:
            pairs += [(size, 0) for size in _several(part, count)]
    for p, q in pairs:
        if p < 1:
            raise usage_error(f"{text!r}: there must be at least 1 rank.")
        if max(p, q) > MAX_PROCESSES:
            raise usage_error(f"{text!r}: {format_count(max(p, q))} ranks are too many; the maximum is {MAX_PROCESSES:,}.")
    return pairs


def _several(text: str, read: Callable[[str], int]) -> list[int]:
    numbers: list[int] = []
    for part in _split(text):
        first, dots, last = part.partition("..")
        if not dots:
            numbers.append(read(first))
            continue
        if not first.strip() or not last.strip():
            raise usage_error(f"{part!r} is not a range: use a first and a last value, such as 2..64.")
        low, high = read(first), read(last)
        if low > high:
            raise usage_error(f"{part!r} is an empty range: {low} is larger than {high}.")
        if low == 0:
            numbers.append(0)
            low = 1
        while low <= high:
            numbers.append(low)
            low *= 2
    return numbers


def ranks(text: str, size: int) -> list[int]:
    """Return the ranks in a text such as `0-3,8`; `size` is the number of ranks.

    >>> ranks("0-3,8", 16)
    [0, 1, 2, 3, 8]
    """
    chosen: dict[int, None] = {}
    for part in _split(text):
        first, dash, last = part.partition("-")
        low, high = (integer(each, "a rank: use 5 or 0-3,8") for each in (first, last if dash else first))
        if not low <= high < size:
            raise usage_error(f"{part!r} is not within the ranks 0-{size - 1}.")
        chosen.update(dict.fromkeys(range(low, high + 1)))
    return list(chosen)


def seconds(text: str) -> float:
    """Return the seconds in a text: `2e-6`, `2us`, `1.5 ms`.

    >>> seconds("2us"), seconds("1.5 ms"), seconds("3")
    (2e-06, 0.0015, 3.0)
    """
    match = re.fullmatch(r"\s*([0-9.]+(?:e[+-]?[0-9]+)?)\s*(ns|us|µs|ms|s|)\s*", text, re.IGNORECASE)
    try:
        if match:
            return float(match[1]) / {"ns": 1e9, "us": 1e6, "µs": 1e6, "ms": 1e3}.get(match[2].lower(), 1)
    except ValueError:
        pass
    raise usage_error(f"{text!r} is not a time: use 2us, 1.5ms or 3e-6.")


def window(text: str, end: float) -> tuple[float, float]:
    """Return start and end of a time window: `2us..5us`, `..5us`, `2us..`; `end` is the end of the run.

    >>> window("2us..", 1.0), window("..1ms", 1.0)
    ((2e-06, 1.0), (0.0, 0.001))
    """
    first, dots, last = text.partition("..")
    if not dots:
        raise usage_error(f"{text!r} is not a time window: use 2us..5us.")
    times = (seconds(first) if first.strip() else 0.0, seconds(last) if last.strip() else end)
    if not times[0] < times[1]:
        raise usage_error(f"{text!r} ends before it begins.")
    return times


def algorithms(text: str, directory: str = "") -> Any:
    """Return the value of `algorithms=` for a text: `plain`, `mpich`, `openmpi`, `operation=algorithm`, or a list of these.

    An algorithm is a name or a file, with parameters in parentheses: numbers, words, lists in brackets, algorithms.
    Relative paths of files are relative to `directory`.

    >>> algorithms("inter:allgather=full_duplex(allgatherv=blocked_ring(block_bytes=sqrt)), bcast=./knomial.py(k=4)")
    {'inter:allgather': ('full_duplex', {'allgatherv': ('blocked_ring', {'block_bytes': 'sqrt'})}), \
'bcast': ('./knomial.py', {'k': 4})}
    >>> algorithms("allgatherv=cluster_blocked_ring(nodes=[0,1,0,1])")
    {'allgatherv': ('cluster_blocked_ring', {'nodes': [0, 1, 0, 1]})}
    """
    requested: dict[str, Any] = {}
    for part in _in_list(text):
        operation, equals, rest = (text_part.strip() for text_part in part.partition("="))
        if not equals and re.fullmatch(r"\w+", part):
            operation, rest = "table", part
        message = f"{part!r} is not an operation with an algorithm, such as allgather=ring."
        if not re.fullmatch(r"[\w:]+", operation):
            raise usage_error(message)
        if operation in requested:
            raise usage_error(f"{text}: {operation} is given twice.")
        name, parameters = _call(rest, message)
        algorithm = (name, parameters) if parameters else name
        requested[operation] = _in_directory(algorithm, directory) if directory else algorithm
    return requested["table"] if list(requested) == ["table"] else requested


def algorithm_names(text: str) -> list[tuple[str, dict[str, Any]]]:
    """Return the algorithms of one operation in a text: names or files, with parameters in parentheses.

    >>> algorithm_names("ring, chain(segment_bytes=4k), gather_bcast(bcast=chain), ./knomial.py")
    [('ring', {}), ('chain', {'segment_bytes': 4096}), ('gather_bcast', {'bcast': 'chain'}), ('./knomial.py', {})]
    """
    message = "is not an algorithm, such as ring, chain(segment_bytes=4k) or ./knomial.py."
    return [_call(part, f"{part!r} {message}") for part in _in_list(text)]


def _in_list(text: str) -> list[str]:
    """Split a text at commas that are not within brackets or quotes.

    >>> _in_list("a(b=[1, 2], c=d(e=3)), 'f, g'")
    ['a(b=[1, 2], c=d(e=3))', "'f, g'"]
    """
    parts, closing, quote = [""], "", ""
    for char in text:
        if quote:
            quote = "" if char == quote else quote
        elif char in "\"'" and not parts[-1].rstrip(" ")[-1:].strip("([=,"):  # not an apostrophe within a word
            quote = char
        elif char in "([":
            closing += ")" if char == "(" else "]"
            if len(closing) > MAX_DEPTH or len(text) > MAX_LENGTH:
                raise usage_error(f"{_quoted(text)} is longer than {MAX_LENGTH:,}, or has {MAX_DEPTH} nested brackets.")
        elif char in ")]":
            if closing[-1:] != char:
                raise usage_error(f"{text}: unmatched {char}.")
            closing = closing[:-1]
        if char == "," and not (closing or quote):
            parts.append("")
        else:
            parts[-1] += char
    if quote or closing:
        raise usage_error(f"{text}: missing {quote or closing[-1]}.")
    return [part.strip() for part in parts if part.strip()]


def _call(text: str, message: str) -> tuple[str, dict[str, Any]]:
    """Return a name or a path, which may be quoted, and the parameters in parentheses after it."""
    match = re.fullmatch(r"""(?:(["'])(.*?)\1|([^("'][^(]*?))\s*(?:\((.*)\))?""", text, re.DOTALL)
    name = match and (match[2] or match[3])
    if not match or not name or not (is_path(name) or re.fullmatch(r"[\w.-]+", name)):
        raise usage_error(message)
    parameters: dict[str, Any] = {}
    for part in _in_list(match[4] or ""):
        key, _, value = (text_part.strip() for text_part in part.partition("="))
        if not value:
            raise usage_error(f"{part!r} is not a parameter with a value, such as segment_bytes=4k.")
        if key in parameters:
            raise usage_error(f"{text}: {key} is given twice.")
        parameters[key] = _value(value)
    return name, parameters


def _value(text: str) -> Any:
    """Return the value of a parameter: a number, None, a list, a string, or an algorithm with parameters."""
    if text[0] == "[" and text[-1] == "]":
        return [_value(part) for part in _in_list(text[1:-1])]
    if text[0] in "\"'" and text[0] == text[-1]:
        return text[1:-1]
    if text.endswith(")"):
        return _call(text, f"{text!r} is not a name with parameters, such as chain(segment_bytes=4k).")
    with suppress(MPIValueError):
        return None if text.lower() == "none" else number(text)
    return text


def _in_directory(requested: Any, directory: str) -> Any:
    """Return a requested algorithm with the relative paths of files made relative to a directory."""
    match requested:
        case str():
            if not is_path(requested):
                return requested
            return os.path.normpath(os.path.join(directory, os.path.expanduser(requested)))
        case tuple():
            parameters = {key: _in_directory(value, directory) for key, value in requested[1].items()}
            return _in_directory(requested[0], directory), parameters
    return requested
