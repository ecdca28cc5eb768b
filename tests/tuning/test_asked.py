"""Algorithms of one's own, and parameters of every kind: whatever a direct call takes can be asked for."""

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
from demos.knomial import ALGORITHM as KNOMIAL
from fakempi import Hockney, TwoLevel
from fakempi.errors import MPIError, MPITypeError, MPIValueError
from fakempi.tuning import Facts, resolve
from fakempi.tuning.asked import chosen, value_of

FILE = str(Path(__file__).parents[2] / "demos" / "knomial.py")
BETWEEN = str(Path(__file__).parents[2] / "collectives/inter/bcast/wmpi.py")
EXACT = Hockney(t_s=8.0, t_w=0.5, eager_limit=0)


def broadcast(comm: Any) -> bytes:
    """What a rank has of the last one's message in the end."""
    message = np.full(5, comm.rank, np.int32)
    comm.Bcast(message, root=comm.size - 1)
    return message.tobytes()


def gathered(comm: Any) -> tuple[bytes, ...]:
    """What a rank has of blocks of 0, 10, 20 ... elements."""
    counts = [10 * rank for rank in range(comm.size)]
    everything = np.zeros(sum(counts), np.int32)
    comm.Allgatherv(np.full(counts[comm.rank], comm.rank, np.int32), [everything, counts])
    return (everything.tobytes(),)


def between(comm: Any, call: str = "Allgather") -> bytes:
    """What a rank of five or of three has of the other group's blocks of 100 elements."""
    low = comm.rank < 5
    local = comm.Split(low, comm.rank)
    inter = local.Create_intercomm(0, comm, 5 if low else 0)
    everything = np.zeros(100 * inter.remote_size, np.int32)
    getattr(inter, call)(np.full(100, comm.rank, np.int32), everything)
    return everything.tobytes()


# -- one's own -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("p", [1, 2, 5, 16, 17])
@pytest.mark.parametrize(
    ("asked", "k"),
    [
        (KNOMIAL, 4), ((KNOMIAL, {"k": 3}), 3), ((KNOMIAL, {"k": np.int64(5)}), 5),
        (FILE, 4), ((FILE, {"k": 2}), 2), (Path(FILE), 4),
    ],
)  # fmt: skip
def test_ones_own_algorithm_runs_in_the_time_it_claims(asked: Any, k: int, p: int, carrier: str) -> None:
    """An object or a file, with parameters or without."""
    run = fakempi.run(broadcast, p, algorithms={"bcast": asked}, cost=EXACT, carrier=carrier, trace=True)
    assert run.returns == fakempi.run(broadcast, p).returns
    case = Case(p, 20, root=p - 1, parameters={"k": k})
    assert run.time == KNOMIAL.time(case, 8.0, 0.5)


def test_ones_own_algorithm_is_called_by_its_name() -> None:
    """In the table."""
    assert resolve({"bcast": (FILE, {"k": 2}), "barrier": "linear"}).name == "plain with bcast knomial, barrier linear"


def test_ones_own_algorithm_is_refused_where_it_does_not_fit() -> None:
    """Like ours."""
    sentence = r"^bcast: knomial was asked for, but k = 1 is less than 2; binomial, .* fit\.$"
    with pytest.raises(MPIValueError, match=sentence):
        resolve({"bcast": (KNOMIAL, {"k": 1})}).choose(Facts("bcast", 6, 8))


def test_ones_own_algorithm_may_be_a_part(carrier: str) -> None:
    """Of one of ours, with its own parameters, between groups too."""

    def reduced(comm: Any) -> list[int]:
        total = np.zeros(1, np.int64)
        comm.Allreduce(np.full(1, comm.rank), total)
        return [int(total[0])]

    parts = {"bcast": (FILE, {"k": 3}), "reduce": "linear"}
    run = fakempi.run(reduced, 9, algorithms={"allreduce": ("reduce_bcast", parts)}, cost=EXACT, carrier=carrier)
    assert run.returns == [[36]] * 9
    linear = find("reduce", "linear").time(Case(9, 8), 8.0, 0.5)
    assert run.time == linear + KNOMIAL.time(Case(9, 8, parameters={"k": 3}), 8.0, 0.5)  # type: ignore[operator]


