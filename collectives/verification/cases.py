"""Cases within one group: for every p the same cases in the same order, in every call."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from random import Random

from collectives.catalogue.algorithm import Algorithm
from collectives.catalogue.case import Case
from collectives.distributions import DISTRIBUTIONS, random
from collectives.verification.choices import parameter_choices

ROOTED = {"bcast", "gather", "gatherv", "scatter", "scatterv", "reduce"}
UNEVEN = {"gatherv", "scatterv", "allgatherv", "reduce_scatter"}
PAIRED = {"alltoallv", "alltoallw"}
REDUCING = {"reduce", "allreduce", "reduce_scatter", "reduce_scatter_block", "scan", "exscan"}
NEVER_IN_PLACE = {"barrier", "bcast"}

Counts = tuple[int, ...]
Traffic = tuple[Counts, ...]


def distributions(p: int, size: int) -> dict[str, Counts]:
    """Return the distributions of Träff et al. (2008), of about `size` elements per rank, and three others."""
    total = p * size
    return {
        **{name: sizes(total, p) for name, sizes in DISTRIBUTIONS.items()},
        "random": random(total, p, seed=p),
        "last": (0,) * (p - 1) + (total,),
        "none": (0,) * p,
    }


def traffics(p: int, size: int) -> dict[str, Traffic]:
    """Return matrices of element counts from rank r (row) to rank s (column).

    All equal, all zero, only to the right neighbor, growing with distance, irregular, and from one rank only.
    """
    ranks = range(p)
    return {
        "regular": ((size,) * p,) * p,
        "none": ((0,) * p,) * p,
        "right": tuple(tuple(size * (s == (r + 1) % p) for s in ranks) for r in ranks),
        "distance": tuple(tuple(size * abs(r - s) for s in ranks) for r in ranks),
        "any": tuple(tuple((3 * r + 5 * s * s) % (size + 2) for s in ranks) for r in ranks),
        "one": tuple((size,) * p if r == p // 2 else (0,) * p for r in ranks),
    }


def both_ways(traffic: Traffic) -> Traffic:
    """Return a symmetric matrix, as an exchange in place needs: equal counts from r to s and from s to r."""
    p = len(traffic)
    return tuple(tuple(traffic[min(r, s)][max(r, s)] for s in range(p)) for r in range(p))


def some_cases(algorithm: Algorithm, p: int) -> Iterator[Case]:
    """Yield cases on p ranks that the algorithm accepts: sizes, roots, item sizes, distributions, parameters."""
    return (case for case in all_cases(algorithm, p) if algorithm.why_unsupported(case) is None)


def rejection(algorithm: Algorithm, case: Case) -> str | None:
    """Return the reason why the algorithm rejects a case; None if that raises, which is reported when the case is run."""
    try:
        return algorithm.why_unsupported(case)
    except Exception:
        return None


def all_cases(algorithm: Algorithm, p: int) -> Iterator[Case]:
    """Yield cases on p ranks, including cases that the algorithm rejects."""
    choices = parameter_choices(algorithm, p)
    for case in plain_cases(algorithm.operation, p):
        for parameters in choices:
            yield replace(case, parameters=parameters)


def plain_cases(operation: str, p: int) -> Iterator[Case]:
    """Yield cases of an operation, with default parameters."""
    if operation == "barrier":
        yield Case(p)
        return
    for plain in _sized_cases(operation, p):
        for root in sorted({0, p // 2, p - 1}) if operation in ROOTED else [0]:
            for in_place in [False] if operation in NEVER_IN_PLACE else [False, True]:
                for commutative in [True, False] if operation in REDUCING else [True]:
                    yield _in_place(replace(plain, root=root, in_place=in_place, commutative=commutative))


def _in_place(case: Case) -> Case:
    return replace(case, traffic=both_ways(case.traffic)) if case.in_place and case.traffic is not None else case


def _sized_cases(operation: str, p: int) -> Iterator[Case]:
    if operation in UNEVEN:
        for counts in distributions(p, 5).values():
            yield Case(p, counts=counts, itemsize=4)
    elif operation in PAIRED:
        for traffic in traffics(p, 5).values():
            yield Case(p, traffic=traffic, itemsize=4)
    else:
        for elements, itemsize in ((0, 8), (1, 1), (3, 16), (8 * p, 8), (61, 4)):
            yield Case(p, elements * itemsize, itemsize=itemsize)


def random_cases(algorithm: Algorithm, p: int, count: int) -> Iterator[Case]:
    """Yield pseudo-random cases, with sizes and roots that the other cases do not have; the seed is p and the index."""
    choices = parameter_choices(algorithm, p)
    for number in range(count if algorithm.operation != "barrier" else 0):
        rng = Random(1000 * p + number)
        yield replace(_random_case(algorithm.operation, p, rng), parameters=rng.choice(choices))


def _random_case(operation: str, p: int, rng: Random) -> Case:
    case = Case(
        p,
        root=rng.randrange(p) if operation in ROOTED else 0,
        itemsize=rng.choice((1, 2, 4, 8, 16)),
        in_place=operation not in NEVER_IN_PLACE and rng.random() < 0.5,
        commutative=operation not in REDUCING or rng.random() < 0.5,
    )
    largest = rng.choice((1, 3, 20))
    if operation in UNEVEN:
        return replace(case, counts=tuple(rng.randint(0, largest) for _ in range(p)))
    if operation in PAIRED:
        return _in_place(replace(case, traffic=tuple(tuple(rng.randint(0, largest) for _ in range(p)) for _ in range(p))))
    return replace(case, m=rng.randint(0, 5 * largest) * case.itemsize)
