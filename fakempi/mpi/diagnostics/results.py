"""Results of a program that must not depend on the number of ranks: `fakempi.result`, for `--compare across`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from numbers import Number
from typing import Any

import numpy as np

from fakempi.errors import MPIValueError
from fakempi.errors.classes import ERR_ARG
from fakempi.mpi.base.current import current_process
from fakempi.mpi.base.mpi_errors import mpi_error
from fakempi.mpi.base.process import RunState, Universe

Leaves = list[tuple[str, Any]]
"""The parts of a value that are compared, with their places in it: `[("[0].mass", 1.5), ...]`."""


class ProgramResults(RunState):
    """The results of a run: name -> rank -> (parts of the value, relative tolerance) of each call."""

    def __init__(self, universe: Universe) -> None:
        super().__init__(universe)
        self.found: dict[str, dict[int, list[tuple[Leaves, float | None]]]] = {}

    def of_lowest_rank(self) -> dict[str, list[tuple[Leaves, float | None]]]:
        """Return the results that count: of each name those of the lowest rank that has recorded it."""
        return {name: by_rank[min(by_rank)] for name, by_rank in self.found.items()}


def result(name: str, value: object, *, tolerance: float | None = None) -> None:
    """Record a result that must not depend on the number of ranks.

    `fakempi check -n 1..16 --compare across` compares it between the numbers of ranks, and so does a test
    with `mpi(ranks="1..16")`. Several ranks may record a name; the values of the lowest of them count. Several calls with
    one name are compared in order. Outside a run, and on ranks that are processes, the call has no effect.

    Parameters
    ----------
    name
        The name of the result in reports.
    value
        Numbers, texts, None, numpy arrays, and sequences, sets and mappings of these. The call copies them.
    tolerance
        Relative tolerance for floating-point numbers. By default, that of `--tolerance`, which is 1e-9.

    Examples
    --------
    >>> import fakempi
    >>> def main(comm):
    ...     fakempi.result("sum of squares", comm.allreduce(sum(i * i for i in range(comm.rank, 10, comm.size))))
    >>> run = fakempi.run(main, 4)
    """
    if tolerance is not None and not (isinstance(tolerance, (int, float)) and tolerance >= 0):
        raise mpi_error(ERR_ARG, f"result: tolerance is {tolerance!r}; it must be a number of at least 0.", MPIValueError)
    process = current_process()
    if process is None:
        return
    leaves: Leaves = []
    _flatten(leaves, "", value)
    calls = process.universe.state(ProgramResults).found.setdefault(str(name), {}).setdefault(process.number, [])
    calls.append((leaves, tolerance))


def _flatten(leaves: Leaves, path: str, value: Any) -> None:
    """Append the parts of a value."""
    if isinstance(value, np.ndarray):
        leaves.append((f"{path}.shape", value.shape))
        indices = np.ndindex(value.shape) if value.ndim != 1 else None
        flat = value.ravel().tolist()
        places = (f"[{index}]" for index in range(len(flat))) if indices is None else (f"{list(index)}" for index in indices)
        leaves += [(path + place, part) for place, part in zip(places, flat, strict=True)]
    elif isinstance(value, np.generic):
        leaves.append((path, value.item()))
    elif value is None or isinstance(value, (str, bytes, Number)):
        leaves.append((path, value))
    elif isinstance(value, Mapping):
        for key in sorted(value, key=repr):
            _flatten(leaves, f"{path}[{key!r}]", value[key])
        leaves.append((f"{path} (number of keys)", len(value)))
    elif isinstance(value, Set):
        _flatten(leaves, path, sorted(value, key=repr))
    elif isinstance(value, Sequence):
        leaves.append((f"{path} (length)", len(value)))
        for index, part in enumerate(value):
            _flatten(leaves, f"{path}[{index}]", part)
    else:
        leaves.append((path, repr(value)))
