"""Parse the options of `python -m collectives.measure` into a plan. Every error message is one sentence."""

from __future__ import annotations

import re
from argparse import Namespace
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from collectives.catalogue.algorithm import Algorithm, Case
from collectives.distributions import DISTRIBUTIONS
from collectives.entries import CATALOGUE, find
from collectives.loading import is_path, load
from collectives.trials.cases import PAIRED, UNEVEN, UNSIZED, average, counted_case, make_case
from collectives.trials.counts import read_counts
from collectives.trials.parsing import parse_groups, parse_size, parse_sizes

SIZES = "8..1M"


class SelectedAlgorithm(NamedTuple):
    """An algorithm with parameters, and its label in the output."""

    label: str
    algorithm: Algorithm
    parameters: Mapping[str, Any]


class MeasuredCase(NamedTuple):
    """A case, the name of its distribution, and its block size in bytes."""

    distribution: str
    nbytes: int
    case: Case


class MeasurePlan(NamedTuple):
    """The algorithms and cases to measure."""

    operation: str
    kind: str
    algorithms: list[SelectedAlgorithm]
    cases: list[MeasuredCase]
    repeats: int


def make_plan(options: Namespace, processes: int) -> MeasurePlan:
    """Return the plan for the parsed options. Raises ValueError, LookupError or OSError if an option is invalid."""
    kind, operation = parse_operation(options.operation)
    if kind == "inter" and not options.groups:
        raise ValueError(f"{options.operation} needs two groups: add --groups P+Q, such as --groups 6+2.")
    if kind != "inter" and options.groups:
        raise ValueError(f"{options.operation} uses one group: --groups is for inter:{operation}.")
    p, q = parse_groups(options.groups) if options.groups else (processes, 0)
    if p + q != processes:
        raise ValueError(f"--groups {options.groups} has {p + q} processes, but the job has {processes}.")
    if options.counts and (options.bytes or options.distribution):
        raise ValueError("--counts specifies the block sizes: remove --bytes and --distribution.")
    if options.counts:
        cases = list(_case_of_file(operation, p, q, options.counts))
    else:
        cases = list(_cases_by_size(operation, p, q, options))
    if (repeats := parse_size(options.repeats)) < 1:
        raise ValueError("--repeats 0 measures nothing: use 1 or more.")
    return MeasurePlan(operation, kind, select_algorithms(kind, operation, options.algorithms), cases, repeats)


def _case_of_file(operation: str, p: int, q: int, path: str) -> Iterator[MeasuredCase]:
    case = counted_case(operation, read_counts(path), 2 if q else 1)
    if (case.p, case.q) != (p, q):
        in_file, in_job = (f"{p}+{q}" if q else f"{p}" for p, q in ((case.p, case.q), (p, q)))
        raise ValueError(f"{path} has counts for {in_file} processes, but the job has {in_job}.")
    yield MeasuredCase(Path(path).name, average(case), case)


def _cases_by_size(operation: str, p: int, q: int, options: Namespace) -> Iterator[MeasuredCase]:
    uneven = operation in (*UNEVEN, *PAIRED)
    if options.distribution and not uneven:
        raise ValueError(f"{operation} has equal blocks: --distribution is for {', '.join((*UNEVEN, *PAIRED))}.")
    names = options.distribution or "regular"
    for name in list(DISTRIBUTIONS) if names == "all" else names.split(","):
        if name not in DISTRIBUTIONS:
            raise ValueError(f"unknown distribution {name!r}: use {', '.join(DISTRIBUTIONS)} or all.")
        for nbytes in [0] if operation in UNSIZED else parse_sizes(options.bytes or SIZES):
            yield MeasuredCase(name if uneven else "", nbytes, make_case(operation, p, q, nbytes, DISTRIBUTIONS[name]))


def parse_operation(text: str) -> tuple[str, str]:
    """Return kind and operation of `bcast`, `inter:allgather` or `split`.

    >>> parse_operation("bcast"), parse_operation("inter:allgather"), parse_operation("split")
    (('intra', 'bcast'), ('inter', 'allgather'), ('split', 'split'))
    """
    before, _, name = text.rpartition(":")
    kind = before or ("split" if name == "split" else "intra")
    known = sorted({algorithm.operation for algorithm in CATALOGUE if algorithm.kind == kind and kind != "chain"})
    if name not in known:
        valid = ", ".join(known) or "an intra, inter or split operation"
        raise ValueError(f"unknown operation {text!r}: use {valid}.")
    return kind, name


def select_algorithms(kind: str, operation: str, text: str | None) -> list[SelectedAlgorithm]:
    """Return the algorithms of a comma-separated list, or all algorithms of the operation.

    List items: `ring`, `chain(segment_bytes=4k)`, `gather_bcast(bcast=chain)`, `./knomial.py(arity=4)`.

    >>> [each.label for each in select_algorithms("intra", "bcast", "binomial, chain(segment_bytes=4k)")]
    ['binomial', 'chain(segment_bytes=4096)']
    """
    if not text:
        algorithms = (algorithm for algorithm in CATALOGUE if (algorithm.kind, algorithm.operation) == (kind, operation))
        return [SelectedAlgorithm(algorithm.name, algorithm, {}) for algorithm in algorithms]
    return [_select(kind, operation, part.strip()) for part in re.split(r",(?![^(]*\))", text)]


def _select(kind: str, operation: str, text: str) -> SelectedAlgorithm:
    match = re.fullmatch(r"([^()]+)(?:\((.*)\))?", text)
    if match is None:
        raise ValueError(f"{text!r} is not an algorithm: use a form such as ring, chain(segment_bytes=4k) or ./mine.py.")
    name = match[1]
    algorithm = load(name) if is_path(name) else find(operation, name, kind)
    if (algorithm.kind, algorithm.operation) != (kind, operation):
        raise ValueError(f"{name} implements {algorithm.kind} {algorithm.operation}, not {kind} {operation}.")
    parameters = {}
    for part in filter(None, (match[2] or "").split(",")):
        key, equals, value = (text_part.strip() for text_part in part.partition("="))
        if not equals or not value or key not in algorithm.parameters:
            known = ", ".join(algorithm.parameters) or "none"
            raise ValueError(f"{text}: {part.strip()!r} is not of the form parameter=value; parameters: {known}.")
        parameters[key] = _value(algorithm.parameters[key], key, value)
    shown = ", ".join(f"{key}={getattr(value, 'name', value)}" for key, value in parameters.items())
    return SelectedAlgorithm(f"{name}({shown})" if shown else name, algorithm, parameters)


def _value(default: Any, key: str, text: str) -> Any:
    """Parse a parameter value: an algorithm of the operation `key` if the default is an algorithm, a number, or text."""
    if isinstance(default, Algorithm):
        return find(key, text)
    return parse_size(text) if text[0].isdigit() else text