def test_kind_and_operation_agree_with_what_is_asked() -> None:
    """One for two groups is asked for as inter:..., and the other way round."""
    wmpi = find("bcast", "wmpi", kind="inter")
    for asked in (wmpi, BETWEEN):
        choice = resolve({"inter:bcast": asked}).choose(Facts("bcast", 3, 8, kind="inter", q=2))
        assert choice.algorithm is wmpi
    for key, value, sentence in (
        ("bcast", wmpi, "bcast: wmpi is for inter:bcast, not for bcast."),
        ("bcast", BETWEEN, f"bcast: wmpi of {BETWEEN} is for inter:bcast, not for bcast."),
        ("inter:bcast", FILE, f"inter:bcast: knomial of {FILE} is for bcast, not for inter:bcast."),
        ("gather", KNOMIAL, "gather: knomial is for bcast, not for gather."),
    ):
        with pytest.raises(MPITypeError, match=f"^{re.escape(sentence)}$"):
            resolve({key: value})


def test_a_file_that_cannot_be_loaded_is_told_with_the_operation() -> None:
    """Before anything runs."""
    with pytest.raises(MPIValueError, match=r"^bcast: \./gone\.py cannot be loaded: no such file or directory\.$"):
        fakempi.run(broadcast, 2, algorithms={"bcast": "./gone.py"})


# -- parameters ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("block", [1, 7, 40, 4096])
def test_a_part_has_parameters_of_its_own(block: int, carrier: str) -> None:
    """As deep as one likes: with blocks as long as all there is, it is the ring."""
    nested = {"inter:allgather": ("full_duplex", {"allgatherv": ("blocked_ring", {"block_bytes": block})})}
    flat = {"inter:allgather": ("full_duplex", {"allgatherv": "ring"})}
    run, plain = (fakempi.run(between, 8, algorithms=asked, cost=EXACT, carrier=carrier) for asked in (nested, flat))
    assert run.returns == plain.returns
    part = chosen(("inter", "allgather"), ("full_duplex", nested["inter:allgather"][1]))[1]["allgatherv"]
    case = Case(5, 400, q=3, m_b=400, parameters={"allgatherv": part})
    assert run.time == find("allgather", "full_duplex", kind="inter").time(case, 8.0, 0.5)
    assert (run.time == plain.time) == (block == 4096)


@pytest.mark.parametrize("nodes", [[0, 1, 0, 1], ("a", "b", "a", "b"), np.array([0, 1, 0, 1]), 2, [[0], [1], [0], [1]]])
def test_lists_may_be_asked_for(nodes: Any, carrier: str) -> None:
    """As names of nodes, of whatever kind: the same time as by a direct call."""
    counts = (0, 40, 80, 120)
    names = nodes if isinstance(nodes, int) else tuple("ab"[rank % 2] for rank in range(4))
    case = Case(4, counts=counts, parameters={"nodes": names})
    asked = {"allgatherv": ("cluster_blocked_ring", {"nodes": nodes})}
    run = fakempi.run(gathered, 4, algorithms=asked, cost=EXACT, carrier=carrier)
    assert run.returns == fakempi.run(gathered, 4).returns
    assert run.time == find("allgatherv", "cluster_blocked_ring").time(case, 8.0, 0.5)


