"""Random changes of valid files: of bytes, numbers, words and lines, and of values, keys and types in JSON.

A mutant of a seed is always the same.
"""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Callable
from contextlib import suppress
from random import Random
from typing import Any

NUMBERS = (
    "0", "-1", "1", "2", "-0", "3.5", "1e999", "-1e999", "1e-400", "NaN", "Infinity", "-inf", "nan", "inf", "1e308", "255",
    "65536", "2147483648", "4294967297", "9007199254740993", "9223372036854775808", "1000000000000000000", "1_000", "0x10",
    "٣", "²", "true", "null", '"5"', "9" * 400, "9" * 5000, "1" + "0" * 100_000, "1e18", "4e9",
)  # fmt: skip
WORDS = (
    "", "../../../../etc/passwd", "/etc/passwd", "./evil.py", "evil.py:Evil", "evil:Evil", "chain(segment_bytes=./evil.py)",
    "os:system", "__class__", "{0.__class__.__init__.__globals__}", "%s%n%999999999d", "{:>999999999}", "$(touch pwned)",
    "`touch pwned`", "__import__('evil')", "\x1b]0;owned\x07\x1b[31m", "\u202e", "\ufeff", "\x00", "\u0085", "a" * 70_000,
    "(" * 3000, "[" * 3000, "a." * 3000, "[bold]", "[/]", "<script>", "]]>", "<!-- x -->", "&a;", "=cmd|'/c calc'!A0", "\\",
    '"', "'", ",", ":", "=", "#", "*", "**", "\r", "\n\n", "\ud800", "🦀", "con", "/dev/stdin", ".", "/",
)  # fmt: skip
ENTITIES = "".join(f'<!ENTITY {chr(98 + i)} "{f"&{chr(97 + i)};" * 10}">' for i in range(12))
LAUGHS = f'<!DOCTYPE algo [<!ENTITY a "aaaaaaaaaa">{ENTITIES}]>\n'
EXTERNAL = '<!DOCTYPE algo [<!ENTITY a SYSTEM "file:///etc/passwd">]>\n'
NUMBER = re.compile(rb"-?\d+(?:\.\d*)?(?:[eE][+-]?\d+)?")
WORD = re.compile(rb"[A-Za-z_][\w.-]*")
DEPTHS = (100, 2000, 100_000)


def mutant(samples: list[bytes], random: Random, rewrite: Callable[[bytes, Random], bytes] | None = None) -> bytes:
    """Return a sample with one to four random changes; `rewrite` changes the structure of a binary format."""
    data = random.choice(samples)
    if rewrite is not None and random.random() < 0.7:
        data = rewrite(data, random)
        if random.random() < 0.8:
            return data
    for _ in range(random.choice((1, 1, 1, 2, 4))):
        data = random.choice(CHANGES)(data, random)
    return data


def nasty(random: Random) -> Any:
    """Return a value that is unusual in JSON."""
    return random.choice((
        None, True, False, [], {}, [[]], 0, -1, 1.5, -1e308, float("nan"), float("inf"), 2**31, 2**53, 2**63, 10**18,
        10**400, *WORDS, [0] * 5000, {"": 0}, {"__class__": "evil"}, [None], 1e-320, list(range(300)),
    ))  # fmt: skip


