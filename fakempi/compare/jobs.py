"""Figures to be found, here or by an executor: processes of this machine, or of a cluster.

An algorithm has functions without names and cannot be pickled. What travels in its place says where it is found: in the
catalogue by kind, operation and name; in a file by its path, which must be there as well. A job that speaks of anything
else, or that goes wrong elsewhere, is done here: so all are done, and what goes wrong is seen as it is.
"""

from __future__ import annotations

import io
import pickle
import sys
from collections.abc import Generator, Sequence
from concurrent.futures import Executor
from dataclasses import replace
from typing import Any, NamedTuple

from collectives import CATALOGUE, Algorithm, Case, find
from collectives.loading import load
from fakempi.compare.timing import Figure, as_called, figure
from fakempi.options import cost_model
from fakempi.tuning.parts import BY_TABLE
from fakempi.wire.cost import CostModel


class Job(NamedTuple):
    """One algorithm in one case. The cost model may be as one types it: the text travels even if the model could not.

    With a key, kind and operation, it is meant as a call would have it: parts that the case does not name are what the
    default table takes, and so is the algorithm, if it is None.
    """

    algorithm: Algorithm | None
    case: Case
    cost: CostModel | str
    measure: bool = False
    key: tuple[str, str] | None = None

    def do(self) -> Figure:
        """Find the figure."""
        cost = cost_model(self.cost) if isinstance(self.cost, str) else self.cost
        if self.key is not None:
            algorithm, case = as_called(self.algorithm, self.key, self.case, cost)
            found = figure(algorithm, case, cost, self.measure)
            parts = tuple(name for name, value in case.parameters.items() if getattr(value, "name", "") == BY_TABLE)
            return replace(found, parts=parts, taken="" if self.algorithm else algorithm.name)
        if self.algorithm is None:
            raise TypeError("a job without an algorithm has to say of which operation.")
        return figure(self.algorithm, self.case, cost, self.measure)


def carry_out(jobs: Sequence[Job], executor: Executor | None = None) -> Generator[Figure, None, None]:
    """The figures, in the order of the jobs; whoever does not wait for all of them ends the rest."""
    if executor is None:
        yield from (job.do() for job in jobs)
        return
    parcels = [pack(job) for job in jobs]
    futures = [None if parcel is None else executor.submit(perform, parcel) for parcel in parcels]
    try:
        for job, future in zip(jobs, futures, strict=True):
            found = None if future is None else future.result()
            yield job.do() if found is None else found
    finally:
        for future in futures:
            if future is not None:
                future.cancel()


def perform(parcel: bytes) -> Figure | None:
    """What an executor is asked to do: a packed job; None if that does not work there."""
    try:
        job: Job = _Unpacker(io.BytesIO(parcel)).load()
        return job.do()
    except Exception:
        return None


def pack(job: Job) -> bytes | None:
    """A job as bytes; None if there is something in it that cannot travel."""
    file = io.BytesIO()
    try:
        _Packer(file).dump(job)
    except Exception:  # pickle complains in many ways
        return None
    return file.getvalue()


class _Packer(pickle.Pickler):
    def persistent_id(self, thing: Any) -> tuple[str, ...] | None:
        if not isinstance(thing, Algorithm):
            return None
        if any(thing is each for each in CATALOGUE):
            return thing.kind, thing.operation, thing.name
        module: Any = sys.modules.get(thing.run.__module__)
        # A module that was imported has a specification, and the program itself is no file to be executed again.
        if getattr(module, "ALGORITHM", None) is thing and module.__spec__ is None and module.__name__ != "__main__":
            return (module.__file__,)
        raise pickle.PicklingError(f"{thing!r} is neither in the catalogue nor in a file.")


class _Unpacker(pickle.Unpickler):
    def persistent_load(self, place: tuple[str, ...]) -> Algorithm:
        if len(place) == 1:
            return load(*place)
        kind, operation, name = place
        return find(operation, name, kind)