@pytest.mark.parametrize(
    ("asked", "rule"),
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
def test_block_sizes_may_be_rules(asked: Any, rule: Any, carrier: str) -> None:
    """By name, where costs not given are the run's; or functions of one's own."""
    case = Case(4, counts=(0, 40, 80, 120), parameters={"block_bytes": rule})
    asked_for = {"allgatherv": ("blocked_ring", {"block_bytes": asked})}
    run = fakempi.run(gathered, 4, algorithms=asked_for, cost=EXACT, carrier=carrier)
    assert run.returns == fakempi.run(gathered, 4).returns
    assert run.time == find("allgatherv", "blocked_ring").time(case, 8.0, 0.5)


def test_a_rule_in_a_part_between_groups_is_not_asked_before_sizes_are_known() -> None:
    """The two groups do not know each other's when they choose."""
    asked = {"inter:allgatherv": ("full_duplex", {"allgatherv": ("blocked_ring", {"block_bytes": max})})}
    assert fakempi.run(between, 8, "Allgatherv", algorithms=asked).returns == fakempi.run(between, 8, "Allgatherv").returns


def test_costs_that_differ_must_be_given() -> None:
    """Here by messages between nodes and within."""
    words = r"the rule sqrt, which must be given t_s and t_w here, where not all messages cost the same\.$"
    nodes = TwoLevel(ranks_per_node=2)
    with pytest.raises(MPIValueError, match=words):
        fakempi.run(gathered, 4, algorithms={"allgatherv": ("blocked_ring", {"block_bytes": "sqrt"})}, cost=nodes)
    asked = {"allgatherv": ("blocked_ring", {"block_bytes": ("sqrt", {"t_s": 1e-6, "t_w": 1e-9})})}
    assert fakempi.run(gathered, 4, algorithms=asked, cost=nodes).returns == fakempi.run(gathered, 4).returns


RULES = "there are smallest, fixed and sqrt"


@pytest.mark.parametrize(
    ("key", "name", "parameters", "sentence"),
    [
        ("bcast", "chain", {"segment_bytes": "4k"}, "bcast: chain takes as segment_bytes a whole number, not '4k'."),
        ("bcast", "chain", {"segment_bytes": True}, "bcast: chain takes as segment_bytes a whole number, not True."),
        ("bcast", "chain", {"segment_bytes": 1.5}, "bcast: chain takes as segment_bytes a whole number, not 1.5."),
        ("bcast", "chain", {"segments": 1}, "bcast: chain has no parameter 'segments'; there is segment_bytes; did you"),
        ("bcast", KNOMIAL, {"k": None}, "bcast: knomial takes as k a whole number, not None."),
        ("allgather", "cluster_ring", {"nodes": "ab"}, "cluster_ring takes as nodes a whole number or a list, not 'ab'."),
        ("split", "best", {"few": "x"}, "split: best takes as few a whole number or none, not 'x'."),
        ("inter:barrier", "wmpi", {"first": 1}, "barrier: wmpi takes as first true, false or none, not 1."),
        ("inter:allgatherv", "full_duplex", {"receive_order": 1}, "full_duplex takes as receive_order a word, not 1."),
        (
            "allgatherv", "blocked_ring", {"block_bytes": None},
            "takes as block_bytes a whole number, a function or a rule (smallest, fixed or sqrt), not None.",
        ),
        (
            "allgatherv", "blocked_ring", {"block_bytes": "sqr"},
            f"a whole number, a function or a rule, and there is no rule 'sqr'; {RULES}; did you mean sqrt?",
        ),
        ("allgatherv", "blocked_ring", {"block_bytes": "fixed"}, "the rule fixed, which must be given nbytes."),
        (
            "allgatherv", "blocked_ring", {"block_bytes": ("sqrt", {"t_x": 1})},
            "the rule sqrt, which has no parameter 't_x'; there are t_s and t_w; did you mean t_w?",
        ),
        (
            "allgatherv", "blocked_ring", {"block_bytes": ("smallest", {"at_least": "k"})},
            "the rule smallest, which takes as at_least a whole number, not 'k'.",
        ),
        ("allgather", "gather_bcast", {"bcast": 3}, "gather_bcast's bcast: an algorithm is asked for by name, "),
        ("allgather", "gather_bcast", {"bcast": find("gather", "linear")}, "gather_bcast's bcast: linear is for gather, "),
        ("allgather", "gather_bcast", {"bcast": "lineal"}, "gather_bcast's bcast: there is no algorithm 'lineal'; there "),
        ("allgather", "gather_bcast", {"gather": FILE}, f"gather_bcast's gather: knomial of {FILE} is for bcast, not for "),
        ("allgather", "gather_bcast", {"bcast": "./x.py"}, "gather_bcast's bcast: ./x.py cannot be loaded: no such file"),
        ("allgather", "gather_bcast", {"bcast": ("chain", {"x": 1})}, "bcast: chain has no parameter 'x'; there is segm"),
    ],
)  # fmt: skip
def test_what_a_parameter_does_not_take_is_told_with_what_it_does(
    key: str, name: Any, parameters: dict[str, Any], sentence: str
) -> None:
    """At once, before any call."""
    with pytest.raises(MPIError) as caught:
        resolve({key: (name, parameters)})
    assert sentence in str(caught.value)


def unannotated(comm, buf, *, root=0, k=4, order="up", part=None, tag=0):  # type: ignore[no-untyped-def]
    """Somebody's first try."""


def strange(comm: Any, buf: Any, *, k: "no such type" = 4, tag: int = 0) -> None:  # type: ignore[valid-type]  # noqa: F722
    """What a type checker would have to say of it is not our business."""


def precise(comm: Any, *, exact: float, few: list[int], way: Literal["up", "down"], what: Any, name: Hashable) -> None:
    """Somebody who says it all."""


def test_where_a_function_does_not_say_what_it_takes_the_default_does() -> None:
    """Lists and functions are no slips of the pen; a default of None tells nothing."""
    algorithm = Algorithm("bcast", "first_try", unannotated, None, parameters={"k": 4, "order": "up", "part": None})
    assert [value_of(algorithm, "k", value) for value in (5, [1, 2], max)] == [5, (1, 2), max]
    assert value_of(algorithm, "order", "down") == "down"
    assert [value_of(algorithm, "part", value) for value in ("x", 3, None)] == ["x", 3, None]
    with pytest.raises(MPIError, match="takes as k a whole number, a list, a function or a rule, and there is no rule 'x'"):
        value_of(algorithm, "k", "x")
    other = Algorithm("bcast", "strange", strange, None, parameters={"k": 4})
    assert value_of(other, "k", 5) == 5


def test_what_a_function_says_is_what_it_gets() -> None:
    """Numbers of all kinds for a float, lists as lists, and anything as it is; names can be hashed."""
    taken = {"exact": Fraction(1, 3), "few": [1, 2], "way": "up", "what": [[1]], "name": "a"}
    algorithm = Algorithm("bcast", "precise", precise, None, parameters=dict.fromkeys(taken, 0))
    assert {key: value_of(algorithm, key, value) for key, value in taken.items()} == taken
    assert value_of(algorithm, "few", np.arange(3)) == [0, 1, 2]
    assert value_of(algorithm, "name", [1, [2]]) == (1, (2,))
    for key, value, words in (("exact", "x", "a number"), ("few", [1, "x"], "a list"), ("way", "left", "up or down")):
        with pytest.raises(MPITypeError, match=f"^bcast: precise takes as {key} {words}, not {re.escape(repr(value))}.$"):
            value_of(algorithm, key, value)


@settings(max_examples=60, deadline=None)
@given(
    counts=st.lists(st.integers(0, 30), min_size=1, max_size=9).map(tuple),
    block=st.integers(1, 60) | st.sampled_from(["smallest", ("fixed", {"nbytes": 5}), ("sqrt", {"t_s": 3, "t_w": 1}), max]),
    itemsize=st.sampled_from([1, 4]),
)
def test_bound_parameters_are_those_of_a_case(counts: tuple[int, ...], block: Any, itemsize: int) -> None:
    """A part that keeps its parameters to itself claims what it claims of a case that has them."""
    default = find("allgather", "full_duplex", kind="inter")
    part = value_of(default, "allgatherv", ("blocked_ring", {"block_bytes": block}))
    plain = find("allgatherv", "blocked_ring")
    values = {"block_bytes": value_of(plain, "block_bytes", block)}
    silent, told = (Case(len(counts), counts=counts, itemsize=itemsize, parameters=each) for each in ({}, values))
    assert part.time(silent, 3, 2) == plain.time(told, 3, 2)
    assert part.rounds(silent) == plain.rounds(told)
    assert part.fits(silent) == plain.fits(told)
    assert [part.sent(silent, r) for r in range(len(counts))] == [plain.sent(told, r) for r in range(len(counts))]
    assert list(part.plan(silent) or []) == list(plain.plan(told) or [])
    assert part.card == plain.card
