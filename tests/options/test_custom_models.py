"""User-defined cost models as text: where they are found, their arguments, and error messages."""

from __future__ import annotations

import pickle
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import fakempi
from fakempi.core.network.models.loading import arguments
from fakempi.core.options import cost_model, number
from tests.helpers.loops import for_each

TREE = """
from __future__ import annotations
from dataclasses import dataclass
from fakempi import CostModel, Hockney
from sibling import HOP

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
def directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working directory with some files."""
    files = {
        "tree": TREE, "sibling": "HOP = 5\n", "odd": ODD, "empty": "x = 1\n", "broken": "def f():\n    return = 3\n",
        "fails": "\nimport not_there\n", "leaves": "import sys\nsys.exit(3)\n",
    }  # fmt: skip
    for name, text in files.items():
        (tmp_path / f"{name}.py").write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("text", ["./tree.py", "./tree.py:Tree", "tree.py:Tree()", "./tree.py(2)", " ./tree.py:Tree ()"])
def test_a_model_is_found_in_a_file(directory: Path, text: str) -> None:
    """By its name, or as the only one there. It can import modules next to it, and sys.path is restored."""
    path = list(sys.path)
    model: Any = cost_model(text)
    assert (model.arity, model.hop, model.transfer(0, 3, 1)) == (2, 5, (20, 20, 20))
    assert sys.path == path


def test_arguments_are_plain_values(directory: Path) -> None:
    """Numbers, sizes, fractions, words and lists; nothing is evaluated."""
    model: Any = cost_model("./tree.py:Tree(64k, hop=1/4, names=['a b', c, [true, none], 1e-6,])")
    assert (model.arity, model.hop, model.names) == (65536, 0.25, ["a b", "c", [True, None], 1e-6])


def test_a_model_is_found_in_an_installed_module() -> None:
    """In the syntax of entry points."""
    model: Any = cost_model("fakempi.core.network.models.hockney:Hockney(t_s=2)")
    assert model.t_s == 2


def test_a_file_is_loaded_again_only_if_it_has_changed(directory: Path) -> None:
    """Also if it changes twice in a second."""
    first = type(cost_model("./tree.py"))
    assert type(cost_model("tree.py:Tree")) is first
    (directory / "tree.py").write_text(TREE.replace("arity: int = 2", "arity: int = 3"), encoding="utf-8")
    changed: Any = cost_model("./tree.py")
    assert changed.arity == 3


def test_a_model_from_a_file_can_be_sent_to_another_process(directory: Path) -> None:
    """In which the file has not been loaded."""
    packed = pickle.dumps(cost_model("./tree.py:Tree(arity=4)"))
    for name in [name for name in sys.modules if name.startswith("fakempi_user_tree")]:
        del sys.modules[name]
    assert pickle.loads(packed).arity == 4


@for_each(
    ("text", "words"),
    [
        ("./not_there.py:Tree", "there is no file './not_there.py'."),
        ("./broken.py", "broken.py, line 2: invalid syntax."),
        ("./fails.py", "it cannot be loaded: ModuleNotFoundError at fails.py:2: No module named 'not_there'."),
        ("./leaves.py", "it cannot be loaded: SystemExit at leaves.py:2: 3."),
        ("./empty.py", "it defines no cost model: a class that derives from fakempi.CostModel."),
        ("./odd.py", "it defines 4 cost models, Good, Doubtful, Silent, Backwards: write ./odd.py:Good."),
        ("./tree.py:Bush", "there is no class 'Bush'. Cost models there: Tree."),
        ("./empty.py:Bush", "there is no class 'Bush'. Cost models there: none."),
        ("./odd.py:Plain", "the class Plain does not derive from fakempi.CostModel."),
        ("./odd.py:f", "f is of type function, not a class that derives from fakempi.CostModel."),
        ("./odd.py:Good(w=1)", "missing a required argument: 'x'; the signature is Good(x, *, y=1)."),
        ("./odd.py:Good(1, 2)", "too many positional arguments; the signature is Good(x, *, y=1)."),
        ("./odd.py:Good(0)", "Good cannot be created: ZeroDivisionError at odd.py:6: division by zero."),
        ("./odd.py:Doubtful(1)", "Doubtful cannot be created: KeyError at odd.py:12: 'no good'."),
        ("./odd.py:Silent", "Silent does not define the cost of a transfer: override transfer()."),
        ("./odd.py:Backwards", "Backwards: t_s=-1 is negative."),
        ("./tree.py:Tree(4 5)", "(4 5): a comma is missing between two values."),
        ("./tree.py:Tree([4)", "([4): a value is missing at the end."),
        ("./tree.py:Tree(hop=,)", "(hop=,): a value is missing before ','."),
        ("./tree.py:Tree(hop=1, hop=2)", "(hop=1, hop=2) gives hop twice."),
        ("./tree.py:Tree(hop=1, 2)", "(hop=1, 2) has a positional argument '2' after a keyword argument."),
        ("./tree.py:Tree(f(1))", "(f(1)) cannot be parsed from '(1)' on."),
        ("./tree.py:Tree(hop=4x)", "'4x' is not a number."),
        ("not_there.models:Tree", "there is no module and no cost model 'not_there.models'."),
        ("fakempi.core.run_result:Run", "the class Run does not derive from fakempi.CostModel."),
    ],
)
def test_errors_are_reported_in_a_sentence(directory: Path, text: str, words: str) -> None:
    """On the command line, in `run` and in pytest."""
    with pytest.raises(ValueError) as caught:  # noqa: PT011  the words are compared below
        cost_model(text)
    assert str(caught.value) == f"{text}: {words}"
    with pytest.raises(fakempi.MPI.Exception) as again:
        fakempi.run(lambda comm: None, 2, cost=text)
    assert str(again.value) == str(caught.value)


@pytest.mark.parametrize("text", ["./tree", "./tree.py:Tree(4", "./tree.py Tree", "./tree.pyx:Tree"])
def test_text_that_looks_like_a_file_is_reported_with_the_syntax(directory: Path, text: str) -> None:
    """It is not the name of a bundled model."""
    with pytest.raises(ValueError, match="is not a file with a cost model, such as ./tree.py:Tree") as caught:
        cost_model(text)
    assert str(caught.value).startswith(f"{text!r} is not")


def test_a_file_that_could_not_be_loaded_is_loaded_again(directory: Path) -> None:
    """No partial state is kept."""
    with pytest.raises(ValueError, match="line 2"):
        cost_model("./broken.py")
    (directory / "broken.py").write_text(TREE, encoding="utf-8")
    assert type(cost_model("./broken.py")).__name__ == "Tree"


values = st.recursive(
    st.integers() | st.booleans() | st.none() | st.floats(allow_nan=False) | st.text("abc ,=()[]\"", max_size=5),
    lambda inner: st.lists(inner, max_size=3),
    max_leaves=8,
)


def written(value: Any) -> str:
    """A value as users write it."""
    if isinstance(value, list):
        return f"[{', '.join(map(written, value))}]"
    return f"'{value}'" if isinstance(value, str) else repr(value)


@given(st.lists(values, max_size=3), st.dictionaries(st.sampled_from(["a", "b_1", "none"]), values, max_size=3))
def test_parsing_inverts_formatting(args: list[Any], named: dict[str, Any]) -> None:
    """For any nesting."""
    text = ", ".join([*map(written, args), *(f"{name}={written(value)}" for name, value in named.items())])
    assert arguments(text, number) == (args, named)
