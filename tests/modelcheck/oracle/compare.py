"""Comparison of `explore` with the outcomes that the interpreter finds.

Without reductions (reduce=False), an exhausted search sees every combination of what the ranks observe. With them it sees
for each rank every sequence of observations and every place at which the rank can be blocked, but not every combination of
those of several ranks: choices that never influence a common rank are not combined. In each case every run must be an
outcome that the interpreter allows.

A program that reads the buffer of a pending receive (an error) may see the data or not, in any combination. `explore` has to
find every outcome in which data arrive as late as possible, and finds some of those in which they arrive earlier.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from tests.modelcheck.oracle.driver import Explored, explored, has_failed
from tests.modelcheck.oracle.interpreter import END, FAILED, Interpreter, Outcome
from tests.modelcheck.oracle.program import Program, compiled, operations

ALL = ("minimal", "synchronizing")


class Mode(NamedTuple):
    """Kinds of buffering and of collective calls, by the names that `explore` has for them."""

    name: str
    buffering: tuple[str, ...] = ("zero", "infinite", "size")
    collectives: tuple[str, ...] = ALL
    reduce: bool = True


MODES = (
    Mode("zero", ("zero",), ("minimal",)),
    Mode("infinite", ("infinite",), ("minimal",)),
    Mode("size", ("size",), ("minimal",)),
    Mode("barriers", ("zero",), ("synchronizing",)),
    Mode("barriers, infinite", ("infinite",), ("synchronizing",)),
    Mode("default"),
    Mode("all orders, zero", ("zero",), ("minimal",), reduce=False),
    Mode("all orders, infinite", ("infinite",), ("minimal",), reduce=False),
)

EARLY = ("bcast", "reduce", "gather", "scan")
"""Collective calls that a rank may leave before all have entered them."""


def modes_of(program: Program, number: int) -> list[Mode]:
    """The modes in which a program is compared: where others show nothing new, two; some programs in further ones."""
    every = [op for ops in program.ranks for op in operations(ops)]
    sizes = {op.size for op in every if op.what in ("send", "isend")}
    leaves_early = any(op.what in EARLY for op in every)
    chosen = {
        "size": len(sizes) > 1, "barriers": leaves_early, "barriers, infinite": leaves_early and number % 2 == 0,
        "default": number % 8 == 0, "all orders, zero": number % 4 == 1, "all orders, infinite": number % 4 == 3,
    }  # fmt: skip
    return [mode for mode in MODES if chosen.get(mode.name, True)]


class Oracle:
    """The interpreter's outcomes of one program in all modes."""

    def __init__(self, program: Program, **options: Any) -> None:
        self.program, self.options = program, options
        self.known: dict[Any, set[Outcome]] = {}
        self.sizes: set[int] = set()  # of standard sends
        self.peeks = any(op.what == "peek" for ops in program.ranks for op in operations(ops))

    def outcomes(self, eager: int | None, collectives: str, data: str = "late") -> set[Outcome]:
        """Return the outcomes with one buffering and one kind of collective calls."""
        key = eager, collectives, data if self.peeks else "any"
        if key not in self.known:
            one = Interpreter(self.program, eager, collectives, data=key[2], **self.options)
            self.known[key] = one.outcomes()
            self.sizes |= one.sizes
        return self.known[key]

    def needed(self, mode: Mode, data: str = "late") -> set[Outcome]:
        """Return the outcomes that `explore` has to find: for "size", with each size of a sent message but the largest."""
        limits: list[int | None] = [{"zero": 0, "infinite": None}[one] for one in mode.buffering if one != "size"]
        if "size" in mode.buffering:
            self.outcomes(None, mode.collectives[0])  # unlimited buffering reaches every send that another one reaches
            limits += sorted(self.sizes)[:-1]
        modes = [(eager, collectives) for eager in limits for collectives in mode.collectives]
        return {one for each in modes for one in self.outcomes(*each, data)}

    def allowed(self, mode: Mode) -> set[Outcome]:
        """Return the outcomes that `explore` may find: for "size", also with limits below and above all message sizes."""
        more = (0, None) if "size" in mode.buffering else ()
        return self.needed(mode, "any").union(*(self.outcomes(eager, mode.collectives[0], "any") for eager in more))


RUNS = 500
"""Most runs of one search; a search that needs more is not exhausted, and then less is compared."""


class Verdict(NamedTuple):
    """Of one program in one mode: what disagrees, in a sentence (None if nothing), and whether all was compared.

    `peeks` are the numbers of different results of reading a buffer too early: without data, and with data.
    """

    problem: str | None
    exhausted: bool
    peeks: tuple[int, int] = (0, 0)

    @property
    def kind(self) -> str | None:
        """Return the kind of the problem: the words before details of the program."""
        return None if self.problem is None else self.problem.partition(":")[0]


