"""The output of every demo equals its .out file, with greenlets and most also with threads; pages show the same text."""

from __future__ import annotations

import os
import runpy
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import fakempi
from tests.helpers.breadth import THOROUGH

ROOT = Path(__file__).parents[2]
DEMOS = sorted((ROOT / "demos").glob("[0-9][0-9]_*.py"))
LONG = (
    "03_unsafe_send", "06_mpi4py_script", "09_load_balance", "11_custom_algorithm", "14_checkpoint", "16_calibrate",
    "17_tune", "19_why_segments", "20_kang_figures", "23_split_by_host", "24_redundancy_sets",
)  # fmt: skip
"""Demos that take two seconds or more."""

WITHOUT_GREENLETS = """
import runpy, sys
from pathlib import Path
sys.modules["greenlet"] = None  # as if it were not installed
del sys.argv[0]
sys.path[0] = str(Path(sys.argv[0]).parent)  # as Python does for a script
runpy.run_path(sys.argv[0], run_name="__main__")
"""


def printed(*command: str | Path) -> str:
    """The output of a Python program in a new process, which must succeed and print nothing to stderr."""
    ended = subprocess.run(
        [sys.executable, *command],
        env={**os.environ, "PYTHONPATH": str(ROOT), "PYTHONUTF8": "1"},
        capture_output=True,
        encoding="utf-8",
        timeout=270,
    )
    assert (ended.returncode, ended.stderr) == (0, "")
    return ended.stdout


def runs() -> Iterator[Any]:
    """Every demo and backend; threads with the long demos only in thorough runs."""
    for demo in DEMOS:
        long = demo.stem.startswith(LONG)
        yield pytest.param(demo, "auto", id=f"{demo.stem}-auto", marks=[pytest.mark.slow] * long)
        if THOROUGH or not long:
            yield pytest.param(demo, "threads", id=f"{demo.stem}-threads", marks=pytest.mark.slow)


@pytest.mark.quick(7)
@pytest.mark.parametrize(("demo", "backend"), list(runs()))
def test_the_output_of_a_demo_equals_its_out_file(
    demo: Path, backend: Any, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """With greenlets in this process, because starting one takes half a second; with threads in a new one.

    If the output changes on purpose: `python demos/NN_name.py > demos/NN_name.out`, and review it.
    """
    if backend == "threads":
        output = printed("-c", WITHOUT_GREENLETS, str(demo))
    else:
        monkeypatch.syspath_prepend(str(demo.parent))
        monkeypatch.setattr(sys, "argv", [str(demo)])
        runpy.run_path(str(demo), run_name="__main__")
        output, errors = capsys.readouterr()
        assert errors == ""
    assert output == demo.with_suffix(".out").read_text(encoding="utf-8")


TRACED = [pytest.param(demo, id=demo.stem, marks=[pytest.mark.slow] * demo.stem.startswith(LONG)) for demo in DEMOS]


@pytest.mark.quick(4)
@pytest.mark.parametrize("demo", TRACED)
def test_all_idle_time_of_a_demo_has_a_reason(demo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs in this process are traced, unless the demo requests no trace; the wait state "other" is empty."""
    run, ended = fakempi.run, []

    def traced(*args: Any, **options: Any) -> Any:
        result = run(*args, **{"trace": True, **options})
        ended.append(result.trace)
        return result

    monkeypatch.setattr(fakempi, "run", traced)
    monkeypatch.syspath_prepend(str(demo.parent))
    monkeypatch.setattr(sys, "argv", [str(demo)])
    runpy.run_path(str(demo), run_name="__main__")
    traces = [trace for trace in ended if trace is not None]
    assert [trace.measure().waits["other"][0] for trace in traces] == [0] * len(traces)


@pytest.mark.parametrize("demo", DEMOS, ids=lambda demo: demo.stem)
def test_a_demo_prints_help_and_rejects_unknown_options(
    demo: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before it does anything else."""
    monkeypatch.syspath_prepend(str(demo.parent))
    first = " ".join(demo.read_text(encoding="utf-8").partition('"""')[2].split()[:5])
    for word, code in (("--help", (None, 0)), ("--joy", None)):
        monkeypatch.setattr(sys, "argv", [str(demo), word])
        with pytest.raises(SystemExit) as left:
            runpy.run_path(str(demo), run_name="__main__")
        out, err = capsys.readouterr()
        if code:
            assert left.value.code in code
            assert first in " ".join(out.split())
        else:
            assert "--joy" in f"{left.value.code} {err}"
            assert out == ""


OPTIONAL = [("03_unsafe_send", [], "pytest"), ("10_same_code", ["mpi"], "mpi4py")]


@pytest.mark.parametrize(("name", "words", "package"), OPTIONAL)
def test_a_missing_optional_package_is_one_sentence(
    name: str, words: list[str], package: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It says how to install the package; what the demo shows without the package comes first."""
    demo = ROOT / "demos" / f"{name}.py"
    monkeypatch.syspath_prepend(str(demo.parent))
    monkeypatch.setitem(sys.modules, package, None)
    monkeypatch.setattr(sys, "argv", [str(demo), *words])
    with pytest.raises(SystemExit) as left:
        runpy.run_path(str(demo), run_name="__main__")
    assert str(left.value.code).strip().count("\n") == 0
    assert f"needs {package}" in str(left.value.code)
    assert "python -m pip install" in str(left.value.code)
    assert demo.with_suffix(".out").read_text(encoding="utf-8").startswith(capsys.readouterr().out)


def test_every_output_has_its_demo() -> None:
    """The demos are numbered without gaps."""
    assert sorted((ROOT / "demos").glob("*.out")) == [demo.with_suffix(".out") for demo in DEMOS]
    assert [int(demo.name[:2]) for demo in DEMOS] == list(range(1, len(DEMOS) + 1))


def test_the_page_has_the_ratios_of_kang_et_al() -> None:
    """Limit and three clusters for eight settings, as printed by `demos/20_kang_figures.py`."""
    page = (ROOT / "docs" / "papers" / "kang.md").read_text(encoding="utf-8").partition("| published limit |")[2]
    printed_once = (ROOT / "benchmarks" / "kang_figures.out").read_text(encoding="utf-8").partition("paper's limit")[2]
    shown = [line.strip("| ").split(" | ") for line in page.splitlines()[2:10]]
    printed = [line.split() for line in printed_once.splitlines()[1:9]]
    assert [(row[0], row[-4:]) for row in shown] == [(row[0], row[-5:-1]) for row in printed]
    assert len(shown) == 8


def test_the_page_has_the_table_of_the_six_distributions() -> None:
    """The table on the page of Träff et al. is in the output of `benchmarks/blocked_ring.py`."""
    page = (ROOT / "docs" / "papers" / "traeff.md").read_text(encoding="utf-8")
    printed_once = (ROOT / "benchmarks" / "blocked_ring.out").read_text(encoding="utf-8")
    title, *table = [line.rstrip() for line in printed_once.split("\n\n")[1].splitlines()]
    assert title.startswith("p = 32, m = 32 MB in total, B = 64 KB")
    assert "\n".join(table) in page