def _text(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _flip(data: bytes, random: Random) -> bytes:
    out = bytearray(data)
    for _ in range(random.choice((1, 1, 2, 10))):
        if out:
            out[random.randrange(len(out))] = random.randrange(256)
    return bytes(out)


def _span(data: bytes, random: Random) -> tuple[int, int]:
    start = random.randint(0, len(data))
    return start, min(len(data), start + random.choice((1, 3, 20, 200, len(data))))


def _delete(data: bytes, random: Random) -> bytes:
    start, stop = _span(data, random)
    return data[:start] + data[stop:]


def _repeat(data: bytes, random: Random) -> bytes:
    start, stop = _span(data, random)
    times = random.choice((2, 3, 50, 1000))
    return data[:start] + data[start:stop] * min(times, 1 + 200_000 // (stop - start + 1)) + data[stop:]


def _truncate(data: bytes, random: Random) -> bytes:
    return data[: random.randint(0, len(data))]


def _insert(data: bytes, random: Random) -> bytes:
    at = random.randint(0, len(data))
    return data[:at] + random.choice((_text(random.choice(WORDS)), random.randbytes(8))) + data[at:]


def _replace(pattern: re.Pattern[bytes], texts: tuple[str, ...], data: bytes, random: Random) -> bytes:
    found = list(pattern.finditer(data))
    if not found:
        return data
    match = random.choice(found)
    others = [*texts, *(other[0].decode() for other in random.sample(found, min(5, len(found))))]
    return data[: match.start()] + _text(random.choice(others)) + data[match.end() :]


def _number(data: bytes, random: Random) -> bytes:
    return _replace(NUMBER, NUMBERS, data, random)


def _nearby(data: bytes, random: Random) -> bytes:
    """Change a number by a little, or scale it."""
    found = [match for match in NUMBER.finditer(data) if match[0].strip(b"-").isdigit() and len(match[0]) < 20]
    if not found:
        return data
    match = random.choice(found)
    value = int(match[0])
    other = random.choice((value + 1, value - 1, 2 * value, -value, value * 10**6, value * 10**12))
    return data[: match.start()] + str(other).encode() + data[match.end() :]


def _word(data: bytes, random: Random) -> bytes:
    return _replace(WORD, WORDS, data, random)


def _lines(data: bytes, random: Random) -> bytes:
    lines = data.split(b"\n")
    one, other = random.randrange(len(lines)), random.randrange(len(lines))
    change = random.randrange(5)
    if change == 0:
        del lines[one]
    elif change == 1:
        lines.insert(other, lines[one])
    elif change == 2:
        lines[one], lines[other] = lines[other], lines[one]
    elif change == 3:
        lines[one:one] = [lines[other]] * min(1000, 1 + 200_000 // (1 + len(lines[other])))
    else:
        lines = lines[one:] + lines[:one]
    return b"\n".join(lines)


def _envelope(data: bytes, random: Random) -> bytes:
    """Change how a file is stored: another encoding, line ends, a byte order mark, compression, or a beginning."""
    return random.choice((
        lambda: b"\xef\xbb\xbf" + data, lambda: data.replace(b"\n", b"\r\n"), lambda: data.replace(b"\n", b"\r"),
        lambda: gzip.compress(data), lambda: gzip.compress(data)[:-9], lambda: data + b"\x00" * 4096,
        lambda: data.decode("utf-8", "replace").encode("utf-16"), lambda: b"", lambda: b"\n" * 10_000,
        lambda: random.randbytes(2000), lambda: b"\x80\x04\x95" + data, lambda: _text(LAUGHS) + data + b"&m;",
        lambda: _text(LAUGHS) + data.replace(b'="', b'="&m;', 1), lambda: _text(EXTERNAL) + data, lambda: data + data,
        lambda: b"PK\x03\x04" + data, lambda: b"\x93NUMPY" + data, lambda: b"a,b\n" * 200_000, lambda: b"9" * 1_000_000,
    ))()  # fmt: skip


def _nest(data: bytes, random: Random) -> bytes:
    at, depth = random.randint(0, len(data)), random.choice(DEPTHS)
    opening, closing = random.choice(
        (("[", "]"), ('{"a":', "}"), ("(", ")"), ("<a>", "</a>"), ("{", "}"), ('[{"steps":', "}]"))
    )
    return data[:at] + opening.encode() * depth + closing.encode() * random.choice((0, depth)) + data[at:]


def _json(data: bytes, random: Random) -> bytes:
    """Change a value, a key or a type in JSON, or in a line of the file that contains JSON."""
    lines = data.split(b"\n")
    with suppress(ValueError, RecursionError):
        return _dumped(json.loads(data), random)
    for index in random.sample(range(len(lines)), min(len(lines), 5)):
        start = lines[index].find(b"{")
        with suppress(ValueError, RecursionError):
            if start >= 0:
                lines[index] = lines[index][:start] + _dumped(json.loads(lines[index][start:]), random)
                return b"\n".join(lines)
    return _number(data, random)


def _dumped(value: Any, random: Random) -> bytes:
    value = change_json(value, random)
    with suppress(ValueError, RecursionError):
        text = json.dumps(value, ensure_ascii=random.random() < 0.5)
        keys = re.findall(r'"\w+": ', text) if random.random() < 0.1 else []
        return _text(text.replace(random.choice(keys), random.choice(keys), 1) if keys else text)
    return b"{}"


def change_json(value: Any, random: Random) -> Any:
    """Return a JSON value with a change at a random depth."""
    if isinstance(value, dict) and value and random.random() < 0.93:
        key = random.choice(list(value))
        change = random.random()
        if change < 0.75:
            return {**value, key: change_json(value[key], random)}
        if change < 0.85:
            return {name: each for name, each in value.items() if name != key}
        return {**value, random.choice([*WORDS, *value]): nasty(random)}
    if isinstance(value, list) and value and random.random() < 0.93:
        index, change = random.randrange(len(value)), random.random()
        if change < 0.8:
            return [*value[:index], change_json(value[index], random), *value[index + 1 :]]
        if change < 0.9:
            return value[:index] + value[index + 1 :]
        return value[:index] + [value[index]] * random.choice((2, 1000)) + value[index:]
    if isinstance(value, int) and random.random() < 0.4:
        return random.choice((value + 1, value - 1, -value, value * 10**6, str(value), float(value), [value], 2**40))
    return random.choice((nasty(random), [value], {"a": value}, str(value)))


CHANGES = (
    _flip, _flip, _delete, _repeat, _truncate, _insert, _number, _number, _number, _nearby, _nearby, _word, _word, _word,
    _lines, _lines, _envelope, _nest, _json, _json, _json,
)  # fmt: skip
