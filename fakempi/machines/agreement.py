"""Agreement of modeled and measured times of algorithms: relative error, rank agreement, and the regret of a choice."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import mean, median
from typing import NamedTuple

import numpy as np


class MeasuredColumn(NamedTuple):
    """Modeled and measured seconds by algorithm, for one number of ranks and one size; `library` is the library's own time.

    `rules` are the algorithms that decision tables choose, by the name of the table.
    """

    modeled: Mapping[str, float]
    measured: Mapping[str, float]
    library: float | None = None
    rules: Mapping[str, str] = {}

    @property
    def common(self) -> list[str]:
        """The algorithms that have both times."""
        return [name for name in self.modeled if name in self.measured]


class Regret(NamedTuple):
    """The relative loss of a choice against the fastest measured algorithm: mean and largest over a number of columns."""

    name: str
    mean: float
    worst: float
    columns: int


class ModelAgreement(NamedTuple):
    """The result of a comparison.

    Attributes
    ----------
    errors
        Median and largest relative error |modeled / measured - 1|, by algorithm, and over all as "all".
    spearman
        The mean of Spearman's rank correlation over the columns with at least three algorithms; None without such columns.
    regrets
        The model's choice first, then constant choices, decision tables and the library's default.
    """

    errors: dict[str, tuple[float, float]]
    spearman: float | None
    regrets: list[Regret]


def agreement(columns: Sequence[MeasuredColumn]) -> ModelAgreement:
    """Compare modeled with measured times.

    Examples
    --------
    >>> first = MeasuredColumn({"a": 1.0, "b": 2.0}, {"a": 2.0, "b": 3.0})
    >>> second = MeasuredColumn({"a": 2.0, "b": 4.0}, {"a": 4.0, "b": 2.0})
    >>> found = agreement([first, second])
    >>> found.errors["a"], found.regrets[0]
    ((0.5, 0.5), Regret(name="the model's choice", mean=0.5, worst=1.0, columns=2))
    """
    errors: dict[str, list[float]] = {}
    for column in columns:
        for name in column.common:
            errors.setdefault(name, []).append(abs(column.modeled[name] / column.measured[name] - 1))
    everything = [error for group in errors.values() for error in group]
    summary = {name: (median(group), max(group)) for name, group in errors.items()}
    if everything:
        summary["all"] = median(everything), max(everything)
    ranked = [
        spearman([column.modeled[name] for name in column.common], [column.measured[name] for name in column.common])
        for column in columns
        if len(column.common) > 2
    ]
    return ModelAgreement(summary, mean(ranked) if ranked else None, _regrets(columns))


def _regrets(columns: Sequence[MeasuredColumn]) -> list[Regret]:
    contested = [column for column in columns if len(column.common) > 1]
    losses: dict[str, list[float]] = {}
    for column in contested:
        best = min(column.measured[name] for name in column.common)
        chosen = min(column.common, key=lambda name: column.modeled[name])
        losses.setdefault("the model's choice", []).append(column.measured[chosen] / best - 1)
        for name in column.common:
            losses.setdefault(f"always {name}", []).append(column.measured[name] / best - 1)
        for table, name in column.rules.items():
            if name in column.measured:
                losses.setdefault(f"the rules of {table}", []).append(column.measured[name] / best - 1)
        if column.library is not None:
            losses.setdefault("the library's default, as measured", []).append(column.library / best - 1)
    return [Regret(name, mean(each), max(each), len(each)) for name, each in losses.items()]


def spearman(one: Sequence[float], other: Sequence[float]) -> float:
    """Return Spearman's rank correlation; equal values have their average rank. Constant values give 0.

    >>> spearman([1, 2, 3], [10, 20, 40]), spearman([1, 2, 3], [3, 2, 1])
    (1.0, -1.0)
    """
    ranks = [_ranks(values) - (len(values) - 1) / 2 for values in (one, other)]
    norm = float(np.sqrt((ranks[0] @ ranks[0]) * (ranks[1] @ ranks[1])))
    return float(ranks[0] @ ranks[1]) / norm if norm else 0.0


def _ranks(values: Sequence[float]) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    array = np.asarray(values, float)
    below = (array[:, None] > array[None, :]).sum(axis=1)
    equal = (array[:, None] == array[None, :]).sum(axis=1)
    return np.asarray(below + (equal - 1) / 2, np.float64)
