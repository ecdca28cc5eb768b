"""What people ask to be measured, as they type it: operations, algorithms, sizes. Complaints are one sentence."""

from __future__ import annotations

import re
from argparse import Namespace
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from collectives.catalogue.algorithm import Algorithm, Case
from collectives.distributions import DISTRIBUTIONS
from collectives.entries import CATALOGUE, find
from collectives.loading import load
from collectives.trials.cases import PAIRED, UNEVEN, UNSIZED, average, counted_case, make_case
from collectives.trials.counts import read_counts
from collectives.trials.typed import groups, sizes, whole

SIZES = "8..1M"


class Asked(NamedTuple):
    """An algorithm with parameters, and what to call it."""

    label: str
    algorithm: Algorithm
    parameters: Mapping[str, Any]


class Trial(NamedTuple):
    """One case, and how it came about."""

    distribution: str
    nbytes: int
    case: Case


class Plan(NamedTuple):
    """What is to be measured."""

    operation: str
    kind: str
    among: list[Asked]
    trials: list[Trial]
    repeats: int


def make_plan(options: Namespace, processes: int) -> Plan:
    """What the options ask for, on so many processes; what is wrong with them is a ValueError, LookupError or OSError."""
    kind, operation = operation_of(options.operation)
    if kind == "inter" and not options.groups:
        raise ValueError(f"{options.operation} is between two groups: say --groups 6+2.")
    if kind != "inter" and options.groups:
        raise ValueError(f"{options.operation} is within one group: --groups is for inter:{operation}.")
    p, q = groups(options.groups) if options.groups else (processes, 0)
    if p + q != processes:
        raise ValueError(f"--groups {options.groups} are {p + q} processes, but there are {processes}.")
    if options.counts and (options.bytes or options.distribution):
        raise ValueError("--counts says how large blocks are: leave out --bytes and --distribution.")
    trials = list(_counted(operation, p, q, options.counts) if options.counts else _sized(operation, p, q, options))
    if (repeats := whole(options.repeats)) < 1:
        raise ValueError("--repeats 0 measures nothing.")
    return Plan(operation, kind, algorithms(kind, operation, options.algorithms), trials, repeats)


def _counted(operation: str, p: int, q: int, path: str) -> Iterator[Trial]:
    case = counted_case(operation, read_counts(path), 2 if q else 1)
    if (case.p, case.q) != (p, q):
        found, there = (f"{p}+{q}" if q else f"{p}" for p, q in ((case.p, case.q), (p, q)))
        raise ValueError(f"{path} has counts for {found} processes, but there are {there}.")
    yield Trial(Path(path).name, average(case), case)


def _sized(operation: str, p: int, q: int, options: Namespace) -> Iterator[Trial]:
    uneven = operation in (*UNEVEN, *PAIRED)
    if options.distribution and not uneven:
        raise ValueError(f"{operation} has blocks of one size: --distribution is for {', '.join((*UNEVEN, *PAIRED))}.")
    asked = options.distribution or "regular"
    for name in list(DISTRIBUTIONS) if asked == "all" else asked.split(","):
        if name not in DISTRIBUTIONS:
            raise ValueError(f"distribution {name!r} is unknown: there are {', '.join(DISTRIBUTIONS)}, all.")
        for nbytes in [0] if operation in UNSIZED else sizes(options.bytes or SIZES):
            yield Trial(name if uneven else "", nbytes, make_case(operation, p, q, nbytes, DISTRIBUTIONS[name]))


def operation_of(text: str) -> tuple[str, str]:
    """Kind and operation: of `bcast`, `inter:allgather`, `split`.

    >>> operation_of("bcast"), operation_of("inter:allgather"), operation_of("split")
    (('intra', 'bcast'), ('inter', 'allgather'), ('split', 'split'))
    """
    before, _, name = text.rpartition(":")
    kind = before or ("split" if name == "split" else "intra")
    known = sorted({each.operation for each in CATALOGUE if each.kind == kind and kind != "chain"})
    if name not in known:
        there = ", ".join(known) or "intra, inter and split operations"
        raise ValueError(f"operation {text!r} is unknown: there are {there}.")
    return kind, name


def algorithms(kind: str, operation: str, text: str | None) -> list[Asked]:
    """Those that are asked for, or all that there are.

    `ring`, `chain(segment_bytes=4k)`, `gather_bcast(bcast=chain)`, `./knomial.py(arity=4)`.

    >>> [each.label for each in algorithms("intra", "bcast", "binomial, chain(segment_bytes=4k)")]
    ['binomial', 'chain(segment_bytes=4096)']
    """
    if not text:
        return [Asked(each.name, each, {}) for each in CATALOGUE if (each.kind, each.operation) == (kind, operation)]
    return [_asked(kind, operation, part.strip()) for part in re.split(r",(?![^(]*\))", text)]


def _asked(kind: str, operation: str, text: str) -> Asked:
    match = re.fullmatch(r"([^()]+)(?:\((.*)\))?", text)
    if match is None:
        raise ValueError(f"{text!r} should be an algorithm, such as ring, chain(segment_bytes=4k) or ./mine.py.")
    name = match[1]
    algorithm = load(name) if name.endswith(".py") else find(operation, name, kind)
    if (algorithm.kind, algorithm.operation) != (kind, operation):
        raise ValueError(f"{name} is for {algorithm.kind} {algorithm.operation}, not for {kind} {operation}.")
    parameters = {}
    for part in filter(None, (match[2] or "").split(",")):
        key, equals, value = (each.strip() for each in part.partition("="))
        if not equals or not value or key not in algorithm.parameters:
            known = ", ".join(algorithm.parameters) or "none"
            raise ValueError(f"{text}: {part.strip()!r} should be a parameter and its value; there are: {known}.")
        parameters[key] = _value(algorithm.parameters[key], key, value)
    words = ", ".join(f"{key}={getattr(value, 'name', value)}" for key, value in parameters.items())
    return Asked(f"{name}({words})" if words else name, algorithm, parameters)


def _value(default: Any, key: str, text: str) -> Any:
    """An algorithm where the default is one, of the operation that the parameter is called after; a number; or a word."""
    if isinstance(default, Algorithm):
        return find(key, text)
    return whole(text) if text[0].isdigit() else text
