"""Fill in parameters that were not requested: parts from the table, nodes and costs from the cost model.

A part is a parameter that is an algorithm. Its default in the algorithm's file is for direct calls. In a run, a part that
was not requested is the table's choice for the part's call: a substitute algorithm derives the facts from its arguments,
gets the table's choice and runs it; for claims it derives the facts from the case. All ranks of the part know these facts,
and one choice determines both the run and the claims.

A part that an algorithm is named after is not replaced: `root_gathering_ring` uses a ring. If a request specifies how to
cut messages, the part that cuts them is not replaced either.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, TypeAlias

from collectives import Algorithm, Case
from collectives.catalogue.bound import bound
from collectives.inter_patterns.joined import STARTUP_BYTES
from fakempi.errors import MPIValueError
from fakempi.tuning.rule import REDUCING, UNSHARED, Facts, NodesOfRanks, Sizes

Taken: TypeAlias = tuple[Algorithm, Mapping[str, Any]]
Take: TypeAlias = Callable[[Facts], Taken]
"""Returns a table's choice for the facts; raises an error if the chosen algorithm does not support the call."""

PROMISED: Final = {("root_gathering_ring", "gatherv")}
"""(algorithm, parameter) of parts that give an algorithm its name; the table does not replace them."""

CUTTING: Final = ("segment_bytes", "startup_bytes")
"""Parameters that specify how an algorithm's broadcast part cuts its message."""


def completed(
    algorithm: Algorithm, parameters: Mapping[str, Any], facts: Facts, part: Callable[[Algorithm, Facts], Algorithm]
) -> dict[str, Any]:
    """Return the given parameters, and add the parts, nodes and costs that were not requested.

    `part` returns the substitute for a part.
    """
    made = dict(parameters)
    # Reductions of objects (as in mpi4py) and splits (as in their papers) use the default parts of the algorithm's file.
    if facts.combines_objects or algorithm.kind == "split":
        return made
    cut = any(name in parameters for name in CUTTING)
    for name, default in algorithm.parameters.items():
        if name in parameters or (algorithm.name, name) in PROMISED:
            continue
        if isinstance(default, Algorithm):
            if not (cut and default.operation == "bcast"):
                made[name] = part(default, facts)
        elif name == "nodes" and facts.nodes is not None:
            made[name] = facts.nodes.names
        elif name == "costs" and facts.costs is not None:
            made[name] = facts.costs.all
        elif name == "startup_bytes":
            made[name] = facts.cut_bytes
    return made


def by_table(part: Algorithm, whole: Facts, take: Take) -> Algorithm:
    """Return an algorithm for the operation of `part` that runs the table's choice for its arguments."""
    operation = part.operation

    def facts(p: int, **known: Any) -> Facts:
        if operation in REDUCING:
            known["predefined_op"] = whole.predefined_op
        return Facts(operation, p, kind=part.kind, startup_bytes=whole.startup_bytes, **known)

    def run(comm: Any, *args: Any, **options: Any) -> Any:
        p = comm.Get_size()
        algorithm, parameters = take(facts(p, **_facts_of_arguments(operation, p, args, options)))
        return algorithm.run(comm, *args, **{**parameters, **options})

    def taken(case: Case) -> Algorithm:
        return bound(*take(facts(case.p, **_facts_of_case(operation, case))))

    def why_unsupported(case: Case) -> str | None:
        try:
            return taken(case).why_unsupported(case)
        except MPIValueError as error:
            return str(error)

    def closed(claim: str) -> Callable[..., Any]:
        def of_case(case: Case, *rest: Any) -> Any:
            found = getattr(taken(case), claim)
            return None if found is None else found(case, *rest)

        return of_case

    return Algorithm(
        operation=operation,
        name=BY_TABLE,
        run=run,
        schedule=lambda case: taken(case).schedule_for(case),
        scratch=lambda case, rank: taken(case).scratch(case, rank),
        why_unsupported=why_unsupported,
        closed_rounds=closed("closed_rounds"),
        closed_sent=closed("closed_sent"),
        closed_time=closed("closed_time"),
        closed_combined=lambda case: taken(case).closed_combined(case),
        kind=part.kind,
    )


BY_TABLE: Final = "by the table"
"""The name of an algorithm that runs the table's choice."""


def _facts_of_arguments(operation: str, p: int, args: tuple[Any, ...], options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the facts that follow from the arguments of a call."""
    known: dict[str, Any] = {"commutative": options["op"].Is_commutative()} if "op" in options else {}
    if operation == "barrier":
        return known
    out: Any = args[0]
    into: Any = args[1] if len(args) > 1 else None
    data = into if out is None else out
    match operation:
        case "gatherv" | "scatterv" | "allgatherv" | "reduce_scatter":
            known |= _of_counts(args[2], data.itemsize)
        case "allgather" | "alltoall":
            known["nbytes"] = into.nbytes // p
        case "gather":
            known["nbytes"] = into.nbytes // p if out is None else out.nbytes
        case "scatter":
            known["nbytes"] = out.nbytes // p if into is None else into.nbytes
        case "reduce_scatter_block":
            known["nbytes"] = into.nbytes
        case _:
            known["nbytes"] = data.nbytes
    if operation in REDUCING:
        known["count"] = known["nbytes"] // data.itemsize
    return known


def facts_of(
    kind: str, operation: str, case: Case, startup: int = STARTUP_BYTES, nodes: NodesOfRanks | None = None
) -> Facts:
    """Return the facts of a call on a communicator in a case, without facts that some ranks do not know."""
    known: dict[str, Any] = {"kind": kind, "startup_bytes": startup, "in_place": case.in_place}
    if kind == "inter":
        known |= {"q": case.q, "nbytes": case.m, "nbytes_b": case.m_b}
        if operation in ("allreduce", "bcast", "gather", "reduce", "scatter"):
            known["nbytes"] = known["nbytes_b"] = max(case.m, case.m_b)
        if operation == "reduce_scatter":
            known["nbytes"] = known["nbytes_b"] = sum(case.counts or ()) * case.itemsize
        if operation in REDUCING:
            known["commutative"] = case.commutative
            known["count"] = known["nbytes"] * (case.p if operation == "reduce_scatter_block" else 1) // case.itemsize
    elif operation not in UNSHARED:
        known |= {"nodes": nodes, **_facts_of_case(operation, case)}
    return Facts(operation, case.p, **known)


def _facts_of_case(operation: str, case: Case) -> dict[str, Any]:
    """Return the facts that follow from a case."""
    known: dict[str, Any] = {"commutative": case.commutative} if operation in REDUCING else {}
    if operation == "barrier":
        return known
    if case.counts is not None:
        known |= _of_counts(case.counts, case.itemsize)
    else:
        known["nbytes"] = case.m
    if operation in REDUCING:
        known["count"] = known["nbytes"] // case.itemsize
    return known


def _of_counts(counts: Iterable[int], itemsize: int) -> dict[str, Any]:
    sizes = Sizes.of(int(count) * itemsize for count in counts)
    return {"nbytes": sizes.total, "sizes": sizes}
