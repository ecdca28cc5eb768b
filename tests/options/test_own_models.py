"""Cost models of one's own, as people type them: where they are found, what they are given, and what is said otherwise."""

from __future__ import annotations

import pickle
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import fakempi
from fakempi.options import cost_model, number
from fakempi.own_models import arguments

TREE = """
from __future__ import annotations
from dataclasses import dataclass
from fakempi import CostModel, Hockney
from beside import HOP

@dataclass
class Tree(CostModel):
    arity: int = 2
    hop: float = HOP
    names: list | None = None

    def transfer(self, source, dest, nbytes):
        levels = 0
        while source != dest:
            source, dest, levels = source // self.arity, dest // self.arity, levels + 1
        return 2 * levels * self.hop, 2 * levels * self.hop, 2 * levels * self.hop
"""

ODD = """
from fakempi import CostModel

class Good(CostModel):
    def __init__(self, x, *, y=1):
        self.z = 1 / x
    def transfer(self, source, dest, nbytes):
        return 1, 1, 1

class Doubtful(Good):
    def validate(self):
        raise KeyError("no good")

class Silent(CostModel):
    pass

class Backwards(CostModel):
    linear = (-1, 0)

class _Hidden(Good):
    pass

class Plain:
    pass

def f():
    pass
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """With some files, as the working directory."""
    files = {
        "tree": TREE, "beside": "HOP = 5\n", "odd": ODD, "empty": "x = 1\n", "broken": "def f():\n    return = 3\n",
        "fails": "\nimport not_there\n", "leaves": "import sys\nsys.exit(3)\n",
    }  # fmt: skip
    for name, text in files.items():
        (tmp_path / f"{name}.py").write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("text", ["./tree.py", "./tree.py:Tree", "tree.py:Tree()", "./tree.py(2)", " ./tree.py:Tree ()"])
def test_a_model_is_found_in_a_file(folder: Path, text: str) -> None:
    """By its name, or as the only one there. What lies beside it can be imported, and the path is as it was."""
    path = list(sys.path)
    model: Any = cost_model(text)
    assert (model.arity, model.hop, model.transfer(0, 3, 1)) == (2, 5, (20, 20, 20))
    assert sys.path == path


def test_arguments_are_values_as_people_write_them(folder: Path) -> None:
    """Numbers, sizes, fractions, words and lists; none of it is evaluated."""
    model: Any = cost_model("./tree.py:Tree(64k, hop=1/4, names=['a b', c, [true, none], 1e-6,])")
    assert (model.arity, model.hop, model.names) == (65536, 0.25, ["a b", "c", [True, None], 1e-6])


def test_a_model_is_found_in_an_installed_module() -> None:
    """As entry points are written."""
    model: Any = cost_model("fakempi.wire.models.hockney:Hockney(t_s=2)")
    assert model.t_s == 2


def test_a_file_is_read_again_only_when_it_has_changed(folder: Path) -> None:
    """Also if it changes twice in a second."""
    first = type(cost_model("./tree.py"))
    assert type(cost_model("tree.py:Tree")) is first
    (folder / "tree.py").write_text(TREE.replace("arity: int = 2", "arity: int = 3"), encoding="utf-8")
    changed: Any = cost_model("./tree.py")
    assert changed.arity == 3


def test_a_model_from_a_file_can_go_to_another_process(folder: Path) -> None:
    """Where nobody has loaded the file."""
    packed = pickle.dumps(cost_model("./tree.py:Tree(arity=4)"))
    for name in [name for name in sys.modules if name.startswith("fakempi_own_tree")]:
        del sys.modules[name]
    assert pickle.loads(packed).arity == 4


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("./not_there.py:Tree", "there is no file './not_there.py'."),
        ("./broken.py", "broken.py, line 2: invalid syntax."),
        ("./fails.py", "it cannot be loaded: ModuleNotFoundError at fails.py:2: No module named 'not_there'."),
        ("./leaves.py", "it cannot be loaded: SystemExit at leaves.py:2: 3."),
        ("./empty.py", "no cost model is defined there: that is a class that derives from fakempi.CostModel."),
        ("./odd.py", "4 cost models are defined there, Good, Doubtful, Silent, Backwards: say ./odd.py:Good."),
        ("./tree.py:Bush", "there is no class 'Bush', but Tree."),
        ("./empty.py:Bush", "there is no class 'Bush', but no cost model at all."),
        ("./odd.py:Plain", "the class Plain does not derive from fakempi.CostModel."),
        ("./odd.py:f", "f is not a class that derives from fakempi.CostModel, but of type function."),
        ("./odd.py:Good(w=1)", "missing a required argument: 'x'; it is Good(x, *, y=1)."),
        ("./odd.py:Good(1, 2)", "too many positional arguments; it is Good(x, *, y=1)."),
        ("./odd.py:Good(0)", "Good cannot be made: ZeroDivisionError at odd.py:6: division by zero."),
        ("./odd.py:Doubtful(1)", "Doubtful cannot be made: KeyError at odd.py:12: 'no good'."),
        ("./odd.py:Silent", "Silent must say what a transfer costs: override transfer()."),
        ("./odd.py:Backwards", "Backwards: t_s=-1 is negative."),
        ("./tree.py:Tree(4 5)", "(4 5) lacks a comma between two values."),
        ("./tree.py:Tree([4)", "([4) lacks a value at its end."),
        ("./tree.py:Tree(hop=,)", "(hop=,) lacks a value before ','."),
        ("./tree.py:Tree(hop=1, hop=2)", "(hop=1, hop=2) gives hop twice."),
        ("./tree.py:Tree(hop=1, 2)", "(hop=1, 2) has '2' without a name after values with one."),
        ("./tree.py:Tree(f(1))", "(f(1)) cannot be read from '(1)' on."),
        ("./tree.py:Tree(hop=4x)", "'4x' is not a number."),
        ("not_there.models:Tree", "there is no module 'not_there.models' here, nor a cost model of that name."),
        ("fakempi.world:Run", "the class Run does not derive from fakempi.CostModel."),
    ],
)
def test_what_is_wrong_is_said_in_a_sentence(folder: Path, text: str, words: str) -> None:
    """On the command line, in `run` and in pytest alike."""
    with pytest.raises(ValueError) as caught:  # noqa: PT011  the words are compared below
        cost_model(text)
    assert str(caught.value) == f"{text}: {words}"
    with pytest.raises(fakempi.MPI.Exception) as again:
        fakempi.run(lambda comm: None, 2, cost=text)
    assert str(again.value) == str(caught.value)


@pytest.mark.parametrize("text", ["./tree", "./tree.py:Tree(4", "./tree.py Tree", "./tree.pyx:Tree"])
def test_what_looks_like_a_file_is_told_how_to_look(folder: Path, text: str) -> None:
    """It is no name of a model of ours."""
    with pytest.raises(ValueError, match="should be a file and a cost model in it, such as ./tree.py:Tree") as caught:
        cost_model(text)
    assert str(caught.value).startswith(f"{text!r} should")


def test_a_file_that_could_not_be_loaded_is_tried_again(folder: Path) -> None:
    """Nothing half done is kept."""
    with pytest.raises(ValueError, match="line 2"):
        cost_model("./broken.py")
    (folder / "broken.py").write_text(TREE, encoding="utf-8")
    assert type(cost_model("./broken.py")).__name__ == "Tree"


values = st.recursive(
    st.integers() | st.booleans() | st.none() | st.floats(allow_nan=False) | st.text("abc ,=()[]\"", max_size=5),
    lambda inner: st.lists(inner, max_size=3),
    max_leaves=8,
)


def written(value: Any) -> str:
    """A value as people write it."""
    if isinstance(value, list):
        return f"[{', '.join(map(written, value))}]"
    return f"'{value}'" if isinstance(value, str) else repr(value)


@given(st.lists(values, max_size=3), st.dictionaries(st.sampled_from(["a", "b_1", "none"]), values, max_size=3))
def test_what_is_written_is_what_is_read(args: list[Any], named: dict[str, Any]) -> None:
    """Whatever it is made of."""
    text = ", ".join([*map(written, args), *(f"{name}={written(value)}" for name, value in named.items())])
    assert arguments(text, number) == (args, named)
