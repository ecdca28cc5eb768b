"""Requests for user-defined algorithms, and parameters of all types that a direct call accepts."""

from __future__ import annotations

import re
from collections.abc import Hashable
from fractions import Fraction
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fakempi
from collectives import Algorithm, Case, find
from collectives.block_sizes import smallest, square_root
from demos.knomial import bcast_my_knomial as KNOMIAL
from fakempi import Hockney, TwoLevel
from fakempi.errors import MPIError, MPITypeError, MPIValueError
from fakempi.tuning import Facts, resolve
from fakempi.tuning.requests import chosen, value_of
from tests.helpers.breadth import examples
from tests.helpers.loops import for_each

FILE = str(Path(__file__).parents[2] / "demos" / "knomial.py")
BETWEEN = str(Path(__file__).parents[2] / "collectives/inter/bcast/wmpi.py")
EXACT = Hockney(t_s=8.0, t_w=0.5, eager_limit=0)


def broadcast(comm: Any) -> bytes:
    """Return the message that the last rank broadcasts."""
    message = np.full(5, comm.rank, np.int32)
    comm.Bcast(message, root=comm.size - 1)
    return message.tobytes()


def gathered(comm: Any) -> tuple[bytes, ...]:
    """Return the gathered blocks of 0, 10, 20 ... elements."""
    counts = [10 * rank for rank in range(comm.size)]
    everything = np.zeros(sum(counts), np.int32)
    comm.Allgatherv(np.full(counts[comm.rank], comm.rank, np.int32), [everything, counts])
    return (everything.tobytes(),)


def between(comm: Any, call: str = "Allgather") -> bytes:
    """Return the other group's blocks of 100 elements; the groups have five and three ranks."""
    low = comm.rank < 5
    local = comm.Split(low, comm.rank)
    inter = local.Create_intercomm(0, comm, 5 if low else 0)
    everything = np.zeros(100 * inter.remote_size, np.int32)
    getattr(inter, call)(np.full(100, comm.rank, np.int32), everything)
    return everything.tobytes()


# -- user-defined algorithms ------------------------------------------------------------------------------------------------


@for_each("p", [1, 2, 5, 16, 17])
@for_each(("requested", "k"), [
        (KNOMIAL, 4), ((KNOMIAL, {"k": 3}), 3), ((KNOMIAL, {"k": np.int64(5)}), 5),
        (FILE, 4), ((FILE, {"k": 2}), 2), (Path(FILE), 4),
    ])
def test_a_user_defined_algorithm_takes_the_claimed_time(requested: Any, k: int, p: int, backend: Any) -> None:
    """An object or a file, with or without parameters."""
    run = fakempi.run(broadcast, p, algorithms={"bcast": requested}, cost=EXACT, backend=backend, trace=True)
    assert run.returns == fakempi.run(broadcast, p).returns
    case = Case(p, 20, root=p - 1, parameters={"k": k})
    assert run.time == KNOMIAL.time(case, 8.0, 0.5)


def test_the_name_of_a_table_has_the_names_of_user_defined_algorithms() -> None:
    """Not their files."""
    assert resolve({"bcast": (FILE, {"k": 2}), "barrier": "linear"}).name == "plain with bcast my_knomial, barrier linear"


def test_a_user_defined_algorithm_that_does_not_fit_raises() -> None:
    """The message is the same as for bundled algorithms."""
    sentence = r"^bcast: my_knomial was requested, but k = 1 is less than 2; binary, bine, .* fit\.$"
    with pytest.raises(MPIValueError, match=sentence):
        resolve({"bcast": (KNOMIAL, {"k": 1})}).choose(Facts("bcast", 6, 8))


def test_a_user_defined_algorithm_can_be_a_part(backend: Any) -> None:
    """With parameters."""

    def reduced(comm: Any) -> list[int]:
        total = np.zeros(1, np.int64)
        comm.Allreduce(np.full(1, comm.rank), total)
        return [int(total[0])]

    parts = {"bcast": (FILE, {"k": 3}), "reduce": "linear"}
    run = fakempi.run(reduced, 9, algorithms={"allreduce": ("reduce_bcast", parts)}, cost=EXACT, backend=backend)
    assert run.returns == [[36]] * 9
    linear = find("reduce", "linear").time(Case(9, 8), 8.0, 0.5)
    assert run.time == linear + KNOMIAL.time(Case(9, 8, parameters={"k": 3}), 8.0, 0.5)  # type: ignore[operator]


