"""Text that users type: cost models, algorithms, sizes and numbers of ranks."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fakempi import Dragonfly, FatTree, Hockney, LogGP, Torus, TwoGroups, TwoLevel, ZeroCost
from fakempi.core.options import algorithm_names, algorithms, cost_model, groups, number, sizes
from fakempi.tuning.parsing import typed

WORDS = ("true", "yes", "on", "false", "no", "off", "none", "nan", "inf", "infinity", "table")
"""Text that is no name."""


def test_models_and_machines_have_names() -> None:
    """With the defaults of the classes."""
    assert repr(cost_model("hockney")) == repr(Hockney())
    assert repr(cost_model("loggp:L=1,o=2,g=3,G=4,eager_limit=0")) == repr(LogGP(1, 2, 3, 4, eager_limit=0))
    assert repr(cost_model("Zero_Cost")) == repr(ZeroCost())
    assert isinstance(cost_model("cori:ranks_per_node=32"), TwoLevel)
    half = cost_model("hockney:duplex=false,ports=2,t_s=1/3")
    assert (half.duplex, half.ports, getattr(half, "t_s", None)) == (False, 2, Fraction(1, 3))


def test_a_two_level_model_contains_models() -> None:
    """Omitted values have defaults."""
    model: Any = cost_model("two-level:ranks_per_node=2,intra.t_s=1,inter.t_w=2,placement=a+a+b")
    assert (model.intra.t_s, model.intra.t_w) == (1, TwoLevel().intra.t_w)
    assert (model.inter.t_s, model.inter.t_w) == (TwoLevel().inter.t_s, 2)
    assert model.placement == ("a", "a", "b")


def test_networks_have_numbers_separated_by_x() -> None:
    """A shape, or the links of each level; a single one is a number."""
    assert repr(cost_model("torus:shape=8x8x8,ranks_per_node=4")) == repr(Torus((8, 8, 8), 4))
    assert repr(cost_model("fat-tree:children=4x2,links=1x2,static=yes")) == repr(FatTree((4, 2), links=(1, 2), static=True))
    assert repr(cost_model("torus:shape=16")) == repr(Torus(16))
    assert repr(cost_model("dragonfly:groups=3,global_links=2")) == repr(Dragonfly(3, global_links=2))
    assert repr(cost_model("two_groups:first=3,link_t_w=1e-9x2e-9")) == repr(TwoGroups(3, (1e-9, 2e-9)))
    assert cost_model("two_level:network_gap=none").network_gap is None  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("hockny", "cost model 'hockny' is unknown. Did you mean hockney? Known: hockney, two_level, loggp, zero_cost, "),
        ("hockney:t_x=1", "hockney:t_x=1: parameter 't_x' is unknown. Did you mean t_w? Known: t_s, t_w, eager_limit,"),
        ("hockney:t_s", "hockney:t_s: 't_s' is not a parameter with a value, such as t_s=1e-6."),
        ("hockney:t_s=fast", "hockney:t_s=fast: t_s must be a number such as 1e-6 or 64k, not 'fast'."),
        ("two_level:inter.t_s=fast", "two_level:inter.t_s=fast: inter.t_s must be a number such as "),
        ("two_level:intra.x=1", "two_level:intra.x=1: parameter 'intra.x' is unknown. "),
        ("cori:intra.t_s=1", "cori:intra.t_s=1: parameter 'intra.t_s' is unknown. "),
        ("hockney:t_s=-1", "Hockney: t_s=-1 is negative."),
    ],
)
def test_invalid_text_is_reported(text: str, words: str) -> None:
    """With the valid forms."""
    with pytest.raises(ValueError) as caught:  # noqa: PT011  the words are compared below
        cost_model(text)
    assert str(caught.value).startswith(words)


def test_algorithms_are_tables_and_names() -> None:
    """As in `run`."""
    assert algorithms("mpich") == "mpich"
    assert algorithms("allgather=ring") == {"allgather": "ring"}
    assert algorithms("inter:allgather=full_duplex, bcast=chain(segment_bytes=4k,x=1)") == {
        "inter:allgather": "full_duplex", "bcast": ("chain", {"segment_bytes": 4096, "x": 1}),
    }  # fmt: skip
    assert algorithms("allgather = ring , openmpi,") == {"allgather": "ring", "table": "openmpi"}


def test_parameters_are_numbers_words_lists_and_algorithms() -> None:
    """Nested; commas in brackets and in quotes belong to the value."""
    assert algorithms("a=b(c=d(e=4k, f=[0,1,[x]]), g=none, h=true, i='1, 2', j=1/2),k=l") == {
        "a": ("b", {"c": ("d", {"e": 4096, "f": [0, 1, ["x"]]}), "g": None, "h": True, "i": "1, 2", "j": Fraction(1, 2)}),
        "k": "l",
    }
    assert algorithms("a=b(c=[],d=sqrt(t_s=1e-6))") == {"a": ("b", {"c": [], "d": ("sqrt", {"t_s": 1e-6})})}
    assert algorithm_names("ring,ring(c=[1,2],d=e(f=1)), new-ring") == [
        ("ring", {}), ("ring", {"c": [1, 2], "d": ("e", {"f": 1})}), ("new-ring", {}),
    ]  # fmt: skip
    assert algorithm_names("") == []


def test_algorithms_may_be_files() -> None:
    """With parameters too, in quotes if necessary; relative to a given directory."""
    assert algorithms("bcast=./a.py(k=3), gather=b.py") == {"bcast": ("./a.py", {"k": 3}), "gather": "b.py"}
    assert algorithms("bcast='./a (1), b.py'(k=3)") == {"bcast": ("./a (1), b.py", {"k": 3})}
    assert algorithms("bcast=./it's a file.py") == {"bcast": "./it's a file.py"}
    assert algorithms("bcast=./a=b.py") == {"bcast": "./a=b.py"}
    assert algorithm_names('./a.py,"./b c.py"(k=3)') == [("./a.py", {}), ("./b c.py", {"k": 3})]
    placed = algorithms("bcast=./a.py,gather=/c/b.py,allgather=x(bcast=a.py(k=1),n=[1])", directory="/where")
    assert placed == {
        "bcast": "/where/a.py", "gather": "/c/b.py", "allgather": ("x", {"bcast": ("/where/a.py", {"k": 1}), "n": [1]}),
    }  # fmt: skip


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("allgather=a b", "'allgather=a b' is not an operation with an algorithm, such as allgather=ring."),
        ("./knomial.py", "'./knomial.py' is not an operation with an algorithm, such as allgather=ring."),
        ("chain(segment_bytes=4k)", "'chain(segment_bytes=4k)' is not an operation with an algorithm, such as "),
        ("bcast=", "'bcast=' is not an operation with an algorithm, such as "),
        ("bcast=chain(x=1)y", "'bcast=chain(x=1)y' is not an operation with an algorithm, such as "),
        ("bcast=chain(4k)", "'4k' is not a parameter with a value, such as segment_bytes=4k."),
        ("bcast=chain(x=)", "'x=' is not a parameter with a value, such as segment_bytes=4k."),
        ("bcast=chain(x=(1))", "'(1)' is not a name with parameters, such as chain(segment_bytes=4k)."),
        ("bcast=chain(x=1", "bcast=chain(x=1: missing )."),
        ("bcast=chain(x=[1)", "bcast=chain(x=[1): unmatched )."),
        ("bcast=chain)", "bcast=chain): unmatched )."),
        ("bcast='a", "bcast='a: missing '."),
        ("bcast=a,bcast=b", "bcast=a,bcast=b: bcast is given twice."),
        ("mpich,plain", "mpich,plain: table is given twice."),
        ("bcast=chain(x=1,x=2)", "chain(x=1,x=2): x is given twice."),
    ],
)
def test_invalid_algorithms_are_reported(text: str, words: str) -> None:
    """With the expected form."""
    with pytest.raises(ValueError) as caught:  # noqa: PT011  the words are compared below
        algorithms(text)
    assert str(caught.value).startswith(words)


names = st.text("ab_z", min_size=1, max_size=8).filter(lambda name: name not in WORDS)
values: st.SearchStrategy[Any] = st.recursive(
    st.integers(-9, 9) | names | st.booleans() | st.none(),
    lambda inner: st.lists(inner, max_size=3) | st.tuples(names, st.dictionaries(names, inner, min_size=1, max_size=3)),
    max_leaves=8,
)


@given(st.dictionaries(names, st.tuples(names, st.dictionaries(names, values, min_size=1, max_size=3)), min_size=1))
def test_requests_can_be_converted_to_text(requested: dict[str, Any]) -> None:
    """The text is parsed to the same request."""
    assert algorithms(typed(requested)) == requested


def test_sizes_and_ranks() -> None:
    """Lists, ranges of powers of two, units, and two groups."""
    assert sizes("0, 1k,2KiB,1m") == [0, 1024, 2048, 2**20]
    assert sizes("0..4,10") == [0, 1, 2, 4, 10]
    assert sizes("3..20") == [3, 6, 12]
    assert groups("2..8,6+2") == [(2, 0), (4, 0), (8, 0), (6, 2)]
    assert number("1e-6") == 1e-6
    for wrong in ("x", "1.5", "-1", "8..2", "true"):
        with pytest.raises(ValueError, match=r"is not a|is an empty range"):
            sizes(wrong)
    with pytest.raises(ValueError, match="'0': there must be at least 1 rank"):
        groups("0")
