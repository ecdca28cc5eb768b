"""The execution of verification jobs, in this process or on an executor."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from concurrent.futures import Executor, Future
from typing import cast

from collectives.catalogue.algorithm import Algorithm
from collectives.pickling import pack, unpack
from collectives.verification.fault import AlgorithmFault
from collectives.verification.fault_search import find_faults
from collectives.verification.machine import Machine
from collectives.verification.plan.jobs import VerificationJob

CHUNK = 8
"""Jobs that a worker runs at a time: a job takes some milliseconds, and sending it takes about one."""

Chunk = tuple[Algorithm, Machine, Sequence[VerificationJob]]


def run_jobs(
    algorithm: Algorithm, jobs: Sequence[VerificationJob], machine: Machine, executor: Executor | None
) -> Generator[list[AlgorithmFault], None, None]:
    """Yield the faults of each job, in the order of the jobs; closing the generator cancels the remaining jobs.

    In this process, a job runs when its faults are requested. Jobs that cannot be pickled, or that fail on a worker for
    another reason than a fault, run in this process.
    """
    chunks = [jobs[start : start + CHUNK] for start in range(0, len(jobs), CHUNK)]
    futures = [None if executor is None else _submit(executor, (algorithm, machine, chunk)) for chunk in chunks]
    try:
        with machine:
            for chunk, future in zip(chunks, futures, strict=True):
                done = None if future is None else future.result()
                if done is not None:
                    yield from done
                else:
                    for job in chunk:
                        yield list(find_faults(algorithm, job.case, machine, job.settings))
    finally:
        for future in futures:
            if future is not None:
                future.cancel()


def _submit(executor: Executor, chunk: Chunk) -> Future[list[list[AlgorithmFault]] | None] | None:
    data = pack(chunk)
    return None if data is None else executor.submit(run_packed, data)


def run_packed(data: bytes) -> list[list[AlgorithmFault]] | None:
    """Run a chunk of jobs on a worker; returns None if that is not possible there."""
    try:
        algorithm, machine, jobs = cast(Chunk, unpack(data))
        with machine:
            found = [list(find_faults(algorithm, job.case, machine, job.settings)) for job in jobs]
        return found if pack(found) is not None else None
    except Exception:
        return None
