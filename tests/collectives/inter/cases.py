"""Cases of two groups to try an algorithm on."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from collectives import Algorithm, Case, find


def parameter_choices(algorithm: Algorithm) -> list[dict[str, Any]]:
    """Values for the algorithm's named parameters, the defaults first."""
    found: list[dict[str, Any]] = [{}]
    if "receive_order" in algorithm.parameters:
        found.append({"receive_order": "rank"})
    if {"allgather", "allgatherv"} <= algorithm.parameters.keys():
        found.append({"allgather": find("allgather", "bruck"), "allgatherv": find("allgatherv", "bruck")})
        found.append({"allgatherv": find("allgatherv", "blocked_ring")})
    if "segment_bytes" in algorithm.parameters:
        found += [{"segment_bytes": 1}, {"segment_bytes": 24, "bcast": find("bcast", "chain")}]
        found.append({"gather": find("gather", "linear"), "bcast": find("bcast", "binomial")})
    if "gatherv" in algorithm.parameters:
        found.append({"gatherv": find("gatherv", "binomial"), "allgather": find("allgather", "ring")})
    return found


@st.composite
def two_groups(draw: st.DrawFn, algorithm: Algorithm, largest: int = 12) -> Case:
    """Any allgather or allgatherv between two groups that the algorithm serves."""
    p, q = draw(st.integers(1, largest)), draw(st.integers(1, largest))
    itemsize = draw(st.sampled_from([1, 2, 4, 8, 16]))
    parameters = dict(draw(st.sampled_from(parameter_choices(algorithm))))
    if "first" in algorithm.parameters:
        parameters["first"] = draw(st.booleans())
    if algorithm.operation == "allgather":
        m, m_b = draw(st.integers(0, 40)) * itemsize, draw(st.integers(0, 40)) * itemsize
        return Case(p, m, q=q, m_b=m_b, itemsize=itemsize, parameters=parameters)
    sizes = draw(st.sampled_from([st.integers(0, 20), st.sampled_from([0, 0, 0, 50]), st.sampled_from([1, 33])]))
    a, b = (tuple(draw(st.lists(sizes, min_size=n, max_size=n))) for n in (p, q))
    return Case(p, counts=a, q=q, counts_b=b, itemsize=itemsize, parameters=parameters)