def test_kind_and_operation_must_match_the_request() -> None:
    """An algorithm between two groups is requested as inter:..."""
    wmpi = find("bcast", "wmpi", kind="inter")
    for requested in (wmpi, BETWEEN):
        choice = resolve({"inter:bcast": requested}).choose(Facts("bcast", 3, 8, kind="inter", q=2))
        assert choice.algorithm is wmpi
    for key, value, sentence in (
        ("bcast", wmpi, "bcast: wmpi is for inter:bcast, not for bcast."),
        ("bcast", BETWEEN, f"bcast: wmpi of {BETWEEN} is for inter:bcast, not for bcast."),
        ("inter:bcast", FILE, f"inter:bcast: my_knomial of {FILE} is for bcast, not for inter:bcast."),
        ("gather", KNOMIAL, "gather: my_knomial is for bcast, not for gather."),
    ):
        with pytest.raises(MPITypeError, match=f"^{re.escape(sentence)}$"):
            resolve({key: value})


def test_the_error_of_a_missing_file_has_the_operation() -> None:
    """It is raised before the run starts."""
    with pytest.raises(MPIValueError, match=r"^bcast: \./gone\.py cannot be loaded: no such file or directory\.$"):
        fakempi.run(broadcast, 2, algorithms={"bcast": "./gone.py"})


# -- parameters ----------------------------------------------------------------------------------------------------


@pytest.mark.quick(1)
@pytest.mark.parametrize("block", [1, 7, 40, 4096])
def test_parts_can_have_parameters(block: int, backend: Any) -> None:
    """A blocked ring with one block per rank takes the same time as the ring."""
    nested = {"inter:allgather": ("full_duplex", {"allgatherv": ("blocked_ring", {"block_bytes": block})})}
    flat = {"inter:allgather": ("full_duplex", {"allgatherv": "ring"})}
    run, plain = (fakempi.run(between, 8, algorithms=requested, cost=EXACT, backend=backend) for requested in (nested, flat))
    assert run.returns == plain.returns
    part = chosen(("inter", "allgather"), ("full_duplex", nested["inter:allgather"][1]))[1]["allgatherv"]
    case = Case(5, 400, q=3, m_b=400, parameters={"allgatherv": part})
    assert run.time == find("allgather", "full_duplex", kind="inter").time(case, 8.0, 0.5)
    assert (run.time == plain.time) == (block == 4096)


@pytest.mark.parametrize("nodes", [[0, 1, 0, 1], ("a", "b", "a", "b"), np.array([0, 1, 0, 1]), 2, [[0], [1], [0], [1]]])
def test_parameters_can_be_lists(nodes: Any, backend: Any) -> None:
    """Names of nodes of several types give the same time."""
    counts = (0, 40, 80, 120)
    names = nodes if isinstance(nodes, int) else tuple("ab"[rank % 2] for rank in range(4))
    case = Case(4, counts=counts, parameters={"nodes": names})
    requested = {"allgatherv": ("cluster_blocked_ring", {"nodes": nodes})}
    run = fakempi.run(gathered, 4, algorithms=requested, cost=EXACT, backend=backend)
    assert run.returns == fakempi.run(gathered, 4).returns
    assert run.time == find("allgatherv", "cluster_blocked_ring").time(case, 8.0, 0.5)


