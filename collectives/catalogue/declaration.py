"""The decorator that makes a function an algorithm of the catalogue: `@algorithm(schedule=...)`."""

from __future__ import annotations

import inspect
import sys
import warnings
from collections.abc import Callable, Mapping
from functools import wraps
from numbers import Integral
from types import ModuleType
from typing import Any, Final, overload

from collectives.catalogue.algorithm import Algorithm
from collectives.catalogue.case import Case, Parameters
from collectives.catalogue.conditions import any_case
from collectives.tools.local import check_local

OPERATIONS = (
    "allgather", "allgatherv", "allreduce", "alltoall", "alltoallv", "alltoallw", "barrier", "bcast", "create_group",
    "create_intercomm", "exscan", "gather", "gatherv", "merge", "read_all", "reduce", "reduce_scatter",
    "reduce_scatter_block", "scan", "scatter", "scatterv", "sort", "split", "write_all",
)  # fmt: skip

KIND_OF_OPERATION: Final = {
    "split": "split",
    **dict.fromkeys(("create_group", "create_intercomm", "merge"), "comm_creation"),
    **dict.fromkeys(("read_all", "write_all"), "files"),
}
"""The kinds of operations that exist in one kind only, which is not "intra"."""

GIVEN = {
    "": {"root", "op", "tag"},
    "alltoallv": {"sdispls", "rdispls"},
    "sort": {"order", "work", "meter"},
    "split": {"compare", "widths", "work", "meter"},
    "create_intercomm": {"leader", "remote_leader", "peer_tag"},
}
"""Keyword arguments that the caller of an operation passes; all others are parameters of the algorithm."""


@overload
def algorithm(function: Callable[..., Any], /) -> Algorithm: ...


@overload
def algorithm(
    *, operation: str = "", name: str = "", kind: str = "", checks_itself: bool = False, **claims: Any
) -> Callable[[Callable[..., Any]], Algorithm]: ...


def algorithm(
    function: Any = None,
    /,
    *,
    operation: str = "",
    name: str = "",
    kind: str = "",
    checks_itself: bool = False,
    **claims: Any,
) -> Any:
    """Declare the function below as an algorithm, with its claims: `schedule`, `why_unsupported`, `scratch` and others.

    Operation, name and kind are those of the module's path in the catalogue. In a file of a user, they follow from the
    function: `bcast_binomial(comm, ...)` is the algorithm `binomial` of `bcast`, and `bcast_linear(inter, local, ...)` is
    one between two groups. The parameters are the keyword-only arguments that the operation does not have.

    Before the function runs, every rank checks that `why_unsupported` gives no reason against the call. A function whose
    reasons depend on more than the numbers of ranks, root, op and parameters checks itself: `algorithm.check(Case(...))`.

    Parameters
    ----------
    operation, name, kind
        The key in the catalogue, if it is another one.
    checks_itself
        Whether the function checks the case.
    claims
        Attributes of `Algorithm`.

    Returns
    -------
    Algorithm
        Calling it runs the function.

    Examples
    --------
    >>> from collectives import Case, algorithm
    >>> from collectives.catalogue.schedule import Transfer
    >>> from collectives.tools.messages import receive, send
    >>> @algorithm(
    ...     schedule=lambda case: [[Transfer(0, 1, case.m)]],
    ...     why_unsupported=lambda case: None if case.p == 2 else f"p is {case.p}, not 2",
    ... )
    ... def bcast_pair(comm, buf, *, root=0, tag=0):
    ...     send(comm, buf, 1, tag) if comm.Get_rank() == 0 else receive(comm, buf, 0, tag)
    >>> bcast_pair, bcast_pair.time(Case(2, 10), t_s=1, t_w=1)
    (<intra bcast pair>, 11)
    """
    if function is None:
        return lambda below: _declared(below, operation, name, kind, checks_itself, claims)
    return _declared(function, operation, name, kind, checks_itself, claims)