def compared(program: Program, mode: Mode, **options: Any) -> Verdict:
    """Compare one program in one mode; `options` are for the interpreter."""
    return compared_with(Oracle(program, **options), mode)


def compared_with(oracle: Oracle, mode: Mode) -> Verdict:
    """The same with an interpreter that may have worked before."""
    program, allowed, needed = oracle.program, oracle.allowed(mode), oracle.needed(mode)
    options = {"buffering": mode.buffering, "collectives": mode.collectives, "reduce": mode.reduce}
    if mode.name != "default":  # ranks share nothing, and to look for that takes a fifth of the time
        options["ignore_shared"] = True
    seen = explored(program, runs=RUNS, **options)
    problem = _beyond(allowed, seen)
    if problem is None and seen.found.exhausted:
        problem = _missing(needed, seen, mode.reduce) or _unreported(program, needed, seen)
    return Verdict(problem, seen.found.exhausted, _peeks(program, seen) if oracle.peeks else (0, 0))


def _peeks(program: Program, seen: Explored) -> tuple[int, int]:
    """Count the different results of reading a buffer too early: without data, and with data."""
    code = [compiled(ops) for ops in program.ranks]
    results = {(rank, one) for run in seen.runs for rank, (mine, _) in enumerate(run) for one in mine
               if code[rank][one[0]].op.what == "peek"}  # fmt: skip
    there = sum(bool(one[1]) for _, one in results)
    return len(results) - there, there


def _beyond(allowed: set[Outcome], seen: Explored) -> str | None:
    """A run that MPI does not allow."""
    whole = {outcome.ranks for outcome in allowed if outcome.failed is None}
    failures = {(outcome.failed, outcome.ranks[outcome.failed][0]) for outcome in allowed if outcome.failed is not None}
    for run in sorted(seen.runs, key=repr):
        if not has_failed(run) and run not in whole:
            return f"explore has a run that MPI does not allow:\n{shown(run)}"
        for rank, (mine, where) in enumerate(run):
            if where == FAILED and (rank, mine) not in failures:
                return f"in a run of explore rank {rank} fails, which MPI does not allow:\n{shown(run)}"
    lost = seen.lost - {one for outcome in allowed for one in outcome.lost}
    if lost:
        return f"explore reports lost messages (rank, operation) that are always received: {sorted(lost)}"
    if seen.failures and not any(_is_wrong(outcome) for outcome in allowed):
        return f"explore reports a failure of a program that never fails: {seen.failures[0]}"
    return None


def _missing(allowed: set[Outcome], seen: Explored, reduced: bool) -> str | None:
    """Something that MPI allows, and an exhausted search did not find."""
    local = {(rank, one) for run in seen.runs for rank, one in enumerate(run)}
    for outcome in sorted(allowed, key=repr):
        if outcome.failed is not None:
            who = outcome.failed
            if (who, outcome.ranks[who]) not in local:
                return f"explore calls itself exhausted, and misses a failure of rank {who}:\n{shown(outcome.ranks)}"
        elif not reduced and outcome.ranks not in seen.runs:
            return f"explore without reductions calls itself exhausted, and misses a combination:\n{shown(outcome.ranks)}"
        else:
            for rank, one in enumerate(outcome.ranks):
                if (rank, one) not in local:
                    return f"explore calls itself exhausted, and misses what rank {rank} can see:\n{shown(outcome.ranks)}"
    if not seen.failures and any(_is_wrong(outcome) for outcome in allowed):
        return "explore calls the program clean, although it can fail"
    return None


def _unreported(program: Program, allowed: set[Outcome], seen: Explored) -> str | None:
    """A lost message that an exhausted search does not report. Equal messages of several senders count as one."""
    if seen.found.others or any(one.blocked or one.failed is not None for one in allowed):
        return None  # messages are lost only if all ranks end
    known = {_class(program, *one) for one in seen.lost}
    lost = {one for outcome in allowed for one in outcome.lost if _class(program, *one) not in known}
    if lost:
        return f"explore calls itself exhausted, and reports no lost messages (rank, operation): {sorted(lost)}"
    return None


def _class(program: Program, rank: int, number: int) -> Any:
    op = compiled(program.ranks[rank])[number].op
    return program.group(op.comm, rank)[op.peer], op.comm, op.tag, op.size


def _is_wrong(outcome: Outcome) -> bool:
    return outcome.blocked or outcome.failed is not None or bool(outcome.lost)


def shown(run: Any) -> str:
    """A run, one line for each rank."""
    places = {END: "reaches its end", FAILED: "fails"}
    return "\n".join(
        f"  rank {rank} observes {list(seen)} and {places.get(where) or f'is blocked at operation {where}'}"
        for rank, (seen, where) in enumerate(run)
    )
