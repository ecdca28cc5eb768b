"""Run timings in this process or on an executor: processes of this machine, or of a cluster.

Algorithms are pickled as references (`collectives.pickling`). A job that cannot be pickled, or that fails on a worker, runs
in this process, so its exception is raised here unchanged.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from concurrent.futures import Executor
from dataclasses import replace
from typing import NamedTuple, cast

from collectives import Algorithm, Case
from collectives.pickling import pack, unpack
from fakempi.apps.compare.search import best_value, searched_parameter
from fakempi.apps.compare.timing import MAKESPAN, CaseTime, as_called, case_time
from fakempi.core.network.cost import CostModel
from fakempi.core.options import cost_model
from fakempi.tuning.parts import BY_TABLE


class TimingJob(NamedTuple):
    """One algorithm in one case. The cost model may be given as text, which can be pickled even if the model cannot.

    `key` is the kind and the operation of a collective call. With it, the default table chooses the parameters that the
    case does not set, and the algorithm if it is None.
    """

    algorithm: Algorithm | None
    case: Case
    cost: CostModel | str
    measure: bool = False
    key: tuple[str, str] | None = None
    max_messages: int | None = None
    timing: str = MAKESPAN
    search: bool = False
    """Whether segment sizes that the case does not set are searched (`search`)."""

    def run(self) -> CaseTime:
        """Return the time."""
        cost = cost_model(self.cost) if isinstance(self.cost, str) else self.cost
        if self.key is None:
            if self.algorithm is None:
                raise TypeError("a job without an algorithm needs a key: a kind and an operation.")
            return self._time(self.algorithm, self.case, cost)
        algorithm, case = as_called(self.algorithm, self.key, self.case, cost)
        parts = tuple(name for name, value in case.parameters.items() if getattr(value, "name", "") == BY_TABLE)
        if self.algorithm is None:
            # those that a user would type: numbers and names, without parts, nodes and roles of groups
            typed = {name: each for name, each in case.parameters.items() if isinstance(each, int | str) and name != "first"}
            return replace(self._time(algorithm, case, cost), parts=parts, chosen=algorithm.name, parameters=typed)
        searches = self.search and algorithm.why_unsupported(case) is None
        name = searched_parameter(algorithm, case.parameters) if searches else None
        result = self._time(algorithm, case, cost) if name is None else self._searched(name, algorithm, case, cost)
        return replace(result, parts=parts)

    def _time(self, algorithm: Algorithm, case: Case, cost: CostModel) -> CaseTime:
        return case_time(algorithm, case, cost, self.measure, self.max_messages, self.timing)

    def _searched(self, name: str, algorithm: Algorithm, case: Case, cost: CostModel) -> CaseTime:
        """Return the time with the best segment size, searched with claims or schedules and not by running the code."""
        assert self.key is not None
        known: dict[int, CaseTime] = {}

        def seconds(tried: Case, limit: int | None) -> float | None:
            limits = [each for each in (limit, self.max_messages) if each is not None]
            result = case_time(algorithm, tried, cost, max_messages=min(limits, default=None))
            known[tried.parameters[name]] = result
            return None if result.seconds is None else float(result.seconds)

        default = algorithm.parameters[name]
        chosen, called = as_called(None, self.key, self.case, cost)
        value = called.parameters.get(name) if chosen is algorithm else None
        best = best_value(name, case, default, seconds, [value] if isinstance(value, int) else [])
        if self.measure or self.timing != MAKESPAN or best not in known:
            known[best] = self._time(algorithm, replace(case, parameters={**case.parameters, name: best}), cost)
        return replace(known[best], parameters={} if best == default else {name: best})


def run_jobs(jobs: Sequence[TimingJob], executor: Executor | None = None) -> Generator[CaseTime, None, None]:
    """Yield the times in the order of the jobs; closing the generator cancels the remaining jobs."""
    if executor is None:
        yield from (job.run() for job in jobs)
        return
    pickled = [pack(job) for job in jobs]
    futures = [None if data is None else executor.submit(run_packed, data) for data in pickled]
    try:
        for job, future in zip(jobs, futures, strict=True):
            result = None if future is None else future.result()
            yield job.run() if result is None else result
    finally:
        for future in futures:
            if future is not None:
                future.cancel()


def run_packed(data: bytes) -> CaseTime | None:
    """Run a pickled job on a worker; returns None if it fails there."""
    try:
        return cast(TimingJob, unpack(data)).run()
    except Exception:
        return None
