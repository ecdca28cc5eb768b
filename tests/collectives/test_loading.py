"""Load algorithms from files and from installed packages, and report invalid ones in one sentence."""

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
from collectives.bundled import bundled
from collectives.loading import LoadError, load, origin

KNOMIAL = Path(__file__).parents[2] / "demos" / "knomial.py"
MINIMAL = """\
from collectives import Algorithm
def text(comm, buf, *, root=0, tag=0): ...
ALGORITHM = Algorithm(operation="bcast", name="NAME", run=text, schedule=None)
"""
Write = Callable[..., Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Write text to a file."""

    def put(text: str, name: str = "own.py") -> Path:
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
        return path

    return put


def test_a_file_defines_an_algorithm() -> None:
    """Its card is the file's docstring, and `origin` returns the file."""
    algorithm = load(str(KNOMIAL))
    assert repr(algorithm) == "<intra bcast my_knomial>"
    assert algorithm.card["Rounds"] == "at most (k-1) ceil(log_k p)"
    assert origin(algorithm) == str(KNOMIAL)
    assert algorithm not in CATALOGUE


def test_a_file_is_executed_once(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    """Different paths to one file return one object; a file that fails is executed again."""
    path = write("this is no Python")
    with pytest.raises(LoadError):
        load(path)
    path.write_text(MINIMAL.replace("NAME", "once"))
    algorithm = load(path)
    path.write_text("this is no Python either")
    monkeypatch.chdir(path.parent)
    assert load("own.py") is load(Path("./own.py")) is algorithm


def test_a_file_imports_from_its_own_directory(write: Write) -> None:
    """Two directories may have different modules of one name; sys.path and sys.modules do not change."""
    path, modules, names = list(sys.path), set(sys.modules), []
    for directory, file in product(("one", "two"), ("first.py", "second.py")):
        write(f"NAME = 'from_{directory}'\n", f"{directory}/helpers.py")
        text = "from helpers import NAME\n" + MINIMAL.replace('"NAME"', "NAME")
        names.append(load(write(text, f"{directory}/{file}")).name)
    assert names == ["from_one"] * 2 + ["from_two"] * 2
    assert sys.path == path
    assert all(name.startswith("algorithm_") for name in set(sys.modules) - modules)


def test_a_file_is_executed_like_a_module(write: Write) -> None:
    """`__file__` and `__name__` are set, and our `from __future__ import annotations` does not apply to it."""
    text = "def f(x: int): ...\nassert f.__annotations__ == {'x': int}\nassert __file__.endswith('plain.py')\n"
    load(write(text + "assert __name__ != '__main__'\n" + MINIMAL.replace("NAME", "plain"), "plain.py"))


def test_modules_of_an_environment_below_the_directory_stay_imported(
    write: Write, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Only modules in the file's directory are removed from sys.modules."""
    write("X = 1\n", "environment/far_helper.py")
    write("X = 2\n", "near_helper.py")
    monkeypatch.syspath_prepend(tmp_path / "environment")
    monkeypatch.syspath_prepend(tmp_path)
    load(write("import far_helper, near_helper\n" + MINIMAL.replace("NAME", "stays"), "stays.py"))
    assert sys.modules.pop("far_helper").X == 1
    assert "near_helper" not in sys.modules


def test_imported_modules_of_the_same_name_are_restored(
    write: Write, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A program's modules are the same before and after."""
    write("NAME = 'file'\n", "same_name.py")
    load(write("from same_name import NAME\n" + MINIMAL.replace('"NAME"', "NAME"), "first.py"))
    own = ModuleType("same_name")
    monkeypatch.setitem(sys.modules, "same_name", own)
    second = load(write("from same_name import NAME\n" + MINIMAL.replace('"NAME"', "NAME + '2'"), "second.py"))
    assert (second.name, sys.modules["same_name"]) == ("file2", own)


def test_a_bundled_file_returns_the_algorithm_of_the_catalogue() -> None:
    """The file is imported, not executed a second time."""
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
        ("from collectives import find\nMINE = find('bcast', 'chain')\n", "defines no ALGORITHM: rename MINE to ALGORITHM."),
        ("ALGORITHM = {}\n", "ALGORITHM is of type dict, not an Algorithm."),
        (
            MINIMAL.replace("NAME", "binomial"),
            "ALGORITHM is named bcast binomial, which exists in the catalogue: choose another name.",
        ),
        (
            MINIMAL.replace('"bcast"', '"brodcast"'),
            "ALGORITHM has the unknown operation 'brodcast' of kind 'intra'; operations of this kind: allgather, ",
        ),
        (MINIMAL.replace("schedule", "kind='outer', schedule"), "of kind 'outer'; there is no such kind."),
    ],
)
def test_errors_in_a_file_are_reported_in_one_sentence(text: str, sentence: str, write: Write) -> None:
    """The message begins with the path."""
    path, modules = write(text), set(sys.modules)
    with pytest.raises(LookupError) as caught:
        load(path)
    assert str(caught.value).startswith(str(path))
    assert sentence in str(caught.value)
    assert "\n" not in str(caught.value)
    if "cannot be loaded" in sentence:
        assert set(sys.modules) == modules


def test_a_missing_file_and_a_directory_are_reported(tmp_path: Path) -> None:
    """The message contains the operating system's error."""
    for path, why in ((tmp_path / "gone.py", "no such file or directory"), (tmp_path, "is a directory")):
        with pytest.raises(LoadError, match=f"^{path} cannot be loaded: {why}.$"):
            load(path)


def test_an_error_in_an_imported_module_is_reported_with_both_lines(write: Write) -> None:
    """The line of the import and the line of the error."""
    write("def f(:\n", "wrong_helper.py")
    with pytest.raises(LoadError, match=r"own.py cannot be loaded: line 2: wrong_helper.py line 1: invalid syntax.$"):
        load(write("\nimport wrong_helper\n"))


def test_keyboard_interrupt_propagates(write: Write) -> None:
    """It is not converted into a LoadError."""
    path = list(sys.path)
    with pytest.raises(KeyboardInterrupt):
        load(write("raise KeyboardInterrupt\n"))
    assert sys.path == path


# -- packages ------------------------------------------------------------------------------------------------------


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[dict[str, str]], None]:
    """Return a function that creates installed packages: entry name -> source of the module of that name."""
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


def test_algorithms_of_packages_are_in_the_catalogue(install: Install) -> None:
    """They follow the bundled ones; `origin` returns the package and its version."""
    install({"offered_by_pack": MINIMAL.replace("NAME", "offered")})
    offered = find("bcast", "offered")
    assert CATALOGUE[-1] is offered
    assert len(CATALOGUE) == len(list(CATALOGUE)) == len(CATALOGUE[:])
    assert offered in fitting("bcast", Case(3))
    assert (origin(offered), origin(find("bcast", "chain"))) == ("some-pack 1.2", "")


def test_a_package_can_read_the_catalogue_while_it_is_imported(install: Install) -> None:
    """It sees the algorithms loaded so far."""
    text = "from collectives import CATALOGUE\nCOUNT = len(CATALOGUE)\n" + MINIMAL.replace("NAME", "curious")
    install({"curious_pack": text})
    assert len(CATALOGUE) == len(bundled()) + 1
    assert len(CATALOGUE) == sys.modules["curious_pack"].COUNT + 1


def test_invalid_algorithms_of_a_package_are_skipped_with_a_warning(install: Install) -> None:
    """Each warning is issued once, and valid algorithms of the package are loaded."""
    entries = {
        "pack_gone": "", "pack_crash": "1 / 0\n", "pack_none": "ALGORITHM = 3\n",
        "pack_good": MINIMAL.replace("NAME", "good"), "pack_twice": MINIMAL.replace("NAME", "good"),
        "pack_shadow": MINIMAL.replace("NAME", "chain"),
    }  # fmt: skip
    install(entries)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert [each.name for each in CATALOGUE if origin(each)] == ["good"]
        assert len(CATALOGUE) == len(bundled()) + 1
    assert {each.category for each in caught} == {RuntimeWarning}
    assert [str(each.message) for each in caught] == [
        "some-pack 1.2: algorithm pack_crash is skipped: pack_crash:ALGORITHM cannot be loaded: "
        "ZeroDivisionError: division by zero.",
        "some-pack 1.2: algorithm pack_gone is skipped: pack_gone:ALGORITHM cannot be loaded: No module named 'pack_gone'.",
        "some-pack 1.2: algorithm pack_none is skipped: pack_none:ALGORITHM is of type int, not an Algorithm.",
        "some-pack 1.2: algorithm pack_shadow is skipped: pack_shadow:ALGORITHM is named bcast chain, "
        "which exists in the catalogue: choose another name.",
        "some-pack 1.2: algorithm pack_twice is skipped: pack_twice:ALGORITHM is named bcast good, "
        "which exists in some-pack 1.2: choose another name.",
    ]


def test_finding_a_bundled_algorithm_imports_no_package(install: Install) -> None:
    """`import collectives` imports no algorithm."""
    install({"pack_crash": "1 / 0\n"})
    assert find("bcast", "chain").name == "chain"
    assert loading._installed is None
    words = (
        "import sys, collectives; from collectives import CATALOGUE, find; "
        "print(any(name.startswith('collectives.intra') for name in sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", words], capture_output=True, text=True, check=True, timeout=270)
    assert done.stdout == "False\n"
