"""Algorithms from files and from installed packages: loaded once, and refused in one sentence."""

from __future__ import annotations

import subprocess
import sys
import warnings
from collections.abc import Callable
from itertools import product
from pathlib import Path
from types import ModuleType

import pytest

import collectives
from collectives import CATALOGUE, Case, find, fitting, loading
from collectives.loading import LoadError, load, origin
from collectives.ours import ours

KNOMIAL = Path(__file__).parents[2] / "demos" / "knomial.py"
MINIMAL = """\
from collectives import Algorithm
def text(comm, buf, *, root=0, tag=0): ...
ALGORITHM = Algorithm(operation="bcast", name="NAME", run=text, schedule=None)
"""
Write = Callable[..., Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Put a text into a file."""

    def put(text: str, name: str = "own.py") -> Path:
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
        return path

    return put


def test_a_file_defines_an_algorithm() -> None:
    """With a card of its own; it is known where it is from."""
    algorithm = load(str(KNOMIAL))
    assert repr(algorithm) == "<intra bcast knomial>"
    assert algorithm.card["Rounds"] == "at most (k-1) ceil(log_k p)"
    assert origin(algorithm) == str(KNOMIAL)
    assert algorithm not in CATALOGUE


def test_a_file_is_executed_once(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    """By whatever path it is asked for; until it can be loaded, each time."""
    path = write("this is no Python")
    with pytest.raises(LoadError):
        load(path)
    path.write_text(MINIMAL.replace("NAME", "once"))
    algorithm = load(path)
    path.write_text("this is no Python either")
    monkeypatch.chdir(path.parent)
    assert load("own.py") is load(Path("./own.py")) is algorithm


def test_a_file_imports_from_its_own_folder(write: Write) -> None:
    """Two folders may each have their helpers; nothing of it is left behind."""
    path, modules, names = list(sys.path), set(sys.modules), []
    for folder, file in product(("one", "two"), ("first.py", "second.py")):
        write(f"NAME = 'from_{folder}'\n", f"{folder}/helpers.py")
        names.append(load(write("from helpers import NAME\n" + MINIMAL.replace('"NAME"', "NAME"), f"{folder}/{file}")).name)
    assert names == ["from_one"] * 2 + ["from_two"] * 2
    assert sys.path == path
    assert all(name.startswith("algorithm_") for name in set(sys.modules) - modules)


def test_a_file_is_python_as_anywhere_else(write: Write) -> None:
    """It has a name and a place; no future of ours is imported into it; one that runs as a script does not."""
    text = "def f(x: int): ...\nassert f.__annotations__ == {'x': int}\nassert __file__.endswith('plain.py')\n"
    load(write(text + "assert __name__ != '__main__'\n" + MINIMAL.replace("NAME", "plain"), "plain.py"))


def test_modules_of_an_environment_below_the_folder_stay(
    write: Write, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """They are not the file's own; those beside it are, even where they could be imported anyway."""
    write("X = 1\n", "environment/far_helper.py")
    write("X = 2\n", "near_helper.py")
    monkeypatch.syspath_prepend(tmp_path / "environment")
    monkeypatch.syspath_prepend(tmp_path)
    load(write("import far_helper, near_helper\n" + MINIMAL.replace("NAME", "stays"), "stays.py"))
    assert sys.modules.pop("far_helper").X == 1
    assert "near_helper" not in sys.modules


def test_modules_of_that_name_that_were_there_are_there_again(
    write: Write, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A program's own helpers stay its own."""
    write("NAME = 'file'\n", "same_name.py")
    load(write("from same_name import NAME\n" + MINIMAL.replace('"NAME"', "NAME"), "first.py"))
    own = ModuleType("same_name")
    monkeypatch.setitem(sys.modules, "same_name", own)
    second = load(write("from same_name import NAME\n" + MINIMAL.replace('"NAME"', "NAME + '2'"), "second.py"))
    assert (second.name, sys.modules["same_name"]) == ("file2", own)


def test_a_file_of_ours_is_what_it_is_in_the_catalogue() -> None:
    """And no copy of it that shadows itself."""
    chain = find("bcast", "chain")
    assert load(Path(collectives.__file__).parent / "intra/bcast/chain.py") is chain
    assert origin(chain) == ""


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("x = 1\ny = (\n", "cannot be loaded: line 2: '(' was never closed."),
        ("\nimport nonsuch\n", "cannot be loaded: line 2: No module named 'nonsuch'."),
        ("\n\n1 / 0\n", "cannot be loaded: line 3: ZeroDivisionError: division by zero."),
        ("raise KeyError\n", "cannot be loaded: line 1: KeyError."),
        ("raise SystemExit('two\\nlines')\n", "cannot be loaded: line 1: SystemExit: two lines."),
        ("open('/no/such')\n", "cannot be loaded: line 1: no such file or directory."),
        ("X = 1\n", "defines no ALGORITHM."),
        ("from collectives import find\nMINE = find('bcast', 'chain')\n", "defines no ALGORITHM, but MINE: rename that."),
        ("ALGORITHM = {}\n", "ALGORITHM is of type dict, not an Algorithm."),
        (
            MINIMAL.replace("NAME", "binomial"),
            "ALGORITHM is called bcast binomial, as one of ours is: give it another name.",
        ),
        (
            MINIMAL.replace('"bcast"', '"brodcast"'),
            "ALGORITHM is for an operation 'brodcast' of kind 'intra'; of that kind there are allgather, allgatherv, ",
        ),
        (MINIMAL.replace("schedule", "kind='outer', schedule"), "of kind 'outer'; of that kind there are none."),
    ],
)
def test_what_is_wrong_with_a_file_is_one_sentence(text: str, sentence: str, write: Write) -> None:
    """Which begins with the file; a KeyError's words are a sentence too."""
    path, modules = write(text), set(sys.modules)
    with pytest.raises(LookupError) as caught:
        load(path)
    assert str(caught.value).startswith(str(path))
    assert sentence in str(caught.value)
    assert "\n" not in str(caught.value)
    if "cannot be loaded" in sentence:
        assert set(sys.modules) == modules


