"""Prefetching of runs: the workers of an executor run the schedules that the search will probably need next.

The search itself is sequential: it adds one run after the other to the tree, in the same order as without workers. When the
search reaches a schedule that a worker has run, it uses the worker's record and does not run the schedule again. The results
are therefore the same for every number of workers; only the time depends on that number.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import BrokenExecutor, Executor, Future
from dataclasses import fields, replace
from pickle import dumps
from typing import Any, NamedTuple
from uuid import uuid4

from fakempi.errors import MPITypeError
from fakempi.errors.classes import ERR_ARG
from fakempi.modelcheck.search.jobs import Chunk, JobResult, SearchJob, SentProgram, packed_states, run_chunk, this_process

CHUNK = 4
"""Runs per chunk. One worker executes a chunk. A run takes some milliseconds, and sending a chunk about one millisecond."""

CHUNKS_PER_WORKER = 2
"""Chunks that are submitted at a time for each worker: one runs and one waits."""

DEFAULT_WORKERS = 8
"""The assumed number of workers of an executor that does not report it."""

RECENT_STATES = 4096
"""The largest number of known states that are sent with a chunk; a worker also keeps the states of earlier chunks."""


class UpcomingRun(NamedTuple):
    """A run that is probably needed soon: a key to find it again, its job, and the known states of its tree."""

    key: Any
    job: SearchJob
    states: Sequence[tuple[int, Any]]


class Submitted(NamedTuple):
    """A submitted job, the future of the results of its chunk, and the position of the job's result among them."""

    job: SearchJob
    future: Future[list[JobResult | None] | str]
    position: int


class Workers:
    """The jobs that are submitted to an executor."""

    def __init__(self, executor: Executor, program: SentProgram, suffices: Callable[[JobResult], bool]) -> None:
        self.executor, self.suffices = executor, suffices
        self.program, self.search = _pickled(program), uuid4().hex
        self.suppressions = program.program.options.suppressions
        self.submitted: dict[Any, Submitted] = {}
        self.ahead = CHUNK * CHUNKS_PER_WORKER * _count(executor)
        self._turn = 0

    def is_due(self) -> bool:
        """Return whether it is time to submit more jobs: true in the first of each `CHUNK` calls."""
        self._turn += 1
        return self._turn % CHUNK == 1

    def prefetch(self, candidates: Iterable[UpcomingRun]) -> None:
        """Submit the runs that are not submitted yet. The jobs of a chunk have the same `LibraryMode`."""
        wanted = list(candidates)
        if len(self.submitted) > 8 * self.ahead:  # most of them have become redundant
            keys = {candidate.key for candidate in wanted}
            self.submitted = {key: value for key, value in self.submitted.items() if key in keys}
        missing = [candidate for candidate in wanted if candidate.key not in self.submitted]
        while missing:
            mode = missing[0].job.mode
            chunk = [candidate for candidate in missing if candidate.job.mode == mode][:CHUNK]
            missing = [candidate for candidate in missing if candidate not in chunk]
            states = [(state, node.sleep) for state, node in chunk[0].states[-RECENT_STATES:]]
            jobs = [candidate.job for candidate in chunk]
            sent = Chunk(this_process(), self.search, self.program, packed_states(states), jobs)
            future = self.executor.submit(run_chunk, sent)
            for position, candidate in enumerate(chunk):
                self.submitted[candidate.key] = Submitted(candidate.job, future, position)

    def take(self, key: Any, reduce: bool, hashes_states: bool, polls: int) -> JobResult | None:
        """Return the result of a submitted job; None if there is none, or if this process must run the schedule itself."""
        found = self.submitted.pop(key, None)
        if found is None or found.job[1:4] != (polls, reduce, hashes_states):
            return None
        results = found.future.result()
        if isinstance(results, str):
            raise MPITypeError(
                ERR_ARG, f"explore: a worker of the executor cannot load the program: {results}. Define the program in a "
                "module that workers can import, not in a notebook or an interactive session.",
            )  # fmt: skip
        result = results[found.position]
        if result is None or not self.suffices(result):
            return None
        self.suppressions.used.update(result.suppressions)
        return result

    def cancel(self) -> None:
        """Cancel the jobs that have not started."""
        for found in self.submitted.values():
            found.future.cancel()
        self.submitted.clear()


def broken(error: BrokenExecutor) -> BrokenExecutor:
    """Return an error of the same type whose message says what to do."""
    return type(error)(
        "explore: a worker ended before its runs were complete, for example because of a crash or a lack of memory; explore "
        f"without executor= to see where. ({error})"
    )


def _pickled(program: SentProgram) -> bytes:
    """Return the pickled program; raise an error that names the part that cannot be pickled."""
    main, _, args, options = program.program
    options = replace(options, progress=False, trace=False)  # which change no result
    parts = {f"the program {getattr(main, '__qualname__', main)!r}": main}
    parts |= {f"argument {i}": value for i, value in enumerate(args, 1)}
    parts |= {f"the option {option.name}=": getattr(options, option.name) for option in fields(options)}
    for name, value in parts.items():
        try:
            dumps(value)
        except Exception as error:  # pickle raises many kinds of exceptions
            raise MPITypeError(
                ERR_ARG, f"explore: executor= sends the program to other processes, but {name} cannot be pickled: "
                f"{str(error).rstrip('.')}. Define functions and classes at the top level of a module, specify algorithms "
                "by their names, or omit executor=.",
            ) from None  # fmt: skip
    return dumps(program._replace(program=program.program._replace(options=options)))


def _count(executor: Executor) -> int:
    """Return the executor's number of workers, or `DEFAULT_WORKERS` if the executor does not report it."""
    for name in ("_max_workers", "num_workers"):
        count = getattr(executor, name, None)
        if isinstance(count, int) and count > 0:
            return count
    return DEFAULT_WORKERS