def _declared(
    function: Callable[..., Any], operation: str, name: str, kind: str, checks_itself: bool, claims: dict[str, Any]
) -> Algorithm:
    """Return the algorithm of a function; `ALGORITHM` is also its name in the module, by which files are loaded."""
    path = tuple(function.__module__.split("."))
    if path[0] == "collectives" and len(path) > 2:
        found = path[1], path[-2], path[-1]
    else:
        found = _key_of(function, operation)
    kind, operation, name = kind or found[0], operation or found[1], name or found[2]
    if not operation:
        raise ValueError(f"{function.__name__} begins with no operation, such as bcast_: rename it, or pass operation=")
    options = inspect.signature(function).parameters.values()
    given = GIVEN[""] | GIVEN.get(operation, set())
    defaults = {
        one.name: one.default
        for one in options
        if one.kind is one.KEYWORD_ONLY and one.name not in given and one.default is not one.empty
    }
    parameters = claims.pop("parameters", defaults)
    run = function
    if not checks_itself and claims.get("why_unsupported", any_case) is not any_case:

        @wraps(function)
        def run(*args: Any, **options: Any) -> Any:
            if kind == "inter":
                check_local(*args[:2])
            made.check(_case(kind, parameters, args[0], options))
            return function(*args, **options)

    made = Algorithm(operation, name, run, kind=kind, parameters=parameters, **{"schedule": None, **claims})
    module = sys.modules.get(function.__module__)
    (function.__globals__ if module is None else vars(module)).setdefault("ALGORITHM", made)
    return made


def _key_of(function: Callable[..., Any], operation: str) -> tuple[str, str, str]:
    """Return kind, operation and name of a user's function, by its name and its first arguments."""
    between = list(inspect.signature(function).parameters)[:2] == ["inter", "local"]
    operations = sorted(OPERATIONS, key=len, reverse=True)
    operation = operation or next((each for each in operations if function.__name__.startswith(f"{each}_")), "")
    kind = "chain" if operation == "sort" else KIND_OF_OPERATION.get(operation, "inter" if between else "intra")
    return kind, operation, function.__name__.removeprefix(f"{operation}_")


def _case(kind: str, parameters: Parameters, comm: Any, options: Mapping[str, Any]) -> Case:
    """Return the case of a call as far as it determines whether an algorithm supports the call.

    Between two groups, a rank that passes the number of the root is in group B.
    """
    p = comm.Get_size() if hasattr(comm, "Get_size") else comm.size
    q, root = comm.Get_remote_size() if kind == "inter" else 0, options.get("root", 0)
    if q and "root" in options and isinstance(root, Integral):
        p, q = q, p
    return Case(
        p,
        q=q,
        root=0 if q else root,
        commutative="op" not in options or options["op"].Is_commutative(),
        parameters={name: options.get(name, default) for name, default in parameters.items()},
    )


def declared_in(module: ModuleType) -> list[str]:
    """Return the names of the functions of a module that are declared as algorithms."""
    values = vars(module).items()
    return [name for name, value in values if isinstance(value, Algorithm) and _is_declared(name, value, module)]


def _is_declared(name: str, algorithm: Algorithm, module: ModuleType) -> bool:
    """Return whether the name of a module's function is that of its algorithm: @algorithm puts one in place of the other."""
    run = algorithm.run
    return getattr(run, "__module__", "") == module.__name__ and getattr(run, "__name__", "") == name


def warn_of_earlier_form(shown: str, algorithm: Algorithm, module: ModuleType) -> None:
    """Report ALGORITHM = Algorithm(...), which the next release does not load."""
    name = getattr(algorithm.run, "__name__", "the function")
    if getattr(algorithm.run, "__module__", "") != module.__name__ or vars(module).get(name) is algorithm:
        return
    claims = [f"{each}={each}" for each in ("schedule", "why_unsupported", "scratch") if hasattr(module, each)]
    new = f"@algorithm({', '.join(claims)})" if claims else "@algorithm"
    warnings.warn(
        f"{shown}: ALGORITHM = Algorithm(...) is the earlier form, which the next release does not load; write {new} in the "
        f"line before def {name} (from collectives import algorithm).",
        DeprecationWarning,
        stacklevel=4,
    )