def test_a_file_that_is_not_there_or_no_file(tmp_path: Path) -> None:
    """In the words of the system."""
    for path, why in ((tmp_path / "gone.py", "no such file or directory"), (tmp_path, "is a directory")):
        with pytest.raises(LoadError, match=f"^{path} cannot be loaded: {why}.$"):
            load(path)


def test_a_mistake_in_a_helper_is_said_to_be_there(write: Write) -> None:
    """With both lines."""
    write("def f(:\n", "wrong_helper.py")
    with pytest.raises(LoadError, match=r"own.py cannot be loaded: line 2: wrong_helper.py line 1: invalid syntax.$"):
        load(write("\nimport wrong_helper\n"))


def test_an_interrupt_is_not_the_files_fault(write: Write) -> None:
    """It goes on."""
    path = list(sys.path)
    with pytest.raises(KeyboardInterrupt):
        load(write("raise KeyboardInterrupt\n"))
    assert sys.path == path


# -- packages ------------------------------------------------------------------------------------------------------


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[dict[str, str]], None]:
    """Make packages look installed, each with its algorithms: entry -> text of the module of that name."""
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(loading, "_installed", None)

    def put(entries: dict[str, str], package: str = "some-pack") -> None:
        info = tmp_path / f"{package.replace('-', '_')}-1.2.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.2\n")
        lines = [f"{name} = {name}:ALGORITHM" for name in entries]
        (info / "entry_points.txt").write_text("\n".join(["[fakempi.algorithms]", *lines]))
        for name, text in entries.items():
            monkeypatch.delitem(sys.modules, name, raising=False)
            if text:
                (tmp_path / f"{name}.py").write_text(text)

    return put


Install = Callable[..., None]


def test_what_a_package_offers_is_in_the_catalogue(install: Install) -> None:
    """After ours, marked with the package and its version."""
    install({"offered_by_pack": MINIMAL.replace("NAME", "offered")})
    offered = find("bcast", "offered")
    assert CATALOGUE[-1] is offered
    assert len(CATALOGUE) == len(list(CATALOGUE)) == len(CATALOGUE[:])
    assert offered in fitting("bcast", Case(3))
    assert (origin(offered), origin(find("bcast", "chain"))) == ("some-pack 1.2", "")


def test_a_package_may_look_at_the_catalogue_while_it_is_imported(install: Install) -> None:
    """It sees what there is so far."""
    text = "from collectives import CATALOGUE\nCOUNT = len(CATALOGUE)\n" + MINIMAL.replace("NAME", "curious")
    install({"curious_pack": text})
    assert len(CATALOGUE) == len(ours()) + 1
    assert len(CATALOGUE) == sys.modules["curious_pack"].COUNT + 1


def test_what_cannot_be_had_of_a_package_is_left_out_with_a_warning(install: Install) -> None:
    """Once; what it has besides is there."""
    entries = {
        "pack_gone": "", "pack_crash": "1 / 0\n", "pack_none": "ALGORITHM = 3\n",
        "pack_good": MINIMAL.replace("NAME", "good"), "pack_twice": MINIMAL.replace("NAME", "good"),
        "pack_shadow": MINIMAL.replace("NAME", "chain"),
    }  # fmt: skip
    install(entries)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        assert [each.name for each in CATALOGUE if origin(each)] == ["good"]
        assert len(CATALOGUE) == len(ours()) + 1
    assert {each.category for each in told} == {RuntimeWarning}
    assert [str(each.message) for each in told] == [
        "some-pack 1.2: its algorithm pack_crash is left out: pack_crash:ALGORITHM cannot be loaded: "
        "ZeroDivisionError: division by zero.",
        "some-pack 1.2: its algorithm pack_gone is left out: pack_gone:ALGORITHM cannot be loaded: "
        "No module named 'pack_gone'.",
        "some-pack 1.2: its algorithm pack_none is left out: pack_none:ALGORITHM is of type int, not an Algorithm.",
        "some-pack 1.2: its algorithm pack_shadow is left out: pack_shadow:ALGORITHM is called bcast chain, "
        "as one of ours is: give it another name.",
        "some-pack 1.2: its algorithm pack_twice is left out: pack_twice:ALGORITHM is called bcast good, "
        "as one of some-pack 1.2 is: give it another name.",
    ]


def test_ours_are_found_without_a_look_at_packages(install: Install) -> None:
    """Nor are they imported, nor any of ours, before somebody looks."""
    install({"pack_crash": "1 / 0\n"})
    assert find("bcast", "chain").name == "chain"
    assert loading._installed is None
    words = (
        "import sys, collectives; from collectives import CATALOGUE, find; "
        "print(any(name.startswith('collectives.intra') for name in sys.modules))"
    )
    assert subprocess.run([sys.executable, "-c", words], capture_output=True, text=True, check=True).stdout == "False\n"