@pytest.mark.parametrize(
    ("requested", "rule"),
    [
        ("smallest", smallest()),
        (("smallest", {"at_least": 12}), smallest(at_least=12)),
        (("fixed", {"nbytes": 24}), 24),
        ("sqrt", square_root(8.0, 0.5)),
        (("sqrt", {"t_s": 100}), square_root(100, 0.5)),
        (("sqrt", {"t_s": 1, "t_w": 1}), square_root(1, 1)),
        (lambda sizes: max(sizes) // 3, 40),
        (max, 120),
    ],
)
def test_block_sizes_can_be_rules(requested: Any, rule: Any, backend: Any) -> None:
    """Rules by name, whose default costs are those of the run, or functions."""
    case = Case(4, counts=(0, 40, 80, 120), parameters={"block_bytes": rule})
    asked_for = {"allgatherv": ("blocked_ring", {"block_bytes": requested})}
    run = fakempi.run(gathered, 4, algorithms=asked_for, cost=EXACT, backend=backend)
    assert run.returns == fakempi.run(gathered, 4).returns
    assert run.time == find("allgatherv", "blocked_ring").time(case, 8.0, 0.5)


def test_a_rule_in_a_part_between_groups_is_evaluated_after_sizes_are_known() -> None:
    """The two groups do not know each other's sizes when they choose."""
    options = {"inter:allgatherv": ("full_duplex", {"allgatherv": ("blocked_ring", {"block_bytes": max})})}
    assert fakempi.run(between, 8, "Allgatherv", algorithms=options).returns == fakempi.run(between, 8, "Allgatherv").returns


def test_the_sqrt_rule_needs_costs_if_messages_have_different_costs() -> None:
    """Messages within and between nodes."""
    words = r"rule sqrt needs t_s and t_w, because messages have different costs in this run\.$"
    nodes = TwoLevel(ranks_per_node=2)
    with pytest.raises(MPIValueError, match=words):
        fakempi.run(gathered, 4, algorithms={"allgatherv": ("blocked_ring", {"block_bytes": "sqrt"})}, cost=nodes)
    requested = {"allgatherv": ("blocked_ring", {"block_bytes": ("sqrt", {"t_s": 1e-6, "t_w": 1e-9})})}
    assert fakempi.run(gathered, 4, algorithms=requested, cost=nodes).returns == fakempi.run(gathered, 4).returns


RULES = "there are smallest, fixed and sqrt"


@for_each(
    ("key", "name", "parameters", "sentence"),
    [
        ("bcast", "chain", {"segment_bytes": "4k"}, "bcast: chain: segment_bytes must be an integer, not '4k'."),
        ("bcast", "chain", {"segment_bytes": True}, "bcast: chain: segment_bytes must be an integer, not True."),
        ("bcast", "chain", {"segment_bytes": 1.5}, "bcast: chain: segment_bytes must be an integer, not 1.5."),
        ("bcast", "chain", {"segments": 1}, "bcast: chain has no parameter 'segments'; there is segment_bytes; did you"),
        ("bcast", KNOMIAL, {"k": None}, "bcast: my_knomial: k must be an integer, not None."),
        ("allgather", "cluster_ring", {"nodes": "ab"}, "cluster_ring: nodes must be an integer or a list, not 'ab'."),
        ("split", "best", {"max_items": "x"}, "split: best: max_items must be an integer or None, not 'x'."),
        ("inter:barrier", "wmpi", {"first": 1}, "barrier: wmpi: first must be True, False or None, not 1."),
        ("inter:allgatherv", "full_duplex", {"receive_order": 1}, "full_duplex: receive_order must be a string, not 1."),
        (
            "allgatherv", "blocked_ring", {"block_bytes": None},
            "block_bytes must be an integer, a function or a rule (smallest, fixed or sqrt), not None.",
        ),
        (
            "allgatherv", "blocked_ring", {"block_bytes": "sqr"},
            f"an integer, a function or a rule; there is no rule 'sqr'; {RULES}; did you mean sqrt?",
        ),
        ("allgatherv", "blocked_ring", {"block_bytes": "fixed"}, "rule fixed needs nbytes."),
        (
            "allgatherv", "blocked_ring", {"block_bytes": ("sqrt", {"t_x": 1})},
            "rule sqrt has no parameter 't_x'; there are t_s and t_w; did you mean t_w?",
        ),
        (
            "allgatherv", "blocked_ring", {"block_bytes": ("smallest", {"at_least": "k"})},
            "rule smallest: at_least must be an integer, not 'k'.",
        ),
        ("allgather", "gather_bcast", {"bcast": 3}, "gather_bcast's bcast: an algorithm must be a name, "),
        ("allgather", "gather_bcast", {"bcast": find("gather", "linear")}, "gather_bcast's bcast: linear is for gather, "),
        ("allgather", "gather_bcast", {"bcast": "lineal"}, "gather_bcast's bcast: there is no algorithm 'lineal'; there "),
        ("allgather", "gather_bcast", {"gather": FILE}, f"gather_bcast's gather: my_knomial of {FILE} is for bcast, "),
        ("allgather", "gather_bcast", {"bcast": "./x.py"}, "gather_bcast's bcast: ./x.py cannot be loaded: no such file"),
        ("allgather", "gather_bcast", {"bcast": ("chain", {"x": 1})}, "bcast: chain has no parameter 'x'; there is segm"),
    ],
)  # fmt: skip
def test_invalid_parameters_raise_with_the_valid_types(
    key: str, name: Any, parameters: dict[str, Any], sentence: str
) -> None:
    """`resolve` raises, before any call."""
    with pytest.raises(MPIError) as caught:
        resolve({key: (name, parameters)})
    assert sentence in str(caught.value)


def unannotated(comm, buf, *, root=0, k=4, order="up", part=None, tag=0):  # type: ignore[no-untyped-def]
    """A function without annotations."""


def strange(comm: Any, buf: Any, *, k: "no such type" = 4, tag: int = 0) -> None:  # type: ignore[valid-type]  # noqa: F722
    """A function with an annotation that cannot be evaluated."""


def precise(comm: Any, *, exact: float, counts: list[int], order: Literal["up", "down"], what: Any, name: Hashable) -> None:
    """A function with annotations of several kinds."""


def test_without_annotations_the_default_value_determines_the_type() -> None:
    """Lists and functions are accepted too; a default of None accepts everything."""
    algorithm = Algorithm("bcast", "first_try", unannotated, None, parameters={"k": 4, "order": "up", "part": None})
    assert [value_of(algorithm, "k", value) for value in (5, [1, 2], max)] == [5, (1, 2), max]
    assert value_of(algorithm, "order", "down") == "down"
    assert [value_of(algorithm, "part", value) for value in ("x", 3, None)] == ["x", 3, None]
    with pytest.raises(MPIError, match="k must be an integer, a list, a function or a rule; there is no rule 'x'"):
        value_of(algorithm, "k", "x")
    other = Algorithm("bcast", "strange", strange, None, parameters={"k": 4})
    assert value_of(other, "k", 5) == 5


def test_values_are_converted_to_the_annotated_types() -> None:
    """Any real number for a float, lists, unchanged values for Any, and tuples for Hashable."""
    taken = {"exact": Fraction(1, 3), "counts": [1, 2], "order": "up", "what": [[1]], "name": "a"}
    algorithm = Algorithm("bcast", "precise", precise, None, parameters=dict.fromkeys(taken, 0))
    assert {key: value_of(algorithm, key, value) for key, value in taken.items()} == taken
    assert value_of(algorithm, "counts", np.arange(3)) == [0, 1, 2]
    assert value_of(algorithm, "name", [1, [2]]) == (1, (2,))
    for key, value, words in (("exact", "x", "a number"), ("counts", [1, "x"], "a list"), ("order", "left", "up or down")):
        with pytest.raises(MPITypeError, match=f"^bcast: precise: {key} must be {words}, not {re.escape(repr(value))}.$"):
            value_of(algorithm, key, value)


@settings(max_examples=examples(60), deadline=None)
@given(
    counts=st.lists(st.integers(0, 30), min_size=1, max_size=9).map(tuple),
    block=st.integers(1, 60) | st.sampled_from(["smallest", ("fixed", {"nbytes": 5}), ("sqrt", {"t_s": 3, "t_w": 1}), max]),
    itemsize=st.sampled_from([1, 4]),
)
def test_bound_parameters_equal_those_of_a_case(counts: tuple[int, ...], block: Any, itemsize: int) -> None:
    """The claims of a part with bound parameters equal the claims for a case with these parameters."""
    default = find("allgather", "full_duplex", kind="inter")
    part = value_of(default, "allgatherv", ("blocked_ring", {"block_bytes": block}))
    plain = find("allgatherv", "blocked_ring")
    values = {"block_bytes": value_of(plain, "block_bytes", block)}
    without, given = (Case(len(counts), counts=counts, itemsize=itemsize, parameters=each) for each in ({}, values))
    assert part.time(without, 3, 2) == plain.time(given, 3, 2)
    assert part.rounds(without) == plain.rounds(given)
    assert part.why_unsupported(without) == plain.why_unsupported(given)
    assert [part.sent(without, r) for r in range(len(counts))] == [plain.sent(given, r) for r in range(len(counts))]
    assert list(part.schedule_for(without) or []) == list(plain.schedule_for(given) or [])
    assert part.card == plain.card
